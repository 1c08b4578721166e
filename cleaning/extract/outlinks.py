"""The addresses the frontier gets from a page: each once, in document order, pages only.

Beside links: frames, ``<meta http-equiv=refresh>``, ``rel=next`` and ``rel=canonical``. The page's
own address and obvious assets (``data/asset_extensions.txt``) stay out. Where one address is found
several times, the best score counts and the first place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cleaning.records import Link, LinkKind, Outlink, PageWarning, Via, WarningKind
from cleaning.source.tree import Tree
from cleaning.source.urls import normalize, resolve
from cleaning.source.word_lists import word_list

MAX_OUTLINKS = 20_000
MAX_TEXT_CHARS = 80

# Expected worth of fetching, by what a link is: content first, then what leads to content.
_SCORES = {
    LinkKind.RELATED: 0.9,
    LinkKind.BODY: 0.8,
    LinkKind.HOT: 0.7,
    LinkKind.OTHER: 0.6,
    LinkKind.NAVIGATION: 0.5,
    LinkKind.TAG: 0.4,
    LinkKind.FUNCTION: 0.1,
    LinkKind.LEGAL: 0.1,
    LinkKind.AD: 0.05,
}
_SCORE_OF_VIA = {Via.FRAME: 0.9, Via.META_REFRESH: 0.9, Via.NEXT: 0.8, Via.CANONICAL: 0.7}
_Found = tuple[str, float, Via, LinkKind, str]  # the fields of an Outlink
# Possessive: white space must not be shared out between neighbours in every way.
_REFRESH = re.compile(r"[\d.]*+\s*+[;,]?+\s*+(?:url\s*+=\s*+)?+[\"']?+(.+)", re.I | re.S)


def extract_outlinks(
    tree: Tree, links: tuple[Link, ...], url: str, base: str, encoding: str
) -> tuple[tuple[Outlink, ...], tuple[PageWarning, ...]]:
    """What the frontier gets, and warnings about hrefs that were no URL or too many.

    Args:
        tree: The parsed page.
        links: All its links, as ``extract_links`` gives them: one for each anchor of the tree.
        url: The page's own address; it is left out.
        base: Absolute URL its addresses are relative to.
        encoding: Python's name of the page's charset.
    """
    own = normalize(url)
    found: dict[str, _Found] = {}
    dropped = 0
    for one in _in_order(tree, links, base, encoding):
        known = found.get(one[0])
        if known is None:
            if one[0] == own or is_asset(one[0]):
                continue
            if len(found) >= MAX_OUTLINKS:
                dropped += 1
                continue
        elif known[1] >= one[1]:
            continue
        found[one[0]] = one
    warnings = []
    if dropped:
        detail = f"kept the first {MAX_OUTLINKS}"
        warnings.append(PageWarning(kind=WarningKind.CAPPED_LINKS, detail=detail, count=dropped))
    bad = sum(not link.url and link.kind is LinkKind.OTHER for link in links)
    if bad:
        warnings.append(PageWarning(kind=WarningKind.BAD_LINKS, count=bad))
    outlinks = tuple(
        Outlink(url=target, via=via, kind=kind, score=score, text=text)
        for target, score, via, kind, text in found.values()
    )
    return outlinks, tuple(warnings)


def is_asset(url: str) -> bool:
    """Whether the extension of a URL's path says that it is no page."""
    end = url.find("?")
    name = url[url.rfind("/", 0, end if end >= 0 else None) + 1 : end if end >= 0 else None]
    dot = name.rfind(".")
    return dot >= 0 and len(name) - dot <= 9 and name[dot + 1 :].lower() in _extensions()


def _extensions() -> frozenset[str]:
    return word_list("asset_extensions")


def _in_order(tree: Tree, links: tuple[Link, ...], base: str, encoding: str) -> Iterator[_Found]:
    done = 0
    for tag, attributes, before in tree.head:
        yield from _of_links(links[done:before])
        done = before
        via, href = _of_head(tag, attributes)
        target = resolve(base, href, encoding) if via and href else None
        if via and target:
            yield target, _SCORE_OF_VIA[via], via, LinkKind.OTHER, ""
    yield from _of_links(links[done:])


def _of_links(links: tuple[Link, ...]) -> Iterator[_Found]:
    for link in links:
        # A link to a place on its own page says nothing new.
        if not link.url or link.href.startswith("#"):
            continue
        if link.rel and "next" in link.rel.split():
            via, score = Via.NEXT, _SCORE_OF_VIA[Via.NEXT]
        else:
            via, score = Via.LINK, _SCORES[link.kind]
        yield link.url, score, via, link.kind, link.text[:MAX_TEXT_CHARS]


def _of_head(tag: str, attributes: dict[str, str]) -> tuple[Via | None, str | None]:
    get = attributes.get
    if tag in {"frame", "iframe"}:
        src = get("src")
        # An empty src is the page itself again.
        return (Via.FRAME, src) if src and src.strip() else (None, None)
    if tag == "meta":
        if (get("http-equiv") or "").strip().lower() != "refresh":
            return None, None
        match = _REFRESH.fullmatch((get("content") or "").strip())
        return (Via.META_REFRESH, match[1].strip("\"' \t\r\n\f")) if match else (None, None)
    if tag == "link":
        rel = (get("rel") or "").lower().split()
        if "next" in rel:
            return Via.NEXT, get("href")
        if "canonical" in rel:
            return Via.CANONICAL, get("href")
    return None, None
