"""The links of a page with their kinds, and its outlinks for the frontier.

Anchor text, ``rel`` and URL of a link decide first (``evidence``); the other links are judged by
the block they stand in (``kinds``, over the counts of ``lists``), then by the model of the host
(``apply_model_to_links``).

*Outlinks* are URLs to fetch: each once, in document order, pages only. Beside links they come from
frames, refreshes (meta, header, or the script of an empty page), ``rel=next`` and
``rel=canonical``. The page's own URL and
obvious assets (``data/asset_extensions.txt``) stay out. A URL that is found several times has its
first position and its best score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import Anchor, Tree
from crawlclean.cleaning.links.evidence import (
    HEADLINE_UNITS,
    MAX_WORDS_CHARS,
    OwnValues,
    Verdict,
    headline_units,
    is_home,
    judge_address,
    judge_words,
)
from crawlclean.cleaning.links.kinds import judge_links
from crawlclean.cleaning.links.lists import LinkLists
from crawlclean.cleaning.model.paths import line_key
from crawlclean.cleaning.model.rules import LinkPlace
from crawlclean.cleaning.model.site_model import SitePlaces
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import Link, LinkKind, LinkReason, Outlink, Via
from crawlclean.cleaning.urls.normal_form import is_asset, normalize, resolver

# Where a page sends its reader at once: by the header Refresh, or by a script of an empty page.
#
# A script counts in a page with next to no text, and only as a plain assignment of one string:
# ``location = "/x"``, ``window.location.href = '/x'``, ``location.replace("/x")``. What a script
# puts together or asks for before stays with the browser.

MAX_MOVED_CHARS = 100  # "Loading, please wait. If nothing happens, click here."
MAX_SOURCE_CHARS = 64 << 10  # an entry page is short; a longer one is made by its scripts
# Possessive: white space must not be shared out between neighbours in every way.
REFRESH = re.compile(r"[\d.]*+\s*+[;,]?+\s*+(?:url\s*+=\s*+|(?!url\s*+=))[\"']?+(.+)", re.I | re.S)
_MOVE = re.compile(
    r"(?<![\w$.])(?:(?:window|self|top|parent|document|this)\.){0,3}location"
    r"(?:(?:\.href)?\s*+=\s*+|\.(?:replace|assign)\s*+\(\s*+)"
    r"([\"'])((?:[^\"'\\<>\s]|\\/){1,2048})\1(?!\s*+[+.?])"
)


def moves(document: Document) -> Iterator[str]:
    """Yields the hrefs, ``/x``, in the order of the source; the header comes first."""
    for name, value in document.page.headers:
        found = REFRESH.fullmatch(value.strip()) if name.lower() == "refresh" else None
        if found:
            yield found[1].strip("\"' \t\r\n\f")
    if len(document.page.html) > MAX_SOURCE_CHARS or _has_text(document.tree.texts):
        return
    for move in _MOVE.finditer(document.page.html):
        yield move[2].replace("\\/", "/")


def _has_text(texts: list[str]) -> bool:
    room = MAX_MOVED_CHARS
    for text in texts:
        room -= len(text)
        if room < 0:
            return True
    return False


# The kinds of a page's links by the model of its host; the page's own verdicts come first.
#
# A *slot* is a container path at which the host's pages have links of one kind. The first evidence
# that applies decides:
#
# 1. In a body found by the model: BODY, also for words and fragments of the page, unless most pages
#    have the URL and its line, the line is no sentence, and no list of the page explains the
#    repeats.
# 2. A URL that many pages of the host link to (paper 3, m2): of the host's frame, with its kind on
#    the page. Where that is RELATED, BODY or OTHER, and rests on the look of a list or most pages
#    link there, a headline is HOT, others NAVIGATION. Exceptions: a slot of related links keeps
#    links that repeat, and a related link stays one where an unchanging list of the page has it,
#    too.
# 3. Headlines behind the body that no heading governs and no other page has: OTHER, for nothing
#    proves them noise.
# 4. Links of a slot of one kind: that kind, where the page's verdict rests on the look of a list.

# Verdicts that rest on the look of a list alone.
_WEAK_LINKS = frozenset((LinkReason.LINK_LIST, LinkReason.HEADLINES, LinkReason.NO_EVIDENCE))
_SURE_LINKS = frozenset((LinkReason.REL, LinkReason.URL_SHAPE))
# Kinds that change with the page.
_CHANGING = frozenset((LinkKind.RELATED, LinkKind.TAG, LinkKind.BODY, LinkKind.OTHER))
_NO_FRAME = frozenset((LinkKind.RELATED, LinkKind.BODY, LinkKind.OTHER))
_SENTENCE_CHARS = 20  # least other text on a link's line, besides twice the link, of a sentence
_OFTEN_SHARE = 0.5  # share of pages (m2) from which a URL is noise whatever its kind on the page
_SLOT_SHARE = 0.8  # share of its kind from which a slot decides
_SLOT_PAGES = 3  # fewest pages a slot was learned from
_SURE_SCORE = 0.5  # score of a page's verdict below which a list is popular only where it repeats
# Looking up a member of an enumeration takes ten times as long as a name.
_BODY, _IN_BODY, _NOTHING = LinkKind.BODY, LinkReason.IN_BODY, LinkReason.NO_EVIDENCE


def apply_model_to_links(
    tree: Tree, links: tuple[Link, ...], places: SitePlaces
) -> tuple[Link, ...]:
    """Returns the links of a page with the kinds that the model gives them.

    Args:
        tree: The page.
        links: Its links, one for each of the first anchors of the tree.
        places: The model, and its places on the page.
    """
    judge = _Judge(tree, links, places).verdict
    applied = list(links)
    for i, (link, anchor) in enumerate(zip(links, tree.anchors, strict=False)):
        verdict = judge(link, anchor)
        if verdict is not None:
            kind, score, reason = verdict
            applied[i] = replace(link, kind=kind, score=score, reason=reason)
    return tuple(applied)


class _Judge:
    """Judges links by the model, where that overrules the page."""

    def __init__(self, tree: Tree, links: tuple[Link, ...], places: SitePlaces) -> None:
        model = places.model
        self._tree = tree
        self._slots = places.links
        self._shares = model.noise.links
        self._in_body = places.in_body(tree)
        self._template = model.index.often
        self._has_others = model.page_count > 1
        self._is_elsewhere = _elsewhere(tree, links, self._in_body)

    def verdict(self, link: Link, anchor: Anchor) -> Verdict | None:
        """Returns the model's verdict on a link; None where the page's stands."""
        url, reason = link.url, link.reason
        share = self._shares.get(url, 0.0) if url else 0.0
        if self._in_body[anchor.block] and not (
            share > _OFTEN_SHARE
            and _is_template(self._tree, anchor, self._template, link.text)
            and not self._is_elsewhere(url)
        ):
            if link.kind is not _BODY and reason is not _IN_BODY and _is_reference(link):
                return _BODY, 0.8, _IN_BODY
            return None
        if not (share or link.text) and reason is _NOTHING and is_asset(url):
            return _BODY, 0.5, LinkReason.SAME_ADDRESS  # a larger picture
        slot = self._slots.get(anchor.block)
        if share and (reason in _WEAK_LINKS or self._is_noise(link, share, slot)):
            return _repeating(link, share)
        if (
            link.kind is LinkKind.HOT
            and link.score < _SURE_SCORE
            and self._has_others
            and not share
        ):
            return LinkKind.OTHER, link.score, LinkReason.HOST_CHANGES
        return _of_slot(link, slot)

    def _is_noise(self, link: Link, share: float, slot: LinkPlace | None) -> bool:
        """Whether most pages link to a URL whose kind changes with the page."""
        return (
            share >= _OFTEN_SHARE
            and link.kind in _CHANGING
            and not _is_related(slot)
            and not (link.kind is LinkKind.RELATED and self._is_elsewhere(link.url))
        )


def _repeating(link: Link, share: float) -> Verdict:
    """Judges a link whose URL is noise: of the page's kind where noise or a tag has that kind.

    Repeating proves that a link is of the host's frame, not its kind; elsewhere a headline is HOT,
    and all else NAVIGATION.
    """
    kind = link.kind
    if kind in _NO_FRAME:
        is_headline = headline_units(link.text) >= HEADLINE_UNITS
        kind = LinkKind.HOT if is_headline and not is_home(link.url) else LinkKind.NAVIGATION
    return kind, min(0.5 + share / 2, 1.0), LinkReason.HOST_REPEATS


def _of_slot(link: Link, slot: LinkPlace | None) -> Verdict | None:
    """Judges a link by its slot, where the page has only the look of a list."""
    if (
        slot is not None
        and link.reason in _WEAK_LINKS
        and slot.kind not in (link.kind, _BODY)
        and slot.share >= _SLOT_SHARE
        and slot.on.bit_count() >= _SLOT_PAGES
    ):
        return slot.kind, slot.share, LinkReason.HOST_PLACE
    return None


def _is_related(slot: LinkPlace | None) -> bool:
    """Whether a slot has related links, not all of which repeat."""
    if slot is None or slot.kind is not LinkKind.RELATED:
        return False
    return slot.share >= _SLOT_SHARE and slot.repeats < _OFTEN_SHARE


def _elsewhere(tree: Tree, links: tuple[Link, ...], in_body: list[bool]) -> Callable[[str], bool]:
    """Returns the test whether a list that does not change with the page links to a URL, too."""
    found: set[str] = set()

    def is_elsewhere(url: str) -> bool:
        if not found:
            found.add("")
            found.update(
                link.url
                for link, anchor in zip(links, tree.anchors, strict=False)
                if link.kind not in _CHANGING and not in_body[anchor.block]
            )
        return url in found

    return is_elsewhere


def _is_template(tree: Tree, anchor: Anchor, template: frozenset[str], text: str) -> bool:
    """Whether a link has no text, or its line is on most pages and no sentence around it."""
    if anchor.start >= anchor.end:
        return True
    line = tree.line_text(tree.line_of[anchor.start])
    return len(line) < _SENTENCE_CHARS + 2 * len(text) and line_key(line) in template


def _is_reference(link: Link) -> bool:
    """Whether a link of a body leads to a page, or to a place of its own page."""
    if link.reason in _SURE_LINKS:
        return False
    return bool(link.url) or link.href.startswith("#")


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
