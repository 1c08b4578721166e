"""The readable form of a URL: characters of other scripts in place of their escapes.

In the normal form a Chinese path is a row of escapes, ``/%E4%B8%AD%E6%96%87``; readers and the
patterns of ``--include`` and ``--exclude`` count its characters, ``/中文``. The escapes of ASCII
stay: ``%2F`` in a path is no slash, and ``%20`` no space.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")


def readable(url: str) -> str:
    """Returns a URL with its escapes of printable characters in UTF-8, but for ASCII, decoded.

    ``http://a.example/%E4%B8%AD%20?q=%C4%E3`` gives ``http://a.example/中%20?q=%C4%E3``: bytes that
    are no UTF-8, here GBK, stay escapes, and so do control characters and marks that turn text
    around.
    """
    return _ESCAPES.sub(_decoded, url) if "%" in url else url


def _decoded(match: re.Match[str]) -> str:
    raw = bytes.fromhex(match[0].replace("%", ""))
    # Each byte that is no part of a character becomes one lone surrogate, U+DC80..U+DCFF.
    text = raw.decode("utf-8", "surrogateescape")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
