"""Evidence on a link in its anchor text, ``rel`` and URL.

Every function judges one value, without the page; ``lists`` and ``kinds`` weigh the results against
the place of the link.

* anchor text: words that are known whole (``data/function_words.txt``, ``navigation_words.txt``) or
  inside a short text (``legal_words.txt``);
* ``rel``: the values of the HTML standard and of the microformats' registry;
* URL: one that leads to no page (``#top``, ``mailto:``), one that shares the page (a word of its
  path, and the page in its query), a search for the anchor text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from crawlclean.cleaning.lexicon import hint_of, pattern_of, simplify, word_list
from crawlclean.cleaning.records import LinkKind, LinkReason

# (kind, score 0..1: the share of such verdicts that labels confirm, the evidence it rests on)
Verdict = tuple[LinkKind, float, LinkReason]

# Anchor text
_MAX_WORD_CHARS = 20
_FUNCTION: Verdict = (LinkKind.FUNCTION, 0.8, LinkReason.WORDS)
_DOING: Verdict = (LinkKind.FUNCTION, 0.5, LinkReason.WORDS)
_TO_NEIGHBOUR: Verdict = (LinkKind.NAVIGATION, 0.8, LinkReason.WORDS)
_LEGAL: Verdict = (LinkKind.LEGAL, 0.8, LinkReason.WORDS)
_WHOLE_WORDS: dict[str, Verdict] = {
    "function_words": _FUNCTION,
    "navigation_words": (LinkKind.NAVIGATION, 0.9, LinkReason.WORDS),
}
MAX_WORDS_CHARS = 40  # longer texts are judged by their place alone
_LEGAL_SHARE = 0.3  # share of a long text that its legal words are; licences have numbers
# Inside a short text: to log in, to share, counts of comments.
_SIGNS = frozenset("登注享评与")
_BEGINNINGS = ("follow", "find", "share")
# The Chinese texts that ``_DOES`` finds hold one of these.
_PAIRS = ("登录", "登入", "登陆", "注册", "分享", "参与", "条评", "篇评", "个评")
_DOES = re.compile(
    r".{0,8}登[录入陆]$|登[录入].{0,4}$|.{0,6}注册$|分享[到至给]|.*\d ?[条篇个]评|.*\d\]?人参与"
    r"|.{0,12}\b(?:log|sign) ?(?:in|up)$|(?:follow|find) us\b|follow @|.{0,9}\d comments?$"
    r"|share (?:on|via|to|this)\b"
)
# 上一篇 with the title of that page.
_NEIGHBOUR = re.compile(
    r"\W{0,3}(?:[上下前后]一?[篇章节页张条则]|(?:next|prev|previous)(?: \w+)? ?:"
    r"|(?:next|prev|previous) (?:article|post|story|page|chapter)\b)",
    re.I,
)
_PUNCTUATION = " \t\r\n\u3000：:【】[]「」《》<>＞＜|｜·•-—_/／▪■◆●»«>…."

# rel and URL
_NO_PAGE = ("#", "javascript:", "mailto:", "tel:", "sms:", "data:", "about:", "void(",
            "whatsapp:", "fb-messenger:", "weixin:", "wechat:", "mqqapi:", "mqqwpa:", "tencent:",
            "skype:", "tg:", "line:", "viber:", "sinaweibo:", "intent:", "market:")  # fmt: skip
# Fragments that are buttons.
_BUTTONS = re.compile("comment|top|share|reply|login|close")
_SHARES = re.compile(
    r"(?<![a-z])share(?:r|article|link|qq)?(?![a-z])|qzshare|repaste|bookmark(?![a-z])"
    r"|/intent/|/pin/create|/submit$|/send$",
    re.I,
)
_MAX_KEYWORD_CHARS = 20  # longest keyword; a longer text is a title
_MAX_QUERY_CHARS = 500  # of an address that are read; a search has fewer
_OF_REL = {
    "sponsored": LinkKind.AD,
    "author": LinkKind.OTHER,
    "tag": LinkKind.TAG,
    "license": LinkKind.LEGAL,
    "privacy-policy": LinkKind.LEGAL,
    "terms-of-service": LinkKind.LEGAL,
    "home": LinkKind.NAVIGATION,
    "next": LinkKind.NAVIGATION,
    "prev": LinkKind.NAVIGATION,
}

# Lengths and shared words
HEADLINE_UNITS = 8.0  # shortest anchor text, in Chinese characters, that is another page's title
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LATIN_WORD = 1.7  # Chinese characters that carry as much as a word of another script
_GRAM_WORDS = re.compile(r"[a-z0-9]{4,}|[\u3400-\u9fff]{2,}")
_HOME = re.compile(r"[a-z]+://[^/]*/?(?:(?:index|default)\.\w+)?")
# Labels under which the domains of a country are registered: com.cn, co.uk.
_SECOND_LEVEL = frozenset(("ac", "co", "com", "edu", "gov", "go", "ne", "net", "or", "org"))
_HOST_STARTS = len("https://")
_HOME_LETTERS = ("", "i", "d")  # that a file of a home page may begin with
_COUNTED = re.compile(r"\w\W{0,2}[(（\[]\s?\d+\s?[)）\]]$|\s\d+\s?篇$")
_COUNT_ENDS = frozenset(")）]篇")


class OwnValues(NamedTuple):
    """The values of every link of a page, as parallel lists.

    Attributes:
        texts: Anchor texts, white space collapsed, at most 2,000 characters.
        urls: Absolute URLs, ``""`` for broken hrefs and other schemes.
        titles: ``title`` attributes, white space collapsed.
        rels: Words of ``rel`` in lower case, such as ``"nofollow next"``.
        known: Verdicts by these values alone; None without evidence.
        cut_texts: Number of texts that were longer than 2,000 characters.
    """

    texts: list[str]
    urls: list[str]
    titles: list[str]
    rels: list[str]
    known: list[Verdict | None]
    cut_texts: int


@lru_cache(maxsize=16384)  # menus have the same texts on all pages of a host
def judge_words(text: str) -> Verdict | None:
    """Judges an anchor text by its words: ``登录`` FUNCTION, ``上一篇：…`` NAVIGATION; else None.

    Args:
        text: White space collapsed, 1 to ``MAX_WORDS_CHARS`` characters: the words of a longer one
            tell nothing.
    """
    text = simplify(text.lower())
    whole, latin, words, hint = _known_words()
    is_latin = text.isascii()
    if len(text) <= _MAX_WORD_CHARS:
        verdict = whole.get(text.strip(_PUNCTUATION))
        if verdict is not None:
            return verdict
        may_do = (
            ("log" in text or "sign" in text or "comment" in text or text.startswith(_BEGINNINGS))
            if is_latin
            else hint.search(text) and not _SIGNS.isdisjoint(text)
        )
        if may_do and _DOES.match(text):
            return _DOING
    if _NEIGHBOUR.match(text):
        return _TO_NEIGHBOUR
    if is_latin:
        words = hint = latin
    if hint.search(text):
        legal_chars = sum(map(len, words.findall(text)))
        # Licences have numbers; a long text with one legal word is another page's title.
        if legal_chars and (
            legal_chars >= _LEGAL_SHARE * len(text) or any(char.isdigit() for char in text)
        ):
            return _LEGAL
    return None


@lru_cache(maxsize=1)
def _known_words() -> tuple[dict[str, Verdict], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """The word lists by which anchor texts are judged, read once for the process.

    Verdicts on whole texts, such as ``登录`` or ``首页``; patterns of legal words in Latin letters,
    and of all; a quicker one that finds whatever the last and ``_DOES`` find, and more.
    """
    lists = reversed(_WHOLE_WORDS.items())
    whole = {word: verdict for name, verdict in lists for word in word_list(name)}
    legal = word_list("legal_words")
    latin = pattern_of(filter(str.isascii, legal))
    return whole, latin, pattern_of(legal), hint_of([*legal, *_PAIRS])


def judge_address(href: str, text: str, url: str, rel: str, is_own: bool) -> Verdict | None:
    """Judges a link by its URL and ``rel``: ``#top`` is FUNCTION, ``rel=tag`` TAG; else None.

    Args:
        href: As in the source, without white space around it.
        text: Its visible text; one without letters and digits is a permanent link of a heading.
        url: The absolute URL, ``""`` for none.
        rel: Words in lower case.
        is_own: Whether it leads to the page's own host.
    """
    if not url or not href or href[0] == "#":
        address = href.lower()
        if address.startswith("mailto:"):
            # Without a recipient it sends the page to a friend.
            kind = LinkKind.FUNCTION if address[7:8] in ("", "?") else LinkKind.LEGAL
            return kind, 0.5, LinkReason.NOT_A_PAGE
        is_place = address.startswith("#") and len(address) > 1 and any(map(str.isalnum, text))
        if is_place and not _BUTTONS.search(address):
            return LinkKind.NAVIGATION, 0.5, LinkReason.NOT_A_PAGE  # a table of contents
        if not address or address.startswith(_NO_PAGE):
            return LinkKind.FUNCTION, 0.8, LinkReason.NOT_A_PAGE
        return LinkKind.OTHER, 0.0, LinkReason.NO_EVIDENCE
    if rel:
        for word in rel.split():
            kind_of_rel = _OF_REL.get(word)
            if kind_of_rel is not None:
                return kind_of_rel, 0.9, LinkReason.REL
    if not is_own and _SHARES.search(url.partition("?")[0]):
        return LinkKind.FUNCTION, 0.8, LinkReason.URL_SHAPE
    return None


def asks_for(url: str, text: str) -> bool:
    """Whether a URL is a search for its own anchor text, as the URLs of keywords are.

    ``/search?q=%E6%B8%94%E6%B8%AF`` under the text ``渔港`` is one; UTF-8 and GB18030 count.

    Args:
        url: The absolute URL.
        text: The visible text of the link, not empty.
    """
    query = url.partition("?")[2]
    if len(text) > _MAX_KEYWORD_CHARS or not query or len(query) > _MAX_QUERY_CHARS:
        return False
    values = {
        unquote_to_bytes(pair.partition("=")[2].replace("+", " ")) for pair in query.split("&")
    }
    word = text.strip("# ")
    return bool(word) and not values.isdisjoint(
        (word.encode("utf-8", "replace"), word.encode("gb18030", "replace"))
    )


@lru_cache(maxsize=16384)
def headline_units(text: str) -> float:
    """Counts the units of an anchor text, a Latin word as 1.7: ``中文标题 four`` has 4.85."""
    if text.isascii():
        return _LATIN_WORD * len(text.split())
    rest, spaces = _WIDE.subn(" ", text)
    wide = len(text) - len(rest) + spaces
    latin = _LATIN_WORD * len(rest.split())
    return wide + (latin / 2 if wide else latin)


def is_counted(text: str) -> bool:
    """Whether a text is a name with a count: ``杂谈 (12)`` of a blog's categories."""
    return text[-1:] in _COUNT_ENDS and _COUNTED.search(text) is not None


