"""The kind of a link by the block it stands in; the first evidence that applies decides.

1. In the body: BODY.
2. A counter for a text (评论 12), or a link in no list of headlines among comments or in a part
   named after sharing or logging in: FUNCTION.
3. A picture: beside the body BODY; to the home page or before the body NAVIGATION; others
   as the list they stand in.
4. On a card (``features.parts``) beside its title: OTHER, also for words of menus, which are its
   channel.
5. Keywords by their URL, and near the body by the names of their part or their heading: TAG; so
   are searches of the site for their own text behind the body, unless a heading of 6 is above them.
6. Under a heading whose words decide alone, what ``_BY_HEADING`` has: other sites NAVIGATION, other
   people's searches FUNCTION, the same author or column OTHER, advertising AD where the link leaves
   the site.
7. Under a marker of related links (相关阅读), or in a part named so: the titles RELATED, the other
   links OTHER. Titles are headlines and all links alone on a line, except home pages and
   directories; among pictures the texts to these (``LinkLists.is_title``).
8. Under a marker such as 猜你喜欢: titles behind the body RELATED where enough share words with the
   title, or where they are names, which share nothing; else HOT.
9. Headlines behind the body and below sentences, without a heading or under one of a list, whose
   whole run is about the page's topic, as the page's other links are not: RELATED.
10. Among legal links: LEGAL. In a nav element, and where it is no headline in a header, footer or
   aside: NAVIGATION.
11. In the smallest part around the body, on no line of it: several headlines on a line that lead to
    other sites AD, all others BODY. Before the body: lists of headlines HOT, else NAVIGATION.
12. Headlines and links on their lines, and all links under a heading of popular ones (热门): HOT.
    Behind the body without any heading this is the likeliest kind and no finding: its reason is
    NO_EVIDENCE.
13. A row of two to seven right behind the body, under no heading: FUNCTION, the buttons of a text.
14. Else NAVIGATION.

In a part with a class name of advertising, which does not hold the body, HOT links are AD, and
links that nothing but their list speaks for. In a sentence of the body all are BODY. At last the
links of one URL get one kind: pictures and notes of cards that of their headline if not BODY.
"""

from __future__ import annotations

import re

from crawlclean.cleaning.lexicon import simplify
from crawlclean.cleaning.links.evidence import Verdict, asks_for, is_home
from crawlclean.cleaning.links.lists import ACTING, AD, TAGGED, LinkLists
from crawlclean.cleaning.records import LinkKind, LinkReason

_COUNTER = re.compile(
    r"[\W\d_]*(?:(?:评论|赞|回复|回覆|阅读|人参与|人评论|跟贴|跟帖|播放|浏览|收藏|点赞|转发|"
    r"comments?|views?|likes?|shares?|图)[\W\d_]*){0,2}",
    re.I,
)
_TAG_PATH = re.compile(r"/(?:tags?|keywords?|labels?)[/=]|[?&]tags?=", re.I)
_MAX_BUTTONS = 7  # in a row below a text; a longer row is a menu
_MAX_COUNTER_CHARS = 24  # longest count with its word
# Shares of lines or links of a list, each in the middle of a wide plateau on labelled pages.
_HEADLINE_SHARE = 0.4  # of lines with a headline from which the list's other links are headlines
_LEGAL_SHARE = 0.4  # of legal links from which a list is about the site's legal side
_NEAR_SHARE = 0.4  # of recommended headlines with a word of the title from which they are related
_ANY_TOPIC = frozenset(("", "list"))
_HOT = LinkKind.HOT
_NO_PROOF = frozenset((LinkReason.LINK_LIST, LinkReason.NO_EVIDENCE))
# The commonest verdicts, made once. A score is the share of such verdicts that labels confirm.
_OF_BODY: Verdict = (LinkKind.BODY, 0.8, LinkReason.IN_BODY)
_LIST_OF_BODY: Verdict = (LinkKind.BODY, 0.4, LinkReason.IN_BODY)
_COUNTS: Verdict = (LinkKind.FUNCTION, 0.6, LinkReason.WORDS)
_BY_HEADING: dict[str, Verdict] = {
    "links": (LinkKind.NAVIGATION, 0.9, LinkReason.MARKER),
    "nav": (LinkKind.NAVIGATION, 0.9, LinkReason.MARKER),
    "ad": (LinkKind.AD, 0.7, LinkReason.MARKER),
    "search": (LinkKind.FUNCTION, 0.6, LinkReason.MARKER),
    "author": (LinkKind.OTHER, 0.5, LinkReason.MARKER),
}
_MARKED: Verdict = (LinkKind.RELATED, 0.9, LinkReason.MARKER)
_ON_CARD: Verdict = (LinkKind.OTHER, 0.6, LinkReason.LINK_LIST)
_OPINIONS = frozenset(("评论", "comment"))
_ABOUT_TITLE: Verdict = (LinkKind.RELATED, 0.6, LinkReason.TITLE_WORDS)
_IN_REGION: Verdict = (LinkKind.NAVIGATION, 0.8, LinkReason.SEMANTIC_TAG)
_HEADLINE: Verdict = (LinkKind.HOT, 0.8, LinkReason.HEADLINES)
_UNNAMED: Verdict = (LinkKind.HOT, 0.6, LinkReason.NO_EVIDENCE)
_IN_LIST: Verdict = (LinkKind.NAVIGATION, 0.7, LinkReason.LINK_LIST)


