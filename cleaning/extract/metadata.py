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
    for tag, attributes, _ in tree.head:
        get = attributes.get
        if tag == "meta":
            name = get("property") or get("name") or get("http-equiv") or ""
            meta.setdefault(name.strip().lower(), " ".join((get("content") or "").split()))
        elif tag == "link" and "canonical" in (get("rel") or "").lower().split():
            href = get("href")
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
        tree.attributes.get("lang"),
        tree.attributes.get("xml:lang"),
        meta.get("content-language"),
        meta.get("language"),
    )
    for text in said:
        match = _PRIMARY.fullmatch(text) if text else None
        if match:
            return match[1].lower()
    return None
