"""Pages are fetched again and raw pages dropped by the console; the first signs stand on Now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.store.journal import Action, Operation, OperationState
from crawlclean.storage.store.models import DriftEvent, DriftOutcome
from crawlclean.workers.operations.acting import crawls as archive
from crawlclean.workers.operations.watching import space
from crawlclean.workers.operations.watching.space import is_low
from tests.kit.console import acting_console, do, fields_in, settings_of
from tests.kit.timing import wait_until
from tests.kit.worker_bench import Bench, answer

HOST = "a.example"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A finished crawl ``c`` of one host: 3 records with a body, 2 without."""
    with Bench(tmp_path_factory.mktemp("bench"), "") as started:
        answers = {f"p{n}": answer("页") for n in range(3)}
        answers |= {f"e{n}": answer("页", "") for n in range(2)}
        started.crawl(f"http://{HOST}/", CrawlState.FINISHED, answers)
        yield started


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def newest(bench: Bench) -> tuple[Action, list[Operation]]:
    with closing(bench.store()) as store:
        return store.audit.read(limit=1)[0], store.operations.read(limit=1)


def pending(bench: Bench) -> int:
    return bench.frontier.counts("c").pending


def test_pages_without_a_body_are_fetched_again(
    client: FlaskClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = client.get(f"/hosts/{HOST}").text
    assert re.search(r'href="/actions/refetch_host\?target=a.example&amp;[^"]*which=no_body', host)
    asked = {"target": HOST, "which": "no_body"}
    page = client.get("/actions/refetch_host", query_string=asked)
    assert "pages 2; hosts 1" in fields_in(page)["expected"]
    later = client.get("/actions/refetch_host", query_string={**asked, "since": "0m"})
    assert "pages 0" in fields_in(later)["expected"]
    for wrong in ({"since": "soon"}, {"which": "some"}, {"target": "none"}):
        answer = client.get("/actions/refetch_host", query_string={**asked, **wrong})
        assert answer.status_code in (400, 404)
    do(client, "refetch_host", HOST, which="no_body")
    assert newest(bench)[0].did == "pages 2; crawls 1; to_be_fetched"
    assert pending(bench) == 2
    monkeypatch.setattr(archive, "FEW", 0)
    do(client, "refetch_crawl", "c", which="all")
    wait_until(lambda: newest(bench)[1][0].state.has_ended)
    (operation,) = newest(bench)[1]
    assert (operation.kind, operation.state) == ("fetch_again", OperationState.DONE)
    assert operation.done == 3, "two wait already"
    assert pending(bench) == 5


@pytest.mark.usefixtures("bench")
def test_a_crawl_at_work_keeps_its_raw_pages(client: FlaskClient) -> None:
    page = client.get("/actions/drop_raw_crawl", query_string={"target": "c"})
    assert (page.status_code, "stop it first" in page.text) == (400, True)
    assert client.get("/actions/drop_raw_host", query_string={"target": "c"}).status_code != 200


def test_little_room_is_a_sign_with_what_makes_some(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def signs() -> str:
        fresh = acting_console(settings_of(bench.data), bench.data)
        return fresh.get("/now/live").text.partition('id="now-signs"')[2].partition("</ul>")[0]

    assert is_low(1 << 20, 1 << 30)
    assert not is_low(100 << 30, 1 << 40)
    assert "little room left" not in signs()
    monkeypatch.setattr(space, "LOW_LEAST_BYTES", 1 << 62)
    assert "no finished crawl has raw pages to drop" in signs()
    bench.frontier.set_state("c", CrawlState.STOPPED)
    found = signs()
    assert re.search(r"dropping raw pages frees [\d.]+ \w+", found)
    assert "/actions/drop_raw_crawl?target=c" in found


@pytest.mark.parametrize("is_full", [False, True])
def test_raw_pages_are_dropped(client: FlaskClient, bench: Bench, *, is_full: bool) -> None:
    """By a worker; on a full disk, where workers may wait for room, by the console."""
    bench.frontier.set_state("c", CrawlState.STOPPED)
    if is_full:  # there are some again
        bench.fetch(f"http://{HOST}/more", crawl_id="d", more=answer("页"))
        bench.sweep_until(lambda: bench.is_done("d"))
    bench.frontier.hold_for_disk(is_full=is_full)
    target, responses = (HOST, 1) if is_full else ("c", 5)
    name = "drop_raw_host" if is_full else "drop_raw_crawl"
    space = client.get("/space").text
    assert is_full or "/actions/drop_raw_crawl?target=c" in space
    refused = client.get(f"/actions/{name}", query_string={"target": target})
    assert f"responses {responses}; freed_bytes " in fields_in(refused)["expected"]
    page = do(client, name, target, typed_typed=target)
    row, (operation,) = newest(bench)
    assert "bytes that come free" not in page.text, "it was done"
    if is_full:
        assert "drop_raw" not in client.get("/space").text
        assert row.did is not None
        assert row.did.startswith("responses 1; freed_bytes ")
        assert "<dd>" in page.text
        assert "bytes that came free" in page.text
    else:
        wait_until(lambda: newest(bench)[1][0].state.has_ended)
        (operation,) = newest(bench)[1]
        assert (operation.kind, operation.done) == ("drop_raw", 5)
        freed = re.fullmatch(r"freed_bytes (\d+)", operation.detail)
        assert freed
        assert int(freed[1]) > 0
        result = client.get(f"{page.request.path}/live").text
        assert re.search(r"<span>[\d.]+ \w+ came free</span>", result)
    assert list((bench.data / "raw").iterdir()) == []
    with closing(bench.store()) as store:
        record = next(iter(store.records.scan()))
        page_id = store.urls.find_ids("")[0]
    assert record.host == HOST
    again = client.get(f"/pages/{page_id}/again")
    assert (again.status_code, "raw page is gone" in again.text) == (404, True)


def test_first_signs_stand_on_now(client: FlaskClient, bench: Bench) -> None:
    assert 'class="signs"' not in client.get("/").text
    now = datetime.now(UTC)
    alarm = Alarm(sign=DriftSign.BODIES, since=now, at=now, pages=20, misfits=18, empty=17)
    event = DriftEvent(
        host=HOST, model_version=1, alarm=alarm, outcome=DriftOutcome.WAITS, detail="3 pages"
    )
    with closing(bench.store()) as store:
        store.drifts.save(event)
        first = now - timedelta(hours=2)
        store.drifts.save(replace(event, alarm=replace(alarm, since=first, at=first)))
    offered = re.search(r"refetch_host\?[^\"]*since=([^&\"]*)", client.get(f"/hosts/{HOST}").text)
    assert offered
    assert offered[1].startswith(f"{first:%Y-%m-%dT%H:%M}"), "the first of the row"
    do(client, "pause_host", HOST, typed_why="lunch")
    page = acting_console(settings_of(bench.data), bench.data).get("/now/live").text
    assert "18 of 20 pages have no body" in page
    assert "by no password" in page
    assert "lunch" in page
