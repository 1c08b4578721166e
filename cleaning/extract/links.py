"""Every link of a page with its kind: its address and its words, else the block it stands in.

Words that are known whole (``data/function_words.txt``, ``navigation_words.txt``) or inside a short
text (``legal_words.txt``) say what a link is, and so does an address that leads to no page or
``rel=tag``. The rest is judged by ``link_kinds``. What the host says comes later
(``site_links``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from cleaning.building import build_all
from cleaning.extract.body import Body
from cleaning.extract.link_kinds import judge_links
from cleaning.extract.link_lists import LinkLists, Verdict
from cleaning.extract.params import LinkParams
from cleaning.records import Link, LinkKind, LinkReason, PageWarning, WarningKind
from cleaning.source.tree import Tree
from cleaning.source.urls import resolver
from cleaning.source.word_lists import pattern_of, word_list

MAX_LINKS = 20_000
MAX_TEXT_CHARS = 2000
_MAX_WORD_CHARS = 20
_WHOLE_WORDS = (
    ("function_words", LinkKind.FUNCTION),
    ("navigation_words", LinkKind.NAVIGATION),
)
_MAX_LEGAL_CHARS = 40
_NO_PAGE = ("#", "javascript:", "mailto:", "tel:", "sms:", "data:", "about:", "void(")
# Fragments that are buttons.
_DOES = re.compile("comment|top|share|reply|login|close")
_PUNCTUATION = " \t\r\n\u3000：:【】[]「」《》<>＞＜|｜·•-—_/／▪■◆●»«>…."


def extract_links(
    tree: Tree,
    body: Body,
    host: str,
    base: str,
    encoding: str,
    params: LinkParams | None = None,
) -> tuple[tuple[Link, ...], tuple[PageWarning, ...]]:
    """The first 20,000 ``<a>`` and ``<area>`` with an href, in document order, and what was capped.

    Args:
        tree: The parsed page.
        body: What ``extract_body`` found in it.
        host: The page's own host.
        base: Absolute URL the hrefs are relative to.
        encoding: Python's name of the page's charset.
        params: The default thresholds when None.
    """
    anchors = tree.anchors[:MAX_LINKS]
    runs = tree.texts
    url_of = resolver(base, encoding)
    resolved: dict[str, str] = {}
    texts: list[str] = []
    urls: list[str] = []
    titles: list[str] = []
    rels: list[str] = []
    known: list[Verdict | None] = []
    cut_texts = 0
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
        rel = title = ""
        if len(anchor.attributes) > 1:
            get = anchor.attributes.get
            rel, title = (
                " ".join((get("rel") or "").lower().split()),
                " ".join((get("title") or "").split()),
            )
        verdict = _by_words(text) if text and len(text) <= _MAX_LEGAL_CHARS else None
        if verdict is None and (rel or not url or not href or href[0] == "#"):
            verdict = _by_address(href, url, rel, text)
        texts.append(text)
        urls.append(url)
        titles.append(title)
        rels.append(rel)
        known.append(verdict)
    lists = LinkLists(tree, body, texts, urls, known, host, params or LinkParams())
    verdicts = judge_links(lists, known)
    columns = zip(*verdicts, strict=True) if verdicts else ((), (), ())
    links = build_all(
        Link, (anchor.href for anchor in anchors), urls, texts, titles, rels, *columns
    )
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


def _by_address(href: str, url: str, rel: str, text: str) -> Verdict | None:
    address = href.lower()
    if address.startswith("mailto:"):
        return LinkKind.LEGAL, 0.5, LinkReason.NOT_A_PAGE
    if text and address.startswith("#") and len(address) > 1 and not _DOES.search(address):
        return LinkKind.NAVIGATION, 0.5, LinkReason.NOT_A_PAGE  # a table of contents
    if not address or address.startswith(_NO_PAGE):
        return LinkKind.FUNCTION, 0.9, LinkReason.NOT_A_PAGE
    if not url:
        return LinkKind.OTHER, 0.0, LinkReason.NO_EVIDENCE
    if "tag" in rel.split():
        return LinkKind.TAG, 0.9, LinkReason.REL
    return None


@lru_cache(maxsize=16384)
def _by_words(text: str) -> Verdict | None:
    text = text.lower()
    if len(text) <= _MAX_WORD_CHARS:
        bare = text.strip(_PUNCTUATION)
        for words, kind in _WHOLE_WORDS:
            if bare in word_list(words) or text in word_list(words):
                return kind, 0.9, LinkReason.WORDS
    if _legal_words().search(text):
        return LinkKind.LEGAL, 0.9, LinkReason.WORDS
    return None


@lru_cache(maxsize=1)
def _legal_words() -> re.Pattern[str]:
    return pattern_of(word_list("legal_words"))
