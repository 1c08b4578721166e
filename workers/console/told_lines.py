"""Lines that other processes have stored for a person, in the language of a page.

A failure, a step of a page, an event, a version of a model have a line of English: as commands and
the API print it. Chinese pages read its values by the forms in ``words.toml``; a line that has
none of these forms (the words of a colleague, of a server, of a library) stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from string import Formatter
from typing import Final

from markupsafe import Markup

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import BodySource, PageKind, UrlKind, Via
from crawlclean.storage.crawl_types import CrawlState, FailureReason
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.store.models import DriftOutcome, LearnReason
from crawlclean.workers.console.strangers_text import shown
from crawlclean.workers.console.words import say
from crawlclean.workers.words import Language, of_lines

NUMBERS: Final = frozenset({"n", "m", "ms", "links", "outlinks", "tags", "files"})
"""Places of whole numbers, which are grouped."""

DIGITS: Final = frozenset({"status", "version", "port", "depth"})
"""Places of numbers that are names."""

TERMS: Final[Mapping[str, tuple[str, type[StrEnum]]]] = {
    "reason": ("reason", FailureReason),
    "state": ("state", CrawlState),
    "before": ("state", CrawlState),
    "sign": ("sign", DriftSign),
    "outcome": ("outcome", DriftOutcome),
    "learned": ("learned", LearnReason),
    "role": ("role", ProcessRole),
    "page_kind": ("url_kind", PageKind),
    "url_kind": ("url_kind", UrlKind),
    "body_source": ("body_source", BodySource),
    "via": ("via", Via),
    "warnings": ("warning", WarningKind),
}
"""Places of values that have words, of several with commas: (kind of the words, the values)."""

DEEPEST = 3
"""Lines within lines that are read: an event has a reason, which has a cause."""

NOUN: Final = re.compile(r"^((?:\\ \w+)+?)s\b")
"""The words of an escaped text up to its first plural: of `` more pages since`` `` more page``."""

parse: Final = Formatter().parse


def told(line: str, language: Language, depth: int = 0) -> Markup:
    """A stored line for HTML, in a language where its form is known.

    Args:
        line: ``cleaning it killed 3 workers``.
        language: Of the page.
        depth: Lines around this one.
    """
    if language is Language.ENGLISH or not line or depth > DEEPEST:
        return shown(line)
    for key, form in _forms():
        if found := form.fullmatch(line):
            places = found.groupdict()
            return say(
                language, key, **{p: _worded(p, t, language, depth) for p, t in places.items()}
            )
    return shown(line)


def _worded(place: str, text: str, language: Language, depth: int) -> object:
    """The value of a place, in words."""
    if place in NUMBERS:
        return int(text)
    if place in DIGITS:
        return text
    if place in TERMS:
        parts = (part.replace(" ", "_") for part in text.split(", "))
        return Markup("、").join(say(language, f"{TERMS[place][0]}.{part}") for part in parts)
    return told(text, language, depth + 1) if place == "why" else shown(text)


@cache
def _forms() -> Sequence[tuple[str, re.Pattern[str]]]:
    """(Key of the words, form of the line) each, those with the most text of their own first."""
    words = of_lines()
    own = {key: sum(len(text) for text, *_ in parse(entry[0])) for key, entry in words.items()}
    keys = sorted(words, key=lambda key: -own[key])
    return [(key, re.compile(_form(words[key][0]))) for key in keys]


def _form(template: str) -> str:
    """The pattern of the lines that a template makes."""
    pattern, before = "", ""
    for text, place, *_ in parse(template):
        words = re.escape(text)
        if before in NUMBERS:  # `3 pages`: a line of one has `1 page`
            words = NOUN.sub(r"\1s?", words, count=1)
        pattern += words + (f"(?P<{place}>{_values(place)})" if place else "")
        before = place or ""
    return pattern


def _values(place: str) -> str:
    """The pattern of what stands in a place."""
    if place in NUMBERS | DIGITS:
        return r"\d{1,18}"
    if place in TERMS:
        # As stored or with spaces: ``new_classes``, ``new classes``.
        known = {text for each in TERMS[place][1] for text in (each, each.replace("_", " "))}
        one = f"(?:{'|'.join(map(re.escape, sorted(known, key=len, reverse=True)))})"
        return f"{one}(?:, {one})*"
    return ".+" if place == "why" else ".+?"
