"""Every link of a page with its kind: its address and its words, else the block it stands in.

Words that are known whole (``data/function_words.txt``, ``navigation_words.txt``) or inside a short
text (``legal_words.txt``) say what a link is, and so do ``rel`` and addresses that share a page or
lead to none (``link_addresses``). The rest is judged by ``link_kinds``. What the host says comes
later (``site_links``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from cleaning.body.page_body import Body
from cleaning.document.document import Document
from cleaning.document.tree import Tree
from cleaning.features.params import LinkParams
from cleaning.lexicon import hint_of, pattern_of, word_list
from cleaning.links.addresses import by_address
from cleaning.links.kinds import judge_links
from cleaning.links.lists import LinkLists, Verdict
from cleaning.links.with_model import settle_links
from cleaning.model.places import SitePlaces
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.records import Link, LinkKind, LinkReason
from cleaning.urls.normal_form import resolver

MAX_LINKS = 20_000
MAX_TEXT_CHARS = 2000
_MAX_WORD_CHARS = 20
_FUNCTION: Verdict = (LinkKind.FUNCTION, 0.9, LinkReason.WORDS)
_DOING: Verdict = (LinkKind.FUNCTION, 0.7, LinkReason.WORDS)
_TO_NEIGHBOUR: Verdict = (LinkKind.NAVIGATION, 0.8, LinkReason.WORDS)
_LEGAL: Verdict = (LinkKind.LEGAL, 0.9, LinkReason.WORDS)
_WHOLE_WORDS: dict[str, Verdict] = {
    "function_words": _FUNCTION,
    "navigation_words": (LinkKind.NAVIGATION, 0.9, LinkReason.WORDS),
}
_MAX_LEGAL_CHARS = 40
_LONG_CHARS = 10  # from which a text may be another page's title
_LEGAL_SHARE = 0.3  # share of a long text that its legal words are; licences have numbers
# Inside a short text: ways to log in and to share, counts of comments.
_SIGNS = frozenset("登注註享评評与")
_BEGINNINGS = ("follow", "find", "share")
# How what ``_DOES`` finds in Chinese begins.
_PAIRS = ("登录", "登錄", "登入", "登陆", "注册", "注冊", "註册", "註冊", "分享", "参与",
          "条评", "条評", "條评", "條評", "篇评", "篇評",
          "个评", "个評", "個评", "個評")  # fmt: skip
_DOES = re.compile(
    r".{0,8}登[录錄入陆]$|登[录入].{0,4}$|.{0,6}[注註][册冊]$|分享[到至给給]"
    r"|.*\d ?[条條篇个個][评評]|.*\d\]?人参与"
    r"|.{0,12}\b(?:log|sign) ?(?:in|up)$|(?:follow|find) us\b|follow @|.{0,9}\d comments?$"
    r"|share (?:on|via|to|this)\b"
)
# 上一篇 with the title it leads to.
_NEIGHBOUR = re.compile(
    r"\W{0,3}(?:[上下前后後]一?[篇章节節页頁张張条條则則]|(?:next|prev|previous)(?: \w+)? ?:"
    r"|(?:next|prev|previous) (?:article|post|story|page|chapter)\b)",
    re.I,
)
_NEIGHBOUR_LETTERS = frozenset("上下前后後np")  # that one without marks before it begins with
_PUNCTUATION = " \t\r\n\u3000：:【】[]「」《》<>＞＜|｜·•-—_/／▪■◆●»«>…."


def read_links(
    document: Document, body: Body, title: str, places: SitePlaces | None = None
) -> tuple[tuple[Link, ...], tuple[PageWarning, ...]]:
    """The first 20,000 ``<a>`` and ``<area>`` with an href, in document order, and what was capped.

    Args:
        document: The parsed page.
        body: Its body.
        title: Its title without the site's name.
        places: What its host taught, None without a model.
    """
    tree, host = document.tree, document.page.host
    anchors = tree.anchors[:MAX_LINKS]
    runs = tree.texts
    url_of = resolver(document.base, document.page.encoding)
    resolved: dict[str, str] = {}
    texts: list[str] = []
    urls: list[str] = []
    titles: list[str] = []
    rels: list[str] = []
    known: list[Verdict | None] = []
    cut_texts = 0
    own = (f"http://{host}/", f"https://{host}/")
    words = _words()
    for anchor in anchors:
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
        verdict = _by_words(text, words) if text and len(text) <= _MAX_LEGAL_CHARS else None
        if verdict is None:
            is_own = url.startswith(own)
            if rel or not is_own or not href or href[0] == "#":
                verdict = by_address(href, url, rel, text, is_own)
        texts.append(text)
        urls.append(url)
        titles.append(hint)
        rels.append(rel)
        known.append(verdict)
    lists = LinkLists(tree, body, title, texts, urls, known, host, LinkParams())
    verdicts = judge_links(lists, known)
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
                anchors, urls, texts, titles, rels, verdicts, strict=True
            )
        ]
    )
    if places is not None:
        links = settle_links(tree, links, places)
    return links, _warnings(len(tree.anchors) - len(links), cut_texts)


def _text_of(tree: Tree, start: int, end: int) -> tuple[str, bool]:
    """The text of an anchor's runs, and whether it was cut: links may lie in each other."""
    texts, lines = tree.texts, tree.line_of
    if not _is_short(texts, start, end):
        return _beginning(texts, start, end), True
    if lines[start] == lines[end - 1]:
        return " ".join("".join(texts[start:end]).split()), False
    return tree.text(start, end).replace("\n", " "), False


