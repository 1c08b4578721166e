"""Descriptions of a site model for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from crawlclean.cleaning.learn.model_diff import describe
from crawlclean.cleaning.model.site_model import SiteModel

MOST_OF_KIND = 6
MAX_CLASSES = 20
WIDTH = 80
_VALUE = re.compile(r"html/|https?://|/")  # where a path or URL begins
_PATH = re.compile(r"(?:html)?(?:/[^/\s]+){2,}")


def in_words(model: SiteModel) -> list[str]:
    """Describes a model in lines, with its URL classes."""
    rules = list(model.url_rules)
    lines = [
        *describe(model),
        *(f"  {rule.template} ({rule.kind})" for rule in rules[:MAX_CLASSES]),
    ]
    more = len(rules) - MAX_CLASSES
    return [*lines, f"  {more} more"] if more > 0 else lines


def on_a_screen(lines: Sequence[str]) -> list[str]:
    """Shortens a description: the first lines of each kind, container paths cut to 80 columns."""
    shown: list[str] = []
    for kind, run in groupby(lines, _kind):
        alike = list(run)
        most = MOST_OF_KIND if kind else len(alike)
        shown += [_with_short_path(line) for line in alike[:most]]
        if len(alike) > most:
            shown.append(f"{kind.rstrip(' +-')} ... {len(alike) - most} more (--full)")
    return shown


def _kind(line: str) -> str:
    """The common beginning of lines of one kind: ``template: ``; ``""`` for single lines."""
    value = _VALUE.search(line)
    return line[: value.start()] if value and line[: value.start()].strip() else ""


def _with_short_path(line: str) -> str:
    """Cuts leading steps of the container path of a long line: ``.../div.foot``."""
    path = _PATH.search(line)
    if len(line) <= WIDTH or path is None or "://" in line:
        return line
    before, parts, behind = line[: path.start()], path[0].split("/")[1:], line[path.end() :]
    while len(parts) > 1 and len(before) + len(".../" + "/".join(parts)) + len(behind) > WIDTH:
        del parts[0]
    return f"{before}.../{'/'.join(parts)}{behind}"
