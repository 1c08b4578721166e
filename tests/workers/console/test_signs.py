"""Signs from what queue and store keep: on Now, on the page of a host, in the API."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import (
    CrawlState,
    FailureReason,
    ResponseOutcome,
    Retry,
)
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.workers.operations.watching.signs.judging import FORMER, NEWEST
from tests.kit.api import program
from tests.kit.console import acting_console, open_console, settings_of
from tests.kit.outcomes import HOST as FORUM, make_failure, make_outcome, with_queued, with_record
from tests.kit.queues import let_time_pass, spec
from tests.kit.worker_bench import Bench

HOST = "a.example"
URLS = [f"http://{HOST}/{n}" for n in range(30)]
HOUR_MS = 3_600_000
LINKS = re.compile(r'href="(/actions/[^"]+)"')


@pytest.fixture
def store(bench: Bench) -> Iterator[SqliteStore]:
    """A crawl ``c`` of one host runs, with its processes."""
    with closing(bench.store()) as opened:
        given = spec("c", *URLS, trap_pages=0)
        opened.crawls.put(given, CrawlState.RUNNING)
        bench.frontier.open_crawl(given)
        bench.frontier.processes.beat(ProcessRole.HOUSEKEEPER)
        (robots,) = bench.spider.lease(1)
        assert bench.spider.put_robots(robots)
        yield opened


def now(bench: Bench) -> str:
    """The words of Now, of the sentence and the signs, for somebody who comes now."""
    page = open_console(bench.data).get("/").text
    part = page.partition('id="sentence"')[2].partition('class="tiles"')[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", part)).split())


def level(bench: Bench) -> str:
    found = re.search(r'class="sentence (\w+)"', open_console(bench.data).get("/now/live").text)
    assert found
    return found[1]


def refuse(bench: Bench, times: int, *, rest_ms: int = 0, why: str = "") -> None:
    """The host answers 503, or not at all."""
    outcome = ResponseOutcome.NONE if why else ResponseOutcome.SLOW_DOWN
    for _ in range(times):
        (lease,) = bench.spider.pages(1)
        retry = Retry(detail=why or Message("status", 503), host_wait_ms=rest_ms, outcome=outcome)
        assert bench.spider.run(bench.spider.queue.nack(lease, retry))
        if not rest_ms:
            let_time_pass(bench.client, HOST)


def answer_well(bench: Bench, times: int) -> None:
    for _ in range(times):
        let_time_pass(bench.client, HOST)
        (lease,) = bench.spider.pages(1)
        assert bench.spider.put(lease)


def signs_of_api(bench: Bench) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = program(bench.data).value("/signs")["items"]
    return found


def test_green_says_what_was_looked_at(bench: Bench, store: SqliteStore) -> None:
    store.samples.add(datetime.now(UTC), {})
    assert "1 of 1 host fine, crawls: 1, oldest look" in now(bench)
    assert level(bench) == "ok"
    assert signs_of_api(bench) == []
    answer = program(bench.data).value("/now")
    assert answer["held_back"]["level"] == "ok"
    assert {name: answer["looked"][name] for name in ("crawls", "hosts", "in_trouble")} == {
        "crawls": 1, "hosts": 1, "in_trouble": 0,
    }  # fmt: skip
    while bench.spider.pages(1):
        let_time_pass(bench.client, HOST)
    assert "1 of 1 host fine" in now(bench), "also while all its slots are in use"


@pytest.mark.usefixtures("store")
def test_no_button_of_a_host_without_a_page_leads_nowhere(bench: Bench) -> None:
    refuse(bench, 2)
    refuse(bench, 1, rest_ms=HOUR_MS)
    client = acting_console(settings_of(bench.data), bench.data)
    for place in ("/", f"/hosts/{HOST}"):
        links = {html.unescape(each) for each in LINKS.findall(client.get(place).text)}
        assert f"/actions/pause_host?target={HOST}" in links
        assert {each for each in links if client.get(each).status_code != 200} == set()


@pytest.mark.usefixtures("store")
def test_a_host_that_answers_503_is_a_sign_until_it_answers_again(bench: Bench) -> None:
    refuse(bench, 2)
    assert "requests fail" not in now(bench), "two may be chance"
    refuse(bench, 1, rest_ms=HOUR_MS)
    page = now(bench)
    assert "0 of 1 host fine" in page
    assert f"requests fail {HOST} 3 requests answered with status 503, for" in page
    assert level(bench) == "warn"
    (sign,) = signs_of_api(bench)
    assert (sign["kind"], sign["host"], sign["crawl"]) == ("refuses", HOST, "c")
    assert sign["page"] == f"/hosts/{HOST}"
    assert sign["text"].startswith("3 requests answered with status 503")
    assert sign["offers"] == ["slow_host", "pause_host"], "no page is stored that could be tried"
    console = open_console(bench.data)
    screen = console.get(sign["page"]).text
    assert "answered with status 503" in screen
    assert "asked for by 429 or 503; next request <time" in screen
    assert "requests fail" in console.get("/hosts?state=trouble").text
    bench.frontier.set_state("c", CrawlState.STOPPED)
    assert "requests fail" not in now(bench), "nobody asks it any more"
    bench.frontier.set_state("c", CrawlState.RUNNING)
    answer_well(bench, 2)
    assert bench.frontier.waits.troubled(), "some answers between failures end nothing"
    answer_well(bench, 1)
    assert bench.frontier.waits.troubled() == [], "as many as had failed"
    assert "requests fail" not in now(bench)


@pytest.mark.usefixtures("store")
def test_a_host_without_an_answer_says_why(bench: Bench) -> None:
    refuse(bench, 1, rest_ms=HOUR_MS, why="timeout: <b>no response in 60 s")
    assert "1 request failed ( timeout: <b>no response in 60 s )" in now(bench)


def test_a_seed_that_failed_is_a_sign_also_after_the_crawl(
    bench: Bench, store: SqliteStore
) -> None:
    lost = make_failure("/", crawl_id="s", reason=FailureReason.CONNECT, at=datetime.now(UTC))
    given = spec("s", f"https://{FORUM}/", f"https://{FORUM}/t/1")
    store.crawls.put(given, CrawlState.FINISHED)
    good = make_outcome("/t/1", crawl_id="s")
    lost = with_queued(lost, page_id=page_id(f"https://{FORUM}/"))
    store.save([lost, good])
    store.statistics.refresh()
    page = now(bench)
    assert f"seed failed s https://{FORUM}/ 1 of 2 seeds gave no record: connection failed" in page
    assert "1 of 1 host fine" in page, "the crawl has ended, and its host is not counted"
    store.crawls.put(given, CrawlState.RUNNING)
    bench.frontier.open_crawl(given)
    assert "1 of 2 hosts fine" in now(bench)


def test_a_crawl_without_a_page_for_minutes(bench: Bench, store: SqliteStore) -> None:
    old = datetime.now(UTC) - timedelta(minutes=9)
    store.save([make_outcome("/t/1", crawl_id="c", at=old)])
    store.statistics.refresh()
    assert "no new page" not in now(bench), "it runs since a moment ago"
    running = Event(kind=EventKind.CRAWL, crawl_id="c", text="running", link="running", at=old)
    store.events.add(running)
    page = now(bench)
    assert "no new page c no new page for 9 min, 30 URLs to fetch" in page
    assert level(bench) == "bad"
    store.save([make_outcome("/t/2", crawl_id="c", at=datetime.now(UTC))])
    assert "no new page" not in now(bench)


def test_a_topic_whose_newest_pages_are_hardly_relevant(bench: Bench, store: SqliteStore) -> None:
    for minute in range(20):
        at = datetime.now(UTC) - timedelta(minutes=20 - minute)
        store.samples.add(at, {"judged:c": 60.0, "relevant:c": 30.0 if minute < 12 else 1.0})
    assert "5 of the last 300 judged pages are relevant" in now(bench)
    (sign,) = signs_of_api(bench)
    assert (sign["kind"], sign["page"]) == ("harvest", "/topics/c/tuning")


def test_a_form_in_the_place_of_pages(bench: Bench, store: SqliteStore) -> None:
    at = datetime.now(UTC) - timedelta(minutes=3)
    store.save([make_outcome(f"/t/{n}", crawl_id="c", at=at) for n in range(FORMER)])
    form = {"kind": PageKind.OTHER, "body": "", "signature": "", "images": ()}
    outcomes = [make_outcome(f"/l/{n}", crawl_id="c", at=datetime.now(UTC)) for n in range(3)]
    store.save([with_record(each, **form) for each in outcomes])
    store.statistics.refresh()
    page = now(bench)
    assert f"answers with a form {FORUM} the last 3 pages are one form" in page
    assert f"after {FORMER} pages" in page
    assert level(bench) == "bad"


def test_pages_that_repeat_others(bench: Bench, store: SqliteStore) -> None:
    at = datetime.now(UTC)
    outcomes = [make_outcome(f"/t/{n}", crawl_id="c", at=at) for n in range(NEWEST)]
    store.save([with_record(each, signature="a" * 16) for each in outcomes])
    store.statistics.refresh()
    assert f"pages repeat others {FORUM} 49 of 50 pages tell what another page tells" in now(bench)
