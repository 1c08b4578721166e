"""Rebuilding a queue step by step: half of it done, done twice, into a queue that lives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import LinkKind, Outlink, Via
from crawlclean.storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    Discovery,
    FailureReason,
    Outcome,
    PageRole,
    Step,
    UrlState,
)
from crawlclean.storage.queue.entries import read_pending
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.crawling.recovery import Recovery
from tests.kit.outcomes import HOST, make_failure, make_outcome
from tests.kit.queues import Spider

SPEC = CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/0",), delay_ms=0, max_pages=100, slots=50)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Thirty records, each with two links further on, failures, a redirect and a sitemap."""
    opened = SqliteStore(tmp_path / "records.sqlite")
    opened.crawls.put(SPEC, CrawlState.STOPPED)
    opened.save([linked(n) for n in range(30)])
    sitemap = make_failure("/map.xml")
    opened.save(
        [
            make_failure("/x1"),
            make_failure("/x2", reason=FailureReason.ROBOTS, state=UrlState.EXCLUDED),
            replace(make_failure("/old"), state=UrlState.REDIRECT, failure=None),
            replace(
                sitemap,
                queued=replace(sitemap.queued, role=PageRole.SITEMAP),
                state=UrlState.SITEMAP,
                failure=None,
            ),
        ]
    )
    yield opened
    opened.close()


def linked(n: int) -> Outcome:
    outcome = make_outcome(f"/{n}", links=0)
    assert outcome.record is not None
    targets = (f"https://{HOST}/{n + 10}", f"https://{HOST}/x1", "https://elsewhere.example/")
    links = tuple(Outlink(url=url, via=Via.LINK, kind=LinkKind.BODY) for url in targets)
    return replace(outcome, record=replace(outcome.record, outlinks=links))


@pytest.fixture
def recovery(store: SqliteStore, frontier: Frontier) -> Recovery:
    return Recovery(Settings(), store, frontier, print)


def row(store: SqliteStore) -> CrawlRow:
    [found] = store.crawls.all()
    return found


@pytest.fixture
def raw(queue_url: str, client: Any) -> Iterator[Any]:
    """A client of the empty server whose answers are bytes."""
    assert not client.dbsize()
    with Redis.from_url(queue_url) as plain:
        yield plain


def waiting(raw: Any) -> list[str]:
    """What waits in the queue, by path."""
    entries = raw.zrange(f"cc:q:c1:{HOST}", 0, -1)
    return sorted(read_pending(HOST, 0, entry).url.rpartition("/")[2] for entry in entries)


EXPECTED = sorted([*(str(n) for n in range(30, 40)), "old", "map.xml"])


def test_what_ended_is_seen_and_what_it_leads_to_waits(
    raw: Any,
    store: SqliteStore,
    recovery: Recovery,
    frontier: Frontier,
    spider: Spider,
) -> None:
    assert recovery.recover(row(store)) == (32, 12)
    assert waiting(raw) == EXPECTED
    counts = frontier.counts("c1")
    assert (counts.done, counts.stored, counts.failed, counts.pending) == (32, 30, 1, 12)
    assert (counts.budget_left, counts.state) == (70, CrawlState.STOPPED)
    assert spider.lease() == ()
    frontier.open_crawl(SPEC)
    roles = {lease.url.rpartition("/")[2]: lease.role for lease in spider.pages()}
    assert roles.pop("map.xml") is PageRole.SITEMAP
    assert set(roles.values()) == {PageRole.PAGE}


def test_half_of_it_twice_of_it_and_all_of_it_are_the_same(
    raw: Any,
    store: SqliteStore,
    recovery: Recovery,
    frontier: Frontier,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = store.records.linked

    def half(crawl_id: str) -> Iterator[Any]:
        for number, page in enumerate(pages(crawl_id)):
            if number == 24:
                raise StoreUnavailable("away")
            yield page

    monkeypatch.setattr("crawlclean.workers.operations.crawling.recovery.BATCH", 2)
    monkeypatch.setattr(store.records, "linked", half)
    with pytest.raises(StoreUnavailable):
        recovery.recover(row(store))
    assert 0 < len(waiting(raw)) < len(EXPECTED)
    assert frontier.maintenance.is_lost("c1"), "it is not whole"
    monkeypatch.setattr(store.records, "linked", pages)
    assert recovery.recover(row(store))[0] == 0
    assert waiting(raw) == EXPECTED
    before = frontier.counts("c1")
    assert not frontier.maintenance.is_lost("c1")
    assert recovery.recover(row(store))[1] == 0
    assert frontier.counts("c1") == before
    assert (before.done, before.stored, before.pending) == (32, 30, 12)


def test_a_living_queue_gets_only_what_it_has_not_seen(
    raw: Any,
    store: SqliteStore,
    recovery: Recovery,
    frontier: Frontier,
) -> None:
    frontier.open_crawl(SPEC)
    frontier.add("c1", [Discovery(url=f"https://{HOST}/35"), Discovery(url=f"https://{HOST}/own")])
    recovery.recover(row(store))
    assert waiting(raw) == sorted([*EXPECTED, "0", "own"]), "its own seed stays"
    counts = frontier.counts("c1")
    assert (counts.done, counts.stored, counts.state) == (31, 29, CrawlState.RUNNING)


def test_spills_come_back_unless_the_queue_waits_for_them(
    raw: Any,
    store: SqliteStore,
    recovery: Recovery,
    frontier: Frontier,
) -> None:
    frontier.open_crawl(SPEC)
    sold = [Discovery(url=f"https://{HOST}/p{n}", rank=70, depth=4) for n in range(60)]
    frontier.add("c1", sold)
    frontier.overflow(store.spills, 20).round()
    spilled = frontier.counts("c1").spilled
    assert spilled > 30
    recovery.recover(row(store))
    assert frontier.counts("c1").spilled == spilled
    raw.flushall()
    recovery.recover(row(store))
    back = [path for path in waiting(raw) if path.startswith("p")]
    assert len(back) == spilled
    assert sorted(waiting(raw)) == sorted(EXPECTED + back)
    assert raw.zcard("cc:tg") == len(store.spills.ids("c1"))


def test_a_seed_that_redirects_to_another_host_leads_there_without_a_request(
    raw: Any, store: SqliteStore, recovery: Recovery, frontier: Frontier
) -> None:
    """The target was in the queue alone; the class rules of the redirect do not matter."""
    target = "https://moved.example/start"
    log = (Step(at=datetime.now(UTC), step="redirects to", detail=target),)
    spec = replace(SPEC, seeds=(f"https://{HOST}/seed",))
    seed = replace(make_failure("/seed"), state=UrlState.REDIRECT, failure=None, log=log)
    store.save([replace(seed, queued=replace(seed.queued, depth=0))])
    recovery.recover(replace(row(store), spec=spec))
    [entry] = raw.zrange("cc:q:c1:moved.example", 0, -1)
    found = read_pending("moved.example", 0, entry)
    assert (found.url, found.depth, found.via) == (target, 0, Via.REDIRECT)
    assert frontier.more_hosts("c1") == {"moved.example"}
    assert "seed" not in waiting(raw)
