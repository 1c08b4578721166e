"""Paper 5, USC: the topic pages of a forum by the structure of their URLs, from one known URL.

Source: Liu Rui, Tan Wentao, Fu Yuanbin, Wang Hong: 一种通用论坛信息提取方法 (General Method of
Forum Information Extraction). Journal of Chinese Computer Systems (小型微型计算机系统), 2018,
39(7), article 1000-1220(2018)07-1398-07.

Equation or listing of the paper                                Function
eq. 1-2  structure vector: (type, value) of each block          ``split_blocks``,
                                                                ``number_blocks``
eq. 3    N_s, the first position at which two vectors differ    ``first_difference``
eq. 4    D = floor(N! / N_s!)                                   ``dissimilarity``
3.1.1    dynamic, static, pseudo-static                         ``form_of``
eq. 5-6  KNN-DPC                                                ``knn_dpc``, ``prefix_tree``
eq. 7-8  resolver                                               ``Resolver``, ``resolve``
Alg. 3   URLs' structure clustering                             ``usc``

Readings:

* A URL is split behind its host at every character that is no ASCII letter or digit. Empty blocks
  between separators count (``?a=&b=1``), those at the end are the padding.
* Types and values are numbered in order of first appearance; 0 is the empty block.
* Identical vectors have no N_s: N_s is N + 1, and the floor makes D = 0.
* Dynamic: with ``?``. Pseudo-static: without ``?``, with a separator inside the last segment, the
  extension excepted. Static: the rest.
* A resolver has, per position, the seen types and values; a URL's distance to the rule is the least
  D over all combinations, N_s being the first position that no combination fits. A URL with D of at
  most ``max_distance`` is a topic page's; the paper gives no bound, ours is 0 (all positions fit).
* A type with more than ``max_values`` values at a position stands for all its values (ours): else
  only URLs with sampled numbers would fit. None is the paper's form.

Cost: near-linear in the URLs (``prefix_tree``); a URL against the resolver O(N).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from heapq import nsmallest
from math import factorial

from crawlclean.cleaning.papers import knn_dpc
from crawlclean.cleaning.papers.prefix_tree import PrefixTree

_SEPARATOR = re.compile(r"[^0-9A-Za-z]")
_INSIDE = re.compile(r"[0-9A-Za-z][^0-9A-Za-z]+[0-9A-Za-z]")
_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}\Z")

Vector = tuple[tuple[int, int], ...]
"""(number of the type, number of the value) of each block: ``((1, 1), (2, 2), (0, 0))``."""


class BlockType(StrEnum):
    """The characters of a block; the value is its regular expression."""

    EMPTY = ""
    LETTERS = "[A-Za-z]+"
    DIGITS = "[0-9]+"
    MIXED = "(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]+"


class Form(StrEnum):
    """The three kinds of URLs of 3.1.1."""

    DYNAMIC = "dynamic"
    STATIC = "static"
    PSEUDO_STATIC = "pseudo_static"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The sample, the clustering, and the rule of a cluster.

    Attributes:
        sample_size: Number of clustered URLs (Alg. 3: "random urls").
        seed: Seed of their choice.
        clustering: K and the readings of KNN-DPC.
        max_values: Values of a type at a position, above which the type is a wildcard; None is the
            paper's.
        max_distance: Largest D of a topic page's URL.
    """

    sample_size: int = 2000
    seed: int = 1
    clustering: knn_dpc.Params = field(default_factory=knn_dpc.Params)
    max_values: int | None = 10
    max_distance: int = 0


def _behind_host(url: str) -> str:
    """A URL without scheme, host and the separator behind: ``a/b?c`` of ``http://h/a/b?c``."""
    start = url.find("://")
    if start < 0:
        return url.lstrip("/")
    host_end = re.compile(r"[/?#]|\Z").search(url, start + 3)
    return url[host_end.end() :] if host_end else ""


def split_blocks(url: str) -> tuple[str, ...]:
    """Returns the blocks of a URL (3.1.1): ``("thread", "7")`` for ``http://h/thread-7/``."""
    blocks = _SEPARATOR.split(_behind_host(url))
    while blocks and not blocks[-1]:
        blocks.pop()
    return tuple(blocks)


def type_of(block: str) -> BlockType:
    """Returns the type of a block (table 1, and a type for mixed blocks)."""
    if not block:
        return BlockType.EMPTY
    if block.isdigit():
        return BlockType.DIGITS
    return BlockType.LETTERS if block.isalpha() else BlockType.MIXED


def number_blocks(blocks: Iterable[Sequence[str]]) -> list[Vector]:
    """Returns the structure vectors of URLs, given by their blocks, of one length (eq. 1-2)."""
    rows = list(blocks)
    longest = max(1, max(map(len, rows), default=0))
    types = {BlockType.EMPTY: 0}
    values = {"": 0}
    return [
        tuple(
            (types.setdefault(type_of(block), len(types)), values.setdefault(block, len(values)))
            for block in (*row, *[""] * (longest - len(row)))
        )
        for row in rows
    ]


def first_difference(first: Vector, second: Vector) -> int:
    """Returns N_s, the first position, from 1, at which two vectors differ; else N + 1 (eq. 3)."""
    pairs = zip(first, second, strict=True)
    return next((i for i, (a, b) in enumerate(pairs, 1) if a != b), len(first) + 1)


