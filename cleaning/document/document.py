"""One page, parsed once: what every step of reading it needs to know."""

from __future__ import annotations

from dataclasses import dataclass

from cleaning.document.declared import Declared, read_declared
from cleaning.document.raw_page import RawPage
from cleaning.document.reader import parse
from cleaning.document.tree import Tree
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.urls.normal_form import normalize, resolve

MAX_BASE_CHARS = 2048  # of a base URL, which would be the beginning of every address of the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One parsed page with its address.

    Attributes:
        page: The page as fetched: ``page.url``, ``page.host``, ``page.encoding``.
        tree: Its text, blocks, links and pictures.
        base: Absolute URL its addresses are relative to, such as ``http://news.example/2024/``.
        declared: What its head and its JSON-LD declare.
        warnings: What decoding and parsing capped, guessed or gave up.
    """

    page: RawPage
    tree: Tree
    base: str
    declared: Declared
    warnings: tuple[PageWarning, ...] = ()


def read_document(page: RawPage) -> Document:
    """Parses a page and collects what it declares.

    Raises:
        InvalidUrl: The page's own URL is no absolute http(s) URL.
    """
    tree = parse(page.html)
    base, base_warnings = _base_of(tree, page.url, page.encoding)
    return Document(
        page=page,
        tree=tree,
        base=base,
        declared=read_declared(tree, base, page.encoding),
        warnings=page.warnings + tree.warnings + base_warnings,
    )


def _base_of(tree: Tree, url: str, encoding: str) -> tuple[str, tuple[PageWarning, ...]]:
    """The first ``<base href>`` of a page as an absolute URL, else the page's own URL.

    A base of more than 2,048 characters is not used, with a warning.
    """
    for tag, attributes, _ in tree.head:
        href = attributes.get("href") if tag == "base" else None
        if href is not None:
            base = resolve(url, href, encoding) or normalize(url)
            if len(base) <= MAX_BASE_CHARS:
                return base, ()
            detail = f"a base of {len(base)} characters is not used"
            return normalize(url), (PageWarning(kind=WarningKind.LONG_BASE, detail=detail),)
    return normalize(url), ()
