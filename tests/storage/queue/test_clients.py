"""Lost servers and connections: one line when a server goes away, one when it is back."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest
from redis.exceptions import ResponseError

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.storage.queue.clients import (
    MOST_CONNECTIONS,
    OutageLog,
    open_async_client,
    open_client,
    send_packed,
    wait_for_queue,
)


def test_one_line_when_it_goes_and_one_when_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    outage = OutageLog("store")
    assert not outage.end()
    assert outage.lasted_s == 0
    for _ in range(3):
        outage.notice(ValueError("why"))
    assert outage.lasted_s > 0
    assert outage.end()
    assert outage.lasted_s == 0
    assert [record.message for record in caplog.records] == ["store away, waiting", "store back"]


def test_who_has_said_it_says_it_no_more(caplog: pytest.LogCaptureFixture) -> None:
    outage, answers = OutageLog("queue"), iter([QueueUnavailable("1"), QueueUnavailable("2"), None])
    outage.notice(QueueUnavailable("0"))

    def work() -> str:
        error = next(answers)
        if error:
            raise error
        return "done"

    assert wait_for_queue(work, outage=outage) == "done"
    assert [record.message for record in caplog.records] == ["queue away, waiting", "queue back"]


def test_packed_commands_outlive_a_lost_connection(queue_url: str) -> None:
    """And an error reply leaves no answer of a later command behind."""
    client = open_client(queue_url)
    client.set("text", "x")
    ask, wrong = b"*2\r\n$3\r\nGET\r\n$4\r\ntext\r\n", b"*2\r\n$4\r\nINCR\r\n$4\r\ntext\r\n"
    assert send_packed(client, [ask, ask]) == [b"x", b"x"]
    with pytest.raises(ResponseError, match="not an integer"):
        send_packed(client, [ask, wrong, ask])
    client.client_kill_filter(_type="normal", skipme=False)
    assert send_packed(client, [ask]) == [b"x"]
    client.close()


def test_a_spider_leaves_connections_to_others(queue_url: str) -> None:
    """However many commands it has at a time: with `ulimit -n 80` a server takes 48 clients."""

    async def ask_at_once() -> int:
        client = open_async_client(queue_url)
        try:
            await asyncio.gather(*(client.ping() for _ in range(10 * MOST_CONNECTIONS)))
            return len(blocking.client_list())
        finally:
            await client.aclose()

    with closing(open_client(queue_url)) as blocking:
        before = len(blocking.client_list())
        assert asyncio.run(ask_at_once()) <= before + MOST_CONNECTIONS
