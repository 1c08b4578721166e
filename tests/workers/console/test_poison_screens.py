"""Pages on which workers died: what is safe comes first, and a copy can be reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
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
from workers.jobs.poison_pages import keep_poison

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
    page = replace(queued, poison=True, crashes=3, result=result)
    store.save([end_page(page, KeepRaw.ALL).outcome])
    store.statistics.refresh()
    return page


def text_of(client: FlaskClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_without_a_copy_the_address_is_the_report(client: FlaskClient, store: Store) -> None:
    page = kill(store)
    group = text_of(client, GROUP)
    assert "none: report the address" in group
    found = text_of(client, f"/pages/{page.page_id}")
    assert "Workers died on this page" in found
    assert "No copy of it was kept" in found
    assert found.index("Workers died on this page") < found.index("No record of this page")


def test_a_copy_is_a_case_that_can_be_downloaded(client: FlaskClient, store: Store) -> None:
    page = kill(store)
    assert keep_poison(store, page, KeepRaw.ALL, 0)
    (case,) = store.cases.read()
    link = f'href="/cases/{case.case_id}"'
    assert link in text_of(client, GROUP)
    found = text_of(client, f"/pages/{page.page_id}")
    assert link in found
    assert "No copy of it" not in found
    assert "workers died on it" in text_of(client, "/cases")
    shown = text_of(client, f"/cases/{case.case_id}")
    assert "not tried again" in shown
    assert "report_verdict" not in shown
    assert client.get(f"/cases/{case.case_id}/folder.zip").mimetype == "application/zip"
    result = do(client, "withdraw_case", case.case_id)
    assert "Undo" not in result.text
    assert store.cases.count() == 0


def test_retry_is_the_last_thing_that_is_offered(client: FlaskClient, store: Store) -> None:
    kill(store)
    page = text_of(client, GROUP)
    assert 0 < page.index("Do not retry") < page.index("/kill") < page.index("<details")
    assert page.index("<details") < page.index("/actions/retry_some")
    asked = text_of(client, f"/actions/retry_some?target=c&host={HOST}&reason=poison&status=0")
    assert "Workers die on these pages again" in asked
    assert "/actions/retry" not in text_of(client, "/failures?cause=poison")
    assert "which pages" in text_of(client, "/failures")
