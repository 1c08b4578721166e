"""The query of a topic: ``新能源汽车|电动车 补贴 +政策 -招聘 "electric car"``.

    a b       two concepts; a page with both is more relevant than a page with one
    a|b       one concept with two names; the user's synonyms add further names
    +a        a page without this concept is hardly relevant
    -a        a page about this is not relevant
    "a b"     a name that is searched as it stands

Full-width signs and Chinese quotation marks count as the plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.topics.topic import TOKEN, plain

MAX_CONCEPTS = 32
"""A query with more would name no topic; each concept costs time on every page."""
MAX_NAMES = 32
"""Names of one concept."""

_QUOTES = str.maketrans("“”„‟«»「」『』", '"' * 10)
_SPACED_BAR = re.compile(r"\s*\|\s*")
_PART = re.compile(r'"[^"]*"|[^"]+')
# One concept: a sign, then quoted and bare names with bars between them.
_CONCEPT = re.compile(r'([+\-]?)((?:"[^"]*"|[^\s"|])+(?:\|(?:"[^"]*"|[^\s"|])+)*)')
_SHOWN_WORDS = 5  # of those that name no topic: the message is one line


class QueryName(Struct, frozen=True):
    """One name of a concept.

    Attributes:
        text: In the form of ``plain``: ``"新能源汽车"``.
        quoted: Whether the user asked for the text as it stands.
    """

    text: str
    quoted: bool = False


class QueryConcept(Struct, frozen=True):
    """One concept of a query: any of its names stands for it.

    Attributes:
        names: The user's own name first.
        required: Whether the query has it with ``+``.
    """

    names: tuple[QueryName, ...]
    required: bool = False


class Query(Struct, frozen=True):
    """A query in parts.

    Attributes:
        concepts: In the order of the query.
        excluded: The names with ``-``, and the excluded words given apart.
    """

    concepts: tuple[QueryConcept, ...]
    excluded: tuple[QueryName, ...] = ()


def parse_query(
    text: str,
    synonyms: Sequence[Sequence[str]] = (),
    excluded: Iterable[str] = (),
) -> Query:
    """Returns the concepts of a query and its excluded words.

    Args:
        text: The query: ``'伊朗 地震|余震 -彩票'``.
        synonyms: Groups of words that mean the same: ``[("电动车", "新能源汽车")]``. A concept with
            one of them gets all.
        excluded: More words that make a page irrelevant.

    Raises:
        ConfigError: The query has no word, stop words alone, a quotation mark without its partner,
            or too many concepts; one line.
    """
    text = plain(text.translate(_QUOTES))
    if text.count('"') % 2:
        raise ConfigError('the query has a quotation mark without its partner: write "a b"')
    text = _bars_without_spaces(text.strip())
    concepts: list[QueryConcept] = []
    refused: list[QueryName] = []
    stopped: list[str] = []
    for sign, names_text in _CONCEPT.findall(text):
        names = _names(names_text)
        if sign == "-":
            refused += names
        elif named := tuple(name for name in names if not _is_stop_word(name)):
            concepts.append(QueryConcept(_with_synonyms(named, synonyms), sign == "+"))
        else:
            stopped += [name.text for name in names]
    _check(concepts, stopped)
    refused += [QueryName(word) for word in map(plain, excluded) if TOKEN.search(word)]
    return Query(tuple(_without_twins(concepts)), tuple(dict.fromkeys(refused)))


def _bars_without_spaces(text: str) -> str:
    """Closes the gaps around bars outside quotation marks: ``a | b`` means ``a|b``."""
    return "".join(
        part if part[0] == '"' else _SPACED_BAR.sub("|", part) for part in _PART.findall(text)
    ).strip("|")


def _names(text: str) -> list[QueryName]:
    names = []
    for part in re.findall(r'(?:"[^"]*"|[^|"])+', text):
        name = " ".join(part.replace('"', " ").split())
        if TOKEN.search(name):
            names.append(QueryName(name, '"' in part))
    return names


def _is_stop_word(name: QueryName) -> bool:
    return not name.quoted and name.text in word_list("stop_words")


def _with_synonyms(
    names: tuple[QueryName, ...], synonyms: Sequence[Sequence[str]]
) -> tuple[QueryName, ...]:
    found = dict.fromkeys(names)
    texts = {name.text for name in names}
    for group in synonyms:
        words = [" ".join(plain(word).split()) for word in group]
        if texts.intersection(words):
            found |= dict.fromkeys(
                QueryName(word) for word in words if word not in texts and TOKEN.search(word)
            )
    return tuple(found)[:MAX_NAMES]


def _without_twins(concepts: list[QueryConcept]) -> list[QueryConcept]:
    """Drops a concept whose names an earlier one has; ``a +a`` is ``+a``."""
    kept: dict[tuple[QueryName, ...], QueryConcept] = {}
    for concept in concepts:
        if concept.required or concept.names not in kept:
            kept[concept.names] = concept
    return list(kept.values())


def _check(concepts: list[QueryConcept], stopped: list[str]) -> None:
    if not concepts and stopped:
        shown = " ".join(stopped[:_SHOWN_WORDS])
        raise ConfigError(
            f"the query has only words that name no topic ({shown}): add one that does"
        )
    if not concepts:
        raise ConfigError("the query has no word to look for: write the words of the topic")
    if len(concepts) > MAX_CONCEPTS:
        raise ConfigError(
            f"the query has {len(concepts)} concepts, at most {MAX_CONCEPTS} are read"
        )
