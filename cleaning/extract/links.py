"""Every link of a page with its kind, a first simple reading.

The evidence in order, strongest first; the first that speaks decides:

1. the href leads to no page;
2. ``rel=tag``;
3. the anchor text is a known word (``data/function_words.txt``, ``navigation_words.txt`` whole,
   ``legal_words.txt`` inside a short text);
4. the link stands in the block of a start marker (``data/related_markers.txt``);
5. it lies in a nav, header, footer or aside element;
6. the texts on both its sides are long (paper 2);
7. many pages of its host link to the same address (paper 3, by the site model);
8. it has other links near with little text between them (paper 2).
"""

from __future__ import annotations

from functools import lru_cache

from cleaning.extract.body import Body
from cleaning.records import Link, LinkKind, LinkReason, PageWarning, WarningKind
from cleaning.site_model import SiteModel
from cleaning.source.tree import Tree
from cleaning.source.urls import resolve
from cleaning.source.word_lists import word_list

MAX_LINKS = 20_000
MAX_TEXT_CHARS = 2000
_MAX_WORD_CHARS = 20
_WHOLE_WORDS = (
    ("function_words", LinkKind.FUNCTION),
    ("navigation_words", LinkKind.NAVIGATION),
)
_MAX_LEGAL_CHARS = 40
_NO_PAGE = ("#", "javascript:", "mailto:", "tel:", "sms:", "data:", "about:", "void(")
_PUNCTUATION = " \t\r\n\u3000：:【】[]「」《》<>＞＜|｜·•-—_/／▪■◆●»«>…."

_Verdict = tuple[LinkKind, float, LinkReason]


@lru_cache(maxsize=4096)
def is_related_marker(text: str) -> bool:
    """Whether a heading's text opens a block of related links."""
    return " ".join(text.lower().strip(_PUNCTUATION).split()) in word_list("related_markers")


def extract_links(
    tree: Tree, body: Body, base: str, encoding: str, model: SiteModel | None = None
) -> tuple[tuple[Link, ...], tuple[PageWarning, ...]]:
    """The first 20,000 ``<a>`` and ``<area>`` with an href, in document order, and what was capped.

    Args:
        tree: The parsed page.
        body: What ``extract_body`` found in it.
        base: Absolute URL the hrefs are relative to.
        encoding: Python's name of the page's charset.
        model: What the host taught, or None.
    """
    links: list[Link] = []
    texts = tree.texts
    lines = tree.line_of
    cut_texts = 0
    for i, anchor in enumerate(tree.anchors[:MAX_LINKS]):
        start, end = anchor.start, anchor.end
        # Links may lie in each other: not each has all of a page's text.
        is_short = _is_short(texts, start, end)
        if start == end:
            text = ""
        elif not is_short:
            text = _beginning(texts, start, end)
            cut_texts += 1
        elif lines[start] == lines[end - 1]:
            text = " ".join("".join(texts[start:end]).split())
        else:
            text = tree.text(start, end).replace("\n", " ")
        attributes = anchor.attributes
        href = anchor.href.strip()
        url = resolve(base, href, encoding) or ""
        rel = attributes.get("rel")
        title = attributes.get("title")
        rel = " ".join(rel.lower().split()) if rel else ""
        verdict = None
        if rel or not url or not href or href.startswith("#"):
            verdict = _by_address(href, url, rel)
        if verdict is None and text and len(text) <= _MAX_LEGAL_CHARS:
            verdict = _by_words(text)
        if verdict is None:
            if anchor.is_marked:
                verdict = LinkKind.RELATED, 0.8, LinkReason.MARKER
            elif anchor.region:
                verdict = LinkKind.NAVIGATION, 0.8, LinkReason.SEMANTIC_TAG
            elif body.is_long[i] and body.is_long[i + 1] and text:
                verdict = LinkKind.BODY, 0.7, LinkReason.IN_BODY
            elif model is not None and (share := model.noise.links.get(url)) is not None:
                verdict = LinkKind.NAVIGATION, min(0.5 + share / 2, 1.0), LinkReason.HOST_REPEATS
            elif not (body.is_long[i] and body.is_long[i + 1]):
                verdict = LinkKind.NAVIGATION, 0.5, LinkReason.LINK_LIST
            else:
                verdict = LinkKind.OTHER, 0.0, LinkReason.NO_EVIDENCE
        kind, score, reason = verdict
        links.append(
            Link(
                href=anchor.href,
                url=url,
                text=text,
                title=" ".join(title.split()) if title else "",
                rel=rel,
                kind=kind,
                score=score,
                reason=reason,
            )
        )
    return tuple(links), _warnings(len(tree.anchors) - len(links), cut_texts)


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


def _by_address(href: str, url: str, rel: str) -> _Verdict | None:
    if not href or href.lower().startswith(_NO_PAGE):
        return LinkKind.FUNCTION, 0.9, LinkReason.NOT_A_PAGE
    if not url:
        return LinkKind.OTHER, 0.0, LinkReason.NO_EVIDENCE
    if "tag" in rel.split():
        return LinkKind.TAG, 0.9, LinkReason.REL
    return None


@lru_cache(maxsize=16384)
def _by_words(text: str) -> _Verdict | None:
    text = text.lower()
    if len(text) <= _MAX_WORD_CHARS:
        for words, kind in _WHOLE_WORDS:
            if text in word_list(words) or text.strip(_PUNCTUATION) in word_list(words):
                return kind, 0.9, LinkReason.WORDS
    if any(word in text for word in word_list("legal_words")):
        return LinkKind.LEGAL, 0.9, LinkReason.WORDS
    return None
