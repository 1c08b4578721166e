"""A ``Topic`` from the user's words and example pages; the only part of topics that needs jieba."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import log

from msgspec.structs import replace

from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.topics.query import Query, QueryName, parse_query
from crawlclean.cleaning.topics.relevance import judge
from crawlclean.cleaning.topics.teaching import MarkedPage, Taught, teach
from crawlclean.cleaning.topics.text import TOKEN, is_unspaced, plain, terms
from crawlclean.cleaning.topics.topic import Concept, Example, ExampleText, Name, Topic, TopicSpec
from crawlclean.cleaning.topics.vectors import (
    COMPARED_CHARS,
    PageVector,
    counted,
    likeness,
    unit,
    weighted,
)
from crawlclean.cleaning.words import HIGHEST_IDF, Segmenter, default_segmenter

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
    return Name(name.text, (name.text,) if name.quoted else _words(name.text, segmenter))


def _words(text: str, segmenter: Segmenter) -> tuple[str, ...]:
    """The words of a plain text: Chinese ones by the dictionary, others by their boundaries."""
    found: dict[str, None] = {}
    for token in TOKEN.findall(text):
        found |= dict.fromkeys(segmenter.words(token) if is_unspaced(token) else (token,))
    return tuple(found)


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
        counts = Counter(_words_of_text(plain(example.text[:EXAMPLE_CHARS]), segmenter))
        for word in _words_of_text(plain(example.title), segmenter):
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


def _words_of_text(text: str, segmenter: Segmenter) -> list[str]:
    found: list[str] = []
    for token in TOKEN.findall(text):
        found += segmenter.words(token) if is_unspaced(token) else (token,)
    return found
