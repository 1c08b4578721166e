"""Tags and text runs of a source with their places, without a tree.

For methods that ask where in the source something stands. Comments and what script and style hold
are passed over whole. As in HTML a quote opens a value only behind ``=``; one that never ends is a
character, and a tag that never ends is text.

Cost: O(n) in the characters of any source: nothing is searched for that is not there. What a tree
of the source would not hold (``Limits``: characters, tags) is not scanned either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from typing import NamedTuple

from cleaning.document.limits import Limits

_ATTRIBUTES = r"(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+"
_TAG = re.compile(
    r"<(?:!--(?:-?>|.*?--!?>|(?P<cut_comment>.*))"
    rf"|(?P<raw>script|style)(?=[\s/>]){_ATTRIBUTES}>(?:.*?</(?P=raw)(?=[\s/>])[^>]*>|(?P<cut>.*))"
    rf"|(?P<name>/?[a-z][^\s/>]*)(?P<attributes>{_ATTRIBUTES})>"
    r"|[!?/][^>]*>)",
    re.S | re.I,
)


class Tag(NamedTuple):
    """One tag: ``html[start:end]``.

    Attributes:
        name: In lower case, an end tag's with ``/`` before it; ``""`` for a comment, a declaration
            and a whole script or style element.
        attributes: As in the source.
        start: Its first character.
        end: The character after its last.
    """

    name: str
    attributes: str
    start: int
    end: int


def scan_tags(html: str) -> Iterator[Tag]:
    """Every tag of a source in order."""
    limits = Limits()
    # Up to the last ">" every tag ends: no search for an end runs through the source in vain.
    last = html.rfind(">", 0, limits.max_chars) + 1
    for found in islice(_TAG.finditer(html, 0, last), limits.max_tags):
        name, attributes = found.group("name", "attributes")
        start, end = found.span()
        if name is not None:
            yield Tag(name.lower(), attributes, start, end)
        elif found["cut"] is None and found["cut_comment"] is None:
            yield Tag("", "", start, end)
        else:
            yield Tag("", "", start, len(html))


def scan_texts(html: str) -> Iterator[str]:
    """The texts between tags, references resolved; those of white space are left out."""
    at = 0
    for tag in scan_tags(html):
        if at < tag.start and not (text := html[at : tag.start]).isspace():
            yield unescape(text)
        at = tag.end
    if at < len(html) and not (text := html[at:]).isspace():
        yield unescape(text)
