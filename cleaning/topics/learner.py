"""The online learner of a topic: which links lead to relevant pages?

Logistic regression over named features (``links.py``) with a Gaussian prior of each weight: a mean
and a precision (Chapelle & Li 2011, "An empirical evaluation of Thompson sampling", algorithm 3).
A batch of fetched pages moves the means by three sweeps of Newton steps, a weight at a time, then
raises the precisions of the features that the batch had. Examples are sorted by page id and weights
by id, so the same batch gives the same bits in any order.

Beside its weight a host has a record, the share of its pages that were relevant, and a word of the
vocabulary another one, the share of the pages that have it in their text. The title of a page is
learned like an anchor text that led to the page: so the words of the topic are known before links
with them were followed.

A topic has no examples at first: the priors of ``PRIORS`` alone order its links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import exp, isfinite, log, sqrt

import msgspec

from crawlclean.cleaning.topics.links import (
    FIRST_WORD,
    FIXED,
    HOST_IDS,
    MAX_FEATURES,
    MAX_IDS,
    MAX_WORDS,
    AnchorWords,
    ids_of,
    word_ids,
)
from crawlclean.cleaning.topics.topic import plain

# Mean and precision of weights before any example.
PRIORS = {
    "bias": (-3.0, 4.0),
    "other_host": (1.0, 1.0),
    "other_script": (-1.0, 1.0),
    "path:query": (0.8, 1.0),
    "path:words": (0.5, 1.0),
    "query:1": (1.2, 1.0),
    "query:2": (2.5, 1.0),
    "words:2": (0.8, 1.0),
    "words:3": (1.5, 1.0),
    "near:1": (0.6, 1.0),
    "near:2": (1.0, 1.0),
    "near:3": (1.5, 1.0),
    "finder:1": (0.3, 1.0),
    "finder:2": (0.8, 1.0),
    "finder:3": (1.5, 1.0),
}
_PRIOR = (0.0, 1.0)  # mean and variance of a weight of which nothing is known before
_MAX_GROUPS = 16_384  # of names whose ids are remembered
MAX_WEIGHT = 6.0  # of one feature: odds of 400 to 1
MAX_STEP = 1.0  # of one weight in one sweep
SWEEPS = 3  # so one batch moves a weight by 3 at most, half of the way to its bound
FORGET = 0.995  # precision kept a batch: sites change, so no weight becomes sure for ever
MAX_EXAMPLE_WEIGHT = 5.0  # of a page with the user's word
NEW_WORDS = 20  # a batch
TITLE_WORDS = 8  # of a title that is learned as an anchor text
# The record of a host, beside the weight that is learned of it: the share of relevant pages against
# one page in ten, as a logit between the two bounds. Without it the first host with many links of
# no meaning took a hundred pages before another had its turn.
HOST_PAGES = 10.0
BEST_HOST, WORST_HOST = 0.7, -1.5  # twice the odds, a fifth: a host alone decides nothing
# The record of a word: the share of relevant pages among those that have it in their text, against
# the share among all pages, as a logit between the two bounds. A text has a hundred words where a
# title has five: names that a topic's pages share (openvas, nmap) are known before a link has them.
TEXT_CHARS = 4_000  # in which words are looked for; the milliseconds of a job of 20 pages
# Simulated, 3 to 6 pages and .5 to 1 differ by less than two draws of a topic do.
WORD_PAGES = 6.0  # usual pages added to each record: what few pages say counts little
WORD_SHARE = 0.8  # of the logit: the weight of a word has learned a part of it from titles
BEST_WORD, WORST_WORD = 2.0, -1.0  # seven times the odds, a third: words tell more for than against
_ALL_PAGES = 0  # the id of "bias", which all links have: its record is that of all pages
MOST_PAGES = 400.0  # of a record; from here on half of the past is forgotten
EXPLORATION = 0.3  # share of a score's standard deviation that a link's own noise may have

FIRST_RANK = 101  # of a topic's URLs; seeds and images are before them
LAST_RANK = 998  # no rank of the queue has four digits
_MIDDLE_RANK = 550  # of a link that is as likely relevant as not
_RANKS_A_LOGIT = 50  # logits from -9 to 9 have ranks of their own
_SPREAD = sqrt(12.0)  # makes the variance of a uniform share 1

HUB_CHILDREN = 12  # first children of a page that are looked at
HUB_RELEVANT = 2  # of them make the page a hub
HUB_LABEL = 0.5  # between a page of the topic and one that leads nowhere


class LinkExample(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A fetched page as an example for the link that led to it.

    Attributes:
        page_id: Page id of the URL, 32 hex digits.
        ids: Ids of the features that the link had when it was found.
        label: How relevant the page is, 0..1.
        weight: 1; 5 when the user marked the page.
        words: Words of the page's title, candidates for the vocabulary.
        text: Text of the page, in which the words of the vocabulary are looked for.
        names: Names of features, so that people can read their weights.
    """

    page_id: str
    ids: tuple[int, ...]
    label: float
    weight: float = 1.0
    words: tuple[str, ...] = ()
    text: str = ""
    names: tuple[str, ...] = ()


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A model at rest: only weights that differ from their prior."""

    version: int
    examples: int
    words: tuple[str, ...]
    names: dict[int, str]
    weights: dict[int, tuple[float, float]]
    records: dict[int, tuple[float, float]]


def _prior_column(place: int) -> tuple[float, ...]:
    by_id = {FIXED.index(name): prior for name, prior in PRIORS.items()}
    return tuple(by_id.get(number, _PRIOR)[place] for number in range(MAX_IDS))


_MEANS = _prior_column(0)
_PRECISIONS = _prior_column(1)


class LinkModel(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a topic has learned of links.

    Attributes:
        version: Number of batches learned.
        examples: Number of examples learned.
        words: The vocabulary: words that are looked for in anchor texts, in the order of their ids.
        means: The weights by feature id.
        precisions: How sure they are: 1 / variance, by feature id.
        names: Names of the features in buckets, as far as known.
        records: (pages, sum of their labels) by the id of a host or a word; 0: of all pages.
    """

    version: int = 0
    examples: int = 0
    words: tuple[str, ...] = ()
    means: tuple[float, ...] = _MEANS
    precisions: tuple[float, ...] = _PRECISIONS
    names: dict[int, str] = {}
    records: dict[int, tuple[float, float]] = {}

    @cached_property
    def _trained(self) -> tuple[float, ...]:
        """What each feature adds to a logit that is learned from: its mean, a host's record."""
        weights = list(self.means)
        for number in HOST_IDS:
            if number in self.records:
                weights[number] += _of_host(*self.records[number])
        return tuple(weights)

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        """What each feature adds to a logit: a word's record, too, which no weight has to make up.

        With it in what is learned from, recall fell by .02 (ADR 33).
        """
        weights = list(self._trained)
        pages, relevant = self.records.get(_ALL_PAGES, (0.0, 0.0))
        usual = (relevant + 0.5) / (pages + 5.0)  # from the start one page in ten, as for hosts
        for number, (pages, relevant) in self.records.items():
            if number >= FIRST_WORD:
                weights[number] += _of_word(pages, relevant, usual)
        return tuple(weights)

    @cached_property
    def _word_ids(self) -> dict[str, int]:
        return word_ids(self.words)

    def ids(self, groups: Iterable[tuple[str, ...]]) -> tuple[int, ...]:
        """Returns the ids, 0..4095, of the first 16 names of groups (``feature_groups``).

        Words outside the vocabulary have none.
        """
        known, room = self._known_groups, MAX_FEATURES
        found: list[int] = []
        for group in groups:
            if len(group) > room:
                group = group[:room]
            room -= len(group)
            ids = known.get(group)
            if ids is None:
                if len(known) >= _MAX_GROUPS:
                    known.clear()
                ids = known[group] = ids_of(group, self._word_ids)
            found += ids
        return tuple(dict.fromkeys(found))

    @cached_property
    def _known_groups(self) -> dict[tuple[str, ...], tuple[int, ...]]:
        return {}

    def score(self, ids: Sequence[int]) -> tuple[float, float]:
        """Returns the logit of relevance of a link and its standard deviation."""
        if not ids:
            return _MEANS[0], 0.0
        weights, precisions = self._weights, self.precisions
        z = variance = 0.0
        for number in ids:
            z += weights[number]
            variance += 1.0 / precisions[number]
        return z, sqrt(variance / len(ids))

    def learn(self, batch: Iterable[LinkExample]) -> LinkModel:
        """Returns the model after a batch of examples: the same for every order of them.

        An example whose label or weight is no number, or that has no features, is left out.
        """
        examples = sorted(
            (
                (each.page_id, each.ids, min(1.0, max(0.0, each.label)), each)
                for each in batch
                if each.ids and isfinite(each.label) and 0 < each.weight < float("inf")
            ),
            key=lambda row: (*row[:3], row[3].weight, row[3].words, row[3].text, row[3].names),
        )
        if not examples:
            return self
        rows = [msgspec.structs.replace(row[3], label=row[2]) for row in examples]
        words = _grown(self.words, rows)
        means, precisions = _newton(self, [*rows, *_title_examples(rows, word_ids(words))])
        names = dict(self.names)
        for name in (name for each in rows for name in each.names):
            for number in ids_of((name,), {}):
                names.setdefault(number, name)
        return LinkModel(
            version=self.version + 1,
            examples=self.examples + len(rows),
            words=words,
            means=means,
            precisions=precisions,
            names=names,
            records=_counted(self.records, rows, words),
        )

    def with_words(self, words: Iterable[str]) -> LinkModel:
        """Returns the model with words at the end of its vocabulary, as far as there is room."""
        known = dict.fromkeys(self.words)
        known.update(dict.fromkeys(word.lower() for word in words if word))
        return msgspec.structs.replace(self, words=tuple(known)[:MAX_WORDS])

    def loosened(self) -> LinkModel:
        """Returns the model for an edited topic: the same weights, half as sure, no records."""
        return msgspec.structs.replace(
            self,
            version=self.version + 1,
            records={},
            precisions=tuple(
                max(prior, precision / 2)
                for prior, precision in zip(_PRECISIONS, self.precisions, strict=True)
            ),
        )

    def change_since(self, older: LinkModel, links: Iterable[Sequence[int]]) -> float:
        """Returns the mean change of the scores of some links, in logits; 0.0 without links."""
        changes = [abs(self.score(ids)[0] - older.score(ids)[0]) for ids in links]
        return sum(changes) / len(changes) if changes else 0.0

    def weights(self) -> list[tuple[str, float, float]]:
        """Returns the weights that differ from their prior, as ``explain``."""
        return self.explain(self._learned().keys() | self.records.keys())

    def explain(self, ids: Iterable[int]) -> list[tuple[str, float, float]]:
        """Returns what features add to a logit, the largest first; their sum is the ``score``.

        Each is (name, weight, standard deviation of the weight): ``("host:a.example", -0.5, 0.9)``.
        """
        words = {number: name for name, number in self._word_ids.items()}
        names = {**self.names, **dict(enumerate(FIXED)), **words}
        rows = [
            (
                names.get(number, f"bucket {number}"),
                self._weights[number],
                self.precisions[number] ** -0.5,
            )
            for number in ids
        ]
        return sorted(rows, key=lambda row: (-abs(row[1]), row[0]))

    def _learned(self) -> dict[int, tuple[float, float]]:
        return {
            number: (self.means[number], self.precisions[number])
            for number in range(MAX_IDS)
            if self.means[number] != _MEANS[number]
            or self.precisions[number] != _PRECISIONS[number]
        }

    def to_bytes(self) -> bytes:
        """Packs the model: about 20 bytes a learned weight and the vocabulary."""
        weights = self._learned()
        packed = _Packed(self.version, self.examples, self.words, self.names, weights, self.records)
        return msgspec.msgpack.encode(packed)

    @classmethod
    def from_bytes(cls, data: bytes) -> LinkModel:
        """Unpacks what ``to_bytes`` packed.

        Raises:
            ValueError: The bytes are no model.
        """
        packed = msgspec.msgpack.decode(data, type=_Packed)
        means, precisions = list(_MEANS), list(_PRECISIONS)
        for number, (mean, precision) in packed.weights.items():
            if not (0 <= number < MAX_IDS and isfinite(mean) and isfinite(precision)):
                raise ValueError(f"no weight of a link model: {number}")
            means[number], precisions[number] = mean, precision
        for number, (pages, relevant) in packed.records.items():
            if not (0 <= number < MAX_IDS and 0 <= relevant <= pages < float("inf")):
                raise ValueError(f"no record of a host or a word: {number}")
        rest = msgspec.structs.asdict(packed)
        del rest["weights"]
        return cls(**rest, means=tuple(means), precisions=tuple(precisions))


