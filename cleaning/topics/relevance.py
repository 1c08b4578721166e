"""How relevant a page is to a topic, from its title, body and posts; with the reasons.

The query part Q comes from the concepts of the query: where each stands, how often. The example
part E is the likeness to the example pages. What the user's marks taught about terms is added.
Links, navigation and captions have no say: they are in no record's body.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from msgspec import Struct, field
from msgspec.json import encode
from msgspec.structs import replace

from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.records import CleanRecord, PageKind
from crawlclean.cleaning.topics.query import Query, QueryName, parse_query
from crawlclean.cleaning.topics.topic import (
    COMPARED_CHARS,
    STEEPNESS,
    TOKEN,
    UNSPACED,
    Concept,
    Example,
    ExampleText,
    MarkedPage,
    Name,
    PageVector,
    Taught,
    Topic,
    TopicSpec,
    counted,
    is_unspaced,
    likeness,
    plain,
    probability,
    teach,
    terms,
    unit,
    weighted,
)
from crawlclean.cleaning.words import HIGHEST_IDF, Segmenter, default_segmenter

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
# As many of each as a line of 80 to 120 characters shows; all fit MAX_PARTS_BYTES.
_SHOWN_TERMS, _SHOWN_CONCEPTS, _SHOWN_EXCLUDED = 10, 6, 3
_NAME_CHARS = 20
"""Of an explanation: more seldom fits into its bytes."""
MAX_STEP = 0.1
"""How far the user's marks move the threshold at a time."""


