"""The kinds of a page's links by the model of its host; the page's own verdicts come first.

A *slot* is a container path at which the host's pages have links of one kind. The first evidence
that applies decides:

1. In a body found by the model: BODY, also for words and fragments of the page, unless most pages
   have the URL and its line, the line is no sentence, and no list of the page explains the repeats.
2. A URL that many pages of the host link to (paper 3, m2): of the host's frame, with its kind on
   the page. Where that is RELATED, BODY or OTHER, and rests on the look of a list or most pages
   link there, a headline is HOT, others NAVIGATION. Exceptions: a slot of related links keeps links
   that repeat, and a related link stays one where an unchanging list of the page has it, too.
3. Headlines behind the body that no heading governs and no other page has: OTHER, for nothing
   proves them noise.
4. Links of a slot of one kind: that kind, where the page's verdict rests on the look of a list.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from crawlclean.cleaning.document.tree import Anchor, Tree
from crawlclean.cleaning.links.evidence import HEADLINE_UNITS, Verdict, headline_units, is_home
from crawlclean.cleaning.model.paths import line_key
from crawlclean.cleaning.model.places import SitePlaces
from crawlclean.cleaning.model.rules import LinkPlace
from crawlclean.cleaning.records import Link, LinkKind, LinkReason
from crawlclean.cleaning.urls.normal_form import is_asset

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
