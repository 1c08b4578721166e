"""Every link of a page with its kind.

A link's own anchor text, ``rel`` and URL decide first (``evidence``); what they leave open is
decided by the block the link stands in (``kinds``, over the counts of ``lists``). What the host
taught comes later (``with_model``).
"""

from __future__ import annotations

from cleaning.body.page_body import Body
from cleaning.document.document import Document
from cleaning.document.tree import Tree
from cleaning.links.evidence import OwnValues, judge_address, judge_words, known_words
from cleaning.links.kinds import judge_links
from cleaning.links.lists import LinkLists
from cleaning.links.with_model import apply_model_to_links
from cleaning.model.places import SitePlaces
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.records import Link
from cleaning.urls.normal_form import resolver

MAX_LINKS = 20_000
MAX_TEXT_CHARS = 2000


def read_links(
    document: Document, body: Body, title: str, places: SitePlaces | None = None
) -> tuple[tuple[Link, ...], tuple[PageWarning, ...]]:
    """Return the first 20,000 ``<a>`` and ``<area>`` with an href, in document order, and warnings.

    Args:
        document: The parsed page.
        body: Its body.
        title: Its title without the site's name.
        places: What its host taught, None without a model.
    """
    tree = document.tree
    own = _read_anchors(document)
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
    if places is not None:
        links = apply_model_to_links(tree, links, places)
    return links, _warnings(len(tree.anchors) - len(links), own.cut_texts)


def _read_anchors(document: Document) -> OwnValues:
    """Read text, URL, title and rel of every anchor, and judge it by them.

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
    words = known_words()
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
        verdict = judge_words(text, words) if text else None
        if verdict is None:
            is_own = url.startswith(own)
            if rel or not is_own or not href or href[0] == "#":
                verdict = judge_address(href, url, rel, text, is_own)
        texts.append(text)
        urls.append(url)
        titles.append(hint)
        rels.append(rel)
        known.append(verdict)
    return found._replace(cut_texts=cut_texts)


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