def _of_host(pages: float, relevant: float) -> float:
    """What a host's record adds to a logit; 0 without pages."""
    gain = log((relevant + 1.0) / (pages + HOST_PAGES) * HOST_PAGES)
    return min(BEST_HOST, max(WORST_HOST, gain))


def _of_word(pages: float, relevant: float, usual: float) -> float:
    """What a word's record adds to a logit, beside the usual share of relevant pages."""
    gain = log((relevant / usual + WORD_PAGES) / (pages + WORD_PAGES))
    return WORD_SHARE * min(BEST_WORD, max(WORST_WORD, gain))


def _counted(
    records: Mapping[int, tuple[float, float]], rows: Iterable[LinkExample], words: Sequence[str]
) -> dict[int, tuple[float, float]]:
    """The records with the pages of a batch; old pages count less and less."""
    found, ids = dict(records), word_ids(words)
    vocabulary = AnchorWords((), {}, words)
    for each in rows:
        hosts = [number for number in each.ids if number in HOST_IDS]
        seen = ids_of(vocabulary.known_in(plain(each.text[:TEXT_CHARS])), ids)
        for number in (*hosts, *seen, _ALL_PAGES):
            pages, relevant = found.get(number, (0.0, 0.0))
            if pages >= MOST_PAGES:
                pages, relevant = pages / 2, relevant / 2
            found[number] = pages + 1.0, relevant + each.label
    return found


