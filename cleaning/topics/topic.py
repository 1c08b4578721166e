"""A topic: the user's words for it (``TopicSpec``), and what pages are judged by (``Topic``)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp, log, sqrt
from operator import add
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from msgspec import Struct
from msgspec.json import Decoder

from crawlclean.cleaning.json_values import dump_versioned, load_versioned

# Texts as topics compare them: one form of each character, words, pairs of characters.

# Scripts that are written without spaces (Chinese, Japanese, Korean with its particles, Thai): a
# word of theirs is found inside other text. Words of other scripts stand between boundaries.
UNSPACED = (
    "\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u2fdf\u3005-\u30ff"
    "\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# c++, c#, .net, asp.net, covid-19
_WORD_PATTERN = rf"\.?[^\W_{UNSPACED}]+(?:[.\-'_][^\W_{UNSPACED}]+)*(?:\+\+|#)?"
_SPLIT = re.compile(f"([{UNSPACED}]+)").split
# The same words, in text without characters of unspaced scripts: two and three times as fast.
_WORDS = re.compile(r"\.?+[^\W_]++(?:[.\-'_][^\W_]++)*(?:\+\+|#)?").findall
_ASCII_WORDS = re.compile(r"\.?+[a-z0-9]++(?:[.\-'_][a-z0-9]++)*(?:\+\+|#)?").findall
# The signs of Chinese text that are not in compatibility form, and spaces of web pages.
_USUAL_SIGNS = tuple((char, normalize("NFKC", char)) for char in "，：；！？（）．％／～…　\xa0")
TOKEN = re.compile(f"[{UNSPACED}]+|{_WORD_PATTERN}")
_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")


def plain(text: str) -> str:
    """Returns a text in lower case and compatibility form: ``Ｃ＋＋ﾊ`` becomes ``c++ハ``.

    Full-width and half-width forms become the usual ones. Traditional characters stay as they are:
    漢 and 汉 differ.
    """
    if not is_normalized("NFKC", text):
        for char, usual in _USUAL_SIGNS:  # then most texts are normal: a third of the time
            text = text.replace(char, usual)
        if not is_normalized("NFKC", text):
            text = normalize("NFKC", text)
    return text.lower()


def is_unspaced(word: str) -> bool:
    """Whether a word has a character of a script that is written without spaces."""
    return _UNSPACED_CHAR.search(word) is not None


def terms(text: str) -> list[str]:
    """Returns the terms of a plain text: words, then pairs of characters of unspaced scripts.

    ``学习c++语言`` has the terms c++, 学习, 语言.

    Args:
        text: In the form of ``plain``.
    """
    if text.isascii():
        return _ASCII_WORDS(text)
    parts = _SPLIT(text)  # at even places what stands between the runs of unspaced characters
    between = " ".join(parts[::2])
    found: list[str] = (_ASCII_WORDS if between.isascii() else _WORDS)(between)
    for run in parts[1::2]:
        found += map(add, run, run[1:]) if len(run) > 1 else run
    return found


# Vectors of a page: term -> weight ``(1 + ln n) * idf``, of unit length.

COMPARED_CHARS = 2_000
"""Characters of a body whose terms are compared; the query is searched in more."""
TITLE_SHARE = 0.5
"""Of a title in the likeness of a page: a body of 50 words says less than its title.

AUC .973 with the title apart (least topic .946), .966 with its terms counted four times (.917).
"""
USUAL_IDF = 7.0
"""The idf of a term that neither examples nor marked pages have.

Such terms only make a page's vector longer: with the exact idf of every term, for which workers
would need the dictionary, AUC is the same to .001.
"""


_LOGS = tuple(1 + log(max(1, count)) for count in range(256))


def counted(text: str) -> Counter[str]:
    """Returns the terms of a plain text with their numbers."""
    return Counter(terms(text))


def weighted(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    """Returns the weights of counted terms; more than 255 of a term count as 255."""
    known = idf.get
    return {
        term: _LOGS[count if count < 256 else 255] * known(term, USUAL_IDF)
        for term, count in counts.items()
    }


class PageVector(NamedTuple):
    """The vector of a page's title or body, as far as the topic knows its terms.

    Attributes:
        weights: Term -> weight of the terms whose idf the topic has.
        length: Length of the whole vector; 1 for an empty one.
    """

    weights: dict[str, float]
    length: float

    @classmethod
    def of(cls, text: str, idf: Mapping[str, float]) -> PageVector:
        """Returns the vector of a plain text.

        Terms without idf only lengthen the vector: counted by how often they occur, not one by one,
        which halves the time.
        """
        counts = counted(text)
        weights = {
            term: _LOGS[count if count < 256 else 255] * idf[term]
            for term, count in counts.items()
            if term in idf
        }
        unknown = Counter(counts.values())
        unknown.subtract(Counter([counts[term] for term in weights]))
        square = sum([weight * weight for weight in weights.values()])
        for count, terms_with in unknown.items():
            square += terms_with * (_LOGS[count if count < 256 else 255] * USUAL_IDF) ** 2
        return cls(weights, sqrt(square) or 1.0)

    def cosine(self, other: Mapping[str, float]) -> float:
        """Returns the product of this vector brought to length 1 and another vector."""
        return dot(self.weights, other) / self.length


def likeness(title: PageVector, body: PageVector, vector: Mapping[str, float]) -> float:
    """Returns how like a page is to a vector: the cosine of its body and half that of its title."""
    return body.cosine(vector) + TITLE_SHARE * title.cosine(vector)


def unit(vector: Mapping[str, float]) -> dict[str, float]:
    """Returns a vector of length 1; an empty one stays empty."""
    size = sqrt(sum([weight * weight for weight in vector.values()]))
    return {term: weight / size for term, weight in vector.items()}


def dot(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Returns the sum of the products of two vectors' common terms."""
    if len(other) < len(one):
        one, other = other, one
    return sum([weight * other[term] for term, weight in one.items() if term in other])


