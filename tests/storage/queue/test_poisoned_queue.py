"""Somebody else wrote into the queue: whatever it is, we raise our own errors and run nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from redis import Redis

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import FetchResult, Lease, PageRole, QueuedPage, UrlState
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, age_jobs, fetch_all, let_time_pass, pause_host, spec, urls

HOST = "a.example"
GARBAGE: tuple[bytes, ...] = (
    b"", b"\xff\xfe\x00", b"-1", b"9" * 400, b"1e400", b"nan", b"0x10", b"{", b"[]", b"null",
    b'{"status": "x", "headers": 5}', b"a b c", b"\n\t\r", b"cos\nsystem\n(S'true'\ntR.",
    b"\x80\x04\x95", b"__import__('os')", b"/etc/passwd", b"%s%n", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
SEED, ROUNDS = 7, 40


def fill(frontier: Frontier, spider: Spider, client: Any) -> list[Lease]:
    """A queue with something in every key; returns leases that are still held."""
    client.flushall()
    frontier.open_crawl(spec("c", f"http://{HOST}/", max_pages=1000, slots=64))
    frontier.open_crawl(spec("d", "http://b.example/", slots=64))
    frontier.add("c", urls(40))
    frontier.widen("c", "http://c.example/")
    frontier.count({"records": 3})
    [robots] = [x for x in spider.lease(1) if x.role is PageRole.ROBOTS]
    spider.put_robots(robots, "User-agent: *\nDisallow: /x\n", sitemaps=tuple(urls(2, "s.example")))
    fetch_all(spider, 6)
    age_jobs(client)
    for job in client.zrange("cc:jobs", 0, -1)[:1]:
        frontier.claim(job, "w")
        frontier.mark(job, page_id(f"http://{HOST}/0"))
    held = [lease for lease in spider.lease(4) if lease.role is PageRole.PAGE]
    spider.nack(held.pop(), url_wait_ms=0)
    if held:
        spider.put(held.pop())
    return held


def poison(client: Any, key: str, chance: random.Random) -> str:
    """Puts garbage into a key; says what."""
    kind = client.type(key)
    value = chance.choice(GARBAGE)
    if chance.random() < 0.3:
        client.delete(key)
        wrong = chance.choice(("set", "rpush", "hset", "zadd", "sadd"))
        if wrong == "hset":
            client.hset(key, "x", value)
        elif wrong == "zadd":
            client.zadd(key, {value: 1})
        else:
            getattr(client, wrong)(key, value)
        return f"{key} became {wrong} {value!r}"
    if kind == "hash":
        field = chance.choice(client.hkeys(key))
        if chance.random() < 0.3:
            client.hdel(key, field)
            return f"{key} without {field}"
        client.hset(key, field, value)
        return f"{key}.{field} = {value!r}"
    if kind == "zset":
        client.zadd(key, {value: chance.choice((0, -1, 1e300, float("-inf")))})
    elif kind == "set":
        client.sadd(key, value)
    elif kind == "list":
        client.lpush(key, value)
    else:
        client.set(key, value)
    return f"{key} with {value!r}"


class Tries:
    """Calls; the errors that are not ours."""

    def __init__(self) -> None:
        self.strange: list[str] = []

    def __call__(self, call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """What the call gives; None when it raises."""
        try:
            return call(*arguments, **more)
        except ServiceError:
            return None
        except Exception as error:
            self.strange.append(f"{call.__name__}: {error!r}")
            return None


def work(frontier: Frontier, spider: Spider, client: Any, held: list[Lease]) -> list[str]:
    """Everything a process does to the queue, once; the errors that are not ours."""
    try_to = Tries()

    def robots(host: str) -> Any:
        return spider.run(spider.queue.robots(host))

    def renew() -> Any:
        return spider.run(spider.queue.renew())

    for lease in held:
        try_to(spider.put, lease, FetchResult(status=200, body=b"x"))
    for lease in try_to(spider.lease, 8) or ():
        if lease.role is PageRole.ROBOTS:
            try_to(spider.put_robots, lease)
        else:
            try_to(robots, lease.host)
            try_to(spider.nack, lease)
    try_to(spider.flush)
    try_to(spider.reconcile, [])
    try_to(renew)
    for job in client.zrange("cc:jobs", 0, 5) if client.type("cc:jobs") == "zset" else ():
        pages: list[QueuedPage] = try_to(frontier.claim, job, "w") or []
        for page in pages:
            try_to(frontier.mark, job, page.page_id)
        try_to(frontier.ack, job, [(page, UrlState.FAILED) for page in pages])
        try_to(frontier.give_back, job)
    for name in ("c", "d"):
        for call in (frontier.spec, frontier.counts, frontier.hosts, frontier.more_hosts):
            try_to(call, name)
        try_to(frontier.has_claims, name)
        try_to(frontier.add, name, urls(45))
    pid = page_id(f"http://{HOST}/30")
    try_to(frontier.trace, "c", pid, HOST)
    try_to(frontier.has_seen, "c", pid)
    for ask in (frontier.robots, partial(pause_host, frontier), frontier.resume_host):
        try_to(ask, HOST)
    for look in (frontier.counters, frontier.crawl_ids, frontier.expire_sessions, frontier.sweep):
        try_to(look)
    try_to(frontier.open_crawl, spec("c", f"http://{HOST}/"))
    try_to(frontier.purge, "c")
    return try_to.strange


def test_garbage_in_any_key_raises_nothing_but_our_errors(
    frontier: Frontier, spider: Spider, queue_url: str
) -> None:
    client = Redis.from_url(queue_url, decode_responses=True, encoding_errors="surrogateescape")
    chance = random.Random(SEED)
    found: list[str] = []
    for _ in range(ROUNDS):
        held = fill(frontier, spider, client)
        let_time_pass(client, HOST)
        keys = sorted(client.scan_iter("cc:*"))
        family = chance.choice(sorted({":".join(key.split(":")[:2]) for key in keys}))
        what = poison(client, chance.choice([k for k in keys if k.startswith(family)]), chance)
        found += [f"{strange} [{what}]" for strange in work(frontier, spider, client, held)]
    client.close()
    assert not found, "\n".join(found)
