"""The links of a page with their kinds, and its outlinks for the frontier.

Anchor text, ``rel`` and URL of a link decide first (``evidence``); the other links are judged by
the block they stand in (``kinds``, over the counts of ``lists``), then by the model of the host
(``with_model``).

*Outlinks* are URLs to fetch: each once, in document order, pages only. Beside links they come from
frames, refreshes (meta, header, or the script of an empty page), ``rel=next`` and
``rel=canonical``. The page's own URL and
obvious assets (``data/asset_extensions.txt``) stay out. A URL that is found several times has its
first position and its best score.
"""

from __future__ import annotations

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.links.evidence import (
    MAX_WORDS_CHARS,
    OwnValues,
    judge_address,
    judge_words,
)
from crawlclean.cleaning.links.kinds import judge_links
from crawlclean.cleaning.links.lists import LinkLists
from crawlclean.cleaning.links.moves import REFRESH, moves
from crawlclean.cleaning.links.with_model import apply_model_to_links
from crawlclean.cleaning.model.places import SitePlaces
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import Link, LinkKind, Outlink, Via
from crawlclean.cleaning.urls.normal_form import is_asset, normalize, resolver

MAX_LINKS = 20_000
MAX_TEXT_CHARS = 2000
MAX_OUTLINKS = 20_000
_MAX_OUTLINK_CHARS = 80

# Expected worth of fetching by kind of link: content first, then pages that lead to content.
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


def read_links(
    document: Document, body: Body, title: str, places: SitePlaces | None = None
) -> tuple[tuple[Link, ...], tuple[PageWarning, ...]]:
    """Reads the first 20,000 ``<a>`` and ``<area>`` with an href, in document order; and warnings.

    Args:
        document: The parsed page.
        body: Its body.
        title: Its title without the site's name.
        places: The places of its host's model on the page, None without a model.
    """
    tree = document.tree
    own = read_anchors(document)
    lists = LinkLists(document, body, title, own)
    verdicts = judge_links(lists, own.known)
    links = tuple(
        [
            Link(
                href=anchor.href,
                url=url,
                text=text,
                title=hint,
                rel=rel,
                kind=kind,
                score=score,
                reason=reason,
            )
            for anchor, url, text, hint, rel, (kind, score, reason) in zip(
                tree.anchors, own.urls, own.texts, own.titles, own.rels, verdicts, strict=False
            )
        ]
    )
    if places is not None:
        links = apply_model_to_links(tree, links, places)
    return links, _warnings(len(tree.anchors) - len(links), own.cut_texts)


def read_anchors(document: Document) -> OwnValues:
    """Reads text, URL, title and rel of every anchor, and judges it by these alone.

    One loop for all, because a page has hundreds of links: a call for each value would cost more
    than reading it.
    """
    tree, host = document.tree, document.page.host
    runs = tree.texts
    url_of = resolver(document.base, document.page.encoding)
    resolved: dict[str, str] = {}
    found = OwnValues([], [], [], [], [], 0)
    texts, urls, titles, rels, known, cut_texts = found
    own = (f"http://{host}/", f"https://{host}/")
    for anchor in tree.anchors[:MAX_LINKS]:
        start, end = anchor.start, anchor.end
        text = ""
        if end - start == 1 and len(runs[start]) <= MAX_TEXT_CHARS:
            text = " ".join(runs[start].split())
        elif end > start:
            text, is_cut = _text_of(tree, start, end)
            cut_texts += is_cut
        href = anchor.href.strip()
        url = resolved.get(href)
        if url is None:
            url = resolved[href] = url_of(href) or ""
        attributes = anchor.attributes
        rel = hint = ""
        if len(attributes) > 1:
            if "rel" in attributes:
                rel = " ".join(attributes["rel"].lower().split())
            if "title" in attributes:
                hint = attributes["title"]
                if hint != text:
                    hint = " ".join(hint.split())
        verdict = judge_words(text) if 0 < len(text) <= MAX_WORDS_CHARS else None
        if verdict is None:
            is_own = url.startswith(own)
            if rel or not is_own or not href or href[0] == "#":
                verdict = judge_address(href, url, rel, is_own)
        texts.append(text)
        urls.append(url)
        titles.append(hint)
        rels.append(rel)
        known.append(verdict)
    return found._replace(cut_texts=cut_texts)