def judge_links(lists: LinkLists, known: list[Verdict | None]) -> list[Verdict]:
    """Judges every link of a page.

    Args:
        lists: The links of the page.
        known: The verdicts by text, ``rel`` and URL alone; None without evidence.
    """
    verdicts: list[Verdict] = []
    weak: list[int] = []
    texts, is_in_body = lists.texts, lists.is_in_body
    for i, verdict in enumerate(known):
        if verdict is None:
            text = texts[i]
            if is_in_body[i]:
                verdict = _OF_BODY
            elif text and _is_counter(text):
                verdict = _COUNTS
            else:
                verdict = _judge(lists, i)
                is_unproved = verdict[0] is _HOT or verdict[2] in _NO_PROOF
                if is_unproved and lists.flags[i] & AD:
                    verdict = LinkKind.AD, 0.6, LinkReason.PART_NAME
                if not text or verdict is _ON_CARD:
                    weak.append(i)
        elif texts[i]:
            verdict = _overruled(lists, i, verdict)
        verdicts.append(verdict)
    if weak:
        _join_addresses(lists, verdicts, weak)
    return verdicts


def _overruled(lists: LinkLists, i: int, verdict: Verdict) -> Verdict:
    """Returns the verdict by words or URL, or what the place of the link says against it."""
    kind, _, reason = verdict
    if lists.is_in_body[i]:
        return _OF_BODY if lists.is_in_sentence(i) else verdict
    if kind is LinkKind.NAVIGATION:
        if reason is LinkReason.WORDS and lists.is_card_note(i):
            return _ON_CARD
    elif kind is LinkKind.FUNCTION:
        if simplify(lists.texts[i].lower()) in _OPINIONS and lists.urls[i]:
            return _IN_LIST  # without a count: the section of comments by editors
        is_early = lists.line[i] < lists.body_first
        if (
            is_early
            and reason is LinkReason.NOT_A_PAGE
            and lists.tree.anchors[i].href.strip() == "#"
        ):
            return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    elif kind is LinkKind.LEGAL and lists.line[i] < lists.body_first:
        # Legal links stand at the end of a page; at its beginning the words are a menu.
        return LinkKind.NAVIGATION, 0.5, LinkReason.WORDS
    return verdict


def _join_addresses(lists: LinkLists, verdicts: list[Verdict], weak: list[int]) -> None:
    """Gives weak links (pictures, notes of cards) the kind of the headline with their URL."""
    urls, texts, is_headline = lists.urls, lists.texts, lists.is_headline
    is_weak = set(weak)
    asked = {urls[i] for i in weak}
    by_url: dict[str, tuple[LinkKind, float]] = {}
    for i, url in enumerate(urls):
        if url not in asked or not texts[i] or i in is_weak:
            continue
        if is_headline[i] and verdicts[i][0] is not LinkKind.BODY:
            by_url.setdefault(url, (verdicts[i][0], min(verdicts[i][1], 0.8)))
    for i in weak:
        same = by_url.get(urls[i])
        if same is not None:
            verdicts[i] = *same, LinkReason.SAME_ADDRESS


