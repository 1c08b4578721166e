"""Ranking anew: what moves, who shares the work, what a kill costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, strategies as st

from crawlclean.storage.crawl_types import Discovery, PageRole
from crawlclean.storage.queue.entries import RANK_SCORE, offer_args, unpack_features
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.topic_ranks import Score, moved_entries, unpack_scored
from tests.kit.queues import Spider
from tests.kit.topic_queues import next_pages, open_topic


def by_table(ranks: Mapping[int, int]) -> Score:
    """Ranks of links by their only feature."""
    return lambda links: [ranks.get(unpack_features(packed)[0], 500) for _, packed in links]


def test_ranking_anew_changes_the_order(frontier: Frontier, spider: Spider, client: Any) -> None:
    open_topic(frontier, a=(350, 420, 900), b=(300, 410), c=(400, 401))
    image = Discovery(url="http://i.example/x.png", role=PageRole.IMAGE)
    seed = Discovery(url="http://s.example/", rank=0)
    frontier.add("t", [image, seed])
    before = frontier.counts("t")
    turned = {rank: 1099 - rank for rank in (350, 420, 900, 300, 410, 400, 401)}
    done = frontier.topics.rerank("t", by_table(turned), version=1)
    assert (done.urls, done.moved, done.is_whole) == (7, 7, True)
    assert frontier.counts("t") == before
    assert next_pages(spider) == ["s ", "i x.png", "a 900", "a 420", "b 410", "c 401", "c 400",
        "a 350", "b 300"]  # fmt: skip
    again = frontier.topics.rerank("t", by_table({}), version=1)
    assert (again.urls, again.is_whole) == (0, True)
    assert not frontier.topics.rerank("t", by_table({}), version=0).is_whole
    assert client.hkeys("cc:ranker:t") == [" version", " at"]


def test_waiting_urls_rise_with_their_age() -> None:
    week = 7 * 86_400_000
    discovery = Discovery(url="http://a.example/x", rank=700, features=(5,))
    entry = bytes(16) + b"p" + (1).to_bytes(6, "big") + bytes(offer_args(discovery)[5])  # type: ignore[arg-type]
    known = [(entry, 700 * RANK_SCORE + 7)]
    score = by_table({5: 700})
    assert moved_entries(known, score, 1) == (1, [])
    assert moved_entries(known, score, week + 1)[1] == [(650 * RANK_SCORE + 7, entry)]
    assert moved_entries(known, score, 40 * week)[1] == [(101 * RANK_SCORE + 7, entry)]


@given(st.lists(st.binary(max_size=70_000), max_size=4), st.integers(0, 999 * RANK_SCORE))
def test_packed_urls_are_unpacked(entries: list[bytes], score: int) -> None:
    """As the server's MessagePack has strings: the length in 0, 1, 2 or 4 bytes of their own."""
    packed = b"".join(map(as_text, chain(*((entry, b"%d" % score) for entry in entries))))
    head = b"\xdd" + (2 * len(entries)).to_bytes(4, "big")
    assert unpack_scored(head + packed) == [(entry, score) for entry in entries]


def as_text(data: bytes) -> bytes:
    """Packs a MessagePack string."""
    n = len(data)
    if n < 32:
        return bytes([0xA0 | n]) + data
    size = 1 if n < 256 else 2 if n < 65_536 else 4
    return bytes([0xD8 + (1, 2, 4).index(size) + 1]) + n.to_bytes(size, "big") + data


def test_two_rankers_share_and_a_killed_one_is_followed(
    frontier: Frontier, queue_url: str, client: Any
) -> None:
    open_topic(frontier, big=range(200, 900), small=range(300, 310))
    for start in range(1000, 4000, 1000):
        pages = [
            Discovery(url=f"http://big.example/{n}", rank=400, features=(n % 4096,))
            for n in range(start, start + 1000)
        ]
        frontier.add("t", pages)
    calls: list[int] = []

    def dies_at_the_sixth(links: Sequence[tuple[bytes, bytes]]) -> list[int]:
        calls.append(len(links))
        if len(calls) == 6:
            raise KeyboardInterrupt
        return [700 for _ in links]

    with pytest.raises(KeyboardInterrupt):
        frontier.topics.rerank("t", dies_at_the_sixth, version=3)
    ((host, cursor),) = [
        (name, value) for name, value in client.hgetall("cc:ranker:t").items() if name[0] != " "
    ]
    assert (host, cursor.isdigit()) == ("big.example", True)
    done_before = sum(calls[:5])
    client.zadd("cc:rank:t", {"big.example": 0})  # as if its 20 seconds were over
    other = Frontier(queue_url)
    done = other.topics.rerank("t", by_table(dict.fromkeys(range(4096), 700)), version=3)
    other.close()
    assert done.is_whole
    assert done.urls <= 3700 - done_before + 110 + 500
    queue = frontier._client.zrange("cc:q:t:big.example", 0, -1, withscores=True)
    scores = [score for _, score in queue]
    assert {int(score) // 10**12 for score in scores} == {699, 700, 701}  # smaller moves wait
    assert len({int(score) % 10**12 for score in scores}) == 3700
    assert frontier.counts("t").pending == 3710


def test_a_newer_version_ends_a_ranking(frontier: Frontier) -> None:
    open_topic(frontier, a=(300,), b=(310,))

    def newer_begins(links: Sequence[tuple[bytes, bytes]]) -> list[int]:
        if len(links) == 1:
            frontier.topics.rerank("t", by_table({300: 600, 310: 200}), version=8)
        return [400] * len(links)

    assert not frontier.topics.rerank("t", newer_begins, version=7).is_whole
    assert frontier.topics.rerank("t", by_table({}), version=8).is_whole