def _text_of(tree: Tree, start: int, end: int) -> tuple[str, bool]:
    """(text of an anchor's runs, whether it was cut): anchors may lie in each other."""
    texts, lines = tree.texts, tree.line_of
    if not _is_short(texts, start, end):
        return _beginning(texts, start, end), True
    if lines[start] == lines[end - 1]:
        return " ".join("".join(texts[start:end]).split()), False
    return tree.text(start, end).replace("\n", " "), False


def _is_short(texts: list[str], start: int, end: int) -> bool:
    """Whether the runs of an anchor have at most 2,000 characters."""
    room = MAX_TEXT_CHARS
    for i in range(start, end):
        room -= len(texts[i])
        if room < 0:
            return False
    return True


def _beginning(texts: list[str], start: int, end: int) -> str:
    """The first 2,000 characters of an anchor's text."""
    pieces: list[str] = []
    room = MAX_TEXT_CHARS
    for i in range(start, end):
        pieces.append(texts[i][:room])
        room -= len(pieces[-1])
        if room <= 0:
            break
    return " ".join(" ".join(pieces).split())


def _warnings(dropped: int, cut_texts: int) -> tuple[PageWarning, ...]:
    warnings = []
    if dropped:
        detail = f"kept the first {MAX_LINKS}"
        warnings.append(PageWarning(kind=WarningKind.CAPPED_LINKS, detail=detail, count=dropped))
    if cut_texts:
        detail = f"kept {MAX_TEXT_CHARS} characters of a link's text"
        warnings.append(PageWarning(kind=WarningKind.CAPPED_TEXT, detail=detail, count=cut_texts))
    return tuple(warnings)


def read_outlinks(
    document: Document, links: tuple[Link, ...]
) -> tuple[tuple[Outlink, ...], tuple[PageWarning, ...]]:
    """Returns the outlinks for the frontier, and warnings about broken hrefs or too many outlinks.

    Args:
        document: The parsed page; its own address is left out.
        links: All its links, as ``read_links`` gives them: one for each anchor of the tree.
    """
    found = _Found(own=normalize(document.page.url))
    url_of = resolver(document.base, document.page.encoding)
    for move in moves(document):
        target = url_of(move)
        if target:
            found.add(target, Via.META_REFRESH, LinkKind.OTHER, _SCORE_OF_VIA[Via.META_REFRESH], "")
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
    """The fields of the outlinks so far, as parallel lists."""

    def __init__(self, own: str) -> None:
        self.urls: list[str] = []
        self.vias: list[Via] = []
        self.kinds: list[LinkKind] = []
        self.scores: list[float] = []
        self.texts: list[str] = []
        self.dropped = 0
        self._places = {own: -1, "": -1}  # URL -> index in the lists; -1 for no outlink

    def add_links(self, links: tuple[Link, ...]) -> None:
        """Adds the links whose URL is new, or has a better score than before."""
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
                texts.append(link.text[:_MAX_OUTLINK_CHARS])
            elif place is None or scores[place] < score:
                add(url, via, kind, score, link.text[:_MAX_OUTLINK_CHARS])

    def add(self, url: str, via: Via, kind: LinkKind, score: float, text: str) -> None:
        """Adds a URL that is new, or raises its score."""
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
    """(via, href) of an element of ``Tree.head``; (None, None) when it leads to no page."""
    get = attributes.get
    if tag in {"frame", "iframe"}:
        src = get("src")
        # An empty src is the page itself again.
        return (Via.FRAME, src) if src and src.strip() else (None, None)
    if tag == "meta":
        if (get("http-equiv") or "").strip().lower() != "refresh":
            return None, None
        match = REFRESH.fullmatch((get("content") or "").strip())
        return (Via.META_REFRESH, match[1].strip("\"' \t\r\n\f")) if match else (None, None)
    if tag == "link":
        rel = (get("rel") or "").lower().split()
        if "next" in rel:
            return Via.NEXT, get("href")
        if "canonical" in rel:
            return Via.CANONICAL, get("href")
    return None, None
