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
from collections.abc import Iterator, Sequence

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
from crawlclean.cleaning.links.lists import SENTENCE_CHARS, LinkLists
from crawlclean.cleaning.messages import Message
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
    has_text = sum(map(len, document.tree.texts)) > MAX_MOVED_CHARS
    if len(document.page.html) > MAX_SOURCE_CHARS or has_text:
        return
    for move in _MOVE.finditer(document.page.html):
        yield move[2].replace("\\/", "/")


# The kinds of a page's links by the model of its host; the page's own verdicts come first.
#
# A *slot* is a container path at which the host's pages have links of one kind. The first evidence
# that applies decides:
#
# 1. In a body found by the model, and not related: BODY, also for words and fragments of the page,
#    unless most pages have the URL and its line, the line is no sentence, and no list of the page
#    explains the repeats.
# 2. A URL that many pages of the host link to (paper 3, m2): of the host's frame, with its kind on
#    the page. Where that is RELATED or BODY, and rests on the look of a list or most pages link
#    there, a headline is HOT, others NAVIGATION. Exceptions: a slot of related links keeps
#    links that repeat, and a related link stays one where an unchanging list of the page has it,
#    too.
# 3. Links of a slot of one kind: that kind, where the page's verdict rests on the look of a list.

# Verdicts that rest on the look of a list alone.
_WEAK_LINKS = frozenset((LinkReason.LINK_LIST, LinkReason.HEADLINES, LinkReason.NO_EVIDENCE))
_SURE_LINKS = frozenset((LinkReason.REL, LinkReason.URL_SHAPE))
# Kinds that change with the page.
_CHANGING = frozenset((LinkKind.RELATED, LinkKind.TAG, LinkKind.BODY, LinkKind.OTHER))
_OF_PAGE = frozenset((LinkKind.RELATED, LinkKind.BODY))
_OFTEN_SHARE = 0.5  # share of pages (m2) from which a URL is noise whatever its kind on the page
_SLOT_SHARE = 0.8  # share of its kind from which a slot decides
_SLOT_PAGES = 3  # fewest pages a slot was learned from
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
    model, slots, in_body = places.model, places.links, places.in_body(tree)
    # What lists of the page that do not change with it link to.
    unchanging = {
        link.url
        for link, anchor in zip(links, tree.anchors, strict=False)
        if link.kind not in _CHANGING and not in_body[anchor.block]
    }
    applied = list(links)
    for i, (link, anchor) in enumerate(zip(links, tree.anchors, strict=False)):
        url, kind, reason = link.url, link.kind, link.reason
        share = model.noise.links.get(url, 0.0) if url else 0.0
        slot = slots.get(anchor.block)
        verdict: Verdict | None = None
        if in_body[anchor.block] and not (
            share > _OFTEN_SHARE
            and url not in unchanging
            and _is_template(tree, anchor, model.index.often, link.text)
        ):
            # To a page, or to a place of its own page.
            is_reference = link.href != "#" and (url or link.href.startswith("#"))
            if is_reference and kind not in _OF_PAGE and reason not in _SURE_LINKS:
                verdict = _BODY, 0.8, _IN_BODY
        elif not (share or link.text) and reason is _NOTHING and is_asset(url):
            verdict = _BODY, 0.5, LinkReason.SAME_ADDRESS  # a larger picture
        elif share and (
            reason in _WEAK_LINKS
            or (
                # Most pages link to a URL whose kind changes with the page.
                share >= _OFTEN_SHARE
                and kind in _CHANGING
                and not _is_related(slot)
                and not (kind is LinkKind.RELATED and url in unchanging)
            )
        ):
            if kind in _OF_PAGE:  # repeating proves that a link is of the frame, not its kind
                is_headline = headline_units(link.text) >= HEADLINE_UNITS and not is_home(url)
                kind = LinkKind.HOT if is_headline else LinkKind.NAVIGATION
            verdict = kind, min(0.5 + share / 2, 1.0), LinkReason.HOST_REPEATS
        elif (
            slot is not None
            and reason in _WEAK_LINKS
            and slot.kind not in (kind, _BODY)
            and slot.share >= _SLOT_SHARE
            and slot.on.bit_count() >= _SLOT_PAGES
        ):
            verdict = slot.kind, slot.share, LinkReason.HOST_PLACE
        if verdict is not None:
            kind, score, reason = verdict
            applied[i] = replace(link, kind=kind, score=score, reason=reason)
    return tuple(applied)


def _is_related(slot: LinkPlace | None) -> bool:
    """Whether a slot has related links, not all of which repeat."""
    if slot is None or slot.kind is not LinkKind.RELATED:
        return False
    return slot.share >= _SLOT_SHARE and slot.repeats < _OFTEN_SHARE


def _is_template(tree: Tree, anchor: Anchor, template: frozenset[str], text: str) -> bool:
    """Whether a link has no text, or its line is on most pages and no sentence around it."""
    if anchor.start >= anchor.end:
        return True
    line = tree.line_text(tree.line_of[anchor.start])
    return len(line) < SENTENCE_CHARS + 2 * len(text) and line_key(line) in template


