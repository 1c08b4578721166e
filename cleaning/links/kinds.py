"""What a link is, by the block it stands in; the first evidence that speaks decides.

1. in the body: BODY;
2. its text counts something: FUNCTION; short and among comments: FUNCTION;
3. a picture: amid or beside the body BODY; one of the home page or before the body leads around the
   site, others are like the list they stand in;
4. keywords by their address, the names of their part or their heading, near the body: TAG; so
   are searches of the site for their own text, wherever nothing better is known;
5. under a heading of other sites: NAVIGATION, of other people's searches: FUNCTION, of advertising:
   AD where it leaves the site;
6. under a start marker of related links: headlines and what is marked as they are RELATED, what
   else is on their cards OTHER;
7. under a marker such as 猜你喜欢: RELATED where enough share words with the title, or where they
   are names, which share nothing; else HOT;
8. headlines behind the body, or under a heading of a list, that are about its title: RELATED;
9. headlines of the same author or column: OTHER;
10. among legal links, in a nav, header or footer element: LEGAL, NAVIGATION;
11. between lines of the body, whatever list its heading names, or without a heading in the smallest
    part around it: several headlines on a line RELATED on its host, AD on other sites, all others
    BODY; before it: lists of headlines HOT, else NAVIGATION;
12. headlines and what stands on their lines, all links under a heading of hot ones: HOT;
13. else NAVIGATION.

What is HOT in a part with a name of advertising is AD. In a sentence of the body all are BODY.
Then the links of one address on a page are one: pictures and counters are what their headline is.
"""

from __future__ import annotations

import re

from cleaning.features.headings import Section
from cleaning.links.evidence import Verdict, asks_for, is_home
from cleaning.links.lists import LinkLists
from cleaning.records import LinkKind, LinkReason

_COUNTER = re.compile(
    r"[\W\d_]*(?:评论|評論|赞|回复|阅读|人参与|人評論|comments?|views?|likes?|图)?[\W\d_]*", re.I
)
_TAG_PATH = re.compile(r"/(?:tags?|keywords?|labels?)[/=]|[?&]tags?=", re.I)
_MAX_COUNTER_CHARS = 24
# Shares of a list's lines or links, each in the middle of a wide plateau on labelled pages.
_HEADLINE_SHARE = 0.4  # of lines with a headline from which the list's other links are headlines
_LEGAL_SHARE = 0.4  # of legal links from which a list is about the site's legal side
_NEAR_SHARE = 0.4  # of recommended headlines with a word of the title from which they are related
_LISTED = frozenset((LinkKind.RELATED, LinkKind.HOT, LinkKind.AD))
_LISTS = frozenset(("hot", "list", "rank"))
_NO_TOPIC = _LISTS | {""}
_COUNTED_LETTERS = frozenset("评評赞回阅人图cCvVlL")  # that what is counted begins with
_HOT = LinkKind.HOT
# What most links are, made once.
_OF_BODY: Verdict = (LinkKind.BODY, 0.7, LinkReason.IN_BODY)
_COUNTS: Verdict = (LinkKind.FUNCTION, 0.7, LinkReason.WORDS)
_UNDER_LINKS: Verdict = (LinkKind.NAVIGATION, 0.7, LinkReason.MARKER)
_MARKED: Verdict = (LinkKind.RELATED, 0.8, LinkReason.MARKER)
_ON_CARD: Verdict = (LinkKind.OTHER, 0.4, LinkReason.LINK_LIST)
_ABOUT_TITLE: Verdict = (LinkKind.RELATED, 0.6, LinkReason.TITLE_WORDS)
_IN_REGION: Verdict = (LinkKind.NAVIGATION, 0.8, LinkReason.SEMANTIC_TAG)
_HEADLINE: Verdict = (LinkKind.HOT, 0.6, LinkReason.HEADLINES)
_UNNAMED: Verdict = (LinkKind.HOT, 0.4, LinkReason.HEADLINES)
_IN_LIST: Verdict = (LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST)


def judge_links(lists: LinkLists, known: list[Verdict | None]) -> list[Verdict]:
    """The verdict on each link.

    Args:
        lists: The links of the page.
        known: What address and words say of each; None where they say nothing.
    """
    verdicts: list[Verdict] = []
    weak: list[int] = []
    texts, is_in_body = lists.texts, lists.is_in_body
    for i, verdict in enumerate(known):
        if verdict is None:
            if is_in_body[i]:
                verdict = _OF_BODY
            elif (text := texts[i]) and _is_counter(text):
                verdict = _COUNTS
                weak.append(i)
            else:
                verdict = _judge(lists, i)
                if verdict[0] is _HOT and lists.is_advertising(lists.tree.anchors[i].block):
                    verdict = LinkKind.AD, 0.6, LinkReason.PART_NAME
                if not text or verdict is _ON_CARD:
                    weak.append(i)
        elif texts[i] and is_in_body[i] and lists.is_in_sentence(i):
            verdict = LinkKind.BODY, 0.6, LinkReason.IN_BODY
        elif verdict[0] is LinkKind.NAVIGATION and _is_beside_headline(lists, i):
            verdict = LinkKind.HOT, 0.5, LinkReason.HEADLINES
        elif verdict[2] is LinkReason.NOT_A_PAGE and _opens_menu(lists, i):
            verdict = LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
        elif (
            verdict[0] is LinkKind.LEGAL
            and verdict[2] is LinkReason.WORDS
            and lists.line[i] < lists.body_first
        ):
            # Sites say who they are at their end; at their beginning it is a menu.
            verdict = LinkKind.NAVIGATION, 0.5, LinkReason.WORDS
        elif (
            verdict[0] is LinkKind.LEGAL
            and verdict[2] is LinkReason.WORDS
            and lists.is_near_body(i)
            and _is_under(lists, i, "tag")
        ):
            verdict = LinkKind.TAG, 0.6, LinkReason.MARKER
        verdicts.append(verdict)
    if weak:
        _join_addresses(lists, verdicts, weak)
    return verdicts


