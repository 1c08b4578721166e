"""What the queue keeps of a host's URL classes, and how its order changes by them."""

from __future__ import annotations

from typing import Any

from crawlclean.storage.crawl_types import Discovery
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import Spider, let_time_pass, spec, urls

HOST = "a.example"


def keep(
    frontier: Frontier, rules: str, refused: dict[str, str], followed: tuple[str, ...] = ()
) -> bool:
    """Keeps rules by what is known now."""
    _, version = frontier.classes.versioned("c", HOST)
    return frontier.classes.keep("c", HOST, version, rules, refused, followed)


def test_nothing_is_kept_of_a_crawl_that_is_not(frontier: Frontier, client: Any) -> None:
    assert frontier.classes.add_pages("c", HOST, 5) == 0
    assert keep(frontier, "[]", {"/x": "why"})
    assert client.keys("*") == []


def test_rules_and_what_is_refused_replace_each_other(frontier: Frontier, client: Any) -> None:
    frontier.open_crawl(spec())
    assert frontier.classes.add_pages("c", HOST, 5) == 5
    assert frontier.classes.add_pages("c", HOST, 6) == 11
    assert keep(frontier, "[1]", {"/x?a={n}": "why"}, ("/x?a={n}&b=c",))
    assert frontier.classes.known("c", HOST).rules == "[1]"
    assert frontier.classes.stopped("c", HOST) == {"=/x?a={n}": "why", "+/x?a={n}&b=c": ""}
    version = int(client.hget(f"cc:g:{HOST}", "stopped_version"))
    assert keep(frontier, "[2]", {})
    assert frontier.classes.stopped("c", HOST) == {}
    assert int(client.hget(f"cc:g:{HOST}", "stopped_version")) == version + 1
    assert keep(frontier, "[2]", {})
    assert int(client.hget(f"cc:g:{HOST}", "stopped_version")) == version + 1, (
        "nothing changed for spiders"
    )


def test_what_operators_said_outlives_a_crawl(frontier: Frontier, client: Any) -> None:
    frontier.open_crawl(spec())
    assert keep(frontier, "[1]", {})
    frontier.classes.pin(HOST, "/x", "forbid")
    frontier.classes.pin(HOST, "/y", "thread")
    frontier.classes.pin(HOST, "/y", "")
    frontier.purge("c")
    assert client.keys("cc:u:*") == []
    assert frontier.classes.known("c", HOST).pins == {"/x": "forbid"}


def test_waiting_urls_change_their_places(frontier: Frontier, spider: Spider, client: Any) -> None:
    frontier.open_crawl(spec("c", f"http://{HOST}/"))
    (home,) = spider.pages()
    spider.put(home)
    frontier.add("c", urls(5, HOST))

    def rank_of(found: Discovery) -> int:
        return 10 if found.url.endswith("/3") else found.rank

    assert frontier.classes.rerank("c", HOST, rank_of) == 1
    assert frontier.classes.rerank("c", HOST, rank_of) == 0
    let_time_pass(client, HOST)
    (first,) = spider.pages(1)
    assert first.url == f"http://{HOST}/3"
    assert frontier.classes.rerank("c", HOST, lambda _: 20) == 4, "what is leased stays out"


def test_rules_and_words_that_changed_meanwhile_are_not_lost(frontier: Frontier) -> None:
    frontier.open_crawl(spec())
    _, old = frontier.classes.versioned("c", HOST)
    frontier.classes.pin(HOST, "/x", "forbid")
    assert not frontier.classes.keep("c", HOST, old, "[1]", {})
    assert keep(frontier, "[2]", {"/x": "forbidden"})
    _, new = frontier.classes.versioned("c", HOST)
    assert keep(frontier, "[3]", {})
    assert not frontier.classes.keep("c", HOST, new, "[2]", {})
    assert frontier.classes.known("c", HOST).rules == "[3]"
    assert frontier.classes.known("c", HOST).pins == {"/x": "forbid"}