def _is_short(texts: list[str], start: int, end: int) -> bool:
    """Whether the runs of an anchor are no longer than a link's text may be."""
    room = MAX_TEXT_CHARS
    for i in range(start, end):
        room -= len(texts[i])
        if room < 0:
            return False
    return True


def _beginning(texts: list[str], start: int, end: int) -> str:
    """As much of an anchor's text as is kept."""
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


class _Words(NamedTuple):
    """The words that say what a link is.

    Attributes:
        whole: What texts say that are known whole.
        latin: What finds legal words in Latin letters.
        legal: What finds all of them.
        hint: What shows quickly where none of them is, and nothing ``_DOES`` finds.
    """

    whole: dict[str, Verdict]
    latin: re.Pattern[str]
    legal: re.Pattern[str]
    hint: re.Pattern[str]


def _by_words(text: str, known: _Words) -> Verdict | None:
    text = text.lower()
    whole, latin, words, hint = known
    is_latin = text.isascii()
    if len(text) <= _MAX_WORD_CHARS:
        verdict = whole.get(text)
        if verdict is not _FUNCTION:
            bare = text.strip(_PUNCTUATION)
            verdict = (whole.get(bare) if bare != text else None) or verdict
        if verdict is not None:
            return verdict
        may_do = (
            ("log" in text or "sign" in text or "comment" in text or text.startswith(_BEGINNINGS))
            if is_latin
            else hint.search(text) and not _SIGNS.isdisjoint(text)
        )
        if may_do and _DOES.match(text):
            return _DOING
    first = text[0]
    if (first in _NEIGHBOUR_LETTERS or not first.isalnum()) and _NEIGHBOUR.match(text):
        return _TO_NEIGHBOUR
    if is_latin:
        words = hint = latin
    if hint.search(text):
        said = sum(map(len, words.findall(text)))
        # Licences have numbers; a long text with such a word alone is another page's title.
        if said and (
            len(text) < _LONG_CHARS
            or said >= _LEGAL_SHARE * len(text)
            or any(char.isdigit() for char in text)
        ):
            return _LEGAL
    return None


@lru_cache(maxsize=1)
def _words() -> _Words:
    lists = reversed(_WHOLE_WORDS.items())
    legal = word_list("legal_words")
    return _Words(
        whole={word: verdict for name, verdict in lists for word in word_list(name)},
        latin=pattern_of(filter(str.isascii, legal)),
        legal=pattern_of(legal),
        hint=hint_of([*legal, *_PAIRS]),
    )
