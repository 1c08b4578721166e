"""The frontier's tail in the store: nothing lost, nothing twice, whoever dies where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from redis import Redis

from crawlclean.storage.crawl_types import CrawlState, Discovery, PageRole
from crawlclean.storage.queue.entries import pack_entries, unpack_entries
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.overflow import Overflow, read_spill
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.queues import (
    Spider,
    ack_all,
    assert_at_rest,
    begin,
    fetch_all,
    let_time_pass,
    spec,
    urls,
)
from tests.kit.some import some

HOSTS = ("a.example", "b.example", "c.example")


@pytest.fixture
def new_tail(frontier: Frontier, store: SqliteStore) -> Callable[..., Overflow]:
    """Makes tails of the store."""
    return lambda most=40: frontier.overflow(store.spills, most)


@pytest.fixture
def raw(queue_url: str) -> Iterator[Any]:
    """A plain client whose answers are bytes."""
    with Redis.from_url(queue_url) as plain:
        yield plain


def waiting(client: Any, crawl: str = "c") -> int:
    """URLs in the queue's memory."""
    return sum(client.zcard(key) for key in client.scan_iter(f"cc:q:{crawl}:*"))


def drain(frontier: Frontier, client: Any, spider: Spider, tail: Overflow) -> Any:
    """Fetches and cleans all there is; how often each URL was fetched."""
    fetched: Counter[str] = Counter()
    for _ in range(500):
        if not frontier.counts("c").open:
            return fetched
        tail.round()
        let_time_pass(client, *HOSTS)
        for lease in spider.pages():
            fetched[lease.url] += 1
            assert spider.put(lease)
        spider.flush()
        ack_all(frontier, client)
    raise AssertionError("the crawl does not end")


def test_what_is_too_much_waits_in_the_store_and_comes_back(
    frontier: Frontier, client: Any, spider: Spider, store: SqliteStore, new_tail: Any
) -> None:
    frontier.open_crawl(spec("c", slots=50))
    assert frontier.add("c", urls(300) + urls(30, "b.example")) == 330
    tail = new_tail(40)
    assert tail.round()["urls_spilled"] == 330 - waiting(client)
    assert waiting(client) <= 40
    counts = frontier.counts("c")
    assert (counts.pending, counts.spilled) == (330, 330 - waiting(client))
    kept = map(store.spills.get, store.spills.ids("c"))
    assert sum(spill.urls for spill in kept if spill) == counts.spilled
    assert client.hlen("cc:spills") == len(list(client.scan_iter("cc:spill:*"))) == 0
    first = spider.pages(1)[0]
    assert first.url == "http://a.example/0", "the best stay"
    assert spider.nack(first)
    fetched = drain(frontier, client, spider, tail)
    assert (len(fetched), set(fetched.values())) == (330, {1})
    assert frontier.counts("c").state is CrawlState.FINISHED
    assert frontier.counts("c").spilled == 0
    assert_at_rest(client)
    assert store.spills.ids("c"), "for a while, should the server lose its last second"
    for spill in client.zrange("cc:tg", 0, -1):
        client.zadd("cc:tg", {spill: 0})
    tail.round()
    assert store.spills.ids("c") == []
    assert not [
        key for key in client.keys("cc:t*") if client.type(key) != "none" and key != "cc:token"
    ]


def test_better_urls_come_back_before_worse_ones_are_fetched(
    frontier: Frontier, client: Any, spider: Spider, new_tail: Any
) -> None:
    begin(frontier, [Discovery(url=f"http://a.example/good{i}", rank=40) for i in range(60)])
    tail = new_tail(40)
    tail.round()
    frontier.add("c", [Discovery(url=f"http://a.example/bad{i}", rank=60) for i in range(10)])
    order = list(drain(frontier, client, spider, tail))
    assert [url for url in order if "bad" in url] == order[-10:]


def test_a_host_with_nothing_but_a_tail_is_served_and_its_crawl_is_not_finished(
    frontier: Frontier, client: Any, spider: Spider, new_tail: Any
) -> None:
    begin(frontier, urls(60), slots=50)
    tail = new_tail(20)
    tail.round()
    while waiting(client):
        fetch_all(spider)
        ack_all(frontier, client)
        let_time_pass(client, *HOSTS)
    counts = frontier.counts("c")
    assert counts.state is CrawlState.RUNNING
    assert counts.pending == counts.spilled > 0
    assert spider.lease() == ()
    tail.round()
    assert len(spider.pages()) > 0


