"""How much a topic crawl's figures depend on what should not matter: a part of ``topic.py``.

The constants were chosen on one set of topics. What other topics may be expected to give is shown
by crawls of which one thing is changed:

- ``draws``: the noise of exploration and the order of the portal's links;
- ``hosts``: a quarter of the hosts is left out;
- ``examples``: three other relevant pages, of three hosts where that is possible;
- ``queries``: the query without one of its words; three words that set the titles of the relevant
  pages apart, instead of the query;
- ``anchors``: half of the anchor texts are blank;
- ``labels``: pages judged the wrong way round;
- ``constants``: one constant halved or doubled.

Every part is crawled in four ways (``as it is`` changes nothing): with examples or the query alone;
the best URL of all hosts, or a page a host and tick. A line (``spread.py``) has the mean recall
over changes and topics, the standard deviation of the changes' means, and the least topic, by its
mean over the changes.
"""

from __future__ import annotations

import math
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from multiprocessing import get_context
from types import ModuleType

from benchmarks.topic import crawlers as ours
from benchmarks.topic.crawlers import Judge, Plan, TopicCrawl
from benchmarks.topic.harvest import Harvest, harvest
from benchmarks.topic.web import BenchTopic, Web
from cleaning.topics import learner, links
from cleaning.words import default_segmenter
from workers.jobs import topic_ranking

DRAWS = (1, 2, 3, 4)
SLICE = 8  # crawls of one topic that a process makes in a row: they share judgements of pages
PARTS = ("as it is", "draws", "hosts", "examples", "queries", "anchors", "labels", "constants")
LEAST_TARGETS = 10  # of a topic on a web without some hosts: fewer measure nothing
TITLE_WORDS = 3
_CONSTANTS: dict[str, ModuleType] = {
    "EXPLORATION": learner,
    "MAX_STEP": learner,
    "NEW_WORDS": learner,
    "TITLE_WORDS": learner,
    "HUB_LABEL": learner,
    "BEST_HOST": learner,
    "WORST_HOST": learner,
    "HOST_PAGES": learner,
    "FLOOR": ours,
    "LEAST_CHANGE": topic_ranking,
    "MAX_ANCHOR_WORDS": links,
}
_PRIORS = "priors"

Recall = tuple[float, ...]
"""After 5, 10, 20, 30 % of the pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to crawl: with examples or the query alone, in ticks or the best URL of all hosts."""

    examples: bool
    ticks: bool

    def __str__(self) -> str:
        given = "three examples" if self.examples else "query alone"
        return f"{given}, a page a host and tick" if self.ticks else given


