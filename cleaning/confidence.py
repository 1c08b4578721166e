"""How sure a body is: the probability that it is right, from eight kinds of evidence.

Right is a body whose tokens agree with those of a person's to F1 >= .8. The probability is that of
a logistic regression; ``make bench-confidence`` fits the weights and checks the probabilities on
hosts that the weights were not fitted on. A page without a body has confidence 0.
"""

from __future__ import annotations

from itertools import accumulate
from math import exp, log1p
from typing import NamedTuple

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import weigh_lines
from crawlclean.cleaning.messages import Message, joined
from crawlclean.cleaning.records import BodySource

_LEAST_GAP_UNITS = 15  # paper 2's threshold: shorter text between two links is navigation
_TEXT_ELEMENTS = ("article", "main")
_USUAL_ELEMENT = 0.8  # F1 with such an element that tells as much as a page without one
_DOUBT = -0.2  # evidence that lowers the log-odds by less is not worth a word


class Evidence(NamedTuple):
    """What tells a right body from a wrong one.

    Attributes:
        second: F1 of its words with paper 2's reading of the page, 0..1.
        element: F1 with the ``<article>`` or ``<main>`` around it, less .8; 0 without one.
        part: F1 with the part around its first line that is most like it, 0..1.
        paragraphs: Share of its words outside links that stand in ``<p>``, 0..1.
        linked: Logarithm of one more than its linked words.
        sections: Logarithm of one more than the ``<section>`` of the page.
        dated: 1 where the page has a date.
        place: 1 where it is of a place that the host's model, or a person, knows.
    """

    second: float
    element: float
    part: float
    paragraphs: float
    linked: float
    sections: float
    dated: float
    place: float


# As ``make bench-confidence`` fits them; USUAL are the means of its pages.
BIAS = -0.97
WEIGHTS = Evidence(
    second=1.23,
    element=1.15,
    part=1.95,
    paragraphs=0.86,
    linked=-0.25,
    sections=-0.31,
    dated=0.87,
    place=1.6,
)
USUAL = Evidence(
    second=0.81,
    element=0.03,
    part=0.92,
    paragraphs=0.59,
    linked=1.68,
    sections=0.45,
    dated=0.74,
    place=0.31,
)


def weigh_evidence(tree: Tree, body: Body, *, is_dated: bool) -> Evidence | None:
    """Collects the evidence for the body of a page; None without a body."""
    lines = weigh_lines(tree)
    own, linked = lines.own, lines.linked
    words = [mine + links for mine, links in zip(own, linked, strict=True)]
    kept = [0.0] * len(words)
    for i in body.lines:
        kept[i] = words[i]
    size = sum(kept)
    if not size:
        return None
    text = sum(own[i] for i in body.lines)
    before = [0.0, *accumulate(words)]
    kept_before = [0.0, *accumulate(kept)]
    part = element = 0.0
    block = tree.line_blocks[max(body.first, body.lines[0])]
    while block > 0:
        first, end = tree.block_lines[block], tree.line_end(block)
        found = kept_before[end] - kept_before[first]
        same = _f1(found, size, before[end] - before[first])
        part = max(part, same)
        if tree.landmarks.get(block, tree.block_tags[block]) in _TEXT_ELEMENTS:
            element = max(element, same)
        block = tree.block_parents[block]
    tags = tree.block_tags
    paragraphs = sum(own[i] for i in body.lines if tags[tree.line_blocks[i]] == "p")
    return Evidence(
        second=_second(own, linked, kept, text),
        element=element - _USUAL_ELEMENT if element else 0.0,
        part=part,
        paragraphs=paragraphs / max(1.0, text),
        linked=log1p(max(0.0, size - text)),
        sections=log1p(tags.count("section")),
        dated=float(is_dated),
        place=float(body.source in (BodySource.SITE, BodySource.OVERRIDE)),
    )


def _second(own: list[float], linked: list[float], kept: list[float], text: float) -> float:
    """F1 of a body with the long text between links, line by line, as paper 2 reads a page."""
    long = both = gap = gap_kept = 0.0
    for mine, links, is_kept in zip((*own, 0.0), (*linked, 1.0), (*kept, 0.0), strict=True):
        if links:
            if gap >= _LEAST_GAP_UNITS:
                long, both = long + gap, both + gap_kept
            gap = gap_kept = 0.0
            if mine < _LEAST_GAP_UNITS:
                continue
            long += mine
            both += mine if is_kept else 0.0
        else:
            gap += mine
            gap_kept += mine if is_kept else 0.0
    return _f1(both, text, long)


def _f1(common: float, one: float, other: float) -> float:
    return 2 * common / (one + other) if common else 0.0


def confidence_of(evidence: Evidence | None) -> float:
    """Returns the probability that a body is right, 0..1, three decimals; 0 without a body."""
    if evidence is None:
        return 0.0
    odds = BIAS + sum(w * x for w, x in zip(WEIGHTS, evidence, strict=True))
    return round(1 / (1 + exp(-odds)), 3)


def doubts_of(evidence: Evidence | None) -> Message:
    """Returns in words what makes a body less sure than usual, the gravest first."""
    if evidence is None:
        return Message("sure_no_body")
    words = (  # in the order of the fields
        Message("sure_second", round(100 * evidence.second)),
        Message("sure_element", round(100 * (evidence.element + _USUAL_ELEMENT))),
        Message("sure_part", round(100 * evidence.part)),
        Message("sure_paragraphs", round(100 * evidence.paragraphs)),
        Message("sure_linked", round(exp(evidence.linked) - 1)),
        Message("sure_sections", round(exp(evidence.sections) - 1)),
        Message("sure_dated"),
        Message("sure_place"),
    )
    costs = (w * (x - usual) for w, x, usual in zip(WEIGHTS, evidence, USUAL, strict=True))
    found = sorted(zip(costs, words, strict=True))
    return joined([word for cost, word in found if cost < _DOUBT] or [Message("sure")])
