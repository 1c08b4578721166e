"""The crawlers of the topic benchmark: breadth-first, best-first on anchors, and ours.

A part of ``topic.py``. One fetch is one step; a crawler begins with the portal fetched and knows of
a page only what fetched pages link to. Ours is made of the product's pure functions: relevance of
pages, features of links, learner, rank. Here stands what the product's queue and jobs do with them:
batches, ranking anew, hub credit, and the choice of the next host.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from benchmarks.topic.web import BenchTopic, Web
from cleaning.topics import learner
from cleaning.topics.building import build_topic
from cleaning.topics.learner import LinkExample, LinkModel, rank_of
from cleaning.topics.links import FoundLink, feature_groups, neighbours
from cleaning.topics.relevance import judge
from cleaning.topics.topic import ExampleText, TopicSpec
from cleaning.url_classes.rules import class_of
from cleaning.urls.normal_form import normalize, page_id
from cleaning.words import default_segmenter
from workers.jobs import topic_ranking
from workers.jobs.topic_learning import is_batch_due
from workers.jobs.topics import anchor_words, first_model

FLOOR = 35  # ranks below the best waiting URL at which a host stays idle
# Of so many leases, one goes to the host that has waited longest: while a host waits for its first,
# and afterwards (storage/queue/lua/shared/turns.lua).
EVERY, SELDOM = 10, 40

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[a-z0-9_+#]+(?:\.[a-z]+)?")


def breadth_first(web: Web) -> Iterator[str]:
    """Yields pages in the order in which links to them were found."""
    seen = set(web.portal)
    waiting = deque(web.portal)
    while waiting:
        page = waiting.popleft()
        if page not in web.portal:
            yield page
        for target, _ in web.links[page]:
            if target not in seen and target in web.links:
                seen.add(target)
                waiting.append(target)


def best_first(web: Web, topic: BenchTopic) -> Iterator[str]:
    """Yields pages by the share of the query's tokens in their anchor texts, then as found."""
    query = set(_tokens(topic.query))
    fetched = set(web.portal)
    order: dict[str, int] = {}
    best: dict[str, float] = {}
    waiting: list[tuple[float, int, str]] = []

    def offer(page: str) -> None:
        for target, text in web.links[page]:
            if target in fetched or target not in web.links:
                continue
            value = len(query.intersection(_tokens(text))) / len(query)
            order.setdefault(target, len(order))
            if value > best.get(target, -1.0):
                best[target] = value
                heapq.heappush(waiting, (-value, order[target], target))

    for page in web.portal:
        offer(page)
    while waiting:
        _, _, page = heapq.heappop(waiting)
        if page not in fetched:
            fetched.add(page)
            yield page
            offer(page)


def _tokens(text: str) -> list[str]:
    """Pairs of Chinese characters and other words."""
    found = []
    for word in _TOKEN.findall(unicodedata.normalize("NFKC", text).lower()):
        if word[0] < "\u3400" or len(word) == 1:
            found.append(word)
        else:
            found += [word[place : place + 2] for place in range(len(word) - 1)]
    return found