class ConceptHit(Struct, frozen=True, gc=False):
    """One concept of the query on a page.

    Attributes:
        name: The name that was found, else the concept's first.
        share: 0..1; 0: it is not on the page.
        in_title: Whether it stands in the title.
        count: Occurrences in the body.
    """

    name: str
    share: float = field(name="h")
    in_title: bool = field(name="title")
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
    excluded = tuple(
        name.text
        for name in topic.excluded
        if _count(name, title) or _count(name, body) >= EXCLUDED_IN_BODY
    )
    hits = tuple(_hit(concept, title, body) for concept in topic.concepts)
    query_part = 0.0 if excluded else _query_part(topic.concepts, hits)
    example_part, taught, like = _likeness(topic, title, body)
    relevance = query_part if example_part is None else 0.5 * query_part + 0.5 * example_part
    if taught is not None:
        relevance = min(1.0, max(0.0, relevance + taught))
    if excluded:
        relevance = 0.0
    parts = Parts(
        q=round(query_part, 3),
        e=None if example_part is None else round(example_part, 3),
        taught=None if taught is None else round(taught, 3),
        concepts=hits[:_SHOWN_CONCEPTS],
        terms=tuple(like[:_SHOWN_TERMS]),
        nearest=_nearest(topic, like),
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
        if (h, count) > (best.share, best.count):
            best = ConceptHit(name.text, round(h, 3), in_title, count)
    return best


def _query_part(concepts: Sequence[Concept], hits: Sequence[ConceptHit]) -> float:
    """Q: a common concept, as 开发, is no topic by itself, however often it stands there."""
    weighted = [c.weight * hit.share for c, hit in zip(concepts, hits, strict=True)]
    best = max(weighted) / (max(concept.weight for concept in concepts) or 1.0)
    mean = sum(weighted) / (sum(concept.weight for concept in concepts) or 1.0)
    part = BEST_SHARE * best + (1 - BEST_SHARE) * mean
    missing = any(c.required and not hit.share for c, hit in zip(concepts, hits, strict=True))
    return part * MISSING_REQUIRED if missing else part


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


def _likeness(topic: Topic, title: str, body: str) -> tuple[float | None, float | None, list[str]]:
    """How like a page is to the examples and to the marked pages.

    Returns (the example part, 0..1, None without examples; what the marks add to the relevance,
    None without marks; the page's terms of the largest products, with the examples' vector or,
    without examples, with the taught weights, the largest first).

    Args:
        topic: The topic.
        title: The page's title, plain.
        body: Its body, plain.
    """
    if not topic.terms and not topic.taught:
        return None, None, []
    in_title = PageVector.of(title, topic.idf)
    in_body = PageVector.of(body[:COMPARED_CHARS], topic.idf)
    example_part = taught = None
    if topic.taught:
        logit = topic.taught.bias + in_title.cosine(topic.taught.title)
        taught = (logit + in_body.cosine(topic.taught.body)) / STEEPNESS
    if topic.terms:
        example_part = min(1.0, likeness(in_title, in_body, topic.terms) / topic.scale)
    like = topic.terms or topic.taught.body
    both = {**in_title.weights, **in_body.weights}
    found = sorted((-both[term] * like[term], term) for term in both.keys() & like.keys())
    return example_part, taught, [term for product, term in found if product < 0]


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


def new_threshold(threshold: float, marks: Sequence[tuple[float, bool]]) -> float:
    """Returns the threshold with the least error among the user's marks, at most .1 away.

    The error of a threshold is 1 - F1 of the pages over it. Between equal thresholds the nearest to
    the present one is taken. Marks of one kind alone say only on which side they must be.

    Args:
        threshold: The present one, 0..1.
        marks: (what ``judge`` found, what the user found) of all marked pages, in any order.
    """
    if not marks:
        return threshold
    values = sorted({relevance for relevance, _ in marks} | {0.0, 1.0})
    middles = [(low + high) / 2 for low, high in pairwise(values)]
    best = min(
        [threshold, *middles], key=lambda value: (_error(value, marks), abs(value - threshold))
    )
    return round(min(threshold + MAX_STEP, max(threshold - MAX_STEP, best)), 4)


def _error(threshold: float, marks: Sequence[tuple[float, bool]]) -> float:
    hits = sum(is_relevant and relevance >= threshold for relevance, is_relevant in marks)
    wrong = sum(is_relevant != (relevance >= threshold) for relevance, is_relevant in marks)
    return wrong / (2 * hits + wrong) if wrong else 0.0


# A ``Topic`` from the user's words and example pages; the only part of topics that needs jieba.

EXAMPLE_CHARS = 8_000
"""Characters of an example that are read."""
MAX_TERMS = 300
"""Terms of the examples' vector: with 300 pairs of characters as good as with words."""
EXAMPLE_TERMS = 60
"""Terms by which the nearest example is named."""
MAX_VOCABULARY = 120
"""Words of the examples by which links are judged at the start."""
TITLE_COUNT = 8
"""How often a word of the title counts as one of the body, among the words for links."""
QUERY_WEIGHT = 0.3
"""What a query term has in the examples' vector of unit length."""
NEAR_SHARE = 0.6
"""A page as near as .6 of the least near example counts as an example."""


def build_topic(spec: TopicSpec, examples: Sequence[ExampleText] = ()) -> Topic:
    """Returns what pages are judged by; the order of the examples does not matter.

    Args:
        spec: The user's words.
        examples: Example pages, and pages that the user marked.

    Raises:
        ConfigError: The query cannot be read; one line.
    """
    query = parse_query(spec.query, spec.synonyms, spec.excluded)
    segmenter = default_segmenter()
    ordered = sorted(examples, key=lambda example: (example.url, example.title, example.text))
    concepts = tuple(
        Concept(
            tuple(_name(name, segmenter) for name in concept.names),
            _weight(concept.names[0], segmenter),
            concept.required,
        )
        for concept in query.concepts
    )
    topic = Topic(
        name=spec.name,
        version=spec.version,
        threshold=spec.threshold,
        concepts=concepts,
        excluded=tuple(_name(name, segmenter) for name in query.excluded),
    )
    own = [example for example in ordered if example.weight > 0 and not example.marked]
    idf = _idf(query, ordered, segmenter)
    vector, near = _common_vector(query, own, idf)
    topic = replace(
        topic,
        terms=vector,
        idf=_known(idf, vector),
        scale=NEAR_SHARE * near,
        examples=tuple(
            Example(example.url, _heaviest(_vector(example, idf), EXAMPLE_TERMS)) for example in own
        ),
        vocabulary=_vocabulary(concepts, [e for e in ordered if e.weight > 0], segmenter),
    )
    taught = _taught(topic, ordered, idf)
    return replace(topic, taught=taught, idf=_known(idf, vector, taught.title, taught.body))


def _name(name: QueryName, segmenter: Segmenter) -> Name:
    words = [name.text] if name.quoted else _words(name.text, segmenter)
    return Name(name.text, tuple(dict.fromkeys(words)))


def _words(text: str, segmenter: Segmenter) -> list[str]:
    """The words of a plain text: Chinese ones by the dictionary, others by their boundaries."""
    found: list[str] = []
    for token in TOKEN.findall(text):
        found += segmenter.words(token) if is_unspaced(token) else (token,)
    return found


def _weight(name: QueryName, segmenter: Segmenter) -> float:
    """How rare a name is: at least as rare as the rarest of its words, which must all be there."""
    return max(map(segmenter.idf, _words(name.text, segmenter) or (name.text,)))


def _vectors(
    example: ExampleText, idf: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """The vectors of an example's title and of its body, of unit length."""
    body = plain(example.text[:EXAMPLE_CHARS])[:COMPARED_CHARS]
    return (
        unit(weighted(counted(plain(example.title)), idf)),
        unit(weighted(counted(body), idf)),
    )


def _vector(example: ExampleText, idf: Mapping[str, float]) -> dict[str, float]:
    """The vector of title and body together, of unit length."""
    title, body = _vectors(example, idf)
    terms_of_both = sorted(title.keys() | body.keys())  # equal bytes in every process
    return unit({term: title.get(term, 0.0) + body.get(term, 0.0) for term in terms_of_both})


def _heaviest(vector: Mapping[str, float], most: int) -> dict[str, float]:
    """The heaviest terms, by weight, then by code point."""
    return dict(sorted(vector.items(), key=lambda item: (-item[1], item[0]))[:most])


def _idf(query: Query, examples: Sequence[ExampleText], segmenter: Segmenter) -> dict[str, float]:
    """Term -> idf of the terms of the query and of all examples."""
    stop_words = word_list("stop_words")
    found = set(_query_terms(query))
    for example in examples:
        found.update(terms(plain(example.title)), terms(plain(example.text[:EXAMPLE_CHARS])))
    pairs = segmenter.pair_idf([term for term in found if is_unspaced(term)])
    return {
        term: 0.0 if term in stop_words else round(pairs.get(term, HIGHEST_IDF), 3)
        for term in sorted(found)
    }


def _known(idf: Mapping[str, float], *used: Mapping[str, float]) -> dict[str, float]:
    """The idf of the used terms; a word that the end of a text cuts has the usual one."""
    return {term: idf[term] for term in sorted(set().union(*used)) if term in idf}


def _query_terms(query: Query) -> list[str]:
    return [term for concept in query.concepts for term in terms(concept.names[0].text)]


def _common_vector(
    query: Query, examples: Sequence[ExampleText], idf: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """The common vector of the examples with the query's terms, and the least likeness of one."""
    if not examples:
        return {}, 1.0
    common: dict[str, float] = defaultdict(float)
    for example in examples:
        for term, weight in _vector(example, idf).items():
            common[term] += weight / len(examples)
    for term in _query_terms(query):
        common[term] += QUERY_WEIGHT
    vector = unit(_heaviest(common, MAX_TERMS))
    near = min(
        likeness(
            PageVector.of(plain(example.title), idf),
            PageVector.of(plain(example.text[:EXAMPLE_CHARS])[:COMPARED_CHARS], idf),
            vector,
        )
        for example in examples
    )
    return vector, near or 1.0


def _taught(topic: Topic, examples: Sequence[ExampleText], idf: Mapping[str, float]) -> Taught:
    """What the marks teach; nothing without marks."""
    if not any(example.marked for example in examples):
        return Taught()
    pages = []
    for example in examples:
        if example.is_list and example.weight < 0:
            continue
        title, body = _vectors(example, idf)
        untaught = judge(topic, example.title, example.text).relevance
        pages.append(MarkedPage(title, body, untaught, example.weight > 0))
    return teach(pages)


def _vocabulary(
    concepts: Sequence[Concept], examples: Sequence[ExampleText], segmenter: Segmenter
) -> dict[str, float]:
    """Word -> weight 0..1: the query's words have 1, those of the examples at most 1."""
    stop_words = word_list("stop_words")
    common: dict[str, float] = defaultdict(float)
    for example in examples:
        counts = Counter(_words(plain(example.text[:EXAMPLE_CHARS]), segmenter))
        for word in _words(plain(example.title), segmenter):
            counts[word] += TITLE_COUNT
        weights = {
            word: (1 + log(count)) * segmenter.idf(word)
            for word, count in counts.items()
            if len(word) > 1 and word not in stop_words and not word.isdigit()
        }
        for word, weight in unit(weights).items():
            common[word] += weight
    heaviest = _heaviest(common, MAX_VOCABULARY)
    most = max(heaviest.values(), default=1.0)
    query = [word for concept in concepts for name in concept.names for word in name.words]
    scaled = {word: round(weight / most, 4) for word, weight in heaviest.items()}
    return scaled | dict.fromkeys(query, 1.0)
