"""The kind of a link by the block it stands in; the first evidence that applies decides.

1. In the body: BODY.
2. A counter for a text (评论 12), or a link among comments in no list of headlines: FUNCTION.
3. A picture: amid or beside the body BODY; to the home page or before the body NAVIGATION; others
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
9. Headlines behind the body, without a heading or under one of a list, whose whole run is about
   the page's topic (``topic``): RELATED.
10. Among legal links: LEGAL. In a nav element, and where it is no headline in a header, footer or
   aside: NAVIGATION.
11. Between lines of the body under any heading of a list, or in the smallest part around it:
    several headlines on a line RELATED on its host, AD on other sites, all others BODY.
    Before the body: lists of headlines HOT, else NAVIGATION.
12. Headlines and links on their lines, and all links under a heading of popular ones (热门): HOT.
    Behind the body without any heading this is the likeliest kind and no finding: its score is 0.3
    and its reason NO_EVIDENCE.
13. Else NAVIGATION.

In a part with a class name of advertising, which does not hold the body, HOT links are AD, and
links that nothing but their list speaks for. In a sentence of the body all are BODY. At last the
links of one URL get one kind: pictures and notes of cards that of their headline.
"""

from __future__ import annotations

import re

from crawlclean.cleaning.features.sections import Section
from crawlclean.cleaning.links.evidence import Verdict, asks_for, is_home
from crawlclean.cleaning.links.lists import LinkLists
from crawlclean.cleaning.records import LinkKind, LinkReason

_COUNTER = re.compile(
    r"[\W\d_]*(?:(?:评论|評論|赞|回复|回覆|阅读|閱讀|人参与|人評論|跟贴|跟帖|播放|浏览|瀏覽|收藏|点赞|转发|"
    r"comments?|views?|likes?|shares?|图)[\W\d_]*){0,2}",
    re.I,
)
_TAG_PATH = re.compile(r"/(?:tags?|keywords?|labels?)[/=]|[?&]tags?=", re.I)
_MAX_COUNTER_CHARS = 24
# Shares of lines or links of a list, each in the middle of a wide plateau on labelled pages.
_HEADLINE_SHARE = 0.4  # of lines with a headline from which the list's other links are headlines
_LEGAL_SHARE = 0.4  # of legal links from which a list is about the site's legal side
_NEAR_SHARE = 0.4  # of recommended headlines with a word of the title from which they are related
_NO_TOPIC = frozenset(("", "hot", "list", "rank"))
_RECOMMENDED = frozenset(("related", "maybe"))
_ANY_TOPIC = frozenset(("", "list"))
_HOT = LinkKind.HOT
_NO_PROOF = frozenset((LinkReason.LINK_LIST, LinkReason.NO_EVIDENCE))
# The commonest verdicts, made once.
_OF_BODY: Verdict = (LinkKind.BODY, 0.7, LinkReason.IN_BODY)
_LIST_OF_BODY: Verdict = (LinkKind.BODY, 0.4, LinkReason.IN_BODY)
_COUNTS: Verdict = (LinkKind.FUNCTION, 0.7, LinkReason.WORDS)
_BY_HEADING: dict[str, Verdict] = {
    "links": (LinkKind.NAVIGATION, 0.7, LinkReason.MARKER),
    "nav": (LinkKind.NAVIGATION, 0.7, LinkReason.MARKER),
    "ad": (LinkKind.AD, 0.7, LinkReason.MARKER),
    "search": (LinkKind.FUNCTION, 0.6, LinkReason.MARKER),
    "author": (LinkKind.OTHER, 0.5, LinkReason.MARKER),
}
_MARKED: Verdict = (LinkKind.RELATED, 0.8, LinkReason.MARKER)
_ON_CARD: Verdict = (LinkKind.OTHER, 0.4, LinkReason.LINK_LIST)
_OPINIONS = frozenset(("评论", "評論", "comment"))
_ABOUT_TITLE: Verdict = (LinkKind.RELATED, 0.6, LinkReason.TITLE_WORDS)
_IN_REGION: Verdict = (LinkKind.NAVIGATION, 0.8, LinkReason.SEMANTIC_TAG)
_HEADLINE: Verdict = (LinkKind.HOT, 0.6, LinkReason.HEADLINES)
_UNNAMED: Verdict = (LinkKind.HOT, 0.3, LinkReason.NO_EVIDENCE)
_IN_LIST: Verdict = (LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST)


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
                if _may_advertise(lists, i, verdict):
                    verdict = LinkKind.AD, 0.6, LinkReason.PART_NAME
                if not text or verdict is _ON_CARD:
                    weak.append(i)
        elif texts[i]:
            verdict = _overruled(lists, i, verdict)
        verdicts.append(verdict)
    if weak:
        _join_addresses(lists, verdicts, weak)
    return verdicts


