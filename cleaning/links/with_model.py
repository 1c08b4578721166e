"""What links are where their host is known; each page's own verdicts come first.

The first evidence that speaks:

1. in a body found by the site's rule: BODY, words and fragments of the page included, unless most
   pages have the address and the line it stands on, the line is no sentence, and no list of the
   page explains that the address repeats;
2. an address that many pages of the host link to (paper 3, m2): noise, of the kind the page gives
   it; where that is none, and the look of a list said it or most pages link there, a headline is
   HOT, others NAVIGATION (a place whose links are related keeps those that come again and again,
   and a related link stays one where a list of the page that stays the same has it, too);
3. headlines of the host behind the body that no heading speaks of and no other page has: OTHER,
   for nothing proves them noise;
4. links of a place whose links are of one kind on the host's pages: that kind, where only the look
   of a list said else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cleaning.building import build_all
from cleaning.document.paths import line_key
from cleaning.document.tree import Anchor, Tree
from cleaning.links.evidence import Verdict, headline_units, is_home
from cleaning.model.places import SitePlaces
from cleaning.model.rules import LinkPlace
from cleaning.records import Link, LinkKind, LinkReason
from cleaning.urls.assets import is_asset

# Verdicts that rest on the look of a list alone.
_WEAK_LINKS = frozenset((LinkReason.LINK_LIST, LinkReason.HEADLINES, LinkReason.NO_EVIDENCE))
_SURE_LINKS = frozenset((LinkReason.REL, LinkReason.URL_SHAPE))
# Kinds that change with the page.
_CHANGING = frozenset((LinkKind.RELATED, LinkKind.TAG, LinkKind.BODY, LinkKind.OTHER))
_SENTENCE_CHARS = 20  # besides twice the link, that make its line a sentence
# Looking up a member of an enumeration takes ten times as long as a name.
_BODY, _NOTHING = LinkKind.BODY, LinkReason.NO_EVIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """When a host's evidence overrules a page's.

    Attributes:
        often_share: Share m2 from which an address is no page's own, whatever a page says.
        place_share: Share of its kind from which a place decides.
        place_pages: Fewest pages it was learned from.
        headline_units: Shortest anchor text that is another page's title, in Chinese characters.
        sure_score: Score of a page's verdict below which a list is popular only where it repeats.
    """

    often_share: float = 0.5
    place_share: float = 0.8
    place_pages: int = 3
    headline_units: float = 8
    sure_score: float = 0.5


def settle_links(tree: Tree, links: tuple[Link, ...], places: SitePlaces) -> tuple[Link, ...]:
    """The links of a page with the kinds its host gives them.

    Args:
        tree: The page.
        links: Its links, one for each of the first anchors of the tree.
        places: What its host taught, and where that is on the page.
    """
    model, params = places.model, Params()
    shares = model.noise.links
    in_body = places.in_body(tree)
    template = model.index.often
    is_seen = model.page_count > 1
    is_elsewhere = _elsewhere(tree, links, in_body)
    settled = list(links)
    changed: list[int] = []
    verdicts: list[Verdict] = []
    for i, (link, anchor) in enumerate(zip(links, tree.anchors, strict=False)):
        share = shares.get(link.url, 0.0) if link.url else 0.0
        kind, score, reason = link.kind, link.score, link.reason
        place = places.links.get(anchor.block)
        if in_body[anchor.block] and not (
            share > params.often_share
            and _is_template(tree, anchor, template, link.text)
            and not is_elsewhere(link.url)
        ):
            if kind is not _BODY and _is_reference(link):
                kind, score, reason = LinkKind.BODY, 0.8, LinkReason.IN_BODY
        elif not (share or link.text) and reason is _NOTHING and is_asset(link.url):
            kind, score, reason = LinkKind.BODY, 0.5, LinkReason.SAME_ADDRESS  # a larger picture
        elif share and (
            reason in _WEAK_LINKS
            or (
                share >= params.often_share
                and kind in _CHANGING
                and not _is_related(place, params)
                and not (kind is LinkKind.RELATED and is_elsewhere(link.url))
            )
        ):
            if kind in _CHANGING or kind is LinkKind.NAVIGATION or reason is _NOTHING:
                is_headline = headline_units(link.text) >= params.headline_units
                is_hot = is_headline and not is_home(link.url)
                kind = LinkKind.HOT if is_hot else LinkKind.NAVIGATION
            score, reason = min(0.5 + share / 2, 1.0), LinkReason.HOST_REPEATS
        elif kind is LinkKind.HOT and score < params.sure_score and is_seen and not share:
            kind, reason = LinkKind.OTHER, LinkReason.HOST_CHANGES
        elif (
            place is not None
            and reason in _WEAK_LINKS
            and place.kind not in (kind, LinkKind.BODY)
            and place.share >= params.place_share
            and place.on.bit_count() >= params.place_pages
        ):
            kind, score, reason = place.kind, place.share, LinkReason.HOST_PLACE
        if reason is not link.reason:
            changed.append(i)
            verdicts.append((kind, score, reason))
    if changed:
        before = [links[i] for i in changed]
        after = build_all(
            Link,
            [link.href for link in before],
            [link.url for link in before],
            [link.text for link in before],
            [link.title for link in before],
            [link.rel for link in before],
            *zip(*verdicts, strict=True),
        )
        for i, link in zip(changed, after, strict=True):
            settled[i] = link
    return tuple(settled)


def _is_related(place: LinkPlace | None, params: Params) -> bool:
    """Whether a place has related links, which change with the page if not all of them."""
    if place is None or place.kind is not LinkKind.RELATED:
        return False
    return place.share >= params.place_share and place.repeats < params.often_share


def _elsewhere(tree: Tree, links: tuple[Link, ...], in_body: list[bool]) -> Callable[[str], bool]:
    """Whether a list that stays the same leads to an address, too: then it is what repeats."""
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
    """Whether the line of a link is on most pages and no sentence around it, or it has no text."""
    if anchor.start >= anchor.end:
        return True
    line = tree.line_text(tree.line_of[anchor.start])
    return len(line) < _SENTENCE_CHARS + 2 * len(text) and line_key(line) in template


def _is_reference(link: Link) -> bool:
    """Whether a link of a body leads somewhere: to a page, or to a place of its own."""
    if link.reason in _SURE_LINKS:
        return False
    return bool(link.url) or link.href.startswith("#")
