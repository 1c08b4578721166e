"""What the head of a page and its JSON-LD say about it, as written: nothing is judged here."""

from __future__ import annotations

from dataclasses import dataclass, field

from cleaning.extract.linked_data import LinkedData, read_linked_data
from cleaning.source.tree import Tree
from cleaning.source.urls import resolve

_MAX_VALUE_CHARS = 2000
_AUTHOR_NAMES = frozenset(("author", "article:author", "dc.creator", "byl", "parsely-author"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a page says about itself.

    Attributes:
        meta: Content of each ``<meta>`` by its lower-case property, name, itemprop or http-equiv,
            as in the source; of equal names the first that says something.
        authors: Contents of all that name an author.
        canonical_url: Absolute, or None.
        data: What its JSON-LD says.
    """

    meta: dict[str, str] = field(default_factory=dict)
    authors: tuple[str, ...] = ()
    canonical_url: str | None = None
    data: LinkedData = field(default_factory=LinkedData)

    def said(self, name: str) -> str:
        """What a ``<meta>`` says, white space collapsed; ``""`` without it."""
        content = self.meta.get(name)
        return _collapsed(content) if content else ""


def read_declared(tree: Tree, base: str, encoding: str) -> Declared:
    """What a parsed page declares.

    Args:
        tree: The parsed page.
        base: Absolute URL its addresses are relative to.
        encoding: Python's name of the page's charset.
    """
    meta: dict[str, str] = {}
    authors: list[str] = []
    canonical: str | None = None
    for tag, attributes, _ in tree.head:
        get = attributes.get
        if tag == "meta":
            content = get("content")
            name = get("property") or get("name") or get("itemprop") or get("http-equiv")
            if not content or not name or content[:_MAX_VALUE_CHARS].isspace():
                continue
            name = name.strip().lower()
            if name in _AUTHOR_NAMES:
                authors.append(_collapsed(content))
            meta.setdefault(name, content)
        elif tag == "link" and canonical is None:
            rel, href = get("rel"), get("href")
            if rel and href and "canonical" in rel.lower().split():
                canonical = resolve(base, href, encoding)
    return Declared(
        meta=meta,
        authors=tuple(dict.fromkeys(authors)),
        canonical_url=canonical,
        data=read_linked_data(tree.scripts.data),
    )


def _collapsed(content: str) -> str:
    return " ".join(content[:_MAX_VALUE_CHARS].split())