# What the user's marks teach a topic: a logistic regression on the terms of the marked pages.
#
# The logit of a page is ``STEEPNESS * (r - .5)``, with r its relevance by query and examples, plus
# ``bias + title weights . title vector + body weights . body vector``. All weights have a Gaussian
# prior around 0: a topic without marks judges by r alone, and each mark moves the judgement of
# pages like the marked one.
#
# The regression is solved in its dual form, with one number a page: at the solution the number of a
# page is ``(label - probability) / PRECISION``, and the weights are the sum of the pages' vectors
# times their numbers. Numbers are solved in turn, in the order of the pages' URLs, until none
# moves.

STEEPNESS = 10.0
"""Logits from relevance 0 to 1: relevance .5 is the probability .5, .7 is .88."""
PRECISION = 0.3
"""Of the prior: .1 and .3 are equally good; a smaller one follows single marks too far."""
MAX_MARKS = 500
"""Pages that teach; with more, the least sure ones. 200 take .6 s, 500 take 3.5 s."""
MAX_TAUGHT_TERMS = 3_000
"""Terms with a weight, of titles and bodies together: the heaviest."""
BIAS = 0.1
"""Likeness of pages that share no term: few marks leave such pages where they are, many do not."""
_SWEEPS = 60
"""At most: 40 marked pages are still after 8."""
_STILL = 1e-3
"""A sweep that moves no number by more is the last."""
_NEWTON_STEPS = 8
"""Each doubles the digits that are right: more change nothing."""
_LARGEST_LOGIT = 30.0
"""Odds of 10^13 to 1: a larger one is no other probability, and ``exp`` would overflow."""


class Taught(Struct, frozen=True):
    """What the marks taught: the logit that is added to a page's.

    Attributes:
        bias: Added to every page's logit.
        title: Term of a title -> weight.
        body: Term of a body -> weight.
    """

    bias: float = 0.0
    title: dict[str, float] = {}
    body: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self.title or self.body)


class MarkedPage(NamedTuple):
    """A page that the user judged.

    Attributes:
        title: Vector of the title, of unit length.
        body: Vector of the body, of unit length.
        untaught: The relevance by query and examples, 0..1.
        is_relevant: The user's word.
    """

    title: Mapping[str, float]
    body: Mapping[str, float]
    untaught: float
    is_relevant: bool


def probability(relevance: float) -> float:
    """Returns the probability 0..1 that a page of a relevance is relevant: .5 -> .5, .7 -> .88."""
    return _logistic(STEEPNESS * (relevance - 0.5))


def teach(pages: Sequence[MarkedPage]) -> Taught:
    """Returns what marked pages teach; equal pages in equal order teach equally.

    Args:
        pages: The examples and the marked pages.
    """
    if len(pages) > MAX_MARKS:
        pages = sorted(pages, key=lambda page: abs(page.untaught - 0.5))[:MAX_MARKS]
    likeness = _likeness(pages)
    numbers = _solve(pages, likeness)
    title: dict[str, float] = defaultdict(float)
    body: dict[str, float] = defaultdict(float)
    for page, number in zip(pages, numbers, strict=True):
        for vector, weights in ((page.title, title), (page.body, body)):
            for term, weight in vector.items():
                weights[term] += number * weight
    limit = _least_kept([*title.values(), *body.values()])
    return Taught(round(BIAS * sum(numbers), 6), _kept(title, limit), _kept(body, limit))


def _likeness(pages: Sequence[MarkedPage]) -> list[list[float]]:
    """The products of the pages' vectors, and the bias."""
    rows = [[0.0] * len(pages) for _ in pages]
    for i, one in enumerate(pages):
        for j in range(i + 1):
            other = pages[j]
            rows[i][j] = BIAS + dot(one.title, other.title) + dot(one.body, other.body)
            rows[j][i] = rows[i][j]
    return rows


def _solve(pages: Sequence[MarkedPage], likeness: Sequence[Sequence[float]]) -> list[float]:
    numbers = [0.0] * len(pages)
    logits = [STEEPNESS * (page.untaught - 0.5) for page in pages]
    for _ in range(_SWEEPS):
        largest = 0.0
        for i, page in enumerate(pages):
            row = likeness[i]
            others = logits[i] - row[i] * numbers[i]
            number = _number(numbers[i], float(page.is_relevant), others, row[i])
            step = number - numbers[i]
            if abs(step) > _STILL / 10:
                numbers[i] = number
                logits = [logit + step * like for logit, like in zip(logits, row, strict=True)]
                largest = max(largest, abs(step))
        if largest < _STILL:
            break
    return numbers


