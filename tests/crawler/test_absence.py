"""Servers that stop and start again in the middle of a crawl, and a real spider process."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, FailureReason
from tests.kit.raw_web import RawWeb, answer
from tests.kit.spiders import SpiderProcess
from tests.kit.timing import wait_until

PAGES = 12
PATIENCE_S = 2.5


def page(connection: socket.socket) -> None:
    """An answer that takes a moment, so that the others of its host are still to come."""
    time.sleep(0.02)
    connection.sendall(answer())


def site(address: str = "127.0.0.1", port: int = 0) -> RawWeb:
    return RawWeb({f"/{i}": page for i in range(PAGES)}, address, port)


def spec(crawl_id: str, *webs: RawWeb) -> CrawlSpec:
    seeds = tuple(web.url(f"/{i}") for web in webs for i in range(PAGES))
    return CrawlSpec(
        crawl_id=crawl_id, seeds=seeds, max_depth=0, allow_private=True, delay_ms=0, slots=2
    )


@pytest.fixture(scope="module")
def spider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpiderProcess]:
    folder = tmp_path_factory.mktemp("absence")
    with SpiderProcess(folder, host_patience_s=str(PATIENCE_S)) as process:
        yield process
        assert process.terminate() == 0, process.log
        assert "Traceback" not in process.log, process.log


def stop_midway(webs: list[RawWeb]) -> None:
    """Stops servers that have answered some of their pages."""
    wait_until(lambda: all(len(web.paths()) > 2 for web in webs))
    for web in webs:
        web.__exit__(None, None, None)


def assert_all_came(spider: SpiderProcess, crawl_id: str, n: int) -> None:
    ended = [page for (crawl, _), page in spider.pages.items() if crawl == crawl_id]
    assert len(ended) == n
    assert {page.result.status for page in ended} == {200}
    # One that the server was killed with may have been the URL's fault.
    assert sum(page.attempt - 1 for page in ended) <= 2 * n // PAGES


def test_a_server_that_comes_back_has_lost_no_page(spider: SpiderProcess) -> None:
    web = site()
    web.__enter__()
    spider.frontier.open_crawl(spec("host", web))
    stop_midway([web])
    wait_until(lambda: spider.client.hexists(f"cc:g:{web.host}", "failures"))
    with site(port=web.port):
        spider.collect_all()
    assert_all_came(spider, "host", PAGES)
    assert "network away" not in spider.log


def test_our_own_network_is_waited_for_in_two_lines(spider: SpiderProcess) -> None:
    webs = [site(f"127.0.0.{i}") for i in (2, 3, 4)]
    for web in webs:
        web.__enter__()
    spider.frontier.open_crawl(spec("network", *webs))
    stop_midway(webs)
    wait_until(lambda: "network away, waiting" in spider.log)
    with ExitStack() as stack:
        for web in webs:
            stack.enter_context(site(web.host.partition(":")[0], web.port))
        spider.collect_all()
    assert_all_came(spider, "network", PAGES * len(webs))
    wait_until(lambda: "network back" in spider.log)
    assert spider.log.count("network away") == spider.log.count("network back") == 1


def test_a_server_that_stays_away_ends_its_crawl(spider: SpiderProcess) -> None:
    web = site()
    web.__enter__()
    spider.frontier.open_crawl(spec("dead", web))
    stop_midway([web])
    begun = time.monotonic()
    spider.collect_all()
    assert time.monotonic() - begun > PATIENCE_S - 0.5
    ended = [page for (crawl, _), page in spider.pages.items() if crawl == "dead"]
    failures = [page.result.failure for page in ended if page.result.failure]
    assert len(ended) == PAGES
    assert {failure.reason for failure in failures} == {FailureReason.CONNECT}
    assert "the host has not answered for long" in {failure.detail for failure in failures}