def _may_advertise(lists: LinkLists, i: int, verdict: Verdict) -> bool:
    """Whether a link in a part named after advertising has no better evidence."""
    if verdict[0] is _HOT or verdict[2] in _NO_PROOF:
        return lists.is_advertising(lists.tree.anchors[i].block)
    return False


def _overruled(lists: LinkLists, i: int, verdict: Verdict) -> Verdict:
    """Returns the verdict by words or URL, or what the place of the link says against it."""
    kind, _, reason = verdict
    if lists.is_in_body[i]:
        is_in_sentence = lists.is_in_sentence(i)
        return (LinkKind.BODY, 0.6, LinkReason.IN_BODY) if is_in_sentence else verdict
    if kind is LinkKind.NAVIGATION:
        if reason is LinkReason.WORDS and lists.is_card_note(i):
            return _ON_CARD
    elif kind is LinkKind.FUNCTION:
        if lists.texts[i].lower() in _OPINIONS:
            return _IN_LIST  # without a count: the section of comments by editors
        if reason is LinkReason.NOT_A_PAGE and _opens_menu(lists, i):
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
        if is_headline[i]:
            by_url.setdefault(url, (verdicts[i][0], min(verdicts[i][1], 0.7)))
    for i in weak:
        same = by_url.get(urls[i])
        if same is not None:
            verdicts[i] = *same, LinkReason.SAME_ADDRESS


def _judge(lists: LinkLists, i: int) -> Verdict:
    """Judges a link outside the body that is no counter."""
    text = lists.texts[i]
    section = lists.section(i)
    if section and lists.body.is_inside(section):
        section = None
    block = lists.tree.anchors[i].block
    is_headline = lists.is_headline[i]
    if lists.is_comment(block) and not lists.is_list_of_headlines(i):
        return LinkKind.FUNCTION, 0.6, LinkReason.PART_NAME
    if not text:
        return _judge_picture(lists, i, section)
    if lists.is_card_note(i):
        return _ON_CARD
    if (
        not is_headline
        and ((section and section.kind == "tag") or lists.body.is_near(lists.line[i]))
        and (verdict := _judge_keyword(lists, i, section))
    ):
        return verdict
    if section:
        if section.kind == "ad" and lists.is_same_site(i):
            section = None  # the line often marks an empty slot above the site's own links
        elif verdict := _judge_under_heading(lists, i, section):
            return verdict
    is_behind = lists.line[i] > lists.body_last
    if is_behind and asks_for(lists.urls[i], text) and lists.is_same_site(i):
        return LinkKind.TAG, 0.5, LinkReason.URL_SHAPE
    titled, legal = lists.shares(i)
    if legal >= _LEGAL_SHARE:
        return LinkKind.LEGAL, 0.6, LinkReason.LINK_LIST
    if (
        section
        and section.kind in _RECOMMENDED
        and (verdict := _judge_recommended(lists, i, section))
    ):
        return verdict
    is_listed = titled >= _HEADLINE_SHARE or (is_headline and lists.cards.around(block) > 0)
    kind = section.kind if section else ""
    if is_listed and is_behind and kind in _ANY_TOPIC and lists.is_about_topic(i):
        return _ABOUT_TITLE
    return _judge_position(lists, i, section, is_listed)


def _judge_under_heading(lists: LinkLists, i: int, section: Section) -> Verdict | None:
    """Judges a link under a heading whose words alone decide; None under other headings."""
    kind, line = section.kind, lists.line[i]
    verdict = _BY_HEADING.get(kind)
    if verdict:
        return verdict
    if section.line == line and not section.is_inline:
        return LinkKind.NAVIGATION, 0.6, LinkReason.MARKER  # the heading itself, or its 更多
    return None


def _judge_recommended(lists: LinkLists, i: int, section: Section) -> Verdict | None:
    """Judges a link under a heading that recommends other pages; None where it is no title."""
    is_sure = section.kind == "related"
    if not is_sure and lists.line[i] <= lists.body_last:
        return None
    if not lists.is_title(i, section):
        return _ON_CARD if is_sure else None
    if is_sure or lists.near_share(section) >= _NEAR_SHARE:
        return _MARKED
    return LinkKind.HOT, 0.6, LinkReason.MARKER