MAX_LINKS = 20_000  # of a page: an index has some thousand, a trap any number
MAX_TEXT_CHARS = 2000  # of a link: one that is never closed has the rest of its page
MAX_OUTLINKS = 20_000  # as MAX_LINKS
_MAX_OUTLINK_CHARS = 80  # of its text, by which a topic judges: a title

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
    tree, alone = document.tree, document.alone
    if not alone or alone[:2] != [body, title]:
        document.alone[:] = body, title, _read_alone(document, body, title)
    links, warnings = document.alone[2]
    if places is not None:
        links = apply_model_to_links(tree, links, places)
    return links, warnings


def _read_alone(
    document: Document, body: Body, title: str
) -> tuple[tuple[Link, ...], tuple[PageWarning, ...]]:
    """Reads the links of a page by its own evidence."""
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
                verdict = judge_address(href, text, url, rel, is_own)
        texts.append(text)
        urls.append(url)
        titles.append(hint)
        rels.append(rel)
        known.append(verdict)
    return found._replace(cut_texts=cut_texts)


def _text_of(tree: Tree, start: int, end: int) -> tuple[str, bool]:
    """(text of an anchor's runs, whether it was cut): anchors may lie in each other."""
    texts, lines = tree.texts, tree.line_of
    pieces: list[str] = []
    room = MAX_TEXT_CHARS
    for run in range(start, end):
        pieces.append(texts[run][:room])
        room -= len(texts[run])
        if room < 0:
            return " ".join(" ".join(pieces).split()), True
    if lines[start] == lines[end - 1]:
        return " ".join("".join(pieces).split()), False
    return tree.text(start, end).replace("\n", " "), False


def _warnings(dropped: int, cut_texts: int) -> tuple[PageWarning, ...]:
    warnings = []
    if dropped:
        detail = Message("kept_first", MAX_LINKS)
        warnings.append(PageWarning(kind=WarningKind.CAPPED_LINKS, detail=detail, count=dropped))
    if cut_texts:
        detail = Message("kept_chars", MAX_TEXT_CHARS)
        warnings.append(PageWarning(kind=WarningKind.CAPPED_TEXT, detail=detail, count=cut_texts))
    return tuple(warnings)


def read_outlinks(
    document: Document, links: tuple[Link, ...], said_next: Sequence[str] = ()
) -> tuple[tuple[Outlink, ...], tuple[PageWarning, ...]]:
    """Returns the outlinks for the frontier, and warnings about broken hrefs or too many outlinks.

    Args:
        document: The parsed page; its own address is left out.
        links: All its links, as ``read_links`` gives them: one for each anchor of the tree.
        said_next: Addresses of next pages as a person's overrides find them: ``?page=2``.
    """
    found: dict[str, tuple[Via, LinkKind, float, str]] = {}
    passed = {"", normalize(document.page.url)}  # the page itself, and assets
    dropped = 0

    def add(url: str, via: Via, kind: LinkKind, score: float, text: str) -> None:
        nonlocal dropped
        known = found.get(url)
        if known is not None:
            if known[2] < score:
                found[url] = via, kind, score, text
        elif url not in passed:
            if is_asset(url):
                passed.add(url)
            elif len(found) >= MAX_OUTLINKS:
                dropped += 1
            else:
                found[url] = via, kind, score, text

    def add_links(some: tuple[Link, ...]) -> None:
        for link in some:
            # A link to a fragment of its own page is no outlink.
            if link.url in passed or link.href.startswith("#"):
                continue
            is_next = link.rel and "next" in link.rel.split()
            via = Via.NEXT if is_next else Via.LINK
            score = _SCORE_OF_VIA[via] if is_next else _SCORES[link.kind]
            add(link.url, via, link.kind, score, link.text[:_MAX_OUTLINK_CHARS])

    url_of = resolver(document.base, document.page.encoding)
    for address in said_next:
        add(url_of(address) or "", Via.NEXT, LinkKind.NAVIGATION, _SCORE_OF_VIA[Via.NEXT], "")
    for move in moves(document):
        via = Via.META_REFRESH
        add(url_of(move) or "", via, LinkKind.OTHER, _SCORE_OF_VIA[via], "")
    done = 0
    for tag, attributes, before in document.tree.head:
        via_head, href = _of_head(tag, attributes)
        if via_head is not None and href:
            add_links(links[done:before])
            done = before
            add(url_of(href) or "", via_head, LinkKind.OTHER, _SCORE_OF_VIA[via_head], "")
    add_links(links[done:])
    warnings = []
    if dropped:
        detail = Message("kept_first", MAX_OUTLINKS)
        warnings.append(PageWarning(kind=WarningKind.CAPPED_LINKS, detail=detail, count=dropped))
    if bad := sum(not link.url and link.kind is LinkKind.OTHER for link in links):
        warnings.append(PageWarning(kind=WarningKind.BAD_LINKS, count=bad))
    outlinks = [
        Outlink(url=url, via=via, kind=kind, score=score, text=text)
        for url, (via, kind, score, text) in found.items()
    ]
    return tuple(outlinks), tuple(warnings)


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