def test_a_paused_crawl_brings_nothing_back(frontier: Frontier, client: Any, new_tail: Any) -> None:
    begin(frontier, urls(60))
    tail = new_tail(20)
    tail.round()
    frontier.set_state("c", CrawlState.PAUSED)
    client.delete("cc:q:c:a.example")
    assert tail.round() == {}
    frontier.set_state("c", CrawlState.RUNNING)
    assert tail.round()["urls_refilled"]


def test_many_hosts_and_crawls_take_turns(
    frontier: Frontier, client: Any, new_tail: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"h{n}.example" for n in range(150)]  # more than the server lists in one piece
    for crawl in ("c", "d"):
        frontier.open_crawl(spec(crawl))
        frontier.add(crawl, [found for host in many for found in urls(8, host)])
    tail = new_tail(300)
    while tail.round():
        pass
    queues = list(client.scan_iter("cc:q:*"))
    assert len(client.smembers("cc:th:c")) == len(client.smembers("cc:th:d")) == 150
    client.delete(*queues)
    monkeypatch.setattr("crawlclean.storage.queue.overflow.ROUND_S", 0.0)
    monkeypatch.setattr("crawlclean.storage.queue.overflow.HOSTS_A_REFILL", 10)
    for _ in range(80):
        tail.round()
    assert sorted(client.scan_iter("cc:q:*")) == sorted(queues), "every host had its turn"