@lru_cache(maxsize=4096)
def dissimilarity(length: int, difference: int) -> int:
    """Returns D = floor(N! / N_s!) for vectors of length N with first difference N_s (eq. 4)."""
    return factorial(length) // factorial(difference)


def form_of(url: str) -> Form:
    """Returns the kind of a URL: dynamic, static or pseudo-static (3.1.1)."""
    path = _behind_host(url)
    if "?" in url:
        return Form.DYNAMIC
    last = _EXTENSION.sub("", path.rstrip("/").rpartition("/")[2])
    return Form.PSEUDO_STATIC if _INSIDE.search(last) else Form.STATIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """The rule of a cluster (eq. 7-8).

    Attributes:
        positions: Type -> values for each position, None for any value: ``({DIGITS: None},)``.
        length: N of the compared vectors.
    """

    positions: tuple[dict[BlockType, frozenset[str] | None], ...]
    length: int

    def distance(self, blocks: Sequence[str]) -> int:
        """Returns the least D of a URL, given by its blocks, over all combinations of the rule."""
        width = max(len(blocks), len(self.positions))
        for i in range(width):
            if not self._fits(i, blocks[i] if i < len(blocks) else ""):
                return dissimilarity(max(width, self.length), i + 1)
        return 0

    def pattern(self) -> re.Pattern[str]:
        """Returns a regular expression that matches the whole URLs of distance 0."""
        rest = ""
        for i in range(len(self.positions) - 1, -1, -1):
            step = ("[^0-9A-Za-z]" if i else "") + self._choice(i) + rest
            # A URL does not contain the empty blocks at its end.
            may_end = all(self._fits(j, "") for j in range(i, len(self.positions)))
            rest = f"(?:{step})?" if may_end else step
        return re.compile(rf"[a-z]+://[^/?#]*(?:[/?#]|\Z){rest}[^0-9A-Za-z]*", re.ASCII)

    def _fits(self, position: int, block: str) -> bool:
        if position >= len(self.positions):
            return not block
        values = self.positions[position].get(type_of(block), frozenset())
        return values is None or block in values

    def _choice(self, position: int) -> str:
        """The pattern of a position, longer alternatives first: no block matches in part."""
        options = []
        for kind, values in self.positions[position].items():
            options += [kind.value] if values is None else [re.escape(value) for value in values]
        options.sort(key=lambda option: (-len(option), option))
        return f"(?:{'|'.join(options)})(?![0-9A-Za-z])"


def resolve(rows: Sequence[Sequence[str]], params: Params, length: int = 0) -> Resolver:
    """Returns the rule of a cluster of URLs, given by their blocks (eq. 7-8).

    Args:
        rows: The blocks of each URL.
        params: For ``max_values``.
        length: N, at least that of the longest row.
    """
    width = max(map(len, rows), default=0)
    positions: list[dict[BlockType, frozenset[str] | None]] = []
    for i in range(width):
        seen: dict[BlockType, set[str]] = {}
        for row in rows:
            block = row[i] if i < len(row) else ""
            seen.setdefault(type_of(block), set()).add(block)
        positions.append(
            {
                kind: None
                if params.max_values is not None and len(values) > params.max_values
                else frozenset(values)
                for kind, values in seen.items()
            }
        )
    return Resolver(positions=tuple(positions), length=max(width, length))


def _lot(url: str, params: Params) -> bytes:
    """A hash in place of a random number: the sample does not depend on the order of the URLs."""
    seed = params.seed.to_bytes(8, "big", signed=True)
    return blake2b(url.encode("utf-8", "replace"), digest_size=8, key=seed).digest()


def learn_resolver(
    urls: Sequence[str], rows: Sequence[Sequence[str]], topic_url: str, params: Params
) -> Resolver:
    """Returns the rule of the topic page's cluster (Alg. 3, lines 2-10)."""
    numbers: Sequence[int] = range(len(urls))
    if len(urls) > params.sample_size:
        numbers = sorted(nsmallest(params.sample_size, numbers, lambda i: _lot(urls[i], params)))
    form = form_of(topic_url)
    sample: list[Sequence[str]] = [split_blocks(topic_url)]
    sample += [rows[i] for i in numbers if urls[i] != topic_url and form_of(urls[i]) is form]
    length = max(1, *map(len, (*rows, sample[0])))
    space = PrefixTree(sample, length)
    label = knn_dpc.cluster(space, params.clustering)
    if label[0] < 0:
        return resolve(sample[:1], params, length)
    members = [row for row, number in zip(sample, label, strict=True) if number == label[0]]
    return resolve(members, params, length)


def usc(urls: Sequence[str], topic_url: str, params: Params | None = None) -> list[str]:
    """Returns the URLs of topic pages among those of a forum, in their order (Alg. 3).

    Args:
        urls: URLs of one forum.
        topic_url: The URL of a topic page; part of the sample.
        params: None takes our defaults.
    """
    params = params or Params()
    rows = [split_blocks(url) for url in urls]
    rule = learn_resolver(urls, rows, topic_url, params)
    return [
        url
        for url, row in zip(urls, rows, strict=True)
        if rule.distance(row) <= params.max_distance
    ]
