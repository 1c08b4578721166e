"""How relevant a page is to a topic, from its title, body and posts; with the reasons.

The query part Q comes from the concepts of the query: where each stands, how often. The example
part E is the likeness to the example pages. What the user's marks taught about terms is added.
Links, navigation and captions have no say: they are in no record's body.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from crawlclean.cleaning.records import CleanRecord, PageKind
from crawlclean.cleaning.topics.teaching import STEEPNESS, probability
from crawlclean.cleaning.topics.text import UNSPACED, is_unspaced, plain
from crawlclean.cleaning.topics.topic import Concept, Name, Topic
from crawlclean.cleaning.topics.vectors import COMPARED_CHARS, PageVector, likeness

BODY_CHARS = 8_000
"""Characters of a body in which the query's words are looked for."""
BODY_HIT = 0.8
"""The most a concept gets from the body alone; a concept in the title has 1."""
COMPOUND_CHARS = 3  # php begins few words beside its own, c and go begin many
"""Characters of a name from which on a longer word may begin with it: Spring in SpringBoot."""
SATURATION = 7
"""Occurrences in the body from which more of them mean nothing."""
BEST_SHARE = 0.6
"""The share of the best concept in Q; the rest is the mean of all concepts by weight."""
MISSING_REQUIRED = 0.2
"""What is left of Q when a concept with ``+`` is missing."""
LIST_SHARE = 0.5
"""What is left of an index page's relevance: of 231 with .5 or more, a person called 5 relevant."""
EXCLUDED_IN_BODY = 3
"""Occurrences of an excluded word in a body that make a page irrelevant; in a title one does."""
MAX_PARTS_BYTES = 400
"""Bytes of an explanation as JSON: it is stored with every judged page."""
_SHOWN_TERMS = 10
_SHOWN_CONCEPTS = 6
_SHOWN_EXCLUDED = 3
_NAME_CHARS = 20
MAX_STEP = 0.1
"""How far the user's marks move the threshold at a time."""


class ConceptHit(Struct, frozen=True, gc=False):
    """One concept of the query on a page.

    Attributes:
        name: The name that was found, else the concept's first.
        h: 0..1; 0: it is not on the page.
        title: Whether it stands in the title.
        count: Occurrences in the body.
    """

    name: str
    h: float
    title: bool
    count: int


class Parts(Struct, frozen=True, gc=False, omit_defaults=True):
    """Why a page has its relevance; at most 400 bytes as JSON.

    Attributes:
        q: The query part, 0..1.
        e: The example part, 0..1; None without examples.
        taught: What the user's marks add to the relevance, -1..1; None without marks.
        concepts: The query's concepts, also those that are not on the page.
        terms: The terms of the page that are most like the examples, heaviest first.
        nearest: URL of the nearest example.
        excluded: Excluded words that made the page irrelevant.
        is_list: Whether the page is an index page, which halved its relevance.
    """

    q: float = 0.0
    e: float | None = None
    taught: float | None = None
    concepts: tuple[ConceptHit, ...] = ()
    terms: tuple[str, ...] = ()
    nearest: str = ""
    excluded: tuple[str, ...] = ()
    is_list: bool = False


class Judgement(Struct, frozen=True):
    """How relevant a page is.

    Attributes:
        relevance: 0..1; a page is relevant from the topic's threshold on.
        label: Probability 0..1 that the page is on the topic, by which links are learned; an index
            page on the topic has a high one.
        query_part: Q, 0..1; 0 when no concept of the query stands on the page.
        parts: The reasons.
    """

    relevance: float
    label: float
    query_part: float
    parts: Parts


def judge_record(topic: Topic, record: CleanRecord) -> Judgement:
    """Returns how relevant a record is: its title, and its body with its posts."""
    is_list = record.kind is PageKind.INDEX
    return judge(topic, record.title, text_of(record), is_list=is_list)


def text_of(record: CleanRecord) -> str:
    """The text by which a record is judged: its body, and posts that the body does not have."""
    posts = "\n".join(post.body for post in record.posts)
    if not record.body or not posts:
        return record.body or posts
    return record.body if record.posts[-1].body[:200] in record.body else f"{record.body}\n{posts}"


