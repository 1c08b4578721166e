"""The result of an action: a page that is tried, a worker's progress, and what is left to do."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.records import BodySource
from crawlclean.storage.crawl_types import (
    CrawlState,
    Discovery,
    FetchResult,
)
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import Action, Operation, OperationState
from crawlclean.storage.store.models import DriftEvent, DriftOutcome
from crawlclean.workers.jobs.learning import roll_back
from crawlclean.workers.operations.acting import hosts
from crawlclean.workers.operations.hosts.classes import ClassSize, class_size
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs import signs
from tests.kit.console import ORIGIN, acting_console, do, fields_in, settings_of
from tests.kit.outcomes import HOST as OTHER_HOST, make_outcome
from tests.kit.queues import pause_host
from tests.kit.timing import wait_until
from tests.kit.worker_bench import LONG, Bench, answer

HOST = "a.example"
EMPTY = "/n/e0"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A crawl ``c`` of one host that runs: 9 records with a body, 2 without."""
    with Bench(tmp_path, "") as started:
        answers = {f"p{n}": answer("页", f"{n}{LONG}") for n in range(9)}
        answers |= {f"e{n}": answer("页", "") for n in range(2)}
        started.crawl(f"http://{HOST}/n/", CrawlState.RUNNING, answers)
        yield started


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def wall(bench: Bench) -> DriftEvent:
    """The host has lost its bodies since an hour ago; the two empty pages show it."""
    at = datetime.now(UTC)
    alarm = Alarm(
        sign=DriftSign.BODIES,
        since=at - timedelta(hours=1),
        at=at,
        pages=20,
        misfits=18,
        empty=17,
        classes=(("/n/*", 18),),
        examples=(f"http://{HOST}{EMPTY}",),
    )
    event = DriftEvent(
        host=HOST, model_version=1, alarm=alarm, outcome=DriftOutcome.WAITS, detail="3 pages"
    )
    with closing(bench.store()) as store:
        store.drifts.save(event)
    return event


def told(page: str) -> str:
    """The words of a page."""
    main = page.partition("<main")[2] or page
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def now_source(bench: Bench) -> str:
    """The signs of Now, as a console shows them that has remembered nothing."""
    fresh = acting_console(settings_of(bench.data), bench.data)
    return fresh.get("/now/live").text.partition('id="now-signs"')[2].partition("</section>")[0]


def now_signs(bench: Bench) -> str:
    return told(now_source(bench))


def test_one_page_of_a_paused_host_is_tried(client: FlaskClient, bench: Bench) -> None:
    wall(bench)
    do(client, "pause_host", HOST)
    assert bench.spider.lease() == ()  # it is heard, however long the fixture took
    asked = client.get("/actions/try_page", query_string={"target": HOST})
    assert EMPTY in asked.text, "the page that shows the change"
    assert "by the delay and the robots.txt of the host" in told(asked.text)
    assert bench.spider.lease() == ()
    page = do(client, "try_page", HOST)
    live = re.search(r'data-live="(/audit/\d+/live)"', page.text)
    assert live
    assert "waits for its turn" in told(page.text)
    assert re.search(r"for \d+ s so far", told(page.text))
    assert "Page http://a.example/n/e0" in told(page.text), "decoded and labelled"
    assert "%3A" not in told(page.text)
    (lease,) = bench.spider.pages(10)
    assert lease.url.endswith(EMPTY)
    assert "being fetched" in told(client.get(live[1]).text)
    assert bench.spider.put(lease, answer("页", f"again {LONG}"))
    bench.spider.flush()
    bench.sweep_until(lambda: "answered" in told(client.get(live[1]).text))
    result = told(client.get(live[1]).text)
    assert re.search(r"took \d+ s", result)
    for part in ("HTTP status 200", "Characters of its body", "The page has a body", "Resume"):
        assert part in result, result
    assert bench.spider.lease() == (), "the pause stays"
    do(client, "resume_host", HOST)