def grams(text: str) -> frozenset[str]:
    """Cuts a text into pieces that texts on one topic share: words, pairs of Chinese characters.

    ``渔港见闻`` gives ``渔港``, ``港见``, ``见闻``; Latin words have at least 4 letters.
    """
    found: set[str] = set()
    for word in _GRAM_WORDS.findall(text.lower()):
        if word.isascii():
            found.add(word)
        else:
            found.update(map("".join, pairwise(word)))
    return frozenset(found)


@lru_cache(maxsize=4096)
def site_of(host: str) -> str:
    """Returns the name of a site in all its domains: ``sina`` of tech.sina.com.cn and sina.cn."""
    labels = host.partition(":")[0].split(".")
    names = [label for label in labels[:-1] if label not in _SECOND_LEVEL]
    return names[-1] if names else host


def is_home(url: str) -> bool:
    """Whether a URL is that of a host's home page."""
    slash = url.find("/", _HOST_STARTS)
    if slash >= 0 and url[slash + 1 : slash + 2] not in _HOME_LETTERS:
        return False
    return _HOME.fullmatch(url) is not None


# Whether a list of headlines is about the topic of the page.
#
# The topic is the words (``grams``) of the title and of the first heading, and those that the text
# above says most. The whole list is asked, never one link: a *run* of headlines that no heading
# parts and that no region or body interrupts. It is about the topic where five titles have four
# words of the topic on average; of a title two words count, so that those with a whole name make up
# for others. The words have to tell the run from the rest of the page: what many other links say,
# as the name of a city or the form of a company, is no topic, nor is what nearly all titles of a
# long run say. Where no sentences stand above, as on a list or a home page, there is no topic; a
# run that is as long as an archive shares words whatever the page is about.