def _join_addresses(lists: LinkLists, verdicts: list[Verdict], weak: list[int]) -> None:
    """Make weak links what the headline of their address is."""
    urls, texts, is_headline = lists.urls, lists.texts, lists.is_headline
    is_weak = set(weak)
    asked = {urls[i] for i in weak}
    by_url: dict[str, tuple[LinkKind, float]] = {}
    related: set[str] = set()
    for i, url in enumerate(urls):
        if url not in asked or not texts[i] or i in is_weak:
            continue
        kind = verdicts[i][0]
        if is_headline[i] or kind in _LISTED:
            by_url.setdefault(url, (kind, min(verdicts[i][1], 0.7)))
            if kind is LinkKind.RELATED:
                related.add(url)
    for i in weak:
        same = by_url.get(urls[i])
        if same is not None:
            if urls[i] in related and _is_under(lists, i, "related"):
                same = LinkKind.RELATED, 0.7  # whatever else on the page leads there
            verdicts[i] = *same, LinkReason.SAME_ADDRESS


def _is_under(lists: LinkLists, i: int, kind: str) -> bool:
    section = lists.section(i)
    return section is not None and section.kind == kind


def _judge(lists: LinkLists, i: int) -> Verdict:
    """The verdict on a link outside the body that counts nothing."""
    text, line = lists.texts[i], lists.line[i]
    section = lists.section(i)
    kind = section.kind if section else ""
    if section and kind in _NO_TOPIC and lists.is_around_body(section):
        section, kind = None, ""
    anchor = lists.tree.anchors[i]
    is_headline = lists.is_headline[i]
    if lists.is_comment(anchor.block) and not is_headline:
        return LinkKind.FUNCTION, 0.6, LinkReason.PART_NAME
    if not text:
        return _judge_picture(lists, i, section)
    if (
        not is_headline
        and (kind == "tag" or lists.is_near_body(i))
        and (verdict := _judge_keyword(lists, i, section))
    ):
        return verdict
    if kind in ("links", "nav"):
        return _UNDER_LINKS
    if kind == "ad":
        # The line often marks an empty slot above what is the site's own.
        if not lists.is_same_site(i) or lists.is_advertising(anchor.block):
            return LinkKind.AD, 0.7, LinkReason.MARKER
        section, kind = None, ""
    if kind == "search":
        return LinkKind.FUNCTION, 0.6, LinkReason.MARKER
    if section and section.line == line and not section.is_inline and lists.headlines_on(i) < 2:
        return LinkKind.NAVIGATION, 0.6, LinkReason.MARKER  # the heading itself, or its 更多
    if section and kind == "related":
        is_plain = line > lists.body_first and lists.is_plain_list(section)
        if is_plain and lists.has_pictures(section):
            is_plain = lists.urls[i] in lists.picture_urls
        if is_headline or is_plain or lists.is_like_headlines(i, section):
            return _MARKED
        return _ON_CARD
    titled, legal = lists.shares(i)
    is_listed = is_headline or titled >= _HEADLINE_SHARE or lists.headlines_on(i) > 0
    if section and kind == "maybe" and is_listed:
        if lists.near_share(section) >= _NEAR_SHARE:
            return _MARKED
        return LinkKind.HOT, 0.6, LinkReason.MARKER
    if section and kind == "maybe" and line > lists.body_last and lists.is_plain_list(section):
        return LinkKind.RELATED, 0.5, LinkReason.MARKER
    if (
        is_listed
        and (kind == "list" or (not kind and line > lists.body_last))
        and lists.body_last >= 0
        and not is_home(lists.urls[i])
    ):
        block = section.part if section else lists.container(i)
        if lists.is_about_title(block):
            return _ABOUT_TITLE
    if kind == "author" and is_listed:
        return LinkKind.OTHER, 0.5, LinkReason.MARKER
    if legal >= _LEGAL_SHARE:
        return LinkKind.LEGAL, 0.6, LinkReason.LINK_LIST
    if anchor.region and _leads_around(lists, i):
        return _IN_REGION
    if anchor.region != "aside" and _is_of_body(lists, i, section):
        return _judge_amid_body(lists, i)
    if not kind and line < lists.body_first:
        if is_headline and lists.is_list_of_headlines(i):
            return LinkKind.HOT, 0.5, LinkReason.HEADLINES
        return _IN_LIST
    if is_listed or kind == "rank" or (kind == "hot" and line > lists.body_last):
        if not kind and line > lists.body_last >= 0 and lists.is_same_host(i):
            return _UNNAMED
        return _HEADLINE
    if lists.is_same_site(i) and asks_for(lists.urls[i], text):
        return LinkKind.TAG, 0.5, LinkReason.URL_SHAPE
    return _IN_LIST


