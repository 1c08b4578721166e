"""A topic: the user's words for it (``TopicSpec``), and what pages are judged by (``Topic``)."""

from __future__ import annotations

from functools import cache

from msgspec import Struct
from msgspec.json import Decoder

from crawlclean.cleaning.json_values import dump_versioned, load_versioned
from crawlclean.cleaning.topics.teaching import Taught

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