class Judge:
    """A topic as our crawler has it; the judgement of each page is made once."""

    def __init__(self, web: Web, topic: BenchTopic, *, examples: bool) -> None:
        """Builds a topic from its query, and from its example pages when asked."""
        given = [
            ExampleText(title=text.title, text=text.body, url=page)
            for page in (topic.examples if examples else ())
            if (text := web.texts.get(page)) is not None
        ]
        self.topic = build_topic(TopicSpec(name=topic.name, query=topic.query), given)
        self._texts = web.texts
        self._labels: dict[str, float | None] = {}

    def label(self, page: str) -> float | None:
        """Returns the label of a page, 0..1; None for a page without text."""
        if page not in self._labels:
            text = self._texts.get(page)
            has_text = text is not None and bool(text.body)
            self._labels[page] = (
                judge(self.topic, text.title, text.body).label if text and has_text else None
            )
        return self._labels[page]

    def words(self, page: str) -> tuple[str, ...]:
        """Returns the words of a page's title that may enter the vocabulary."""
        found = default_segmenter().words(self._texts[page].title)
        return tuple(word for word in found if len(word) > 1 and not word.isdigit())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How our crawler is run.

    Attributes:
        ticks: Whether a host gives at most one page a tick; else the best URL of all is next.
        floor: Ranks below the best waiting URL at which a host stays idle; None for no floor.
        flipped: Share of pages whose label is turned round.
        draw: Of the noise of exploration; 0 is the product's.
    """

    ticks: bool = False
    floor: int | None = None
    flipped: float = 0.0
    draw: int = 0


@dataclass(slots=True, kw_only=True)
class _Found:
    """A URL that is known: its page, page id, features, the page with the link, its number."""

    page: str
    pid: str
    ids: tuple[int, ...]
    finder: str
    number: int


class TopicCrawl:
    """One crawl of ours."""

    def __init__(self, web: Web, judge_: Judge, plan: Plan, model: LinkModel | None = None) -> None:
        """Prepares a crawl; ``model`` has other priors than the product's."""
        self._web = web
        self._judge = judge_
        self._plan = plan
        first = first_model(judge_.topic)
        self.model = model.with_words(first.words) if model else first
        self._ranked = self.model
        self._anchors = anchor_words(judge_.topic, self.model)
        self._found: dict[str, _Found] = {}
        self._hosts: dict[str, list[tuple[int, int, str]]] = {}
        self._served: dict[str, int] = {}
        self._batch: list[LinkExample] = []
        self._children: dict[str, list[int]] = {}
        self._fetched = 0
        self._newest: tuple[tuple[int, ...], ...] = ()

    def pages(self) -> Iterator[str]:
        """Yields the pages in the order of their fetches."""
        for page in self._web.portal:
            self._offer(page, 0.0)
        serve = self._tick if self._plan.ticks else self._best
        while self._hosts:
            for host in serve():
                yield self._fetch(host)
                self._learn()

    def _best(self) -> Iterator[str]:
        """The host of the best URL; now and then the host that has waited longest."""
        if self._goes_by_time():
            yield min(self._hosts, key=self._wait)
        else:
            yield min(self._hosts, key=self._top)

    def _tick(self) -> Iterator[str]:
        """The hosts that give a page in this tick: none that is far below the best URL."""
        due = set(self._hosts)
        while due:
            if self._goes_by_time():
                host = min(due, key=self._wait)
            else:
                host = min(due, key=self._top)
                best = min(map(self._top, self._hosts))[0]
                if self._plan.floor is not None and self._top(host)[0] > best + self._plan.floor:
                    return
            due.discard(host)
            yield host
            due &= self._hosts.keys()

    def _goes_by_time(self) -> bool:
        is_new = any(host not in self._served for host in self._hosts)
        return (self._fetched + 1) % (EVERY if is_new else SELDOM) == 0

    def _wait(self, host: str) -> tuple[int, str]:
        return self._served.get(host, -1), host

    def _top(self, host: str) -> tuple[int, int, str]:
        return self._hosts[host][0]

    def _fetch(self, host: str) -> str:
        waiting = self._hosts[host]
        _, _, page = heapq.heappop(waiting)
        if not waiting:
            del self._hosts[host]
        self._served[host] = self._fetched
        self._fetched += 1
        found = self._found[page]
        label = self._judge.label(page)
        if label is not None:
            if int(found.pid[8:12], 16) < self._plan.flipped * 65536:
                label = 1.0 - label
            self._note(found, label)
        self._offer(page, label or 0.0)
        return page

    def _note(self, found: _Found, label: float) -> None:
        """Keeps an example of a fetched page; and one of its finder, when that is a hub."""
        self._batch.append(
            LinkExample(
                page_id=found.pid, ids=found.ids, label=label, words=self._judge.words(found.page)
            )
        )
        children = self._children.setdefault(found.finder, [0, 0])
        children[0] += 1
        if children[0] <= learner.HUB_CHILDREN and label >= 0.5:
            children[1] += 1
            finder = self._found.get(found.finder)
            if children[1] == learner.HUB_RELEVANT and finder is not None:
                self._batch.append(
                    LinkExample(page_id=finder.pid, ids=finder.ids, label=learner.HUB_LABEL)
                )

    def _offer(self, page: str, label: float) -> None:
        """Queues the links of a fetched page that are new."""
        finder = url_of(page)
        out = self._web.links[page]
        texts = [text for _, text in out]
        for place, (target, text) in enumerate(out):
            if target in self._found or target in self._web.portal or target not in self._web.links:
                continue
            url = url_of(target)
            link = FoundLink(
                url=url,
                url_class=class_of(url),
                finder=finder,
                finder_label=label,
                text=text,
                near=neighbours(texts, place),
            )
            ids = self.model.ids_of_groups(feature_groups(link, self._anchors))
            found = _Found(
                page=target, pid=self._pid(url), ids=ids, finder=page, number=len(self._found)
            )
            self._found[target] = found
            entry = (self._rank(found), found.number, target)
            heapq.heappush(self._hosts.setdefault(target.partition("/")[0], []), entry)

    def _pid(self, url: str) -> str:
        return page_id(f"{url}?{self._plan.draw}" if self._plan.draw else url)

    def _rank(self, found: _Found) -> int:
        return rank_of(*self.model.score(found.ids), found.pid)

    def _learn(self) -> None:
        if not is_batch_due(len(self._batch), self.model.examples):
            return
        words = self.model.words
        batch, self._batch = self._batch, []
        self.model = self.model.learn(batch)
        newest = (*self._newest, *(each.ids for each in batch))
        self._newest = newest[-topic_ranking.COMPARED_PAGES :]
        if self.model.words != words:
            self._anchors = anchor_words(self._judge.topic, self.model)
        if self._is_stale(len(batch)):
            self._rank_anew()

    def _is_stale(self, learned: int) -> bool:
        """Whether what waits is ranked anew, by the rules of the product (``topic_ranking.py``)."""
        if sum(map(len, self._hosts.values())) <= topic_ranking.CHEAP_URLS * learned:
            return True
        if self.model.examples - self._ranked.examples >= topic_ranking.EVERY_PAGES:
            return True
        return self.model.change_since(self._ranked, self._newest) > topic_ranking.LEAST_CHANGE

    def _rank_anew(self) -> None:
        self._ranked = self.model
        for host, waiting in self._hosts.items():
            again = [(self._rank(self._found[page]), number, page) for _, number, page in waiting]
            heapq.heapify(again)
            self._hosts[host] = again


@cache
def url_of(page: str) -> str:
    """Returns the URL of a page in normal form."""
    return normalize(f"http://{page}")
