"""Text of strangers in pages: characters that are invisible, or reorder a line, are made visible.

A title or an address can hold bidirectional overrides, control characters, and characters without
a shape; each is shown as its number, ``U+202E``.
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

JOINERS = frozenset("\u200c\u200d")
"""Kept in prose, where scripts and emoji need them; in addresses they are marked."""

SPACES = re.compile(r"[\t\n\r\f\v\u2028\u2029\u0085]+")


def _is_hidden(character: str, *, is_prose: bool) -> bool:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return False
    return not (is_prose and character in JOINERS)


def _parts(text: str, *, is_prose: bool) -> list[tuple[bool, str]]:
    """Runs of a text: (whether it is a hidden character, text)."""
    found: list[tuple[bool, str]] = []
    run: list[str] = []
    for character in text:
        if _is_hidden(character, is_prose=is_prose):
            if run:
                found.append((False, "".join(run)))
                run = []
            found.append((True, f"U+{ord(character):04X}"))
        else:
            run.append(character)
    if run:
        found.append((False, "".join(run)))
    return found


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
        Markup('<span class="ctl">{}</span>').format(part) if is_hidden else escape(part)
        for is_hidden, part in _parts(line, is_prose=is_prose)
    )
    return Markup("<bdi>{}</bdi>").format(Markup("").join(marked))


def plain(text: object) -> str:
    """A text for ``<title>`` and attributes: hidden characters as ``[U+202E]``."""
    line = SPACES.sub(" ", str(text))
    if line.isprintable():
        return line
    return "".join(
        f"[{part}]" if is_hidden else part for is_hidden, part in _parts(line, is_prose=False)
    )