def judge(topic: Topic, title: str, text: str, *, is_list: bool = False) -> Judgement:
    """Returns how relevant a page is.

    Args:
        topic: The topic.
        title: The page's title.
        text: Its body and posts.
        is_list: Whether the page is an index page. Its relevance counts half, its label whole: a
            list is no page on the topic, but its links may lead to some.
    """
    title = plain(title)
    body = plain(text[:BODY_CHARS])
    excluded = tuple(name.text for name in topic.excluded if _is_excluded(name, title, body))
    hits = tuple(_hit(concept, title, body) for concept in topic.concepts)
    query_part = 0.0 if excluded else _query_part(topic.concepts, hits)
    like = Likeness.of(topic, title, body)
    relevance = query_part if like.e is None else 0.5 * query_part + 0.5 * like.e
    if like.taught is not None:
        relevance = min(1.0, max(0.0, relevance + like.taught / STEEPNESS))
    if excluded:
        relevance = 0.0
    parts = Parts(
        q=round(query_part, 3),
        e=None if like.e is None else round(like.e, 3),
        taught=None if like.taught is None else round(like.taught / STEEPNESS, 3),
        concepts=hits[:_SHOWN_CONCEPTS],
        terms=tuple(like.terms[:_SHOWN_TERMS]),
        nearest=_nearest(topic, like.terms),
        excluded=excluded,
        is_list=is_list,
    )
    label = probability(relevance)
    if is_list:
        relevance *= LIST_SHARE
    return Judgement(relevance, label, query_part, _fitting(parts))


def _hit(concept: Concept, title: str, body: str) -> ConceptHit:
    best = ConceptHit(concept.names[0].text, 0.0, False, 0)
    for name in concept.names:
        count = _count(name, body)
        in_title = _count(name, title) > 0 or (count > 0 and _begins_a_word(name, title))
        h = 1.0 if in_title else BODY_HIT * min(1.0, log(1 + count) / log(1 + SATURATION))
        if (h, count) > (best.h, best.count):
            best = ConceptHit(name.text, round(h, 3), in_title, count)
    return best


def _query_part(concepts: Sequence[Concept], hits: Sequence[ConceptHit]) -> float:
    """Q: a common concept, as 开发, is no topic by itself, however often it stands there."""
    weighted = [c.weight * hit.h for c, hit in zip(concepts, hits, strict=True)]
    best = max(weighted) / (max(concept.weight for concept in concepts) or 1.0)
    mean = sum(weighted) / (sum(concept.weight for concept in concepts) or 1.0)
    part = BEST_SHARE * best + (1 - BEST_SHARE) * mean
    missing = any(c.required and not hit.h for c, hit in zip(concepts, hits, strict=True))
    return part * MISSING_REQUIRED if missing else part


def _is_excluded(name: Name, title: str, body: str) -> bool:
    return _count(name, title) > 0 or _count(name, body) >= EXCLUDED_IN_BODY


def _count(name: Name, text: str) -> int:
    """How often a name stands in a plain text: the least count of its words."""
    return min(_count_word(word, text) for word in name.words)


def _count_word(word: str, text: str) -> int:
    found = text.count(word)
    if not found or is_unspaced(word):
        return found
    return sum(1 for _ in _word_pattern(word).finditer(text))


def _begins_a_word(name: Name, title: str) -> bool:
    """Whether a longer word of a title begins with a name: spring in springboot.

    A body with the name itself says that both are of one thing: few texts on javascript have java.
    """
    word = name.words[0]
    if len(name.words) > 1 or len(word) < COMPOUND_CHARS or is_unspaced(word):
        return False
    return re.search(rf"(?<![^\W{UNSPACED}]){re.escape(word)}", title) is not None


@lru_cache(maxsize=4096)
def _word_pattern(word: str) -> re.Pattern[str]:
    """A word between boundaries, with its plural or a number: css in css3, not sql in mysqldump.

    Without the numbers the AUC of a query on CSS was .95, with them it is .998.
    """
    before = rf"(?<![^\W{UNSPACED}])"
    after = rf"(?![^\W\d{UNSPACED}]|\+\+|#)"
    return re.compile(rf"{before}{re.escape(word)}(?:e?s)?{after}")


