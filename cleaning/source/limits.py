"""Caps on a source before it is parsed; each cap that bites gives a warning.

Three things make a parser slow or blind: a source of any size, a tag with thousands of attributes
(libxml2 compares each with all others: 20,000 take 0.4 s), and elements nested deeper than 2,048
(libxml2 drops everything from there on). The scan for the second looks at the pieces between ``<``
and takes a twentieth of a parse; only a suspicious or a very long source is read tag by tag. The
third is looked for only when the parser has complained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cleaning.records import PageWarning, WarningKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a source is read."""

    max_chars: int = 64 * 2**20
    max_attributes: int = 256
    max_depth: int = 1000


# A tag that starts here and ends at its first ``>`` outside quotes. Possessive: linear time.
_TAG = re.compile(r"<[A-Za-z](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>?")
_ATTRIBUTE = re.compile(
    r"[\s/]*+[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+|[\"'])?)?"
)
_SUSPICIOUS_CHARS = 512  # 256 attributes of one letter with a space between
_LONG_SOURCE_CHARS = 400_000  # here even hidden attributes would cost seconds
_START_OR_END = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*+)[^>]*+>")
# They hold nothing or end without an end tag, so they do not add to the depth.
_NEVER_DEEP = frozenset(
    {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr", "p", "li", "option",
    }
)  # fmt: skip


def cap(html: str, limits: Limits) -> tuple[str, tuple[PageWarning, ...]]:
    """The source within its limits for size and attributes, and what was cut off."""
    warnings = []
    if len(html) > limits.max_chars:
        warnings.append(
            PageWarning(
                kind=WarningKind.CAPPED_SIZE,
                detail=f"read {limits.max_chars} of {len(html)} characters",
            )
        )
        html = html[: limits.max_chars]
    if len(html) > _LONG_SOURCE_CHARS or _is_suspicious(html):
        html, count = _cap_attributes(html, limits.max_attributes)
        if count:
            warnings.append(
                PageWarning(
                    kind=WarningKind.CAPPED_ATTRIBUTES,
                    detail=f"tags with more than {limits.max_attributes} attributes",
                    count=count,
                )
            )
    return html, tuple(warnings)


def cap_depth(html: str, limits: Limits) -> tuple[str, PageWarning]:
    """The source without the tags that lie too deep; their text stays."""
    depth = dropped = 0

    def shallow(match: re.Match[str]) -> str:
        nonlocal depth, dropped
        if match[2].lower() in _NEVER_DEEP:
            return match[0]
        if match[1]:
            depth = max(depth - 1, 0)
            return match[0] if depth < limits.max_depth else ""
        depth += 1
        if depth <= limits.max_depth:
            return match[0]
        dropped += 1
        # Links are what a crawl lives on: they stay, and end each other.
        return match[0] if match[2].lower() == "a" else ""

    html = _START_OR_END.sub(shallow, html)
    return html, PageWarning(
        kind=WarningKind.CAPPED_DEPTH,
        detail=f"tags nested deeper than {limits.max_depth}",
        count=dropped,
    )


def _is_suspicious(html: str) -> bool:
    """Whether some tag is long enough to hold too many attributes (quotes not looked at)."""
    return any(
        len(piece) > _SUSPICIOUS_CHARS and piece.find(">", 0, _SUSPICIOUS_CHARS) < 0
        for piece in html.split("<")
    )


def _cap_attributes(html: str, most: int) -> tuple[str, int]:
    """The source with every tag cut after its ``most``-th attribute, and how many were cut."""
    pieces: list[str] = []
    end = 0
    for match in _TAG.finditer(html):
        # The shortest attribute takes two characters.
        if match.end() - match.start() < 2 * most:
            continue
        cut = _end_of_attribute(match[0], most)
        if cut:
            pieces += (html[end : match.start() + cut], ">")
            end = match.end()
    if not pieces:
        return html, 0
    pieces.append(html[end:])
    return "".join(pieces), len(pieces) // 2


def _end_of_attribute(tag: str, most: int) -> int:
    """Where the ``most``-th attribute of a tag ends; 0 when it has no more than these."""
    end = 0
    for count, match in enumerate(_ATTRIBUTE.finditer(tag, 1)):  # match 0 is the tag's name
        if count == most:
            end = match.end()
        elif count > most:
            return end
    return 0
