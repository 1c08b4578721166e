"""The JSON of every command is that of its schema.

``DataFolder.rows`` and ``run_crawl`` check every line that any test reads.
"""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

import jsonschema
import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.workers.answers.schema import (
    ANSWERS,
    all_types,
    field_meanings,
    field_types,
    member_meanings,
    schema_of,
)
from crawlclean.workers.cli import parser_of
from crawlclean.workers.commands.names import COMMANDS, FAMILIES
from crawlclean.workers.config import Settings
from tests.kit.commands import DataFolder, call, call_main, valid
from tests.kit.web import html

HOST = "a.example"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 8
FOOT = "版权所有 晨报 京ICP备00000001号"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    data = tmp_path_factory.mktemp("json")
    rows = [
        {
            "url": f"http://{HOST}/{n}.html",
            "html": html(f"页{n}", f"{n}{TEXT}", f"<p>{FOOT}</p><img src='/{n}.png'>"),
        }
        for n in range(9)
    ]
    path = data / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert call(Settings(storage=StorageConfig(data=data)), "import", str(path)) == 0
    return DataFolder(data)


@pytest.mark.parametrize(
    "arguments",
    [
        "crawls --json",
        f"show http://{HOST}/1.html --json",
        f"why http://{HOST}/1.html --json",
        "hosts --json",
        f"hosts {HOST} --json",
        f"model show {HOST} --json",
        f"model diff {HOST} 1 1 --json",
        f"model rollback {HOST} 1 --json",
        f"model learn {HOST} --json",
        f"model reclean {HOST} --again --json",
        "export",
    ],
)
def test_real_lines_are_those_of_the_schema(folder: DataFolder, arguments: str) -> None:
    words = arguments.split()
    rows = folder.rows(*words)
    command = " ".join(words[:2]) if words[0] in FAMILIES else words[0]
    assert rows
    for row in rows:
        with pytest.raises(jsonschema.ValidationError):
            valid(command, row | {"unknown": 1})
        with pytest.raises(jsonschema.ValidationError):
            valid(command, dict(list(row.items())[1:]))


def test_answers_that_are_failures_have_the_schema_too(folder: DataFolder, tmp_path: Path) -> None:
    for name, *arguments in (["why", f"http://{HOST}/none"], ["model why", HOST, "no such text"]):
        status, out, err = folder.call(*name.split(), *arguments, "--json")
        assert (status, err) == (1, "")
        assert [valid(name, json.loads(line)) for line in out.splitlines()]
    page = tmp_path / "page.html"
    page.write_text(html("页", TEXT))
    status, out, _ = call_main("clean", str(page))
    assert status == 0
    assert valid("clean", json.loads(out))["title"] == "页"


def test_every_command_with_json_has_a_schema_and_prints_it() -> None:
    with_json = {
        name
        for name in COMMANDS
        if any("--json" in action.option_strings for action in parser_of(name)._actions)
    }
    assert with_json <= set(ANSWERS) <= set(COMMANDS)
    status, listed, _ = call_main("config", "schema")
    assert status == 0
    assert [line[:17].rstrip() for line in listed.splitlines()] == list(ANSWERS)
    for name in ANSWERS:
        status, out, _ = call_main("config", "schema", *name.split())
        assert status == 0
        assert json.loads(out) == schema_of(name)
        jsonschema.Draft202012Validator.check_schema(json.loads(out))
    assert call_main("config", "schema", "metrics")[0] == 1


def test_an_old_name_has_the_schema_that_it_had() -> None:
    for old, new in (("pause", "crawl pause"), ("traps", "classes"), ("tokens", "console tokens")):
        _, out, told = call_main("schema", old)
        assert json.loads(out) == {**schema_of(new), "title": old}
        assert told.count("\n") == 1


def test_every_field_and_every_value_has_a_meaning() -> None:
    for each in all_types([each for types in ANSWERS.values() for each in types]):
        if issubclass(each, Enum):
            assert "" not in member_meanings(each).values(), each
        else:
            assert set(field_types(each)) <= set(field_meanings(each)), each
