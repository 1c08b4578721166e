"""What the user's marks teach a topic: a logistic regression on the terms of the marked pages.

The logit of a page is ``STEEPNESS * (r - .5)``, with r its relevance by query and examples, plus
``bias + title weights . title vector + body weights . body vector``. All weights have a Gaussian
prior around 0: a topic without marks judges by r alone, and each mark moves the judgement of pages
like the marked one.

The regression is solved in its dual form, with one number a page: at the solution the number of a
page is ``(label - probability) / PRECISION``, and the weights are the sum of the pages' vectors
times their numbers. Numbers are solved in turn, in the order of the pages' URLs, until none moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from typing import NamedTuple

from msgspec import Struct

from crawlclean.cleaning.topics.vectors import dot

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
_STILL = 1e-3
"""A sweep that moves no number by more is the last."""
_NEWTON_STEPS = 8
_LARGEST_LOGIT = 30.0


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
