"""Addresses whose words are replaced by letters; marks, digits, ending and scheme stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from benchmarks.robust.letters import letters_for

_ABSOLUTE = re.compile(r"^(\w+:)?//([^/?#]*)(.*)$", re.S)
_OTHER_SCHEME = re.compile(r"^\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.I)
# Escapes and the ending of a file stay as they are.
_PIECE = re.compile(r"%[0-9A-Fa-f]{2}|\.[A-Za-z]{2,5}(?=$|[?#;])|[A-Za-z]+")
_ATTRIBUTES = ("href", "src", "action", "data-url", "data-href", "data-src", "cite", "longdesc")
_METAS = ("og:url", "twitter:url")


def blank_url(key: str, url: str) -> str:
    """Returns an address without words: ``http://fqzkb.test/kwbtx.php?z=5`` of a thread's.

    Args:
        key: The host whose copy is made; equal words become equal letters under one key.
        url: An address, absolute or relative.
    """
    if url.startswith("#") or _OTHER_SCHEME.match(url):
        return url
    match = _ABSOLUTE.match(url)
    if match is None:
        return _without_words(key, url)
    scheme, host, rest = match.groups()
    name, _, top = host.rpartition(".")
    known = _without_words(key, name) + "." + top if name else host
    return f"{scheme or ''}//{known}{_without_words(key, rest)}"


def blank_addresses(key: str, root: HtmlElement) -> None:
    """Replaces the words of all addresses of a page, and nothing else."""
    for element, name in _addresses(root):
        element.set(name, blank_url(key, element.get(name, "")))


def _addresses(root: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    for element in root.iter("*"):
        for name in _ATTRIBUTES:
            if element.get(name):
                yield element, name
        if element.tag == "meta" and (element.get("property") or element.get("name")) in _METAS:
            yield element, "content"


def _without_words(key: str, text: str) -> str:
    def letters(match: re.Match[str]) -> str:
        word = match[0]
        return word if word[0] in "%." else letters_for(key, word.lower())

    # A fragment names a place of a page, which keeps its id.
    address, mark, fragment = text.partition("#")
    return _PIECE.sub(letters, address) + mark + fragment
