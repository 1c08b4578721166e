"""Messages: each is in two languages with the same values, is written somewhere, and with all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from crawlclean.cleaning.messages import catalogue, places
from crawlclean.workers.words import all_words
from tests.house.test_quality import ROOT

ROOMS = ("cleaning", "storage", "crawler", "workers")
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
SCRIPTS = sorted((ROOT / "storage" / "queue" / "lua").rglob("*.lua"))
LUA_CALL = re.compile(r"\bmessage\('(\w+)'((?:, [^,()]+)*)\)")
OF_STRANGERS = {"text", "why", "what", "url", "class", "who", "names", "name", "pattern", "queue"}


def calls() -> Iterator[tuple[str, int, str]]:
    """(key, number of values, file) of each message with a key that is written out."""
    for path in FILES:
        text = path.read_text("utf-8")
        if "Message(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "Message"):
                continue
            key, *values = node.args
            if isinstance(key, ast.Constant) and not any(
                isinstance(v, ast.Starred) for v in values
            ):
                yield str(key.value), len(values), path.name
    for path in SCRIPTS:
        for key, values in LUA_CALL.findall(path.read_text("utf-8")):
            yield key, values.count(","), path.name


def test_messages_are_written_with_all_their_values() -> None:
    found = list(calls())
    assert len(found) > 100
    wrong = [call for call in found if call[0] not in catalogue()]
    assert wrong == []
    assert [(key, n, file) for key, n, file in found if len(places(key)) != n] == []


def test_every_message_is_written_somewhere() -> None:
    text = "\n".join(path.read_text("utf-8") for path in [*FILES, *SCRIPTS])
    quoted = set(re.findall(r"""["'](\w+)["']""", text))
    assert set(catalogue()) - quoted == set()


@pytest.mark.parametrize("key", catalogue())
def test_both_languages_have_the_same_places(key: str) -> None:
    entry = catalogue()[key]
    for words in entry:
        assert {name for _, name, *_ in Formatter().parse(words) if name} == set(places(key))
    assert len(entry) == 2 or "n" in places(key)
    own = "".join(text for text, *_ in Formatter().parse(entry[-1]))
    in_english = "".join(text for text, *_ in Formatter().parse(entry[0]))
    assert re.search(r"[\u4e00-\u9fff]", own) or not re.search("[a-z]{2}", in_english)


def test_no_text_of_a_stranger_is_taken_for_a_word() -> None:
    kinds = {key.partition(".")[0] for key in all_words()}
    assert kinds & OF_STRANGERS == set()
