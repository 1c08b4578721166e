"""What the head of a page and its JSON-LD say about it, as written: nothing is judged here."""

from __future__ import annotations

from dataclasses import dataclass, field

from cleaning.document.tree import Tree
from cleaning.metadata.linked_data import LinkedData, read_linked_data
from cleaning.urls.normal_form import resolve

_MAX_VALUE_CHARS = 2000
_AUTHOR_NAMES = frozenset(("author", "article:author", "dc.creator", "byl", "parsely-author"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a page says about itself.

    Attributes:
        meta: Content of each ``<meta>`` by its name, as in the source (``Tree.metas``).
        authors: Contents of all that name an author.
        canonical_url: Absolute, or None.
        data: What its JSON-LD says.
    """

    meta: dict[str, str] = field(default_factory=dict)
    authors: tuple[str, ...] = ()
    canonical_url: str | None = None
    data: LinkedData = field(default_factory=LinkedData)

    def said(self, *names: str) -> list[str]:
        """What the metas of these names say, white space collapsed."""
        meta = self.meta
        return [_collapsed(meta[name]) for name in names if name in meta]


def read_declared(tree: Tree, base: str, encoding: str) -> Declared:
    """What a parsed page declares.

    Args:
        tree: The parsed page.
        base: Absolute URL its addresses are relative to.
        encoding: Python's name of the page's charset.
    """
    canonical: str | None = None
    for tag, attributes, _ in tree.head:
        if tag == "link" and canonical is None:
            rel, href = attributes.get("rel"), attributes.get("href")
            if rel and href and "canonical" in rel.lower().split():
                canonical = resolve(base, href, encoding)
    meta = tree.metas
    authors = [(name, meta[name]) for name in meta if name in _AUTHOR_NAMES]
    authors += [each for each in tree.more_metas if each[0] in _AUTHOR_NAMES]
    return Declared(
        meta=meta,
        authors=tuple(dict.fromkeys(_collapsed(content) for _, content in authors)),
        canonical_url=canonical,
        data=read_linked_data(tree.scripts.data),
    )


def _collapsed(content: str) -> str:
    return " ".join(content[:_MAX_VALUE_CHARS].split())