def _is_of_body(lists: LinkLists, i: int, section: Section | None) -> bool:
    """Whether a link stands between lines of the body or, without a heading, right beside it."""
    if lists.is_amid_body(i):
        return section is None or section.kind in _NO_TOPIC
    return section is None and lists.is_beside_body(i)


def _judge_amid_body(lists: LinkLists, i: int) -> Verdict:
    """The verdict on a link between or beside lines of the body that is in none of them."""
    if lists.is_advertising(lists.tree.anchors[i].block):
        return LinkKind.AD, 0.6, LinkReason.PART_NAME
    if lists.headlines_on(i) > 1:
        # A block of links inside the body that is none of it (paper 4, Figure 5-2).
        if lists.is_same_host(i):
            return LinkKind.RELATED, 0.5, LinkReason.HEADLINES
        if not lists.is_same_site(i):
            return LinkKind.AD, 0.5, LinkReason.HEADLINES
    return LinkKind.BODY, 0.4, LinkReason.IN_BODY  # a list of the text


def _judge_picture(lists: LinkLists, i: int, section: Section | None) -> Verdict:
    kind = section.kind if section else ""
    # Buttons without a text stand beside bodies too.
    is_shown = lists.is_pictured[i] or lists.body_first <= lists.line[i] <= lists.body_last
    if is_shown and not lists.tree.anchors[i].region and _is_of_body(lists, i, section):
        return _judge_amid_body(lists, i)
    if is_home(lists.urls[i]):
        return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    if not lists.is_pictured[i]:
        return LinkKind.FUNCTION, 0.5, LinkReason.NO_EVIDENCE
    if lists.line[i] < lists.body_first and lists.is_same_site(i):
        return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    if kind == "related" and lists.is_same_site(i):
        return LinkKind.RELATED, 0.5, LinkReason.MARKER
    if lists.legal_share(i) >= _LEGAL_SHARE:
        return LinkKind.LEGAL, 0.5, LinkReason.LINK_LIST
    if kind != "related" and lists.headline_share(i) >= _HEADLINE_SHARE:
        return LinkKind.HOT, 0.5, LinkReason.HEADLINES
    return LinkKind.FUNCTION, 0.4, LinkReason.NO_EVIDENCE


def _judge_keyword(lists: LinkLists, i: int, section: Section | None) -> Verdict | None:
    """The verdict on a short link in a list of keywords; None elsewhere."""
    is_tagged = lists.is_tagged
    # Names around the whole of a section speak of more than its keywords.
    by_name = is_tagged(lists.tree.anchors[i].block) and not (
        section and section.kind and is_tagged(section.part)
    )
    by_heading = section is not None and section.kind == "tag"
    is_near, line = lists.is_near_body(i), lists.line[i]
    is_asked = line > (lists.body_first if is_near else lists.body_last)
    if (is_near or by_heading) and is_asked and _TAG_PATH.search(lists.urls[i]):
        return LinkKind.TAG, 0.7, LinkReason.URL_SHAPE
    if is_near and (by_name or by_heading):
        reason = LinkReason.PART_NAME if by_name else LinkReason.MARKER
        return LinkKind.TAG, 0.7, reason
    if by_heading and line > lists.body_last:
        return LinkKind.HOT, 0.5, LinkReason.MARKER
    return None


def _leads_around(lists: LinkLists, i: int) -> bool:
    """Whether the element around a link says that it leads around the site."""
    region = lists.tree.anchors[i].region
    return (
        region == "nav"
        or (region == "footer" and not lists.is_headline[i])
        or (region == "header" and lists.line[i] < max(lists.body_first, 1))
    )


def _is_beside_headline(lists: LinkLists, i: int) -> bool:
    """Whether a link stands before a headline on its line, under a heading of such lines."""
    section = lists.section(i)
    return (
        section is not None
        and section.kind in _LISTS
        and section.line != lists.line[i]
        and lists.headlines_on(i) > 0
    )


def _opens_menu(lists: LinkLists, i: int) -> bool:
    """Whether a link to nowhere stands for a menu: a word in the lists before the body."""
    return (
        lists.tree.anchors[i].href.strip() == "#"
        and lists.line[i] < lists.body_first
        and bool(lists.texts[i])
    )


def _is_counter(text: str) -> bool:
    if len(text) > _MAX_COUNTER_CHARS or (text[0].isalpha() and text[0] not in _COUNTED_LETTERS):
        return False
    return _COUNTER.fullmatch(text) is not None