def _title_examples(rows: Sequence[LinkExample], ids: Mapping[str, int]) -> Iterator[LinkExample]:
    """The titles of a batch as if each were an anchor text that led to its page."""
    for each in rows:
        words = ids_of((f"a:{word.lower()}" for word in each.words), ids)
        if words:
            yield msgspec.structs.replace(each, ids=(0, *words[:TITLE_WORDS]))


def _newton(
    model: LinkModel, rows: Sequence[LinkExample]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Means and precisions after a batch that is sorted."""
    by_id: dict[int, list[int]] = {}
    for place, each in enumerate(rows):
        for number in dict.fromkeys(each.ids):
            by_id.setdefault(number, []).append(place)
    weights = [min(MAX_EXAMPLE_WEIGHT, each.weight) for each in rows]
    means, precisions = list(model.means), list(model.precisions)
    given = model._trained
    logits = [sum(given[number] for number in dict.fromkeys(each.ids)) for each in rows]
    shares = [_share(z) for z in logits]
    for _ in range(SWEEPS):
        for number in sorted(by_id):
            places = by_id[number]
            gradient = precisions[number] * (means[number] - model.means[number])
            curve = precisions[number]
            for place in places:
                share, weight = shares[place], weights[place]
                gradient += weight * (share - rows[place].label)
                curve += weight * share * (1.0 - share)
            step = min(MAX_STEP, max(-MAX_STEP, -gradient / curve))
            moved = min(MAX_WEIGHT, max(-MAX_WEIGHT, means[number] + step))
            step = moved - means[number]
            means[number] = moved
            for place in places:
                logits[place] += step
                shares[place] = _share(logits[place])
    for number, places in by_id.items():
        gain = sum(weights[place] * shares[place] * (1.0 - shares[place]) for place in places)
        precisions[number] = max(_PRECISIONS[number], FORGET * precisions[number]) + gain
    return tuple(means), tuple(precisions)


def _share(z: float) -> float:
    return 1.0 / (1.0 + exp(-z)) if z > -700 else 0.0


def _grown(words: tuple[str, ...], rows: Sequence[LinkExample]) -> tuple[str, ...]:
    """The vocabulary with the most frequent new words of the titles of a batch."""
    known = frozenset(words)
    counts = Counter(
        word for each in rows for word in dict.fromkeys(map(str.lower, each.words)) if word
    )
    new = sorted((-count, word) for word, count in counts.items() if word not in known)
    return (*words, *(word for _, word in new[:NEW_WORDS]))[:MAX_WORDS]


def rank_line(z: float, sd: float) -> tuple[float, float]:
    """Returns the ranks of links with a score: (rank for the least page id, slope).

    A logit is 50 ranks. The slope is the noise of exploration, times the first 16 bits of the page
    id: so a link has the same noise in every process, and the noise shrinks as the features become
    known.

    Args:
        z: Logit of relevance.
        sd: Its standard deviation.
    """
    width = _RANKS_A_LOGIT * EXPLORATION * sd * _SPREAD
    return _MIDDLE_RANK - _RANKS_A_LOGIT * z + width / 2, -width / 65535


def rank_of(z: float, sd: float, page_id: str | bytes) -> int:
    """Returns the place of a link in the queue, 101..998, lower is sooner.

    Args:
        z: Logit of relevance, with what the link gained by waiting.
        sd: Its standard deviation.
        page_id: Page id of the URL, 32 hex digits.
    """
    start, slope = rank_line(z, sd)
    return min(LAST_RANK, max(FIRST_RANK, round(start + slope * int(page_id[:4], 16))))