WAYS = tuple(Way(examples=given, ticks=ticks) for given in (True, False) for ticks in (False, True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A crawl of which one thing is changed.

    Attributes:
        part: What is changed: ``hosts``.
        draw: Which change of this part it is: a seed, a place in a list.
        hosts: Share of the hosts that are left out.
        anchors: Share of the links without anchor text.
        flipped: Share of the pages judged the wrong way round.
        constant: Name of a constant, and its factor.
    """

    part: str
    draw: int = 0
    hosts: float = 0.0
    anchors: float = 0.0
    flipped: float = 0.0
    constant: tuple[str, float] | None = None


def changes(parts: Iterable[str]) -> list[Change]:
    """Returns the changes of some parts; ``as it is`` has none."""
    names = (*_CONSTANTS, _PRIORS)
    found = {
        "as it is": [Change(part="as it is")],
        "draws": [Change(part="draws", draw=draw) for draw in DRAWS],
        "hosts": [Change(part="hosts", draw=draw, hosts=0.25) for draw in DRAWS],
        "examples": [Change(part="examples", draw=draw) for draw in DRAWS],
        "queries": [Change(part="queries", draw=draw) for draw in DRAWS],
        "anchors": [Change(part="anchors", draw=draw, anchors=0.5) for draw in DRAWS[:2]],
        "labels": [Change(part="labels", flipped=share) for share in (0.1, 0.2)],
        "constants": [
            Change(part="constants", constant=(name, factor))
            for name in names
            for factor in (0.5, 2.0)
        ],
    }
    return [change for part in parts for change in found[part]]


Key = tuple[Change, Way]
Found = dict[Key, dict[str, Recall]]
"""The recall of each topic."""


def crawl_all(web: Web, parts: Iterable[str] = PARTS, ways: Sequence[Way] = WAYS) -> Found:
    """Crawls with every change of some parts, in several processes; returns what is found."""
    global _WEB
    _WEB = web
    tasks = [
        (topic.name, change, way)
        for topic in web.topics
        for way in ways
        for change in changes(parts)
        if way.examples or change.part != "examples"
    ]
    found: Found = defaultdict(dict)
    with get_context("fork").Pool(os.cpu_count()) as pool:
        rows = pool.imap_unordered(_crawled, tasks, chunksize=SLICE)
        for (name, change, way), row in rows:
            if row is not None:
                found[change, way][name] = row.recall
    return found


_WEB = Web(portal=(), links={}, dead={}, texts={}, topics=())
_Task = tuple[str, Change, Way]


def _crawled(task: _Task) -> tuple[_Task, Harvest | None]:
    """What a crawl finds; None for a topic without targets, or without a query of this number."""
    name, change, way = task
    topic = _topic(name, change)
    if topic is None:
        return task, None
    is_same = change.part in ("examples", "queries")
    web = _WEB if is_same else _changed_web(change.draw, change.hosts, change.anchors)
    if len(web.targets(topic)) < LEAST_TARGETS:
        return task, None
    with _constant(change.constant):
        plan = Plan(
            ticks=way.ticks,
            floor=ours.FLOOR if way.ticks else None,
            flipped=change.flipped,
            draw=change.draw if change.part == "draws" else 0,
        )
        crawl = TopicCrawl(web, _judge(topic, examples=way.examples), plan, _model(change.constant))
        return task, harvest(web, topic, crawl.pages())


@lru_cache(maxsize=4)
def _changed_web(draw: int, hosts: float, anchors: float) -> Web:
    return _WEB.changed(draw, hosts=hosts, anchors=anchors) if draw else _WEB


@lru_cache(maxsize=16)
def _judge(topic: BenchTopic, *, examples: bool) -> Judge:
    return Judge(_WEB, topic, examples=examples)


def _topic(name: str, change: Change) -> BenchTopic | None:
    topic = next(each for each in _WEB.topics if each.name == name)
    if change.part == "examples":
        return replace(topic, examples=_other_examples(topic, change.draw))
    if change.part == "queries":
        queries = _other_queries(topic)
        if change.draw > len(queries):
            return None
        return replace(topic, query=queries[change.draw - 1])
    return topic


def _other_examples(topic: BenchTopic, draw: int) -> tuple[str, ...]:
    """As many other relevant pages with text, of different hosts as far as there are."""
    choice = random.Random(f"{topic.name} {draw}")  # noqa: S311 - a repeatable choice
    given = sorted(topic.relevant.difference(topic.examples))
    pages = [page for page in given if page in _WEB.texts and _WEB.texts[page].body]
    choice.shuffle(pages)
    by_host: dict[str, int] = defaultdict(int)
    turn = {}
    for page in pages:
        host = page.partition("/")[0]
        turn[page] = by_host[host]
        by_host[host] += 1
    return tuple(sorted(pages, key=lambda page: turn[page])[: len(topic.examples)])


@cache
def _other_queries(topic: BenchTopic) -> list[str]:
    """The query without each of its words, and one of words that titles have."""
    words = topic.query.split()
    found = [" ".join([*words[:place], *words[place + 1 :]]) for place in range(len(words))]
    return [*(query for query in found if query), query_of_titles(_WEB, topic)]


def query_of_titles(web: Web, topic: BenchTopic) -> str:
    """Returns the words by which the titles of relevant pages differ most from others."""
    cut = default_segmenter().words
    asked = frozenset(cut(topic.query.lower()))
    everywhere: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for page, text in web.texts.items():
        words = {word for word in cut(text.title.lower()) if len(word) > 1 and not word.isdigit()}
        everywhere.update(words)
        if page in topic.relevant:
            inside.update(words)
    share = len(topic.relevant) / len(web.texts)
    gain = {
        word: -count * math.log(count / (share * everywhere[word]))
        for word, count in inside.items()
        if word not in asked
    }
    return " ".join(sorted(gain, key=lambda word: (gain[word], word))[:TITLE_WORDS])


@contextmanager
def _constant(changed: tuple[str, float] | None) -> Iterator[None]:
    if changed is None or changed[0] == _PRIORS:
        yield
        return
    name, factor = changed
    module = _CONSTANTS[name]
    value = getattr(module, name)
    setattr(module, name, type(value)(value * factor))
    try:
        yield
    finally:
        setattr(module, name, value)


def _model(changed: tuple[str, float] | None) -> learner.LinkModel | None:
    """The first model with other priors, if these are changed."""
    if changed is None or changed[0] != _PRIORS:
        return None
    means = learner.LinkModel().means
    return learner.LinkModel(means=(means[0], *(mean * changed[1] for mean in means[1:])))