def _judge(lists: LinkLists, i: int) -> Verdict:
    """Judges a link outside the body that is no counter, by the rules above in their order."""
    text, line, anchor = lists.texts[i], lists.line[i], lists.tree.anchors[i]
    is_headline, is_behind = lists.is_headline[i], line > lists.body_last
    section = lists.section(i)
    if section and section.first < lists.body_first <= lists.body_last < section.end:
        section = None  # it begins before the body and ends behind it: no list
    kind = section.kind if section else ""
    if lists.flags[i] & ACTING and not lists.is_list_of_headlines(i):
        return LinkKind.FUNCTION, 0.7, LinkReason.PART_NAME
    if not text:
        return _judge_picture(lists, i, kind)
    if lists.is_card_note(i):
        return _ON_CARD
    is_near = lists.is_near(i)
    if not is_headline and (is_near or kind == "tag"):
        if line > lists.body_first and _TAG_PATH.search(lists.urls[i]):
            return LinkKind.TAG, 0.7, LinkReason.URL_SHAPE
        if kind == "tag":
            tag = (LinkKind.TAG, 0.7) if is_near else (_HOT, 0.5)
            return *tag, LinkReason.MARKER
        if not kind and lists.flags[i] & TAGGED:
            return LinkKind.TAG, 0.7, LinkReason.PART_NAME
    if kind == "ad" and lists.is_same_site(i):
        section, kind = None, ""  # the line often marks an empty slot above the site's own links
    if kind in _BY_HEADING:
        return _BY_HEADING[kind]
    if section and section.line == line and not section.is_inline:
        return LinkKind.NAVIGATION, 0.6, LinkReason.MARKER  # the heading itself, or its 更多
    if is_behind and asks_for(lists.urls[i], text) and lists.is_same_site(i):
        return LinkKind.TAG, 0.5, LinkReason.URL_SHAPE
    titled, legal = lists.shares(i)
    if legal >= _LEGAL_SHARE:
        return LinkKind.LEGAL, 0.7, LinkReason.LINK_LIST
    if section and (kind == "related" or (kind == "maybe" and is_behind)):
        if lists.is_title(i, section):
            if kind == "related" or lists.near_share(section) >= _NEAR_SHARE:
                return _MARKED
            return LinkKind.HOT, 0.8, LinkReason.MARKER
        if kind == "related":
            return _ON_CARD
    is_listed = titled >= _HEADLINE_SHARE or (is_headline and lists.cards.around(anchor.block) > 0)
    if is_listed and is_behind and kind in _ANY_TOPIC and lists.is_about_topic(i):
        return _ABOUT_TITLE
    if anchor.region == "nav" or (anchor.region and not is_headline):
        return _IN_REGION
    if anchor.region != "aside" and (verdict := _judge_beside_body(lists, i)):
        return verdict
    if kind in _ANY_TOPIC and line < lists.body_first:
        if is_headline and lists.is_list_of_headlines(i):
            return LinkKind.HOT, 0.5, LinkReason.HEADLINES
        return _IN_LIST
    if is_listed or kind in ("hot", "rank"):
        if not kind and line > lists.body_last >= 0 and lists.is_same_host(i):
            return _UNNAMED
        return _HEADLINE
    is_row = not section and 1 < lists.links_on(i) <= _MAX_BUTTONS
    if is_row and is_near and line > lists.body_last >= 0:
        return LinkKind.FUNCTION, 0.4, LinkReason.LINK_LIST
    return _IN_LIST


def _judge_beside_body(lists: LinkLists, i: int) -> Verdict | None:
    """Judges a link in the smallest part around the body that is on no line of it; else None."""
    if not lists.is_beside(i):
        return None
    if lists.flags[i] & AD:
        return LinkKind.AD, 0.6, LinkReason.PART_NAME
    if lists.headlines_on(i) > 1 and not lists.is_same_site(i):
        # A block of links inside the body that is no part of it (paper 4, Figure 5-2).
        return LinkKind.AD, 0.5, LinkReason.HEADLINES
    return _LIST_OF_BODY


def _judge_picture(lists: LinkLists, i: int, kind: str) -> Verdict:
    """Judges a link without a text, under a heading of a kind."""
    if verdict := _judge_beside_body(lists, i):
        return verdict
    if is_home(lists.urls[i]):
        return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    if not lists.is_pictured[i]:
        return LinkKind.FUNCTION, 0.5, LinkReason.NO_EVIDENCE
    if lists.line[i] < lists.body_first:
        return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    if kind == "related":
        return LinkKind.RELATED, 0.7, LinkReason.MARKER
    titled, legal = lists.shares(i)
    if legal >= _LEGAL_SHARE:
        return LinkKind.LEGAL, 0.5, LinkReason.LINK_LIST
    if titled >= _HEADLINE_SHARE:
        return LinkKind.HOT, 0.5, LinkReason.HEADLINES
    return LinkKind.FUNCTION, 0.4, LinkReason.NO_EVIDENCE


def _is_counter(text: str) -> bool:
    """Whether a text is a count, alone or with its word: ``评论 (12)``, ``3 views``."""
    if len(text) > _MAX_COUNTER_CHARS or text[0].isalpha():
        return False
    return _COUNTER.fullmatch(simplify(text)) is not None
