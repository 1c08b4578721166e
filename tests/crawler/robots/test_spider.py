"""A real spider at a host whose robots.txt answers errors: it waits, but not for ever."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import FailureReason
from tests.kit.queues import END_MARGIN_MS, let_time_pass, server_ms, spec
from tests.kit.raw_web import Answer, RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess
from tests.kit.timing import wait_until

MINUTE_MS = 60_000


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    "error",
    [
        answer(b"", status="500 Internal Server Error"),
        reset,
        b"no http\r\n\r\n",
        answer(b"x" * 20)[:-9],
    ],
    ids=["500", "reset", "no http", "cut"],
)
def test_a_host_whose_robots_txt_fails_is_left_alone_and_ended_after_three_tries(
    tmp_path: Path, error: Answer
) -> None:
    with (
        RawWeb({"/robots.txt": error, "/": answer(), "/2": answer()}) as web,
        SpiderProcess(tmp_path / "data", max_attempts="1") as spider,
    ):

        def waits_ms() -> int:
            clock = spider.client.hget(f"cc:g:{web.host}", "clock") or 0
            return int(clock) - server_ms(spider.client) - END_MARGIN_MS

        spider.frontier.open_crawl(spec("c", web.url("/"), web.url("/2"), allow_private=True))
        for minutes in (5, 10):
            wait_until(lambda: waits_ms() > MINUTE_MS)
            assert (minutes - 1) * MINUTE_MS < waits_ms() <= minutes * MINUTE_MS
            counts = spider.frontier.counts("c")
            assert (counts.pending, counts.leased, counts.queued) == (2, 0, 0)
            let_time_pass(spider.client, web.host)
            spider.client.publish("cc:wake", "1")
        spider.collect_all()
        for path in ("/", "/2"):
            failure = some(spider.pages["c", web.url(path)].result.failure)
            assert (failure.reason, failure.detail) == (
                FailureReason.ROBOTS,
                "robots.txt cannot be had",
            )
        assert web.paths() == ["/robots.txt"] * 3
        assert spider.terminate() == 0, spider.log
        assert "robots.txt cannot be had" in spider.log
        assert "Traceback" not in spider.log
