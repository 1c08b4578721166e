"""A model in words that fit a screen: the first of each kind, places by their last parts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from cleaning.learn.model_diff import describe
from cleaning.model.site_model import SiteModel
from storage.store.models import ModelVersion

MOST_OF_KIND = 6
MAX_CLASSES = 20
WIDTH = 80
_VALUE = re.compile(r"html/|https?://|/")  # where a place or an address begins
_PLACE = re.compile(r"(?:html)?(?:/[^/\s]+){2,}")


def model_json(about: ModelVersion, text: str) -> dict[str, Any]:
    """A version with its model as JSON values; ``text`` is the stored form of the model."""
    return version_json(about) | {"model": json.loads(text)}


def version_json(about: ModelVersion) -> dict[str, Any]:
    """What is known of a version, as JSON values."""
    return {
        "host": about.host,
        "version": about.version,
        "learned_at": about.learned_at.isoformat(),
        "saved_at": about.saved_at.isoformat(),
        "page_count": about.page_count,
        "size_bytes": about.size_bytes,
        "reason": str(about.reason),
        "detail": about.detail,
    }


def in_words(model: SiteModel) -> list[str]:
    """A model in lines for a person, with its URL classes."""
    rules = list(model.url_rules)
    lines = [
        *describe(model),
        *(f"  {rule.template} ({rule.kind})" for rule in rules[:MAX_CLASSES]),
    ]
    more = len(rules) - MAX_CLASSES
    return [*lines, f"  {more} more"] if more > 0 else lines


def on_a_screen(lines: Sequence[str]) -> list[str]:
    """The first lines of each run of one kind, in 80 columns where only places are too long."""
    shown: list[str] = []
    for kind, run in groupby(lines, _kind):
        alike = list(run)
        most = MOST_OF_KIND if kind else len(alike)
        shown += [_with_short_place(line) for line in alike[:most]]
        if len(alike) > most:
            shown.append(f"{kind.rstrip(' +-')} ... {len(alike) - most} more (--full)")
    return shown


def _kind(line: str) -> str:
    """What lines of one kind begin with; ``""`` for a line of its own and for URL classes."""
    value = _VALUE.search(line)
    return line[: value.start()] if value and line[: value.start()].strip() else ""


def _with_short_place(line: str) -> str:
    """The line without the first parts of its place when it is too long; the last one stays."""
    place = _PLACE.search(line)
    if len(line) <= WIDTH or place is None or "://" in line:
        return line
    before, parts, behind = line[: place.start()], place[0].split("/")[1:], line[place.end() :]
    while len(parts) > 1 and len(before) + len(".../" + "/".join(parts)) + len(behind) > WIDTH:
        del parts[0]
    return f"{before}.../{'/'.join(parts)}{behind}"
