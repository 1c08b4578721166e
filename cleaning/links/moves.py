"""Where a page sends its reader at once: by the header Refresh, or by a script of an empty page.

A script counts in a page with next to no text, and only as a plain assignment of one string:
``location = "/x"``, ``window.location.href = '/x'``, ``location.replace("/x")``. What a script puts
together or asks for before stays with the browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlclean.cleaning.document.document import Document

MAX_TEXT_CHARS = 100  # "Loading, please wait. If nothing happens, click here."
MAX_SOURCE_CHARS = 64 << 10  # an entry page is short; a longer one is made by its scripts
# Possessive: white space must not be shared out between neighbours in every way.
REFRESH = re.compile(r"[\d.]*+\s*+[;,]?+\s*+(?:url\s*+=\s*+|(?!url\s*+=))[\"']?+(.+)", re.I | re.S)
_MOVE = re.compile(
    r"(?<![\w$.])(?:(?:window|self|top|parent|document|this)\.){0,3}location"
    r"(?:(?:\.href)?\s*+=\s*+|\.(?:replace|assign)\s*+\(\s*+)"
    r"([\"'])((?:[^\"'\\<>\s]|\\/){1,2048})\1(?!\s*+[+.?])"
)


def moves(document: Document) -> Iterator[str]:
    """Yields the hrefs, ``/x``, in the order of the source; the header comes first."""
    for name, value in document.page.headers:
        found = REFRESH.fullmatch(value.strip()) if name.lower() == "refresh" else None
        if found:
            yield found[1].strip("\"' \t\r\n\f")
    if len(document.page.html) > MAX_SOURCE_CHARS or _has_text(document.tree.texts):
        return
    for move in _MOVE.finditer(document.page.html):
        yield move[2].replace("\\/", "/")


def _has_text(texts: list[str]) -> bool:
    room = MAX_TEXT_CHARS
    for text in texts:
        room -= len(text)
        if room < 0:
            return True
    return False
