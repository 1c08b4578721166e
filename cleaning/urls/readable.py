"""The readable form of a URL: characters of other scripts in place of their escapes.

In the normal form a Chinese path is a row of escapes, ``/%E4%B8%AD%E6%96%87``. People read it as
``/中文``, and so do the patterns of classes and of ``--include`` and ``--exclude`` (ADR 30). The
escapes of ASCII stay: ``%2F`` in a path is no slash, and ``%20`` no space. The normal form of the
readable form is the URL again.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
# Printable by Unicode, and yet nothing is seen: fillers of Hangul and Braille, joiners, variation
# selectors. Two URLs that differ in one of them would look alike.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)


def readable(url: str) -> str:
    """Returns a URL, or a text with URLs, with escapes of printable characters in UTF-8 decoded.

    ``http://a.example/%E4%B8%AD%20?q=%C4%E3`` gives ``http://a.example/中%20?q=%C4%E3``: ASCII and
    bytes that are no UTF-8, here GBK, stay escapes, and so do spaces, control characters, marks
    that turn text around, and what cannot be seen.
    """
    return _ESCAPES.sub(_decoded, url) if "%" in url else url


def _decoded(match: re.Match[str]) -> str:
    raw = bytes.fromhex(match[0].replace("%", ""))
    # Each byte that is no part of a character becomes one lone surrogate, U+DC80..U+DCFF.
    text = raw.decode("utf-8", "surrogateescape")
    # Combining marks would change the character before the escapes.
    start = next((i for i, char in enumerate(text) if not unicodedata.combining(char)), len(text))
    head, text = _escaped(text[:start]), text[start:]
    if text.isprintable() and _UNSEEN.isdisjoint(text):
        return head + text
    return head + "".join(
        char if char.isprintable() and char not in _UNSEEN else _escaped(char) for char in text
    )


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogateescape"))
