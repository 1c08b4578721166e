"""The outlinks of a page, for the frontier: each URL once, in document order, pages only.

Beside links: frames, ``<meta http-equiv=refresh>``, ``rel=next`` and ``rel=canonical``. The page's
own URL and obvious assets (``data/asset_extensions.txt``) stay out. A URL that is found several
times has its first position and its best score.
"""

from __future__ import annotations

import re

from cleaning.document.document import Document
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.records import Link, LinkKind, Outlink, Via
from cleaning.urls.assets import is_asset
from cleaning.urls.normal_form import normalize, resolver

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
# Possessive: white space must not be shared out between neighbours in every way.
_REFRESH = re.compile(r"[\d.]*+\s*+[;,]?+\s*+(?:url\s*+=\s*+)?+[\"']?+(.+)", re.I | re.S)


def read_outlinks(
    document: Document, links: tuple[Link, ...]
) -> tuple[tuple[Outlink, ...], tuple[PageWarning, ...]]:
    """Return the outlinks for the frontier, and warnings about hrefs that were no URL or too many.

    Args:
        document: The parsed page; its own address is left out.
        links: All its links, as ``read_links`` gives them: one for each anchor of the tree.
    """
    found = _Found(own=normalize(document.page.url))
    url_of = resolver(document.base, document.page.encoding)
    done = 0
    for tag, attributes, before in document.tree.head:
        via, href = _of_head(tag, attributes)
        if via is None or not href:
            continue
        found.add_links(links[done:before])
        done = before
        target = url_of(href)
        if target:
            found.add(target, via, LinkKind.OTHER, _SCORE_OF_VIA[via], "")
    found.add_links(links[done:])
    warnings = []
    if found.dropped:
        detail = f"kept the first {MAX_OUTLINKS}"
        warning = PageWarning(kind=WarningKind.CAPPED_LINKS, detail=detail, count=found.dropped)
        warnings.append(warning)
    bad = sum(not link.url and link.kind is LinkKind.OTHER for link in links)
    if bad:
        warnings.append(PageWarning(kind=WarningKind.BAD_LINKS, count=bad))
    columns = zip(found.urls, found.vias, found.kinds, found.scores, found.texts, strict=True)
    outlinks = [
        Outlink(url=url, via=via, kind=kind, score=score, text=text)
        for url, via, kind, score, text in columns
    ]
    return tuple(outlinks), tuple(warnings)


class _Found:
    """The fields of the outlinks so far, in lists that run parallel."""

    def __init__(self, own: str) -> None:
        self.urls: list[str] = []
        self.vias: list[Via] = []
        self.kinds: list[LinkKind] = []
        self.scores: list[float] = []
        self.texts: list[str] = []
        self.dropped = 0
        self._places = {own: -1, "": -1}  # of each URL in the lists; -1: it is not to be there

    def add_links(self, links: tuple[Link, ...]) -> None:
        """Add the links whose URL is new, or has a better score than before."""
        places, scores, add = self._places, self.scores, self.add
        urls, vias, kinds, texts = self.urls, self.vias, self.kinds, self.texts
        by_link = Via.LINK
        for link in links:
            url = link.url
            place = places.get(url)
            # A link to a fragment of its own page is no outlink.
            if place == -1 or link.href.startswith("#"):
                continue
            via, kind = by_link, link.kind
            score = _SCORES[kind]
            if link.rel and "next" in link.rel.split():
                via, score = Via.NEXT, _SCORE_OF_VIA[Via.NEXT]
            if place is None and len(urls) < MAX_OUTLINKS and not is_asset(url):
                # The common case of ``add``, without the call.
                places[url] = len(urls)
                urls.append(url)
                vias.append(via)
                kinds.append(kind)
                scores.append(score)
                texts.append(link.text[:MAX_TEXT_CHARS])
            elif place is None or scores[place] < score:
                add(url, via, kind, score, link.text[:MAX_TEXT_CHARS])

    def add(self, url: str, via: Via, kind: LinkKind, score: float, text: str) -> None:
        """Add an address that is new, or better than it was."""
        place = self._places.get(url)
        if place is None:
            if is_asset(url):
                self._places[url] = -1
            elif len(self.urls) >= MAX_OUTLINKS:
                self.dropped += 1
            else:
                self._places[url] = len(self.urls)
                self.urls.append(url)
                self.vias.append(via)
                self.kinds.append(kind)
                self.scores.append(score)
                self.texts.append(text)
        elif place >= 0 and self.scores[place] < score:
            self.vias[place], self.kinds[place] = via, kind
            self.scores[place], self.texts[place] = score, text


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
