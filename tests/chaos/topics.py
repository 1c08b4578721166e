"""Kills the processes of a topic crawl; looks whether a page, a judgement or a weight was lost.

The crawl goes over the named hosts of ``tests/kit/wide_web.py`` for a given time, with kills spread
over it: each role in turn, and once everything. Then it is stopped, and looked at:

- each page that a server has answered is stored, failed, or waits to be fetched again;
- each stored page of the crawl is judged; the model is behind by less than a batch of the learner;
- no host was asked sooner than its delay permits, by the server's log; pages asked twice are those
  that were in flight at a kill.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from redis.exceptions import RedisError

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import load_settings
from crawlclean.workers.jobs.topic_learning import BATCHES, LARGEST_BATCH
from crawlclean.workers.operations.topics.crawls import topic_spec
from crawlclean.workers.operations.topics.topics import TopicFlags, begin_topic, planned_topic
from tests.chaos.fleets import LOOK_S, Embedded, Fleet, Servers
from tests.chaos.flight import answers
from tests.kit.processes import is_alive, kill
from tests.kit.timing import wait_until
from tests.kit.wide_web import EXAMPLE, NAMES, QUERY, ROBOTS, WideSpec, WideVisit, WideWeb

TOPIC = "quake"
DELAY_S = 0.5
TREE = "everything"
REST_LIMIT_S = 120.0
FIRST_REQUESTS = 20  # before the first kill
LARGEST_LAG = LARGEST_BATCH + max(BATCHES.values())
"""Pages that no model has learned: a batch that was under way, and what came meanwhile."""
GAP_MARGIN_S = 0.005


@dataclass
class TopicReport:
    """The outcome of a topic crawl with kills."""

    store: str
    hosts: int
    seconds: float
    kills: dict[str, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    requests: int = 0
    repeats: int = 0
    records: int = 0
    relevant: int = 0
    relevant_of: int = 0
    unlearned: int = 0
    short_gaps: int = 0
    least_gap_s: float = 0.0
    topical_hosts: int = 0
    farm_requests: int = 0

    @property
    def is_clean(self) -> bool:
        """Nothing lost, no host asked too soon."""
        return not self.complaints


class EmbeddedTopic(Embedded):
    """`topic` with its processes on SQLite."""

    def words(self) -> list[str]:
        example = self.folder / "example.html"
        example.write_text(EXAMPLE, "utf-8")
        words = ["--query", QUERY, "--examples", str(example), "--delay", str(DELAY_S)]
        return ["topic", TOPIC, "--seeds", *self.seeds, *words]

    def come_to_rest(self) -> None:
        self.members[0].terminate(REST_LIMIT_S)
        super().come_to_rest()


class ServersTopic(Servers):
    """Commands of their own that join the topic's crawl on a Redis and a MongoDB server."""

    def _seed(self) -> None:
        example = self.folder / "example.html"
        example.write_text(EXAMPLE, "utf-8")
        settings = load_settings(
            {
                "CRAWLCLEAN_REDIS_URL": self.queue_url,
                "CRAWLCLEAN_MONGODB_URL": self.mongo_url,
                "CRAWLCLEAN_DATA": str(self.data),
            },
            {"allow_private": True, "delay_s": DELAY_S},
        )
        with closing(self.open_store()) as store, closing(self.frontier()) as frontier:
            spec = topic_spec(settings, TOPIC, self.seeds, None, {"delay_s"})
            flags = TopicFlags(query=QUERY, examples=[str(example)])
            begin_topic(settings, planned_topic(settings, TOPIC, flags), flags, lambda _: None)
            store.crawls.put(spec, CrawlState.RUNNING)
            frontier.open_crawl(spec)

    def come_to_rest(self) -> None:
        """Ends the leases, lets the workers end what was fetched, then stops all."""
        with closing(self.frontier()) as frontier:
            frontier.set_state(TOPIC, CrawlState.PAUSED)

            def is_empty() -> bool:
                self.look_after()
                return frontier.counts(TOPIC).in_flight == 0

            wait_until(is_empty, REST_LIMIT_S, 0.2)
        super().come_to_rest()


def topic_bout(
    folder: Path, store: str, spec: WideSpec, seconds: float, kills: Sequence[str] | int
) -> TopicReport:
    """Report of a topic crawl with its kills.

    Args:
        folder: For everything.
        store: ``sqlite`` (`topic`) or ``mongo`` (processes and servers of their own).
        spec: The web.
        seconds: Length of the crawl; the kills come at equal times, the first before the middle.
        kills: Roles, ``everything`` among them, or how many.
    """
    kind = {"sqlite": EmbeddedTopic, "mongo": ServersTopic}[store]
    report = TopicReport(store=store, hosts=spec.hosts, seconds=seconds)
    with (
        WideWeb(folder / "web", spec) as web,
        kind(folder, tuple(web.seeds), hurry=False, sabotage=NAMES) as fleet,
    ):
        victims = _plan(kills, fleet.roles) if isinstance(kills, int) else kills
        wait_until(lambda: len(web.visits()) >= FIRST_REQUESTS)
        _crawl(fleet, report, victims)
        fleet.come_to_rest()
        visits = web.visits()
        with closing(fleet.frontier()) as frontier, closing(fleet.open_store()) as opened:
            frontier.sweep()  # sessions of who was just stopped
            report.complaints += _lost(frontier, opened, visits, web.port)
            report.complaints += _of_learning(opened, report)
            report.complaints += _in_flight(fleet.client)
    _count(report, visits, spec)
    if report.short_gaps:
        report.complaints.append(f"{report.short_gaps} gaps are too short")
    return report


