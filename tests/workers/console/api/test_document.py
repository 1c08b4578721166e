"""``docs/api.md`` is that of the code, and its examples are real."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from crawlclean.workers.console.api.document import api_markdown
from crawlclean.workers.console.api.tokens import TokenScope
from tests.kit.api import DOCUMENT, Program, examples, fill_imported, program

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def without_times(value: Any) -> Any:
    """The value, its times all alike."""
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items()}
    if isinstance(value, list):
        return [without_times(each) for each in value]
    return "a time" if isinstance(value, str) and TIME.fullmatch(value) else value


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Program:
    data = tmp_path_factory.mktemp("examples") / "data"
    fill_imported(data)
    return program(data, TokenScope.ACT)


def test_the_document_is_current() -> None:
    assert api_markdown() == DOCUMENT.read_text("utf-8"), "make docs"


def test_the_document_has_examples() -> None:
    assert len(examples()) >= 4


@pytest.mark.parametrize(("arguments", "printed"), examples(), ids=lambda each: str(each)[-40:])
def test_examples_are_real(imported: Program, arguments: list[str], printed: Any) -> None:
    assert arguments[:3] == ["-s", "-H", "Authorization: Bearer $TOKEN"]
    address = urlsplit(arguments[-1])
    path = address.path.removeprefix("/api/v1") + (f"?{address.query}" if address.query else "")
    answer = imported.get(path)
    assert without_times(answer.get_json(force=True)) == without_times(printed)
