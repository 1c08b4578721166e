"""URL shapes: the path and query of a URL with slots for words, numbers and names.

Paper 5 splits a URL at every character that is neither letter nor digit and types the blocks. Here
a block is a *slot* with its value:

- ``{n}``: digits;
- ``{w}``: words joined by ``-`` or ``_`` (a slug has any number of them);
- ``{x}``: letters and digits mixed;
- ``{s}``: text with escapes, and other values of a query.

Parameters are sorted; their names belong to the shape. URLs of one host with one shape and equal
words in some slots are a class (``url_classes/classes.py``).

``/thread-170-page-2.html?order=asc`` has the shape ``/{w}-{n}-{w}-{n}.html?order={w}`` and the
values ``thread, 170, page, 2, asc``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# The readable form of a URL: characters of other scripts in place of their escapes.
#
# In the normal form a Chinese path is a row of escapes, ``/%E4%B8%AD%E6%96%87``. People read it as
# ``/中文``, and so do the patterns of classes and of ``--include`` and ``--exclude`` (ADR 30). The
# escapes of ASCII stay: ``%2F`` in a path is no slash, and ``%20`` no space. The normal form of the
# readable form is the URL again.

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


MAX_CHARS = 1_000  # of path and query, readable; all longer ones have the shape ``LONG``
MAX_SLOTS = 40  # of a shape: a URL of many numbers would make a shape of its own each time
LONG = "{long}"
# Values for the slots of a template when it is read like a URL; a word with a hyphen is no
# extension.
_ANY = {"{n}": "0", "{w}": "zq-z", "{x}": "0zq0", "{s}": "%00"}
_PLACEHOLDER = re.compile(r"\{[nwxs]\}")

_BLOCK = re.compile(
    r"([A-Za-z]*+[0-9]++[A-Za-z][A-Za-z0-9]*+|[A-Za-z]++(?:[-_]++[A-Za-z]++)*|[0-9]++)"
)
# A number at the end of a name with escapes is an id of its own.
_NUMBER_AT_END = re.compile(r"[-_.~,][0-9]++$")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_WORDS = re.compile(r"[A-Za-z]++(?:[-_.]++[A-Za-z]++)*")
_NAME = re.compile(r"[A-Za-z0-9_.\[\]-]{1,32}")
_DIGITS = re.compile(r"[0-9]+")


class UrlShape(NamedTuple):
    """The shape of a URL, and the value of each slot in order."""

    key: str
    values: tuple[str, ...]


def shape_of(url: str) -> UrlShape:
    """Returns the shape of an absolute URL in normal form."""
    return shape_of_target(url[max(url.find("/", url.find("//") + 2), 0) :])


@lru_cache(maxsize=8192)
def shape_of_target(target: str) -> UrlShape:
    """Returns the shape of a URL's path and query: of ``/thread-170.html``, ``/{w}-{n}.html``."""
    if len(target) > MAX_CHARS and len(readable(target)) > MAX_CHARS:
        return UrlShape(LONG, ())
    path, _, query = target.partition("?")
    values: list[str] = []
    name = path[path.rfind("/") + 1 :]
    dot = _EXTENSION.search(name) if "." in name else None
    extension = dot[0] if dot and dot.start() else ""
    if extension:
        path = path[: -len(extension)]
    key = _read(path, values) + extension.lower()
    if query:
        named = sorted(_parameters(query), key=lambda found: found[0])
        if named:
            key += "?" + "&".join([shown for shown, _ in named])
            for _, found in named:
                values.extend(found)
    if len(values) > MAX_SLOTS:
        return UrlShape(LONG, ())
    return UrlShape(key, tuple(values))


@lru_cache(maxsize=4096)
def word_slots(key: str) -> tuple[int, ...]:
    """Returns the numbers of the ``{w}`` slots of a shape: ``(0,)`` of ``/{w}-{n}.html``."""
    slots = _PLACEHOLDER.findall(key)
    return tuple(i for i, slot in enumerate(slots) if slot == "{w}")


def read_template(template: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Splits a template into its shape and its fixed slots, (number, value) each.

    ``/thread-{n}.html`` gives ``("/{w}-{n}.html", ((0, "thread"),))``.
    """
    shape = shape_of_target(example_of(template))
    wild = set(_ANY.values())
    return shape.key, tuple((i, v) for i, v in enumerate(shape.values) if v not in wild)


def example_of(template: str) -> str:
    """Returns a path and query that a template fits: ``/thread-0.html``."""
    return _PLACEHOLDER.sub(lambda match: _ANY[match[0]], template)


def template_of_words(key: str, words: tuple[tuple[int, str], ...]) -> str:
    """Returns the template of a shape and fixed slots; the reverse of ``read_template``."""
    by_slot = dict(words)
    slots = iter(range(key.count("{")))

    def fill(match: re.Match[str]) -> str:
        return by_slot.get(next(slots), match[0])

    return _PLACEHOLDER.sub(fill, key)


def _read(text: str, values: list[str]) -> str:
    """The shape of a path or value; appends the slot values to ``values``."""
    if "%" not in text:
        return _blocks(text, values)
    shown = []
    for segment in text.split("/"):
        if "%" not in segment:
            shown.append(_blocks(segment, values))
            continue
        number = _NUMBER_AT_END.search(segment)
        end = number.start() if number else len(segment)
        values.append(segment[:end])
        shown.append("{s}" + _blocks(segment[end:], values))
    return "/".join(shown)


def _blocks(text: str, values: list[str]) -> str:
    """The shape of text without escapes; appends the slot values to ``values``."""
    parts = _BLOCK.split(text)
    for i in range(1, len(parts), 2):
        block = parts[i]
        values.append(block)
        if block.isdigit():
            parts[i] = "{n}"
        elif block[-1].isdigit() or any(map(str.isdigit, block)):
            parts[i] = "{x}"
        else:
            parts[i] = "{w}"
    return "".join(parts)


def _parameters(query: str) -> list[tuple[str, list[str]]]:
    """(``name={slot}``, its values) of each parameter of a query, each name once."""
    found: dict[str, tuple[str, list[str]]] = {}
    for part in query.replace(";", "&").split("&"):
        if not part:
            continue
        name, mark, value = part.partition("=")
        if not mark:
            values: list[str] = []
            shown = _read(part, values)
            found.setdefault(shown, (shown, values))
            continue
        if not _NAME.fullmatch(name):
            name = "*"
        name = _DIGITS.sub("0", name)
        slot = "n" if value.isdigit() else "w" if _WORDS.fullmatch(value) else "s"
        read = (f"{name}={{{slot}}}", [value]) if value else (f"{name}=", [])
        found.setdefault(name, read)
    return list(found.values())
