"""CPU of judging pages and of ranking their links, as a share of cleaning them.

    make bench-judging [ARGS="--pages 600 --job 20 --marks 200"]

Reads the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names (``web.py``), and the archives of sites in it
or beside it. As in a worker, each job is a fork with the pages of one host: so caches are empty at
its begin. Its topic is loaded, its pages are cleaned and judged, their outlinks filtered and
ranked; each part is timed apart. Hosts of the set are in scope. Links that an earlier page had are
known to the crawl: they are looked up and not ranked. The fewer ``--pages``, the fewer are known;
``--pages 6000`` has all pages.

``fingerprint`` is a checksum over all judgements, features and ranks: a change that only saves time
leaves it as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from time import process_time
from typing import Any, TypeVar
from urllib.parse import quote

from benchmarks.kit.results import keep, show
from benchmarks.topic.relevance import Page, page_sources, topic_of
from benchmarks.topic.web import BenchTopic, folder, read_web
from crawlclean import RawPage, clean
from crawlclean.cleaning.errors import PageError
from crawlclean.cleaning.records import CleanRecord, PageKind, Provenance, Via
from crawlclean.cleaning.topics.learner import LinkExample, LinkModel
from crawlclean.cleaning.topics.relevance import text_of
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.cleaning.urls.normal_form import normal_page_id, page_id
from crawlclean.cleaning.words import default_segmenter
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    Discovery,
    FetchResult,
    Outcome,
    PageRole,
    QueuedPage,
    UrlState,
)
from crawlclean.storage.queue.entries import fingerprint
from crawlclean.workers.jobs.topics import CrawlTopic, first_model
from crawlclean.workers.jobs.url_classes import HostUrlRules
from crawlclean.workers.jobs.url_filter import Chosen, Ranker, UrlFilter, unknown
from crawlclean.workers.processes.worker import preload

T = TypeVar("T")

TAUGHT_PAGES = 300
"""Pages by which the model of links has learned before anything is measured."""
TAUGHT_LINKS = 3
"""Links of each of them that stand for links to it."""
BATCH = 50
PARTS = ("loading", "cleaning", "judging", "filtering", "ranking")


class Clock:
    """CPU seconds by part of the work."""

    def __init__(self) -> None:
        """Has measured nothing."""
        self.seconds = dict.fromkeys(PARTS, 0.0)

    def time(self, part: str, work: Callable[[], T]) -> T:
        """Returns what ``work`` returns; adds its CPU to a part."""
        start = process_time()
        found = work()
        self.seconds[part] += process_time() - start
        return found


def main() -> None:
    """Prints and keeps milliseconds a page, microseconds a link, and shares of cleaning."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--job", type=int, default=20, help="pages of a job")
    parser.add_argument("--topic", default="db", help="id of the topic")
    parser.add_argument("--marks", type=int, default=0, help="pages that the user has marked")
    parser.add_argument("--rounds", type=int, default=3, help="the least CPU of so many counts")
    parser.add_argument("--all", action="store_true", help="rank known links, too")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/judging.json")
    given = parser.parse_args()
    web = read_web(folder())
    chosen = next(topic for topic in web.topics if topic.name == given.topic)
    sources = dict(page_sources(folder(), web.texts))
    jobs = _jobs(sources, given.pages, given.job)
    topic, model = _taught(chosen, sources, [name for job in jobs for name in job], given.marks)
    packed = topic.to_bytes(), model.to_bytes()
    seconds = dict.fromkeys(PARTS, 0.0)
    links, ranked, digests = 0, 0, sha256()
    preload()  # as the parent of a worker's jobs
    known: set[str] = set()
    for job in jobs:
        work = partial(_work, packed, job, sources, None if given.all else frozenset(known))
        runs = [_forked(work) for _ in range(given.rounds)]
        for part in PARTS:
            seconds[part] += min(run["seconds"][part] for run in runs)
        links += runs[0]["links"]
        ranked += len(runs[0]["urls"])
        known.update(map(normal_page_id, runs[0]["urls"]))
        digests.update(runs[0]["digest"].encode())
    pages = sum(map(len, jobs))
    result = {
        "pages": pages,
        "pages a job": given.job,
        "marks": given.marks,
        "links a page": round(links / pages, 1),
        "ranked links a page": round(ranked / pages, 1),
        "ms a page": {part: round(each * 1e3 / pages, 3) for part, each in seconds.items()},
        "us a ranked link": round(seconds["ranking"] * 1e6 / ranked, 2),
        "share of cleaning": {
            part: round(seconds[part] / seconds["cleaning"], 4)
            for part in ("loading", "judging", "ranking")
        },
        "judging and ranking, share of cleaning": round(
            (seconds["judging"] + seconds["ranking"]) / seconds["cleaning"], 4
        ),
        "fingerprint": digests.hexdigest()[:16],
    }
    if given.keep:
        keep("judging", result)
    else:
        show(result)


