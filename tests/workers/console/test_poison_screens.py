"""Pages on which workers died: named, and tried again when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    CrawlState,
    FailureReason,
    FetchResult,
    KeepRaw,
    QueuedPage,
)
from crawlclean.storage.store.journal import Action, Event, EventKind
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.learning import archived_model
from crawlclean.workers.jobs.outcomes import MOST_CRASHES, end_page
from tests.kit.console import acting_console, settings_of
from tests.kit.outcomes import HOST, make_failure
from tests.kit.worker_bench import Bench

GROUP = f"/failures/group?crawl=c&host={HOST}&cause=poison&status=200"


@pytest.fixture
def store(bench: Bench) -> Iterator[Store]:
    with closing(bench.store()) as opened:
        spec = CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",))
        opened.crawls.put(spec, CrawlState.RUNNING)
        yield opened


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def kill(store: Store, crashes: int = MOST_CRASHES) -> QueuedPage:
    """Stores a page on which workers died, as a worker does."""
    queued = make_failure("/kill", crawl_id="c", reason=FailureReason.POISON).queued
    result = FetchResult(status=200, headers=(), body=b"<p>x", elapsed_ms=3)
    page = replace(
        queued, poison=True, crashes=crashes, result=result, fetched_at=datetime.now(UTC)
    )
    store.save([end_page(page, KeepRaw.ALL).outcome])
    store.statistics.refresh()
    return page


def text_of(client: FlaskClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_page_is_named(client: FlaskClient, store: Store) -> None:
    page = kill(store)
    assert "/kill" in text_of(client, GROUP)
    found = text_of(client, f"/pages/{page.page_id}")
    assert "Workers died on this page" in found
    assert "older answer" not in found
    assert found.index("Workers died on this page") < found.index("No record of this page")


def test_the_archive_keeps_it_for_a_person_and_nothing_parses_it(store: Store) -> None:
    page = kill(store)
    assert store.answers.body(page.page_id) == page.result.body
    ((answer, _, _),) = store.answers.scan("c")
    assert (answer.url, answer.body) == (page.url, page.result.body)
    assert [each.url for each in store.hosts.archived(HOST)] == [page.url]
    assert store.answers.page(page.page_id) is None
    with pytest.raises(NotFound, match="the archive holds no page"):
        archived_model(store, HOST, 100)


def test_a_page_that_kills_who_archives_it_is_kept_no_more(store: Store) -> None:
    page = kill(store, crashes=MOST_CRASHES + 1)
    assert store.answers.body(page.page_id) is None
    assert next(iter(store.urls.failures("c"))).reason is FailureReason.POISON


def test_a_retry_says_that_the_pages_kill_again(client: FlaskClient, store: Store) -> None:
    kill(store)
    assert "/actions/retry_failed?" in text_of(client, GROUP)
    assert "/actions/retry_failed?" not in text_of(client, "/failures?cause=poison")
    asked = text_of(client, f"/actions/retry_some?target=c&host={HOST}&reason=poison&status=200")
    assert "Workers die on these pages again" in asked
    for gone in ("retry_one", "mark_seen", "mark_unseen", "drop_copy"):
        assert client.get(f"/actions/{gone}?target=c&crawl=c").status_code == 404


def test_what_an_older_version_kept_of_its_actions_is_shown(
    client: FlaskClient, store: Store
) -> None:
    """Somebody had marked pages as seen: an event and a row of the audit."""
    kill(store)
    link = "poison 1795450000000000"
    seen = Event(kind=EventKind.SEEN, host=HOST, crawl_id="c", text="session 4f11", link=link)
    store.events.add(seen)
    row = Action(
        who="session 4f11", place="127.0.0.1", action="mark_seen", target=HOST,
        asked="crawl=c&newest=1795450000000000; poison_pages 1; sign_ends",
    )  # fmt: skip
    seq = store.audit.begin(row)
    store.audit.end(seq, "poison_pages 1; sign_ends", f"mark_unseen {HOST} crawl=c")
    assert ">seen<" in text_of(client, f"/events?host={HOST}")
    assert "mark_seen" in text_of(client, "/audit")
    shown = text_of(client, f"/audit/{seq}")
    assert "poison_pages 1; sign_ends" in shown
    assert "mark_unseen" not in shown


def test_a_page_that_kills_is_a_sign(bench: Bench, store: Store) -> None:
    kill(store)
    fresh = acting_console(settings_of(bench.data), bench.data)
    signs = text_of(fresh, "/now/live").partition('id="now-signs"')[2].partition("</ul>")[0]
    assert "page kills workers" in signs
    assert "/actions/" not in signs
