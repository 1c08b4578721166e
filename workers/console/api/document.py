"""The page ``docs/api.md``: every address of the API, what it takes and gives, from the code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from flask import Flask

from crawlclean import __dist__
from crawlclean.storage.config import StorageConfig
from crawlclean.workers.answers.document import (
    escaped,
    object_markdown,
    type_markdown,
    values_markdown,
)
from crawlclean.workers.answers.schema import ANSWERS, all_types, field_meanings, field_types
from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access
from crawlclean.workers.console.api.problems import Problem
from crawlclean.workers.console.api.registry import Address
from crawlclean.workers.console.api.serving import add_api
from crawlclean.workers.console.routes import Console
from crawlclean.workers.operations.watching.kept_backends import KeptBackends


def api_markdown() -> str:
    """Returns the page: ``introduction.md``, whose examples tests ask, and the reference."""
    settings = Settings(storage=StorageConfig(data=Path()))
    console = Console(settings, KeptBackends(settings), Access(None))
    begin = Path(__file__).with_name("introduction.md").read_text("utf-8")
    addresses = add_api(Flask("document"), console).addresses
    return begin.replace("{program}", __dist__) + _reference(addresses)


def _reference(addresses: Sequence[Address]) -> str:
    lines = ["## Addresses\n", "| address | answer | |", "|---|---|---|"]
    for each in addresses:
        lines.append(
            f"| [`{each.method} {_shown(each)}`](#{_anchor(each)}) | {_answer(each)} "
            f"| {_summary(each)} |"
        )
    for each in addresses:
        lines += ["", f"### {each.method} {_shown(each)}\n", _meaning(each), *_fields(each)]
    named = [each.answer for each in addresses]
    elsewhere = set(all_types([kind for kinds in ANSWERS.values() for kind in kinds]))
    asked = [each.takes for each in addresses if each.method == "GET" and each.takes]
    own = [
        each
        for each in all_types([*named, *asked, Problem])
        if each not in elsewhere and each not in asked
    ]
    lines += ["\n## Objects\n", "What is not here is in [json.md](json.md#objects).\n"]
    lines += [object_markdown(each) for each in own if not issubclass(each, Enum)]
    lines.append("## Values\n")
    lines += [values_markdown(each) for each in own if issubclass(each, Enum)]
    return _linked("\n".join(lines), {each.__name__.lower() for each in elsewhere})


def _linked(text: str, elsewhere: set[str]) -> str:
    """The text, whose links to types of commands lead to their page."""

    def link(found: re.Match[str]) -> str:
        return f"](json.md#{found[1]})" if found[1] in elsewhere else found[0]

    return re.sub(r"\]\(#(\w+)\)", link, text)


def _shown(address: Address) -> str:
    return address.template.removeprefix("/api/v1")


def _anchor(address: Address) -> str:
    heading = f"{address.method} {_shown(address)}".lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def _answer(address: Address) -> str:
    name = address.answer.__name__
    link = f"[{name}](#{name.lower()})"
    return f"list of {link}" if address.is_page else link


def _summary(address: Address) -> str:
    return address.about.partition("\n")[0]


def _meaning(address: Address) -> str:
    return f"{address.about} Scope `{address.scope}`. Gives {_answer(address)}.\n"


def _fields(address: Address) -> list[str]:
    """The table of the query or the body."""
    if address.takes is None:
        return []
    of: type[Any] = address.takes
    meanings = field_meanings(of)
    kind = "parameter" if address.method == "GET" else "field of the body"
    lines = [f"| {kind} | value | meaning |", "|---|---|---|"]
    for name, schema in field_types(of).items():
        lines.append(f"| `{name}` | {type_markdown(schema)} | {escaped(meanings[name])} |")
    return lines