def test_memory_over_the_mark_spills_too(
    frontier: Frontier, new_tail: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlclean.storage.queue.overflow.MEMORY_MARK", 0.0)
    begin(frontier, urls(3000))
    assert new_tail(100_000).round()["urls_spilled"] > 1000


def test_no_limit_is_a_quarter_of_the_servers_memory(client: Any, new_tail: Any) -> None:
    limit = int(client.info("memory")["maxmemory"])
    assert limit
    assert new_tail(0)._room()[0] == limit // 4 // 190


@pytest.mark.parametrize("target", ["c", "a.example"])
def test_purging_takes_the_tail(
    frontier: Frontier, client: Any, store: SqliteStore, new_tail: Any, target: str
) -> None:
    begin(frontier, urls(200))
    tail = new_tail(20)
    tail.round()
    tail._scripts("spill", "c", "a.example", "half", 2, 0)  # a housekeeper is on its way
    if target == "c":
        frontier.purge("c")
    else:
        assert frontier.purge("c", target) == 200
        counts = frontier.counts("c")
        assert (counts.pending, counts.spilled, counts.state) == (0, 0, CrawlState.FINISHED)
    store.spills.forget("c")
    assert tail.round() == {}
    assert not list(client.scan_iter("cc:t:*")) + list(client.scan_iter("cc:spill*"))
    assert not client.exists("cc:tn:c", "cc:th:c", "cc:q:c:a.example")


def test_a_spill_purged_on_its_way_is_not_kept(
    frontier: Frontier, store: SqliteStore, new_tail: Any
) -> None:
    begin(frontier, urls(50))
    tail = new_tail(20)
    tail._scripts("spill", "c", "a.example", "p", 10, 0)
    save = store.spills.save

    def purge_and_save(spills: Any) -> None:
        frontier.purge("c")
        save(spills)

    store.spills.save = purge_and_save  # type: ignore[method-assign]
    tail._save_spills([("p", "c", "a.example")])
    assert store.spills.ids("c") == []


def test_a_spill_that_the_store_has_lost_is_said_and_the_crawl_ends(
    frontier: Frontier,
    client: Any,
    spider: Spider,
    store: SqliteStore,
    new_tail: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    begin(frontier, urls(60), slots=50)
    tail = new_tail(20)
    tail.round()
    lost = frontier.counts("c").spilled
    store.spills.forget("c")
    fetched = drain(frontier, client, spider, tail)
    assert len(fetched) == 60 - lost
    assert frontier.counts("c").state is CrawlState.FINISHED
    assert "the store has lost waiting URLs" in caplog.text


def test_garbage_is_lost_and_stops_nothing(
    frontier: Frontier, client: Any, spider: Spider, store: SqliteStore, new_tail: Any
) -> None:
    begin(frontier, urls(60), slots=50)
    key = "cc:q:c:a.example"
    client.zadd(key, {"short": 98e12, "x" * 40: 98e12, "y" * 16 + "p" + "z" * 30: 1e300})
    client.hincrby("cc:c:c", "pending", 3)
    tail = new_tail(20)
    tail.round()
    [last] = store.spills.ids("c")[-1:]
    packed = some(store.spills.get(last))
    store.spills.forget("c")
    broken = [replace(packed, spill_id=each, packed=b"no") for each in client.hkeys("cc:tn:c")]
    store.spills.save(broken)
    fetched = drain(frontier, client, spider, tail)
    assert set(fetched.values()) == {1}
    counts = frontier.counts("c")
    assert (counts.pending, counts.spilled, counts.state) == (0, 0, CrawlState.FINISHED)


class DiedError(BaseException):
    """As kill -9: nothing after it is done."""


def dying(tail: Overflow, store: SqliteStore, after: int, *, done: bool) -> None:
    """The tail dies at its ``after``-th step, before or after it is done."""
    left = [after]

    def fatal(work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and not done:
                raise DiedError
            answer = work(*args)
            if left[0] == 0:
                raise DiedError
            return answer

        return call

    tail._scripts = fatal(tail._scripts)  # type: ignore[assignment]  # dies at a call
    keeper = type("Keeper", (), {})()
    for name in ("save", "get", "delete"):
        setattr(keeper, name, fatal(getattr(store.spills, name)))
    tail._spills = keeper


def everywhere(client: Any, raw: Any, store: SqliteStore, crawl: str) -> list[bytes]:
    """Every pending entry of a crawl, in the queue, on its way, or in the store."""
    entries = []
    for key in raw.scan_iter(f"cc:q:{crawl}:*"):
        entries += raw.zrange(key, 0, -1)
    for spill in client.hkeys(f"cc:tn:{crawl}"):
        cut = raw.get(f"cc:spill:{spill}")
        kept = store.spills.get(spill)
        if cut is not None:
            entries += [entry for _, entry in read_spill(cut)]
        elif kept:
            entries += [entry for _, entry in unpack_entries(kept.host, kept.packed)]
    return sorted(entries)


@pytest.mark.parametrize("done", [False, True])
def test_death_at_every_step_loses_and_doubles_nothing(
    frontier: Frontier,
    client: Any,
    raw: Any,
    store: SqliteStore,
    new_tail: Any,
    done: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deaths = 0
    for after in range(1, 13):
        crawl = f"c{after}"
        frontier.open_crawl(spec(crawl, slots=50))
        frontier.add(crawl, urls(70) + urls(5, "b.example"))
        offered = everywhere(client, raw, store, crawl)
        for back in (False, True, False):
            tail = new_tail(1000 if back else 20)
            dying(tail, store, after, done=done)
            sizes = (20, 1000 if back else 5)
            monkeypatch.setattr(tail, "_sizes", lambda *_, fixed=sizes: fixed)
            try:
                tail.round()
            except DiedError:
                deaths += 1
            assert everywhere(client, raw, store, crawl) == offered, (after, back)
            counts = frontier.counts(crawl)
            assert counts.pending == 75
            assert counts.pending - counts.spilled == waiting(client, crawl)
        frontier.purge(crawl)
        store.spills.forget(crawl)
        client.delete("cc:tg")
    assert deaths >= 15


def test_spills_are_small_and_come_back_equal(frontier: Frontier, raw: Any) -> None:
    frontier.open_crawl(spec("c"))
    found = [
        Discovery(
            url=f"http://a.example/2026/1120/{i:08x}.html",
            depth=3,
            referrer=f"http://a.example/list_{i // 20}.html",
            text=f"第{i}期节目\n预告" if i % 7 else "",
            rank=40 + i % 3,
            role=PageRole.SITEMAP if i == 5 else PageRole.PAGE,
        )
        for i in range(1000)
    ]
    found.append(Discovery(url="http://a.example/a\tb"))
    frontier.add("c", found)
    rows = raw.zrange("cc:q:c:a.example", 0, -1, withscores=True)
    entries = [(int(score), entry) for entry, score in rows]
    packed = pack_entries("a.example", entries)
    assert unpack_entries("a.example", packed) == entries
    assert len(packed) / len(entries) < 20