def test_a_trial_that_leads_elsewhere_or_fails_says_so(client: FlaskClient, bench: Bench) -> None:
    do(client, "pause_host", HOST)

    def tried(result: FetchResult) -> str:
        assert bench.spider.lease() == ()  # it is heard, however long the fixture took
        page = do(client, "try_page", HOST, url=f"http://{HOST}/n/p1")
        (lease,) = bench.spider.pages(10)
        assert bench.spider.put(lease, result)
        bench.spider.flush()
        bench.sweep_until(lambda: bench.is_done())
        return told(client.get(page.request.path + "/live").text)

    assert "503" in (away := tried(answer("页", "", 503)))
    assert "nothing newer than the record" in away
    moved = tried(answer("页", "", 302, "/login"))
    assert "302" in moved
    assert "/login" in moved
    assert "It leads elsewhere" in moved
    assert bench.spider.lease() == ()
    page = do(client, "try_page", HOST, url=f"http://{HOST}/n/p2")
    (lease,) = bench.spider.pages(10)
    bench.spider.nack(lease)
    failed = told(client.get(page.request.path + "/live").text)
    assert "no answer" in failed
    assert "why" in failed
    for wrong in ("http://b.example/", f"http://{HOST}/never"):
        answered = client.get("/actions/try_page", query_string={"target": HOST, "url": wrong})
        assert answered.status_code in (400, 404)


def test_at_rest_a_trial_names_the_command(client: FlaskClient, bench: Bench) -> None:
    bench.client.delete("cc:spiders")
    asked = client.get("/actions/try_page", query_string={"target": HOST})
    assert "No crawl runs" in asked.text
    page = do(client, "try_page", HOST)
    assert "--max-pages 1" in page.text


def test_a_wall_ends_when_the_pages_have_bodies(client: FlaskClient, bench: Bench) -> None:
    wall(bench)
    assert "18 of 20 pages have no body" in now_signs(bench)
    sent = client.get("/now/live").text
    for action in ("pause_host", "try_page", "refetch_host"):
        assert f'href="/actions/{action}?target={HOST}' in sent
    again = re.search(r'href="(/actions/refetch_host[^"]+)"', sent)
    assert again
    form = fields_in(client.get(html.unescape(again[1])))
    assert "pages 2; hosts 1" in form["expected"]
    client.post("/actions/refetch_host", data=form, headers=ORIGIN)
    first, second = bench.spider.pages(10)
    bench.spider.put(first, answer("页", f"one {LONG}"))
    bench.spider.flush()
    bench.sweep_until(lambda: bench.frontier.counts("c").queued == 0)
    assert "no body" in now_signs(bench)
    bench.spider.put(second, answer("页", f"two {LONG}"))
    bench.spider.flush()
    bench.sweep_until(bench.is_done)
    mended = now_signs(bench)
    assert "mended" in mended
    assert "the last 8 of 8 pages have a body" in mended
    assert "/actions/" not in mended


def test_the_host_and_the_results_repeat_the_sign(client: FlaskClient, bench: Bench) -> None:
    wall(bench)
    assert "18 of 20 pages have no body" in told(client.get(f"/hosts/{HOST}").text)
    for place in (f"/hosts/{HOST}", "/"):
        before = client.get(place).text
        assert before.count("/actions/try_page?") == 1, place
        assert "/actions/resume_host" not in before
    page = do(client, "pause_host", HOST, typed_why="wall")
    assert "host is paused" in told(page.text)
    assert " s ago" not in told(page.text.partition("What was asked")[2])
    for place in (page.text, client.get(f"/hosts/{HOST}").text, client.get("/").text):
        assert place.count("/actions/try_page?") == 1
        assert "/actions/pause_host" not in place, "it is paused"
    assert client.get(f"/hosts/{HOST}").text.count("/actions/resume_host") == 1
    resumed = do(client, "resume_host", HOST).text
    again = re.search(r'href="/actions/refetch_host\?([^"]+)"', resumed)
    assert again
    assert "which=no_body" in again[1]
    assert "since=20" in again[1]
    confirm = client.get(f"/actions/refetch_host?{again[1].replace('&amp;', '&')}").text
    (since,) = re.findall(r"<option [^>]*selected>(20[^<]*)</option>", confirm)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", since)


