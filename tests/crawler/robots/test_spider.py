"""A real spider at a host whose robots.txt answers errors: it waits, but not for ever."""

from __future__ import annotations

import socket
import struct
from contextlib import ExitStack
from pathlib import Path

from crawlclean.storage.crawl_types import FailureReason
from tests.kit.queues import END_MARGIN_MS, let_time_pass, server_ms, spec
from tests.kit.raw_web import Answer, RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess
from tests.kit.timing import wait_until

MINUTE_MS = 60_000


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


BROKEN: tuple[Answer, ...] = (
    answer(b"", status="500 Internal Server Error"),
    reset,
    b"no http\r\n\r\n",
    answer(b"x" * 20)[:-9],
)


def test_hosts_whose_robots_txt_fails_are_left_alone_and_ended_after_three_tries(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        pages = {"/": answer(), "/2": answer()}
        webs = [stack.enter_context(RawWeb({"/robots.txt": error, **pages})) for error in BROKEN]
        spider = stack.enter_context(SpiderProcess(tmp_path / "data", max_attempts="1"))

        def waits_ms(web: RawWeb) -> int:
            clock = spider.client.hget(f"cc:g:{web.host}", "clock") or 0
            return int(clock) - server_ms(spider.client) - END_MARGIN_MS

        seeds = [web.url(path) for web in webs for path in pages]
        spider.frontier.open_crawl(spec("c", *seeds, allow_private=True))
        for minutes in (5, 10):
            wait_until(lambda: min(map(waits_ms, webs)) > MINUTE_MS)
            for web in webs:
                assert (minutes - 1) * MINUTE_MS < waits_ms(web) <= minutes * MINUTE_MS
            counts = spider.frontier.counts("c")
            assert (counts.pending, counts.leased, counts.queued) == (len(seeds), 0, 0)
            let_time_pass(spider.client, *(web.host for web in webs))
            spider.client.publish("cc:wake", "1")
        spider.collect_all()
        for url in seeds:
            failure = some(spider.pages["c", url].result.failure)
            assert (failure.reason, failure.detail) == (
                FailureReason.ROBOTS,
                "robots.txt cannot be had",
            )
        assert [web.paths() for web in webs] == [["/robots.txt"] * 3] * len(webs)
        assert spider.terminate() == 0, spider.log
        assert "robots.txt cannot be had" in spider.log
        assert "Traceback" not in spider.log
