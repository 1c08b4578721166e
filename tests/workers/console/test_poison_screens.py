"""Pages on which workers died: what is safe comes first."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from storage.crawl_types import (
    CrawlSpec,
    CrawlState,
    FailureReason,
    FetchResult,
    KeepRaw,
    QueuedPage,
)
from storage.store.protocol import Store
from tests.kit.console import acting_console, do, settings_of
from tests.kit.outcomes import HOST, make_failure
from tests.kit.worker_bench import Bench
from workers.jobs.outcomes import end_page

GROUP = f"/failures/group?crawl=c&host={HOST}&cause=poison"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        yield made


@pytest.fixture
def store(bench: Bench) -> Iterator[Store]:
    with closing(bench.store()) as opened:
        spec = CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",))
        opened.crawls.put(spec, CrawlState.RUNNING)
        yield opened


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def kill(store: Store) -> QueuedPage:
    """Stores a page on which workers died, as a worker does."""
    queued = make_failure("/kill", crawl_id="c", reason=FailureReason.POISON).queued
    result = FetchResult(status=200, headers=(), body=b"<p>x", elapsed_ms=3)
    page = replace(queued, poison=True, crashes=3, result=result, fetched_at=datetime.now(UTC))
    store.save([end_page(page, KeepRaw.ALL).outcome])
    store.statistics.refresh()
    return page


def text_of(client: FlaskClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_address_is_the_report(client: FlaskClient, store: Store) -> None:
    page = kill(store)
    assert "send their addresses" in text_of(client, GROUP)
    found = text_of(client, f"/pages/{page.page_id}")
    assert "Workers died on this page" in found
    assert "needs the address and the steps" in found
    assert found.index("Workers died on this page") < found.index("No record of this page")
    assert "older answer" not in found


def test_retry_is_the_last_thing_that_is_offered(client: FlaskClient, store: Store) -> None:
    kill(store)
    page = text_of(client, GROUP)
    assert 0 < page.index("Do not retry") < page.index("/kill") < page.index("<details")
    assert page.index("<details") < page.index("/actions/retry_one")
    assert "retry_some" not in page
    assert "retry_failed" not in page, "one page is all there is"
    asked = text_of(client, f"/actions/retry_one?target=c&host={HOST}&reason=poison&status=0")
    assert "Workers die on these pages again" in asked
    assert "One page at a time" in asked
    assert "/actions/retry" not in text_of(client, "/failures?cause=poison")
    assert "which pages" in text_of(client, "/failures")


def now_signs(bench: Bench) -> str:
    fresh = acting_console(settings_of(bench.data), bench.data)
    return text_of(fresh, "/now/live").partition('id="now-signs"')[2].partition("</ul>")[0]


def test_what_somebody_has_seen_is_no_sign_until_there_are_more(
    bench: Bench, client: FlaskClient, store: Store
) -> None:
    kill(store)
    assert "page kills workers" in now_signs(bench)
    result = do(client, "mark_seen", HOST, crawl="c")
    assert "finished" in result.text
    assert html.escape(GROUP) in result.text, "back to the group"
    assert "page kills workers" not in now_signs(bench)
    group = text_of(client, GROUP)
    assert "mark_unseen" in group
    assert ">seen<" in group
    assert ">seen<" in text_of(client, "/failures?cause=poison")
    assert ">seen<" in text_of(client, f"/events?host={HOST}")
    undo = re.search(r'href="/actions/(mark_unseen[^"]*)"', result.text)
    assert undo
    do(client, "mark_unseen", HOST, crawl="c")
    assert "page kills workers" in now_signs(bench)
    do(client, "mark_seen", HOST, crawl="c")
    kill(store)  # a newer failure than the one that was seen
    assert "page kills workers" in now_signs(bench)
