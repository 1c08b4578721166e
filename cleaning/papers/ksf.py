"""Paper 5, KSF: the class of the elements with a forum's posts, by the votes of keywords.

Source: Liu Rui, Tan Wentao, Fu Yuanbin, Wang Hong: 一种通用论坛信息提取方法 (General Method of
Forum Information Extraction). Journal of Chinese Computer Systems (小型微型计算机系统), 2018,
39(7), article 1000-1220(2018)07-1398-07.

Equation or listing of the paper                             Function
Alg. 5 l. 5   lines without tags                             ``read_lines``
3.2.3         stop rules: words, length, structure           ``is_stopped``
3.2.3         lines with the same beginning are template     ``drop_template``
3.2.3         near-equal sample pages                        ``drop_near_equal``
eq. 9         TF(f, w) = N(f, w) / sum of N(i, w)            ``term_frequency``
eq. 10        IDF(w) = log(|F| / (1 + pages with w))         ``inverse_document_frequency``
eq. 11        W(f, w) = TF * IDF                             ``weigh_words``
Alg. 4        scoring: the candidate with the most votes     ``vote``
Alg. 5        keyword scoring filter                         ``learn_class``, ``extract_class``

Readings:

* A line is the text of one element up to the next tag; its location is the class attribute of the
  nearest element around the line that has one.
* The printed TF is normalised by the word's count in all pages, not by the page's length. IDF may
  be zero or below, and is kept. The base of the logarithm is not given; it changes no order.
* Alg. 4 adds 1 for each place of a word: weights choose the keywords and do not weigh their votes.
  The number of keywords is not given: ``keywords``, None for every word of positive weight.
* Lines are template if their first ``key_chars`` characters begin another line, too, of the same
  page (``within_page``) or of another sample page. The paper gives "some first characters" only.
* Of candidates with equal votes the first one wins.
* The paper's rule is one class and does not separate the posts: ``extract_class`` gives the text of
  each outermost element of the class, the first post first if its class is that of replies.

Cost: O(n) in the pages' characters, apart from the segmentation of words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lxml import etree

from crawlclean.cleaning.document.tree import Limits, cap_size

Words = Callable[[str], Iterable[str]]
"""Splits a text into words, such as ``Segmenter.words``."""

_INVISIBLE = frozenset(("script", "style", "noscript", "template", "textarea", "select", "head"))
_STRUCTURE = re.compile(r"\d{1,4}[-/.年]\d{1,2}[-/.月]\d{1,4}|\d{1,2}:\d{2}|^[\W\d_]*$")
_Candidate = TypeVar("_Candidate", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The paper's sample of five pages (4.2.1), and the choices the paper leaves open.

    Attributes:
        sample_size: Number of pages the rule is learned from, the first of those given.
        stop_words: Whole lines that are noise, lower case.
        min_chars: Shorter lines are noise.
        stop_structure: Whether lines with a date or a time, or without letters, are noise.
        key_chars: First characters that make two lines alike; 0 drops no template.
        within_page: Whether lines of one page count as alike too.
        near_equal: Share of common lines from which a page repeats another page of the sample.
        keywords: Number of voting words of a page, those of greatest weight; None for all above 0.
    """

    sample_size: int = 5
    stop_words: frozenset[str] = frozenset()
    min_chars: int = 4
    stop_structure: bool = True
    key_chars: int = 4
    within_page: bool = True
    near_equal: float = 0.9
    keywords: int | None = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A line of a page: its text, and the class around the line, ``""`` for none."""

    text: str
    location: str


def _parse(html: str) -> Any:
    source, _ = cap_size(html, Limits())
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return etree.fromstring(source.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):  # the source holds no element
        return None


def _class_of(element: Any) -> str:
    return " ".join((element.get("class") or "").split())


def _lines(root: Any) -> Iterator[TextLine]:
    """Yields the lines under an element, each with the class around it."""
    places: list[str] = []
    hidden = 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            hidden += element.tag in _INVISIBLE
            places.append(_class_of(element) or (places[-1] if places else ""))
            text = element.text
        else:
            if event == "end":
                hidden -= element.tag in _INVISIBLE
                places.pop()
            text = element.tail
        if text and places and not hidden:
            for piece in text.split("\n"):
                line = " ".join(piece.split())
                if line:
                    yield TextLine(text=line, location=places[-1])


def read_lines(html: str) -> list[TextLine]:
    """Returns the lines of a page in document order (Alg. 5, line 5)."""
    root = _parse(html)
    return [] if root is None else list(_lines(root))


def is_stopped(line: TextLine, params: Params) -> bool:
    """Whether a line is noise by a stop rule (3.2.3)."""
    return (
        len(line.text) < params.min_chars
        or line.text.lower() in params.stop_words
        or (params.stop_structure and _STRUCTURE.search(line.text) is not None)
    )


def drop_template(pages: Sequence[list[TextLine]], params: Params) -> list[list[TextLine]]:
    """Returns the pages without the lines that begin like another line (3.2.3)."""
    if not params.key_chars:
        return list(pages)
    counts: Counter[str] = Counter()
    for page in pages:
        keys = [line.text[: params.key_chars] for line in page]
        counts.update(keys if params.within_page else set(keys))
    return [[line for line in page if counts[line.text[: params.key_chars]] < 2] for page in pages]


def drop_near_equal(pages: Iterable[list[TextLine]], params: Params) -> list[list[TextLine]]:
    """Returns the pages that do not repeat an earlier page (3.2.3)."""
    kept: list[list[TextLine]] = []
    texts: list[frozenset[str]] = []
    for page in pages:
        mine = frozenset(line.text for line in page)
        if not any(len(mine & other) >= params.near_equal * len(mine | other) for other in texts):
            kept.append(page)
            texts.append(mine)
    return kept


def term_frequency(count: int, count_of_all: int) -> float:
    """Returns TF of a word in a page (eq. 9): its count in the page by its count in all pages."""
    return count / count_of_all


def inverse_document_frequency(pages: int, pages_with_word: int) -> float:
    """Returns IDF of a word (eq. 10); 0 or below for words of nearly all pages."""
    return math.log(pages / (1 + pages_with_word))


def weigh_words(pages: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    """Returns W of each word of each page, in order of first appearance (eq. 11)."""
    counts = [Counter(page) for page in pages]
    of_all: Counter[str] = Counter()
    pages_with: Counter[str] = Counter()
    for page in counts:
        of_all.update(page)
        pages_with.update(page.keys())
    return [
        {
            word: term_frequency(count, of_all[word])
            * inverse_document_frequency(len(pages), pages_with[word])
            for word, count in page.items()
        }
        for page in counts
    ]


def vote(candidates: Iterable[_Candidate]) -> _Candidate | None:
    """Returns the candidate with the most votes (Alg. 4); None without votes."""
    votes = Counter(candidates).most_common(1)
    return votes[0][0] if votes else None


def learn_class(htmls: Sequence[str], words: Words, params: Params | None = None) -> str | None:
    """Returns the class of the elements with the posts, or None (Alg. 5, lines 2-18).

    Args:
        htmls: Decoded sources of thread pages of one forum.
        words: Splits a text into words.
        params: None takes the defaults above.
    """
    params = params or Params()
    pages = drop_near_equal(map(read_lines, htmls[: params.sample_size]), params)
    pages = [[line for line in page if not is_stopped(line, params)] for page in pages]
    pages = drop_template(pages, params)
    placed = [
        [(word, line.location) for line in page for word in words(line.text)] for page in pages
    ]
    weights = weigh_words([[word for word, _ in page] for page in placed])
    results = []
    for page, weight in zip(placed, weights, strict=True):
        order = sorted(weight, key=lambda word: -weight[word])
        if params.keywords is None:
            keywords = {word for word in order if weight[word] > 0}
        else:
            keywords = set(order[: params.keywords])
        found = vote(place for word, place in page if word in keywords and place)
        if found is not None:
            results.append(found)
    return vote(results)


def extract_class(html: str, name: str) -> list[str]:
    """Returns the text of each outermost element of a class (Alg. 5, line 19)."""
    root = _parse(html)
    found: list[str] = []
    if root is None:
        return found
    is_inside: set[Any] = set()
    for element in root.iter(etree.Element):
        if element.getparent() in is_inside:
            is_inside.add(element)
        elif _class_of(element) == name:
            is_inside.add(element)
            found.append("\n".join(line.text for line in _lines(element)))
    return found