RunKey = tuple[int, str]
"""(section, region) of the links of a run."""

_LEAST = 3  # titles of a run
_MOST = 40  # titles; more are an archive, which shares words with every page
_LEAST_WORDS = 0.8  # words of the topic for each title of a run
_MOST_WORDS = 2  # of one title that count
_AGREED_SHARE = 1 / 3  # share of titles that have a word they agree on
_MAX_TEXT_CHARS = 5000  # of a text: its topic is told at its beginning
_TEXT_COUNT = 4  # times that it says them at least
_MARKS = re.compile(r"[，。！？]|[a-z][.,!?]\s")
_LEAST_MARKS = 3  # of sentences above a run; a slogan or an address of a home page has fewer
_FREQUENT_SHARE = 0.05  # of the page's other links above which a word is the site's
_LONG = 8  # titles; a longer run of one name is a list of goods or companies
_SAME_SHARE = 0.7  # of the titles of a long run above which a word is the list's


class Run(NamedTuple):
    """Headlines that nothing parts.

    Attributes:
        key: Where they stand.
        lines: The line of each.
        titles: URL -> its texts, one after another.
    """

    key: RunKey
    lines: list[int]
    titles: dict[str, str]


def lines_about(
    names: Sequence[str], text: str, runs: Sequence[Run], links: Sequence[tuple[str, str]]
) -> set[int]:
    """Returns the lines of the runs that are about the topic of the page.

    Args:
        names: The title of the page, and its first heading.
        text: All text above the runs that is no link.
        runs: The runs of headlines behind its body.
        links: (URL, text) of all links outside its body.
    """
    found: set[int] = set()
    if len(_MARKS.findall(text)) >= _LEAST_MARKS:
        named = frozenset[str]().union(*map(grams, names))
        text = text[:_MAX_TEXT_CHARS].lower()
        for run in runs:
            if _LEAST <= len(run.titles) <= _MOST and _is_about(run, named, text, links):
                found.update(range(run.lines[0], run.lines[-1] + 1))
    return found


def _is_about(run: Run, named: Set[str], text: str, links: Sequence[tuple[str, str]]) -> bool:
    found = [grams(title) for title in run.titles.values()]
    # What many titles have and the text says often is its topic, too.
    counts = Counter(word for words in found for word in words)
    least = max(_LEAST, _AGREED_SHARE * len(found))
    often = {word for word, count in counts.items() if count >= least}
    topic = named | {word for word in often if text.count(word) >= _TEXT_COUNT}
    if not _share_enough(found, topic):
        return False
    others = [title.lower() for url, title in links if url not in run.titles]
    most_others = max(1, _FREQUENT_SHARE * len(others))
    most = len(found) * (_SAME_SHARE if len(found) > _LONG else 1)
    telling = {
        word
        for word in topic & counts.keys()
        if counts[word] <= most and sum(word in title for title in others) <= most_others
    }
    return _share_enough(found, telling)


def _share_enough(found: Sequence[frozenset[str]], topic: Set[str]) -> bool:
    shared = sum(min(len(words & topic), _MOST_WORDS) for words in found)
    return shared >= _LEAST_WORDS * len(found)
