"""Caps on a source before it is parsed; each cap that applies gives a warning.

Four things make a parser slow or memory-hungry, or hide text from it:

- a source of any size;
- millions of tags: each costs some 700 bytes;
- a tag with thousands of attributes: each costs some 150 bytes at once. Looked for in long sources
  alone, tag by tag only after a cheap test;
- elements nested deeper than 2,048: libxml2 compares each end tag with all open elements. Looked
  for only after the parser met them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from crawlclean.cleaning.page_warnings import PageWarning, WarningKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a source is read.

    Attributes:
        max_chars: Characters of the source.
        max_tags: Start and end tags; the source behind them is not read.
        max_attributes: Attributes of one tag.
        max_depth: Nesting of elements.
        max_text_chars: Visible text; words cost five times their letters while they are counted.
        max_title_chars: Characters of the title.
    """

    max_chars: int = 64 * 2**20
    max_tags: int = 500_000
    max_attributes: int = 256
    max_depth: int = 1000
    max_text_chars: int = 10 * 2**20
    max_title_chars: int = 1000


# One attribute as the HTML standard reads it: a quote opens a value only behind ``=``, elsewhere it
# is part of a name. Possessive throughout: linear time.
_ATTRIBUTE_SOURCE = (
    rb"(?:=[^\s/>=]*+|[^\s/>=]++)"
    rb"(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\s>]++)?)?"
)
_ATTRIBUTE = re.compile(_ATTRIBUTE_SOURCE)
# A group without a bound would remember every attribute of a tag: a tag is read in pieces.
_PIECE_SOURCE = rb"(?:[\s/]++|" + _ATTRIBUTE_SOURCE + rb"){1,1000}"
_PIECE = re.compile(_PIECE_SOURCE + rb">?")
_TAG = re.compile(
    rb"(?P<comment><!--)"
    rb"|(?P<raw><(?:script|style)\b[^>]*+>)"
    rb"|<[A-Za-z][^\s/>]*+(?:" + _PIECE_SOURCE + rb")?>?",
    re.I,
)
_RAW_END = re.compile(rb"</(?:script|style)\b", re.I)
_LONG_TAG = re.compile(rb"<[A-Za-z][^>]{512}[^>]*+")
_HIDDEN_END = re.compile(rb"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)")
_LONG_SOURCE_BYTES = 1_000_000  # of shorter ones the attributes of one tag take some 30 MB at most
# A name ends at white space, slash or ``>``: ``<meta文>`` is no void element.
_START_OR_END = re.compile(rb"<(/?)([A-Za-z][^\s/>]*+)[^>]*+(?:>|\Z)")
_BEGINNINGS = frozenset((b"<", b"/", b"!", b"-", b"?"))  # ends of ``<``, ``</`` and ``<!--``
# Void elements do not add to the depth.
_VOID = frozenset(
    name.encode()
    for name in {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    }
)  # fmt: skip
# Elements that end before the next one of their tag, where no other element stands between.
_ENDED_BY_THE_NEXT = frozenset((b"p", b"li", b"option"))


def cap_size(html: str, limits: Limits) -> tuple[str, tuple[PageWarning, ...]]:
    """Cuts a source at the largest size; returns the source and warnings."""
    if len(html) <= limits.max_chars:
        return html, ()
    detail = f"read {limits.max_chars} of {len(html)} characters"
    return html[: limits.max_chars], (PageWarning(kind=WarningKind.CAPPED_SIZE, detail=detail),)


def cap_tags(body: bytes, limits: Limits) -> tuple[bytes, tuple[PageWarning, ...]]:
    """Cuts a source behind the last allowed tag; returns the source and warnings."""
    if len(body) <= limits.max_tags or body.count(b"<") <= limits.max_tags:
        return body, ()
    end = -1
    for _ in range(limits.max_tags + 1):
        end = body.find(b"<", end + 1)
    detail = f"read {limits.max_tags} tags, {end} of {len(body)} bytes"
    return body[:end], (PageWarning(kind=WarningKind.CAPPED_SIZE, detail=detail),)


