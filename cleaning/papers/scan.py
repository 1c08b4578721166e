"""Tags and texts of a source with their character offsets, without a tree.

For methods that need the position of links in the source. A comment, and a script or style with its
content, is one tag. As in HTML a quote opens a value only behind ``=``; a quote without end is a
character, and a tag without end is text.

Cost: O(n) in the characters of any source: no search runs to the end in vain. The limits of a tree
(``Limits``: characters, tags) apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from typing import NamedTuple

from crawlclean.cleaning.document.tree import Limits

_QUOTED = r"\"[^\"]*+\"|'[^']*+'"
_ATTRIBUTES = rf"(?:[^>=]++|=\s*+(?:{_QUOTED}|(?!{_QUOTED})))*"
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
        name: Lower case, with ``/`` for an end tag: ``a``, ``/a``; ``""`` for a comment, a
            declaration and a whole script or style element.
        attributes: The attributes as in the source: `` href="/"``.
        start: Index of the first character.
        end: Index behind the last character.
    """

    name: str
    attributes: str
    start: int
    end: int


def scan_tags(html: str) -> Iterator[Tag]:
    """Yields the tags of a source in order."""
    limits = Limits()
    # Every tag up to the last ">" ends: no search for an end runs through the source in vain.
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
    """Yields the texts between tags except white space, character references resolved."""
    at = 0
    for tag in scan_tags(html):
        if at < tag.start and not (text := html[at : tag.start]).isspace():
            yield unescape(text)
        at = tag.end
    if at < len(html) and not (text := html[at:]).isspace():
        yield unescape(text)