def test_a_change_ends_with_the_recleaning(client: FlaskClient, bench: Bench) -> None:
    at = datetime.now(UTC)
    alarm = Alarm(
        sign=DriftSign.BODIES, url_class="/n/*", since=at - timedelta(days=1), at=at, pages=9,
        misfits=9,
        examples=(f"http://{HOST}/n/p1",),
    )  # fmt: skip
    event = DriftEvent(
        host=HOST, model_version=1, alarm=alarm, outcome=DriftOutcome.LEARNED, new_version=2
    )
    with closing(bench.store()) as store:
        assert roll_back(store, HOST, 1).version == 2
        store.drifts.save(event)
    signs = now_signs(bench)
    assert "version 2 is learned" in signs
    assert "11 pages fetched since are cleaned by an older version" in signs
    assert "/n/p{n}" in signs, "as the host's page spells the class"
    page = do(client, "try_reclean", HOST)
    live = page.request.path + "/live"
    wait_until(lambda: "Re-clean 11 records" in client.get(live).text)
    result = client.get(live).text
    assert re.search(r"\d+ records? would change", told(result))
    chinese = client.get(live, headers={"Accept-Language": "zh"}).text
    assert "条记录将有变化" in told(chinese)
    assert "would" not in told(chinese)
    assert "A worker has done it: 11" in told(result)
    assert f'href="/operations/{last(bench).seq}"' in result
    operation = client.get(f"/operations/{last(bench).seq}").text
    assert "Re-clean 11 records" in operation
    assert "<form" not in result, "only Confirm acts"
    assert "/actions/try_reclean" not in now_source(bench), "it has been tried"
    assert "/actions/reclean_host" in now_source(bench)
    with closing(bench.store()) as store:
        seq = store.operations.add(Operation(kind="reclean", target=HOST, who="x", total=11))
        assert f'<a href="/operations/{seq}">a worker is at it</a>' in now_source(bench)
        assert "/actions/reclean_host" not in now_source(bench), "nothing is left to ask for"
        store.operations.end(seq, OperationState.STOPPED, "")
    confirm = client.get(f"/actions/reclean_host?target={HOST}")
    assert "The sign on Now counts fewer" in told(confirm.text)
    form = fields_in(confirm)
    sent = client.post("/actions/reclean_host", data=form, headers=ORIGIN)
    twice = client.post("/actions/reclean_host", data=form, headers=ORIGIN)
    assert sent.location == twice.location
    wait_until(lambda: last(bench).kind == "reclean" and last(bench).state.has_ended)
    assert "11 pages re-cleaned, nothing left" in now_signs(bench)
    assert "A worker has done it: 11" in told(client.get(sent.location).text)
    with closing(bench.store()) as store:
        store.drifts.save(replace(event, outcome=DriftOutcome.TAKEN_BACK))
    assert "an older version was taken back" in now_signs(bench)


def last(bench: Bench) -> Operation:
    with closing(bench.store()) as store:
        (row,) = store.operations.read(limit=1)
    return row


def test_a_result_says_how_far_the_worker_is(client: FlaskClient, bench: Bench) -> None:
    page = do(client, "learn_host", HOST)
    assert "finished" not in told(page.text).partition("What was asked")[0]
    wait_until(lambda: bool(last(bench).state.has_ended))
    with closing(bench.store()) as store:
        seq = store.operations.add(Operation(kind="reclean", target=HOST, who="x", total=240))
        row = store.audit.begin(Action(who="x", place="", action="reclean_host", target=HOST))
        store.audit.end(row, f"operation {seq}; in_background")
        live = f"/audit/{row}/live"
        assert "It waits for a worker: 0 of 240." in told(client.get(live).text)
        store.operations.advance(seq, 40, 240, "12 changed")
        shown = client.get(live).text
        assert "A worker does it: 40 of 240. 12 changed" in told(shown)
        link = re.search(rf'<a href="/operations/{seq}">(.*?)</a>', shown)
        assert link
        assert told(link[1]) == f"Re-cleaning {HOST}"
        store.operations.end(seq, OperationState.FAILED, "no model")
    assert "It failed after 40: no model" in told(client.get(live).text)
    listed = client.get("/audit").text
    assert "given to a worker" in listed