def cap_attributes(body: bytes, limits: Limits) -> tuple[bytes, tuple[PageWarning, ...]]:
    """Cuts tags of a long UTF-8 source behind the last allowed attribute; returns it and warnings.

    In a short source the attributes cost little until the reader counts them.
    """
    if len(body) <= _LONG_SOURCE_BYTES or not (
        _is_suspicious(body) or _has_hidden_ends(body, limits.max_attributes)
    ):
        return body, ()
    pieces: list[bytes] = []
    end = 0
    for start, tag_end in _tags(body):
        # The shortest attribute takes two bytes.
        if tag_end - start < 2 * limits.max_attributes:
            continue
        cut = _end_of_attribute(body[start:tag_end], limits.max_attributes)
        if cut:
            pieces += (body[end : start + cut], b">")
            end = tag_end
    if not pieces:
        return body, ()
    return b"".join((*pieces, body[end:])), (attributes_warning(limits, len(pieces) // 2),)


def _tags(body: bytes) -> Iterator[tuple[int, int]]:
    """Yields start and end of each start tag.

    Comments and the contents of scripts and styles hold no tags and are passed over.
    """
    at = 0
    while match := _TAG.search(body, at):
        at = match.end()
        if match.lastgroup == "comment":
            at = body.find(b"-->", at)
            if at < 0:
                return
        elif match.lastgroup == "raw":
            raw_end = _RAW_END.search(body, at)
            if raw_end is None:
                return
            at = raw_end.start()
        else:
            while body[at - 1 : at] != b">" and (piece := _PIECE.match(body, at)):
                at = piece.end()
            yield match.start(), at


def attributes_warning(limits: Limits, tags: int) -> PageWarning:
    """Builds the warning of tags with too many attributes."""
    detail = f"tags with more than {limits.max_attributes} attributes"
    return PageWarning(kind=WarningKind.CAPPED_ATTRIBUTES, detail=detail, count=tags)


def cap_depth(body: bytes, limits: Limits, *, ends_count: bool = True) -> tuple[bytes, PageWarning]:
    """Removes the tags that lie too deep, but not their text; returns the source and a warning.

    Args:
        body: The source.
        limits: ``max_depth`` is used.
        ends_count: Whether an end tag closes its element and the next ``<li>`` the last, as they
            mostly do (not in ``<b><div></b>``); without, no source is too deep afterwards.
    """
    depth = dropped = 0
    never_deep = _VOID | _ENDED_BY_THE_NEXT if ends_count else _VOID
    open_names: dict[bytes, int] = {}

    def shallow(match: re.Match[bytes]) -> bytes:
        nonlocal depth, dropped
        name = match[2].lower()
        if name in never_deep:
            return match[0]
        # What stands before a removed tag must not make a new tag with what stands behind it.
        removed = b" " if body[match.start() - 1 : match.start()] in _BEGINNINGS else b""
        if match[1]:
            if not ends_count or not open_names.get(name):
                return match[0] if depth < limits.max_depth else removed
            open_names[name] -= 1
            depth -= 1
            return match[0] if depth < limits.max_depth else removed
        depth += 1
        open_names[name] = open_names.get(name, 0) + 1
        if depth <= limits.max_depth:
            return match[0]
        dropped += 1
        # Links are what a crawl lives on: they stay, and end each other.
        return match[0] if name == b"a" else removed

    return _START_OR_END.sub(shallow, body), PageWarning(
        kind=WarningKind.CAPPED_DEPTH,
        detail=f"tags nested deeper than {limits.max_depth}",
        count=dropped,
    )


def _has_hidden_ends(body: bytes, least: int) -> bool:
    """Whether enough attributes hold a ``>`` to hide too many attributes of a tag behind them."""
    return sum(1 for _ in islice(_HIDDEN_END.finditer(body), least)) == least


def _is_suspicious(body: bytes) -> bool:
    """Whether some tag may have too many attributes, quotes not considered."""
    return any(
        sum(map(match[0].count, (b" ", b"\n", b"\t", b"/", b'"', b"'"))) >= 250
        for match in _LONG_TAG.finditer(body)
    )


def _end_of_attribute(tag: bytes, most: int) -> int:
    """Where the ``most``-th attribute of a tag ends; 0 when the tag has no more attributes."""
    end = 0
    for count, match in enumerate(_ATTRIBUTE.finditer(tag, 1)):  # match 0 is the tag's name
        if count == most:
            end = match.end()
        elif count > most:
            return end
    return 0
