"""Text of strangers in pages: characters that are invisible, or reorder a line, are made visible.

A title or an address can hold bidirectional overrides, control characters, and characters without
a shape; each is shown as its number, ``U+202E``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from itertools import groupby

from markupsafe import Markup, escape

JOINERS = frozenset("\u200c\u200d")
"""Kept in prose, where scripts and emoji need them; in addresses they are marked."""

SPACES = re.compile(r"[\t\n\r\f\v\u2028\u2029\u0085]+")


def _hidden(character: str, *, is_prose: bool = False) -> str:
    """What is shown for a character that has no shape, or reorders a line; ``""``: itself."""
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return ""
    return "" if is_prose and character in JOINERS else f"U+{ord(character):04X}"


def shown(text: object, *, is_prose: bool = False) -> Markup:
    """A text for HTML, isolated from the direction of what stands around it.

    Args:
        text: Any text; white space becomes single spaces.
        is_prose: Whether joiners are kept: for titles and bodies, not for addresses.
    """
    line = SPACES.sub(" ", str(text))
    if line.isprintable():
        return Markup("<bdi>{}</bdi>").format(line)
    marked = (
        Markup('<span class="ctl">{}</span>').format(name) * len([*run])
        if name
        else escape("".join(run))
        for name, run in groupby(line, partial(_hidden, is_prose=is_prose))
    )
    return Markup("<bdi>{}</bdi>").format(Markup("").join(marked))


def plain(text: object) -> str:
    """A text for ``<title>`` and attributes: hidden characters as ``[U+202E]``."""
    line = SPACES.sub(" ", str(text))
    if line.isprintable():
        return line
    return "".join(f"[{name}]" if (name := _hidden(each)) else each for each in line)