def _number(number: float, label: float, others: float, like: float) -> float:
    """The number at which ``PRECISION * number = label - probability``, by Newton's method."""
    low, high = (label - 1) / PRECISION, label / PRECISION
    for _ in range(_NEWTON_STEPS):
        p = _logistic(others + like * number)
        slope = PRECISION + like * p * (1 - p)
        number = min(high, max(low, number - (PRECISION * number - label + p) / slope))
    return number


def _logistic(logit: float) -> float:
    return 1 / (1 + exp(-max(-_LARGEST_LOGIT, min(_LARGEST_LOGIT, logit))))


def _least_kept(weights: Sequence[float]) -> float:
    sizes = sorted(map(abs, weights), reverse=True)
    return sizes[MAX_TAUGHT_TERMS] if len(sizes) > MAX_TAUGHT_TERMS else 0.0


def _kept(weights: Mapping[str, float], limit: float) -> dict[str, float]:
    return {
        term: round(weight, 4) for term, weight in sorted(weights.items()) if abs(weight) > limit
    }


DEFAULT_THRESHOLD = 0.5
"""Relevance from which a page counts as relevant, until the user has marked pages."""


class TopicSpec(Struct, frozen=True, kw_only=True):
    """A topic as its user describes it.

    Attributes:
        name: Its name: ``iran-earthquake``.
        query: In the language of ``query.py``: ``伊朗 地震|余震 -彩票``.
        synonyms: Groups of words that mean the same: ``(("电动车", "新能源汽车"),)``.
        excluded: Words that make a page irrelevant, as ``-`` in the query.
        threshold: Relevance from which a page is relevant, 0..1.
        version: Grows by one with each change; caches are keyed by (name, version).
    """

    name: str
    query: str
    synonyms: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[str, ...] = ()
    threshold: float = DEFAULT_THRESHOLD
    version: int = 1


class ExampleText(Struct, frozen=True, kw_only=True):
    """A page from which a topic learns its words.

    Attributes:
        title: The record's title.
        text: The record's body and posts.
        weight: 1 for an example and a page marked relevant; below 0 for one marked not relevant.
        url: Names the example in explanations; ``""`` for none.
        marked: Whether the user marked the page: marks teach weights of terms, examples alone make
            the common vector.
        is_list: Whether it is an index page. Marked as not relevant it teaches nothing: it is none
            because it is a list, not by its terms.
    """

    title: str
    text: str
    weight: float = 1.0
    url: str = ""
    marked: bool = False
    is_list: bool = False


class Name(Struct, frozen=True):
    """One name of a concept, as pages are searched for it.

    Attributes:
        text: For people: ``"c语言"``.
        words: All of them must occur: ``("c", "语言")``.
    """

    text: str
    words: tuple[str, ...]


class Concept(Struct, frozen=True):
    """One concept of the query.

    Attributes:
        names: Any of them stands for it.
        weight: How rare its words are: their mean idf, 0..9.
        required: Whether a page without it is hardly relevant.
    """

    names: tuple[Name, ...]
    weight: float
    required: bool = False


class Example(Struct, frozen=True):
    """An example page by its heaviest terms, to name the nearest one.

    Attributes:
        url: Of the page.
        terms: Term -> weight, of unit length.
    """

    url: str
    terms: dict[str, float]


class Topic(Struct, frozen=True, kw_only=True):
    """What pages are judged by; equal inputs make equal bytes.

    Attributes:
        name: As in the spec.
        version: As in the spec.
        threshold: Relevance from which a page is relevant.
        concepts: Of the query.
        excluded: Names that make a page irrelevant.
        terms: Term -> weight of the examples' common vector, of unit length; empty without
            examples. Terms are pairs of characters of unspaced scripts and words of others.
        idf: Term -> idf of the terms whose idf is not the usual one.
        scale: The cosine at which a page is as near as an example.
        examples: The examples, in order of their URL.
        taught: What the user's marks taught.
        vocabulary: Word -> weight 0..1 of the words by which links are judged, heaviest first.
    """

    name: str
    version: int = 1
    threshold: float = DEFAULT_THRESHOLD
    concepts: tuple[Concept, ...]
    excluded: tuple[Name, ...] = ()
    terms: dict[str, float] = {}
    idf: dict[str, float] = {}
    scale: float = 1.0
    examples: tuple[Example, ...] = ()
    taught: Taught = Taught()
    vocabulary: dict[str, float] = {}

    def to_bytes(self) -> bytes:
        """The topic as one line of JSON."""
        return dump_versioned(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Topic:
        """Decodes what ``to_bytes`` wrote.

        Raises:
            SchemaMismatch: A newer program wrote it.
            StoreDamaged: This program never wrote it.
        """
        return load_versioned(data, _decoder(), "topic")


@cache
def _decoder() -> Decoder[Topic]:
    return Decoder(Topic)