def _plan(kills: int, roles: Sequence[str]) -> list[str]:
    """Each role in turn, and everything in the middle."""
    order = [roles[n % len(roles)] for n in range(kills - 1)]
    return [*order[: kills // 2], TREE, *order[kills // 2 :]]


def _crawl(fleet: Fleet, report: TopicReport, kills: Sequence[str]) -> None:
    """Lets the crawl go on for its time, and kills at equal distances."""
    chance = random.Random(1)
    begun = time.monotonic()
    counted: Counter[str] = Counter()

    def until(end: float) -> None:
        while time.monotonic() < end:
            fleet.look_after()
            time.sleep(LOOK_S)

    for number, what in enumerate(kills):
        until(begun + report.seconds * (number + 0.5) / len(kills))
        found: list[int] = []

        def is_time(what: str = what, found: list[int] = found) -> bool:
            fleet.look_after()
            who = fleet.victims()
            found[:] = fleet.tree() if what == TREE else who.get(what, [])[:]
            return fleet.is_done() or (bool(found) and answers(fleet.client))

        wait_until(is_time, REST_LIMIT_S, LOOK_S)
        if fleet.is_done():
            report.complaints.append("the crawl was over before its time")
            break
        dying = found if what == TREE else [chance.choice(found)]
        for pid in dying:
            kill(pid)
        counted[what] += 1
        wait_until(partial(_are_gone, dying))
    until(begun + report.seconds)
    wait_until(partial(_has_come_back, fleet), REST_LIMIT_S, LOOK_S)
    report.kills = dict(sorted(counted.items()))


def _are_gone(pids: Sequence[int]) -> bool:
    return not any(map(is_alive, pids))


def _has_come_back(fleet: Fleet) -> bool:
    """Whether all members run and the queue answers, after a look at them; or the crawl is over."""
    fleet.look_after()
    are_running = all(member.is_running() for member in fleet.members)
    return fleet.is_done() or (are_running and answers(fleet.client))


def _lost(
    frontier: Frontier, store: Store, visits: Sequence[WideVisit], port: int
) -> Iterator[str]:
    """Pages that were asked for and are neither ended nor waiting."""
    urls = {f"http://{v.host}:{port}{v.path}" for v in visits if v.path != ROBOTS}
    lost = []
    for url in sorted(urls):
        key = page_id(url)
        if not any(row.crawl_id == TOPIC for row in store.urls.rows(key)):
            host = url.split("/")[2]
            if frontier.trace(TOPIC, key, host) is None:
                lost.append(url)
    if lost:
        yield f"{len(lost)} of {len(urls)} pages lost: {lost[:3]}"


def _of_learning(store: Store, report: TopicReport) -> Iterator[str]:
    unjudged = []
    for record in store.records.scan(TOPIC):
        report.records += 1
        judged = store.topics.of_page(record.page_id)
        if not any(each.judgement.topic == TOPIC for each in judged):
            unjudged.append(record.url)
    if unjudged:
        yield f"{len(unjudged)} of {report.records} records are not judged: {unjudged[:3]}"
    report.unlearned = store.topics.waiting_to_learn(TOPIC)
    if report.unlearned > LARGEST_LAG:
        yield f"{report.unlearned} pages wait for the learner"
    if store.topics.model(TOPIC) is None:
        yield "there is no model"


def _in_flight(client: Any) -> Iterator[str]:
    """What is under way in a queue at rest."""
    try:
        flight = client.hgetall("cc:flight")
        counts = client.hgetall(f"cc:c:{TOPIC}")
    except RedisError as error:
        yield f"the queue does not answer: {error}"
        return
    held = {name: int(counts.get(name, 0)) for name in ("leased", "queued")}
    if any(held.values()) or any(int(n) for n in flight.values()):
        yield f"in flight at rest: {held}, {flight}"


def _count(report: TopicReport, visits: Sequence[WideVisit], spec: WideSpec) -> None:
    pages = [visit for visit in visits if visit.path != ROBOTS]
    asked = Counter((visit.host, visit.path) for visit in pages)
    found = {(visit.host, visit.path) for visit in pages if visit.is_relevant}
    report.requests, report.repeats = len(pages), len(pages) - len(asked)
    report.relevant, report.relevant_of = len(found), spec.relevant
    report.topical_hosts = len({host for host, _ in found})
    report.farm_requests = sum(visit.is_farm for visit in pages)
    gaps = sorted(_gaps(visits))
    report.least_gap_s = round(gaps[0], 3) if gaps else 0.0
    report.short_gaps = sum(gap < DELAY_S - GAP_MARGIN_S for gap in gaps)


def _gaps(visits: Sequence[WideVisit]) -> Iterator[float]:
    """Seconds from the end of an answer of a host to the next request to the host."""
    ordered = sorted(visits, key=lambda visit: (visit.host, visit.arrival_s))
    for _, group in groupby(ordered, key=lambda visit: visit.host):
        rows = list(group)
        for before, after in pairwise(rows):
            yield after.arrival_s - before.end_s
