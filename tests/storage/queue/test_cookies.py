"""The cookie jar of a host in a crawl: kept by the queue, bounded, never that of another one."""

from __future__ import annotations

from typing import Any

from crawlclean.storage.crawl_types import Lease, StoredCookie
from crawlclean.storage.queue.fetch_queue import MOST_COOKIES, MOST_JAR_BYTES
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import A, B, Spider, let_time_pass, spec

SID = StoredCookie(name="sid", value="3f9a", path="/", is_secure=True, expires_s=1_900_000_000)


def keep(spider: Spider, lease: Lease, cookies: list[StoredCookie]) -> int:
    return int(spider.run(spider.queue.keep_cookies(lease, cookies)))


def leases(spider: Spider, client: Any) -> dict[tuple[str, str], Lease]:
    """A page of each crawl and host, leased; all are given back before."""
    spider.reconcile([])
    found: dict[tuple[str, str], Lease] = {}
    while len(found) < 3:
        let_time_pass(client)
        found |= {(lease.crawl_id, lease.host): lease for lease in spider.pages()}
    return found


def test_a_lease_has_the_cookies_of_its_crawl_and_host(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, B, slots=2))
    frontier.open_crawl(spec("d", A, slots=2))
    first = leases(spider, client)
    assert not any(lease.cookies for lease in first.values())
    assert keep(spider, first["c", "a.example"], [SID]) == 1
    again = leases(spider, client)
    assert {key: lease.cookies for key, lease in again.items() if lease.cookies} == {
        ("c", "a.example"): (SID,)
    }
    assert keep(spider, first["c", "a.example"], []) == 0  # an old token
    other = StoredCookie(name="other", value='"\n\u00e9')
    assert keep(spider, again["c", "a.example"], [other]) == 1  # and sid is deleted
    assert leases(spider, client)["c", "a.example"].cookies == (other,)


def test_a_jar_is_bounded_and_keeps_what_came_first(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A))
    (lease,) = spider.pages()
    many = [StoredCookie(name=f"n{n}", value="1") for n in range(MOST_COOKIES + 9)]
    assert keep(spider, lease, [SID, *many]) == MOST_COOKIES
    large = [StoredCookie(name=f"n{n}", value="x" * 2000) for n in range(9)]
    assert 0 < keep(spider, lease, large) < 9
    values = client.hvals("cc:ck:c:a.example")
    assert len(values) == MOST_COOKIES
    assert sum(map(len, values)) <= MOST_JAR_BYTES
    assert any("3f9a" in value for value in values)


def test_a_purge_removes_jars(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", A, B))
    for lease in spider.pages():
        keep(spider, lease, [SID])
    assert len(client.keys("cc:ck:*")) == 2
    frontier.purge("c", "a.example")
    assert client.keys("cc:ck:*") == ["cc:ck:c:b.example"]
    frontier.purge("c")
    assert client.keys("cc:ck:*") == []
