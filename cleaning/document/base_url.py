"""The URL that the addresses of a page are relative to."""

from __future__ import annotations

from cleaning.document.tree import Tree
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.urls.normal_form import normalize, resolve

MAX_BASE_CHARS = 2048


def base_of(tree: Tree, url: str, encoding: str) -> tuple[str, tuple[PageWarning, ...]]:
    """The URL a page's addresses are relative to: its first ``<base href>``, else its own.

    A base too long to be the beginning of every address is not used, with a warning.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
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