def test_a_class_that_is_forbidden_is_counted_once(
    client: FlaskClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Discovery(url=f"http://{HOST}/n/p{n}") for n in range(20, 25)]
    found += [Discovery(url=f"http://{HOST}/other/{n}.html") for n in range(3)]
    pause_host(bench.frontier, HOST)
    bench.frontier.add("c", found)
    asked = {"target": HOST, "template": "/n/p{n}"}
    plan = fields_in(client.get("/actions/forbid_class", query_string=asked))["expected"]
    assert plan == "crawls 1; class_records 9; class_waiting 5; all_crawls"
    counted = []

    def count(*of: Any) -> ClassSize:
        counted.append(of)
        return class_size(*of)

    monkeypatch.setattr(hosts, "class_size", count)
    page = do(client, "forbid_class", HOST, template="/n/p{n}")
    assert len(counted) == 2, "for the page that asks, and for the form"
    shown = told(page.text)
    assert "records of this class 9" in shown
    assert "waiting URLs of this class 5" in shown


@pytest.mark.usefixtures("bench")
def test_what_is_only_queued_is_not_called_finished(client: FlaskClient) -> None:
    page = told(do(client, "refetch_host", HOST, which="all").text)
    assert "queued, to be fetched" in page
    assert "finished" not in page
    assert "They wait to be fetched" in page
    assert "Which pages all pages with a record" in page


@pytest.mark.parametrize("source", [BodySource.SITE, BodySource.CONTAINER])
def test_bodies_are_back_where_they_were_learned(tmp_path: Path, source: BodySource) -> None:
    """A login page's body is its button: misfits that have a body, only not at their place."""
    at = datetime.now(UTC)
    alarm = Alarm(
        sign=DriftSign.BODIES, since=at - timedelta(hours=1), at=at, pages=20, misfits=18, empty=0
    )
    event = DriftEvent(
        host=OTHER_HOST, model_version=1, alarm=alarm, outcome=DriftOutcome.NOTHING_BETTER
    )
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        found = [make_outcome(f"/t/{n}", at=at, text="正文。" * 60) for n in range(9)]
        store.save(
            [
                replace(each, record=replace(each.record, body_source=source))
                for each in found
                if each.record
            ]
        )
        store.drifts.save(event)
    with closing(KeptBackends(settings_of(tmp_path))) as backends:
        (sign,) = signs.signs_now(backends)
    assert sign.is_back is sign.is_mended is (source is BodySource.SITE)
    assert sign.left == 0


def test_a_change_of_a_large_host_is_tried_and_recleaned_uncounted(
    client: FlaskClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "MOST_RECORDS", 0)
    do(client, "learn_host", HOST)
    wait_until(lambda: bool(last(bench).state.has_ended))
    at = datetime.now(UTC)
    alarm = Alarm(sign=DriftSign.FRAME, since=at - timedelta(days=1), at=at, pages=9, misfits=9)
    event = DriftEvent(
        host=HOST, model_version=0, alarm=alarm, outcome=DriftOutcome.LEARNED, new_version=1
    )
    with closing(bench.store()) as store:
        store.drifts.save(event)
    assert "/actions/try_reclean" in now_source(bench)
    do(client, "try_reclean", HOST)
    wait_until(lambda: last(bench).kind == "try_reclean" and last(bench).state.has_ended)
    assert "/actions/reclean_host" in now_source(bench)
    assert "/actions/try_reclean" not in now_source(bench)
