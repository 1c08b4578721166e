"""What a page says about itself: title, address, language. Nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cleaning.source.limits import Limits
from cleaning.source.tree import Tree
from cleaning.source.urls import resolve

MAX_TITLE_CHARS = Limits().max_title_chars
_PRIMARY = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_].*|\s*[,;].*|\s*)", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Attributes: title (``""`` without one), canonical_url (or None), language (or None)."""

    title: str
    canonical_url: str | None
    language: str | None


def extract_metadata(tree: Tree, base: str, encoding: str) -> Metadata:
    """Title, canonical address and language of a parsed page.

    Args:
        tree: The parsed page.
        base: Absolute URL its addresses are relative to.
        encoding: Python's name of the page's charset.
    """
    meta: dict[str, str] = {}
    canonical: str | None = None
    for element, _ in tree.head:
        if element.tag == "meta":
            name = element.get("property") or element.get("name") or element.get("http-equiv") or ""
            meta.setdefault(name.strip().lower(), " ".join((element.get("content") or "").split()))
        elif element.tag == "link" and "canonical" in (element.get("rel") or "").lower().split():
            href = element.get("href")
            canonical = canonical or (resolve(base, href, encoding) if href else None)
    title = tree.title or meta.get("og:title", "") or _first_heading(tree)
    return Metadata(
        title=title[:MAX_TITLE_CHARS],
        canonical_url=canonical,
        language=_language(tree, meta),
    )


def _first_heading(tree: Tree) -> str:
    for level, start, end in tree.headings:
        text = " ".join(tree.text(start, end).split()) if level == 1 else ""
        if text:
            return text
    return ""


def _language(tree: Tree, meta: dict[str, str]) -> str | None:
    said = (
        tree.root.get("lang"),
        tree.root.get("{http://www.w3.org/XML/1998/namespace}lang") or tree.root.get("xml:lang"),
        meta.get("content-language"),
        meta.get("language"),
    )
    for text in said:
        match = _PRIMARY.fullmatch(text) if text else None
        if match:
            return match[1].lower()
    return None