class Likeness(NamedTuple):
    """How like a page is to the examples and to the marked pages.

    Attributes:
        e: The example part, 0..1; None without examples.
        taught: The logit that the marks add; None without marks.
        terms: The page's terms of the largest products, with the examples' vector or, without
            examples, with the taught weights; the largest first.
    """

    e: float | None
    taught: float | None
    terms: list[str]

    @classmethod
    def of(cls, topic: Topic, title: str, body: str) -> Likeness:
        """Returns the likeness of a page, from its plain title and body."""
        if not topic.terms and not topic.taught:
            return cls(None, None, [])
        in_title = PageVector.of(title, topic.idf)
        in_body = PageVector.of(body[:COMPARED_CHARS], topic.idf)
        taught = e = None
        if topic.taught:
            taught = topic.taught.bias + in_title.cosine(topic.taught.title)
            taught += in_body.cosine(topic.taught.body)
        if topic.terms:
            e = min(1.0, likeness(in_title, in_body, topic.terms) / topic.scale)
        like = topic.terms or topic.taught.body
        both = {**in_title.weights, **in_body.weights}
        found = sorted((-both[term] * like[term], term) for term in both.keys() & like.keys())
        return cls(e, taught, [term for product, term in found if product < 0])


def _nearest(topic: Topic, found: Sequence[str]) -> str:
    """URL of the example that shares most of the page's terms; ``""`` when none shares any."""
    shared = [sum(each.terms.get(term, 0.0) for term in found) for each in topic.examples]
    most = max(shared, default=0.0)
    return topic.examples[shared.index(most)].url if most else ""


def _fitting(parts: Parts) -> Parts:
    """The parts in at most 400 bytes of JSON; what explains least goes first."""
    if len(encode(parts)) <= MAX_PARTS_BYTES:
        return parts
    parts = replace(
        parts,
        concepts=tuple(replace(hit, name=hit.name[:_NAME_CHARS]) for hit in parts.concepts),
        terms=tuple(term[:_NAME_CHARS] for term in parts.terms),
        excluded=tuple(word[:_NAME_CHARS] for word in parts.excluded[:_SHOWN_EXCLUDED]),
    )
    while len(encode(parts)) > MAX_PARTS_BYTES and parts.terms:
        parts = replace(parts, terms=parts.terms[:-1])
    if len(encode(parts)) > MAX_PARTS_BYTES:
        parts = replace(parts, nearest="")
    while len(encode(parts)) > MAX_PARTS_BYTES and parts.concepts:
        parts = replace(parts, concepts=parts.concepts[:-1])
    return parts


class Mark(Struct, frozen=True, gc=False):
    """A page that the user judged.

    Attributes:
        relevance: What ``judge`` found, 0..1.
        relevant: What the user found.
    """

    relevance: float
    relevant: bool


def new_threshold(threshold: float, marks: Sequence[Mark]) -> float:
    """Returns the threshold with the least error among the user's marks, at most .1 away.

    The error of a threshold is 1 - F1 of the pages over it. Between equal thresholds the nearest to
    the present one is taken. Marks of one kind alone say only on which side they must be.

    Args:
        threshold: The present one, 0..1.
        marks: All marks of the topic, in any order.
    """
    if not marks:
        return threshold
    values = sorted({mark.relevance for mark in marks} | {0.0, 1.0})
    middles = [(low + high) / 2 for low, high in pairwise(values)]
    best = min(
        [threshold, *middles], key=lambda value: (_error(value, marks), abs(value - threshold))
    )
    return round(min(threshold + MAX_STEP, max(threshold - MAX_STEP, best)), 4)


def _error(threshold: float, marks: Sequence[Mark]) -> float:
    hits = sum(mark.relevant and mark.relevance >= threshold for mark in marks)
    wrong = sum(mark.relevant != (mark.relevance >= threshold) for mark in marks)
    return wrong / (2 * hits + wrong) if wrong else 0.0