def _forked(work: Callable[[], Mapping[str, Any]]) -> Any:
    """What ``work`` returns in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(write, "w") as out:
            json.dump(work(), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as given:
        text = given.read()
    os.waitpid(child, 0)
    return json.loads(text)


def _jobs(sources: Mapping[str, bytes], pages: int, size: int) -> list[list[str]]:
    """Pages of all hosts, as many of each as its share; in jobs of one host."""
    by_host: dict[str, list[str]] = {}
    for name in sorted(sources, key=lambda name: zlib.crc32(name.encode())):
        by_host.setdefault(name.partition("/")[0], []).append(name)
    jobs = []
    for _, names in sorted(by_host.items()):
        share = names[: max(1, round(pages * len(names) / len(sources)))]
        jobs += [share[start : start + size] for start in range(0, len(share), size)]
    return jobs


def _taught(
    given: BenchTopic, sources: Mapping[str, bytes], names: Sequence[str], marks: int
) -> tuple[Topic, LinkModel]:
    """The topic with the marks of a user, and a model of links that has learned."""
    records = {
        name: _record(name, sources[name])
        for name in [*given.examples, *names[: max(marks, TAUGHT_PAGES)]]
        if name in sources
    }
    pages = {
        name: Page(record.title, text_of(record), record.kind is PageKind.INDEX)
        for name, record in records.items()
        if record is not None
    }
    marked = {name: name in given.relevant for name in names[:marks] if name in pages}
    topic = topic_of(given, pages, marked)
    model = first_model(topic)
    rows = []
    for name in names[:TAUGHT_PAGES]:
        judge = CrawlTopic(topic, model)
        outcome = judge.with_judgement(_outcome(name, records[name]))
        if outcome.record is None:
            continue
        words = default_segmenter().words(outcome.record.title)
        ranker = judge.ranker(outcome, HostUrlRules(host=outcome.queued.host))
        for outlink in outcome.record.outlinks[:TAUGHT_LINKS]:
            rows.append(
                LinkExample(
                    page_id=page_id(outlink.url),
                    ids=ranker(outlink)[1],
                    label=outcome.judgements[0].label,
                    words=tuple(word for word in words if len(word) > 1 and not word.isdigit()),
                )
            )
        if len(rows) >= BATCH:
            model = model.learn(rows)
            rows = []
    return topic, model


def _record(name: str, source: bytes) -> CleanRecord | None:
    try:
        return clean(RawPage.from_bytes(_url(name), source, "text/html"))
    except PageError:
        return None


def _url(name: str) -> str:
    host, _, path = name.partition("/")
    return f"http://{host}/{quote(path)}"


def _outcome(name: str, record: CleanRecord | None) -> Outcome:
    url = _url(name)
    queued = QueuedPage(
        crawl_id="bench",
        page_id=page_id(url),
        token=0,
        url=url,
        host=name.partition("/")[0],
        role=PageRole.PAGE,
        depth=1,
        provenance=Provenance(crawl_id="bench", via=Via.LINK),
        attempt=1,
        crashes=0,
        poison=False,
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
        result=FetchResult(),
    )
    state = UrlState.RECORD if record else UrlState.FAILED
    return Outcome(queued=queued, state=state, record=record)


def _work(
    packed: tuple[bytes, bytes],
    job: Sequence[str],
    sources: Mapping[str, bytes],
    known: frozenset[str] | None,
) -> dict[str, Any]:
    """Does a job: CPU seconds by part, ranked URLs, checksum of all results."""
    clock = Clock()
    judge = clock.time(
        "loading",
        lambda: CrawlTopic(Topic.from_bytes(packed[0]), LinkModel.from_bytes(packed[1])),
    )
    records = clock.time("cleaning", lambda: [_record(name, sources[name]) for name in job])
    unjudged = [_outcome(name, record) for name, record in zip(job, records, strict=True)]
    outcomes = clock.time("judging", lambda: [judge.with_judgement(each) for each in unjudged])
    own = HostUrlRules(host=outcomes[0].queued.host)
    seeds = tuple(sorted({f"http://{name.partition('/')[0]}/" for name in sources}))
    chosen = clock.time("filtering", lambda: _chosen(outcomes, own, seeds))
    found = clock.time("ranking", lambda: _ranked(judge, chosen, own, known))
    digest = sha256(repr(([each.judgements for each in outcomes], found)).encode())
    return {
        "seconds": clock.seconds,
        "urls": [each.url for each in found],
        "links": sum(len(links) for _, links in chosen),
        "digest": digest.hexdigest(),
    }


def _chosen(
    outcomes: Sequence[Outcome], own: HostUrlRules, seeds: tuple[str, ...]
) -> list[tuple[Outcome, list[Chosen]]]:
    url_filter = UrlFilter(CrawlSpec(crawl_id="bench", seeds=seeds), own=own)
    return [
        (each, url_filter.choose(each.record.outlinks, each.queued.url, 1)[0])
        for each in outcomes
        if each.record is not None
    ]


def _ranked(
    judge: CrawlTopic,
    chosen: Sequence[tuple[Outcome, Sequence[Chosen]]],
    own: HostUrlRules,
    known: frozenset[str] | None,
) -> list[Discovery]:
    """What the crawl is offered; all links of all pages when ``known`` is None."""
    url_filter = UrlFilter(CrawlSpec(crawl_id="bench", seeds=()), own=own)
    if known is None:
        return [
            url_filter.discovery(link, ranker)
            for outcome, links in chosen
            for ranker in [judge.ranker(outcome, own)]
            for link in links
        ]
    found: dict[str, tuple[Chosen, Ranker]] = {}
    for outcome, links in chosen:
        ranker = judge.ranker(outcome, own)
        for link in links:
            found.setdefault(link.outlink.url, (link, ranker))
    new = unknown(Seen(known), "bench", found)
    return [url_filter.discovery(link, ranker) for link, ranker in new]


class Seen:
    """The queue's part of ``unknown``."""

    def __init__(self, known: frozenset[str]) -> None:
        """Knows URLs by their page ids."""
        self._known = known

    def have_seen(self, _crawl_id: str, page_ids: Sequence[str]) -> list[bool]:
        """Which URLs are known; makes the arguments that the queue's client would send."""
        sent = [(each, fingerprint(each)) for each in page_ids]
        return [each in self._known for each, _ in sent]


if __name__ == "__main__":
    main()
