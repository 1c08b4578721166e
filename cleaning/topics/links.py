"""The named features of a link, before its URL is fetched.

A feature is there or not; a link has at most 16. What is learned of them is a weight each
(``learner.py``). Names, in the order of their worth:

- ``bias``: every link has it;
- ``query:1``, ``query:2``: one concept, or two and more, of the query in the anchor text;
- ``words:1`` .. ``words:3``: weight of the topic's words in the anchor text;
- ``path:query``, ``path:words``: a concept of the query, words of the topic in the URL's path;
- ``near:1`` .. ``near:3``: one, two, more of the two links before and after it on the page have a
  concept or a word of the topic in their anchor text: lists keep like with like;
- ``finder:1`` .. ``finder:3``: relevance of the page with the link;
- ``kind:related``, ``via:sitemap``: what the link is, and how it was found;
- ``no_text``: it has no anchor text;
- ``other_host``: it leads to another host;
- ``other_script``: its anchor text is Chinese, Japanese, Korean or Thai, and no topic word is;
- ``class:example.com/news/*.html``: class of the URL on its host;
- ``dir:example.com/news/2026/``: host and first two folders;
- ``from:http://example.com/news/``: the page with the link;
- ``host:example.com``;
- ``a:地震``: a word of the vocabulary in the anchor text, at most six.

Every name has an id, 0..4095, that never changes and needs no table: fixed names have a place in
``FIXED``, words their place in the vocabulary, all others a bucket by their checksum. Workers that
know no model of the topic give the same ids as those that do; two names in one bucket share a
weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from functools import lru_cache
from operator import add
from zlib import crc32

from msgspec import Struct

from crawlclean.cleaning.records import LinkKind, Via
from crawlclean.cleaning.topics.topic import is_unspaced, plain
from crawlclean.cleaning.urls.shapes import readable

MAX_FEATURES = 16  # ids of a link; they wait with it in the queue, two bytes each
MAX_IDS = 4096  # all buckets and words: a model is as many pairs of numbers, held by each worker
MAX_WORDS = 1500  # of the vocabulary
MAX_ANCHOR_WORDS = 6  # of one link: a longer anchor text is a summary, whose words say little each
NEIGHBOURS = 2  # links on each side
MAX_TEXT_CHARS = 80  # as much as ``Outlink.text`` keeps
_MAX_MATCHES = 4096  # anchor texts remembered; menus repeat theirs on every page

FIXED = (
    "bias",
    *(f"query:{step}" for step in (1, 2)),
    *(f"words:{step}" for step in (1, 2, 3)),
    *(f"finder:{step}" for step in (1, 2, 3)),
    *(f"near:{step}" for step in (1, 2, 3)),
    *(f"kind:{kind}" for kind in LinkKind),
    *(f"via:{via}" for via in Via),
    "no_text",
    "other_host",
    "path:query",
    "path:words",
    "other_script",
)
_BIAS, _NO_TEXT = ("bias",), ("no_text",)
_OTHER_HOST, _OTHER_SCRIPT = ("other_host",), ("other_script",)
_KINDS = {(kind, via): (f"kind:{kind}", f"via:{via}") for kind in LinkKind for via in Via}
_NEAR = ((), ("near:1",), ("near:2",), ("near:3",), ("near:3",))  # by number of links
_FINDERS = ((), ("finder:1",), ("finder:2",), ("finder:3",))
_FIXED_IDS = {name: number for number, name in enumerate(FIXED)}
HOST_IDS = range(256, 512)
# First id and number of buckets of each group. Pages that found links come by thousands, hosts by
# hundreds; the fixed names may grow to 256.
_BUCKETS = {
    "host": (HOST_IDS.start, len(HOST_IDS)),
    "class": (512, 512),
    "dir": (1024, 768),
    "from": (1792, 768),
}
FIRST_WORD = sum(_BUCKETS["from"])  # behind the last bucket
NAMED_IDS = range(HOST_IDS.start, FIRST_WORD)
"""Ids of buckets, whose names a model has to be told."""
_FINDER_STEPS = (0.2, 0.5, 0.8)  # labels of the page with a link, from slightly to surely relevant
_LATIN_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LATIN_WORDS = re.compile("[a-z0-9]+").findall
_NAMING = frozenset({"query:1", "query:2", "words:2", "words:3"})
_WORD_STEPS = (0.0, 0.5, 1.0)  # above these sums of weights; the heaviest word has the weight 1


class FoundLink(Struct, frozen=True, kw_only=True, gc=False):
    """A link of a judged page, to a URL that no one has fetched.

    Attributes:
        url: Absolute URL in normal form.
        url_class: Class of the URL on its host: ``/news/*.html``.
        finder: URL of the page with the link, in normal form.
        finder_label: Label of this page, 0..1.
        text: Anchor text.
        near: Anchor texts of the two links before it and the two after it on the page.
        kind: Kind of the link.
        via: How the URL was found.
    """

    url: str
    url_class: str = ""
    finder: str = ""
    finder_label: float = 0.0
    text: str = ""
    near: tuple[str, ...] = ()
    kind: LinkKind = LinkKind.OTHER
    via: Via = Via.LINK


class AnchorMatch(Struct, frozen=True, gc=False):
    """What an anchor text shares with a topic: its features, and the words of the vocabulary.

    ``is_foreign``: the text is in a script that the topic's words do not have.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    is_foreign: bool


class AnchorWords:
    """The words that are looked for in anchor texts: of a query, a topic and a vocabulary."""

    def __init__(
        self,
        concepts: Sequence[Sequence[Sequence[str]]],
        weights: Mapping[str, float],
        vocabulary: Iterable[str] = (),
    ) -> None:
        """Indexes words, all in lower case.

        Args:
            concepts: The concepts of the query: alternatives, of which each is some words that
                must all be there, ``[[["新能源", "汽车"], ["电动车"]], [["补贴"]]]``.
            weights: Words of the topic with their weight above 0, in any unit.
            vocabulary: The words of the link model.
        """
        heaviest = max(weights.values(), default=0.0) or 1.0
        self._concepts = [[frozenset(words) for words in one] for one in concepts]
        self._weights = {word: weight / heaviest for word, weight in weights.items()}
        self._vocabulary = frozenset(vocabulary)
        of_query = {word for one in concepts for words in one for word in words}
        of_topic = of_query | self._weights.keys()
        self._is_spaced = bool(of_topic) and not any(map(is_unspaced, of_topic))
        self._indexed = of_topic | self._vocabulary
        self._letters = frozenset(word for word in self._indexed if len(word) == 1)
        self._by_head: dict[str, list[str]] = {}  # by the first two characters, longer words first
        for word in sorted(self._indexed - self._letters - {""}, key=len, reverse=True):
            self._by_head.setdefault(word[:2], []).append(word)
        self._matches: dict[str, AnchorMatch] = {}
        self._folders: dict[str, frozenset[str]] = {}  # words of paths without a last segment

    def match(self, text: str) -> AnchorMatch:
        """Returns what an anchor text shares with the topic."""
        found = self._matches.get(text)
        if found is None:
            if len(self._matches) >= _MAX_MATCHES:
                self._matches.clear()
            found = self._matches[text] = self._match(text)
        return found

    def _match(self, text: str) -> AnchorMatch:
        text = plain(text[:MAX_TEXT_CHARS])
        words = self._words_of(text)
        names = []
        present = words.keys()
        concepts = sum(any(need <= present for need in one) for one in self._concepts)
        if concepts:
            names.append("query:1" if concepts == 1 else "query:2")
        weight = sum(self._weights.get(word, 0.0) for word in words)
        step = sum(weight > least for least in _WORD_STEPS)
        if step:
            names.append(f"words:{step}")
        known = self._known(words)
        is_foreign = self._is_spaced and is_unspaced(text)
        return AnchorMatch(tuple(names), tuple(known[:MAX_ANCHOR_WORDS]), is_foreign)

    def known_in(self, text: str) -> list[str]:
        """Returns the features of the vocabulary's words in a plain text of any length."""
        return self._known(self._words_of(text))

    def _known(self, words: Iterable[str]) -> list[str]:
        return [f"a:{word}" for word in words if word in self._vocabulary]

    def names_topic(self, text: str) -> bool:
        """Whether a text has a concept of the query, or words of the topic of some weight."""
        return not _NAMING.isdisjoint(self.match(text).names)

    def match_path(self, url: str) -> tuple[str, ...]:
        """Returns the features of the words in the path of a URL: ``("path:query",)``."""
        start, end = url.find("/", 8) + 1, url.rfind("/") + 1
        if "%" in url or not url.isascii():
            path = readable(url[start:]).lower()
            found: set[str] = set(self._indexed.intersection(_LATIN_WORDS(path)))
            if not path.isascii():
                found |= self._words_of(path).keys()
            return self._path_names(found) if found else ()
        # Pages of a folder differ by their last segment alone.
        folder = url[start:end]
        above = self._folders.get(folder)
        if above is None:
            if len(self._folders) >= _MAX_MATCHES:
                self._folders.clear()
            above = frozenset(self._indexed.intersection(_LATIN_WORDS(folder.lower())))
            self._folders[folder] = above
        own = self._indexed.intersection(_LATIN_WORDS(url[max(start, end) :].lower()))
        return self._path_names(above | own) if above or own else ()

    def _path_names(self, words: AbstractSet[str]) -> tuple[str, ...]:
        names = []
        if any(need <= words for one in self._concepts for need in one):
            names.append("path:query")
        if sum(self._weights.get(word, 0.0) for word in sorted(words)) > _WORD_STEPS[1]:
            names.append("path:words")
        return tuple(names)

    def _words_of(self, text: str) -> dict[str, None]:
        """The indexed words of a text in order; inside Latin words and numbers none begins."""
        get, found = self._by_head.get, dict[str, None]()
        if not self._letters.isdisjoint(text):
            return self._with_letters(text)
        for place, head in enumerate(map(add, text, text[1:])):
            words = get(head)
            if words is not None:
                self._take(text, place, words, found)
        return found

    def _with_letters(self, text: str) -> dict[str, None]:
        """The indexed words of a text that has one of a single character, as c."""
        found: dict[str, None] = {}
        for place, char in enumerate(text):
            words = self._by_head.get(text[place : place + 2], ())
            self._take(text, place, (*words, char) if char in self._letters else words, found)
        return found

    @staticmethod
    def _take(text: str, place: int, words: Iterable[str], found: dict[str, None]) -> None:
        """Adds the words that begin at a place of a text."""
        if place and text[place] in _LATIN_CHARS and text[place - 1] in _LATIN_CHARS:
            return
        for word in words:
            if text.startswith(word, place) and _is_whole(text, place + len(word)):
                found[word] = None


def _is_whole(text: str, end: int) -> bool:
    """Whether a Latin word ends here: ``java`` is none of ``javascript``, ``c`` of ``c++``."""
    if end >= len(text) or text[end - 1] not in _LATIN_CHARS:
        return True
    return text[end] not in _LATIN_CHARS and not text.startswith(("++", "#"), end)


def neighbours(texts: Sequence[str], place: int) -> tuple[str, ...]:
    """Returns the anchor texts of the links about one link of a page.

    Args:
        texts: Anchor texts of all links of the page, in their order.
        place: Number of the link among them, from 0 on.
    """
    before = texts[max(0, place - NEIGHBOURS) : place]
    return (*before, *texts[place + 1 : place + 1 + NEIGHBOURS])


def feature_groups(link: FoundLink, words: AnchorWords) -> list[tuple[str, ...]]:
    """Returns the names of a link's features in groups that come again on other links.

    The surest come first: a link has the first 16 names.
    ``[("bias",), ("query:1", "words:2"), ..., ("a:地震",)]``; the same groups have the same ids, so
    nobody has to look up their names one by one.
    """
    match = words.match(link.text)
    groups = [_BIAS, match.names, words.match_path(link.url)]
    near = 0
    for text in link.near:
        near += bool(words.match(text).names)
    if near:
        groups.append(_NEAR[near])
    label = link.finder_label
    if label >= _FINDER_STEPS[0]:
        groups.append(_FINDERS[sum(label >= least for least in _FINDER_STEPS)])
    groups.append(_KINDS[link.kind, link.via])
    if not link.text:
        groups.append(_NO_TEXT)
    if not is_same_host(link.url, link.finder):
        groups.append(_OTHER_HOST)
    if match.is_foreign:
        groups.append(_OTHER_SCRIPT)
    groups.append(place_names(link.url, link.url_class))
    if link.finder:
        groups.append(("from:" + link.finder,))
    groups.append(match.words)
    return groups


def is_same_host(url: str, finder: str) -> bool:
    """Whether a link stays on its host; a URL without a finder does."""
    end = url.find("/", 8)
    return not finder or (end > 0 and url[: end + 1] == finder[: end + 1])


def place_names(url: str, url_class: str) -> tuple[str, ...]:
    """Returns the features of a URL by its place: class, folders and host.

    ``http://example.com/news/2026/a.html`` of the class ``/news/#/*.html`` has
    ``("class:example.com/news/#/*.html", "dir:example.com/news/2026/", "host:example.com")``.
    """
    start = url.find("://") + 3
    host_end = url.find("/", start)
    end = host_end + 1
    most = url.find("?", start) if "?" in url else len(url)
    for _ in range(2):
        after = url.find("/", end, most)
        if after < 0:
            break
        end = after + 1
    return _places(url[start:end], host_end - start, url_class)


@lru_cache(maxsize=8192)
def _places(folders: str, host_chars: int, url_class: str) -> tuple[str, ...]:
    """The features of ``example.com/news/2026/``, whose host has 11 characters."""
    host = folders[:host_chars]
    return f"class:{host}{url_class}", f"dir:{folders}", f"host:{host}"


@lru_cache(maxsize=16384)
def bucket_of(name: str) -> int:
    """Returns the id of a name that has no place of its own: ``host:example.com``."""
    first, size = _BUCKETS[name[: name.index(":")]]
    return first + crc32(name.encode()) % size


def ids_of(names: Iterable[str], word_ids: Mapping[str, int]) -> tuple[int, ...]:
    """Returns the ids of feature names, each once; words outside the vocabulary have none.

    Args:
        names: Names as ``feature_groups`` returns them.
        word_ids: Ids of the vocabulary's words by their name, ``{"a:地震": 2560}``.
    """
    found: dict[int, None] = {}
    for name in names:
        number = _FIXED_IDS.get(name)
        if number is None:
            number = word_ids.get(name) if name.startswith("a:") else bucket_of(name)
        if number is not None:
            found[number] = None
    return tuple(found)


def word_ids(vocabulary: Iterable[str]) -> dict[str, int]:
    """Returns the ids of a vocabulary's words by their feature name: ``{"a:地震": 2560}``."""
    return {f"a:{word}": FIRST_WORD + place for place, word in enumerate(vocabulary)}
