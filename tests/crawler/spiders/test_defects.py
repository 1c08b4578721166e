"""A defect of the spider ends the lease it met, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import FailureReason
from tests.kit.defects import ANSWERED, FINISH, REQUEST, TWICE, UNANSWERED
from tests.kit.queues import assert_at_rest, spec
from tests.kit.raw_web import RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess
from tests.kit.timing import LIMIT_S, wait_until

BODY = "what is on the page"
BROKEN = (REQUEST, ANSWERED, UNANSWERED, FINISH)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SpiderProcess, RawWeb]]:
    data = tmp_path_factory.mktemp("defects") / "data"
    pages = {path: answer(BODY.encode()) for path in ("/good", REQUEST, ANSWERED, FINISH, TWICE)}
    with (
        RawWeb(pages | {UNANSWERED: b""}) as web,
        SpiderProcess(data, "tests.kit.defects", max_attempts="1", concurrency="2") as spider,
    ):
        paths = (*BROKEN, TWICE, "/good")
        spider.frontier.open_crawl(spec("c", *map(web.url, paths), allow_private=True, slots=1))
        spider.collect_all()
        yield spider, web


@pytest.mark.parametrize("path", BROKEN)
def test_a_defect_is_the_failure_of_its_url(
    crawled: tuple[SpiderProcess, RawWeb], path: str
) -> None:
    spider, web = crawled
    failure = some(spider.pages["c", web.url(path)].result.failure)
    assert failure.reason is FailureReason.INTERNAL
    assert failure.detail == f"DefectError: at {web.url(path)}"
    assert spider.log.count(f"  DefectError: at\n  {web.url(path)}\n") == 1, "with its place"


def test_a_lease_that_cannot_be_ended_at_all_is_given_back(
    crawled: tuple[SpiderProcess, RawWeb],
) -> None:
    spider, web = crawled
    page = spider.pages["c", web.url(TWICE)]
    assert (page.result.status, page.attempt) == (200, 2)


def test_the_others_go_on(crawled: tuple[SpiderProcess, RawWeb]) -> None:
    spider, web = crawled
    assert spider.pages["c", web.url("/good")].result.status == 200
    assert_at_rest(spider.client)
    assert BODY not in spider.log, "bodies are never logged"


def test_a_spider_that_cannot_go_on_ends_with_an_error(
    crawled: tuple[SpiderProcess, RawWeb],
) -> None:
    spider, _ = crawled
    assert spider.process.poll() is None
    spider.client.set("cc:metrics", "no counters")
    spider.client.publish("cc:wake", "1")  # it looks for leases, and has something to count
    assert spider.process.wait(LIMIT_S) != 0
    assert "error spider the spider cannot continue, ending" in spider.log


def test_a_queue_that_somebody_else_wrote_into_ends_the_spider_with_an_error(
    tmp_path: Path,
) -> None:
    with SpiderProcess(tmp_path / "data") as spider:
        wait_until(lambda: bool(spider.client.zcard("cc:spiders")))
        spider.client.set("cc:ready", "not what it was")
        spider.client.publish("cc:wake", "1")
        assert spider.process.wait(LIMIT_S) != 0
        assert "error spider the spider cannot continue, ending" in spider.log