def _judge_position(lists: LinkLists, i: int, section: Section | None, is_listed: bool) -> Verdict:
    """Judges a link by the element around it, its position to the body, and its list.

    Args:
        lists: The links of the page.
        i: The link.
        section: The section it lies in.
        is_listed: Whether it is a headline or stands among headlines.
    """
    line, kind = lists.line[i], section.kind if section else ""
    region = lists.tree.anchors[i].region
    if region == "nav" or (region and not lists.is_headline[i]):
        return _IN_REGION
    if region != "aside" and _is_of_body(lists, i, section):
        return _judge_amid_body(lists, i)
    if kind in _ANY_TOPIC and line < lists.body_first:
        if lists.is_headline[i] and lists.is_list_of_headlines(i):
            return LinkKind.HOT, 0.5, LinkReason.HEADLINES
        return _IN_LIST
    if is_listed or kind in ("hot", "rank"):
        if not kind and line > lists.body_last >= 0 and lists.is_same_host(i):
            return _UNNAMED
        return _HEADLINE
    return _IN_LIST


def _is_of_body(lists: LinkLists, i: int, section: Section | None) -> bool:
    """Whether a link stands between lines of the body, or beside it."""
    if lists.body.is_amid(lists.line[i], lists.texts[i]):
        return section is None or section.kind in _NO_TOPIC
    return lists.body.is_beside(lists.tree.anchors[i].block)


def _judge_amid_body(lists: LinkLists, i: int) -> Verdict:
    """Judges a link between or beside lines of the body that is in none of them."""
    if lists.is_advertising(lists.tree.anchors[i].block):
        return LinkKind.AD, 0.6, LinkReason.PART_NAME
    if lists.headlines_on(i) > 1:
        # A block of links inside the body that is no part of it (paper 4, Figure 5-2).
        if lists.is_same_host(i):
            return LinkKind.RELATED, 0.5, LinkReason.HEADLINES
        if not lists.is_same_site(i):
            return LinkKind.AD, 0.5, LinkReason.HEADLINES
    return _LIST_OF_BODY


def _judge_picture(lists: LinkLists, i: int, section: Section | None) -> Verdict:
    """Judges a link without a text."""
    kind = section.kind if section else ""
    if _is_of_body(lists, i, section):
        return _judge_amid_body(lists, i)
    if is_home(lists.urls[i]):
        return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    if not lists.is_pictured[i]:
        return LinkKind.FUNCTION, 0.5, LinkReason.NO_EVIDENCE
    if lists.line[i] < lists.body_first:
        return LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
    if kind == "related":
        return LinkKind.RELATED, 0.5, LinkReason.MARKER
    titled, legal = lists.shares(i)
    if legal >= _LEGAL_SHARE:
        return LinkKind.LEGAL, 0.5, LinkReason.LINK_LIST
    if titled >= _HEADLINE_SHARE:
        return LinkKind.HOT, 0.5, LinkReason.HEADLINES
    return LinkKind.FUNCTION, 0.4, LinkReason.NO_EVIDENCE


def _judge_keyword(lists: LinkLists, i: int, section: Section | None) -> Verdict | None:
    """Judges a short link as a keyword of the page; None when it is none."""
    kind = section.kind if section else ""
    by_name = not kind and lists.is_tagged(lists.tree.anchors[i].block)
    by_heading = kind == "tag"
    line = lists.line[i]
    if line > lists.body_first and _TAG_PATH.search(lists.urls[i]):
        return LinkKind.TAG, 0.7, LinkReason.URL_SHAPE
    if lists.body.is_near(line) and (by_name or by_heading):
        reason = LinkReason.PART_NAME if by_name else LinkReason.MARKER
        return LinkKind.TAG, 0.7, reason
    if by_heading:
        return LinkKind.HOT, 0.5, LinkReason.MARKER
    return None


def _opens_menu(lists: LinkLists, i: int) -> bool:
    """Whether a link to ``#`` opens a menu: a word in the lists before the body."""
    return (
        lists.tree.anchors[i].href.strip() == "#"
        and lists.line[i] < lists.body_first
        and bool(lists.texts[i])
    )


def _is_counter(text: str) -> bool:
    """Whether a text is a count, alone or with its word: ``评论 (12)``, ``3 views``."""
    if len(text) > _MAX_COUNTER_CHARS or text[0].isalpha():
        return False
    return _COUNTER.fullmatch(text) is not None
