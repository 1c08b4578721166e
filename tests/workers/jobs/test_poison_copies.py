"""A page on which workers died is named in an event, and kept as a case that nothing cleans."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from storage.crawl_types import FetchResult, KeepRaw, QueuedPage
from storage.store.cases import MOST_CASE_BYTES, CaseSubject
from storage.store.events import EventKind
from storage.store.protocol import Store
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.worker_bench import Bench
from workers.answers.cases import CaseState
from workers.jobs import poison_pages
from workers.jobs.poison_pages import MOST_CRASHES, keep_poison, note_poison
from workers.operations.cases.cases import case_details
from workers.operations.cases.exporting import folder_of, zip_of

BODY = b"<p>a page that kills\xff"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Bench(tmp_path) as bench, closing(bench.store()) as opened:
        yield opened


def deadly(body: bytes = BODY, crashes: int = MOST_CRASHES) -> QueuedPage:
    headers = (("content-type", "text/html; charset=gbk"),)
    result = FetchResult(status=200, headers=headers, body=body, elapsed_ms=3)
    page = make_outcome("/kill", crawl_id="c").queued
    return replace(page, result=result, crashes=crashes, poison=True)


def test_a_copy_is_a_golden_folder_that_expects_to_be_cleaned(store: Store) -> None:
    note_poison(store, deadly(), "cleaning it killed 3 workers")
    assert keep_poison(store, deadly(), KeepRaw.ALL, 0)
    assert keep_poison(store, deadly(), KeepRaw.ALL, 0), "again after a worker was killed"
    (case,) = store.cases.read()
    assert (case.subject, case.host, case.who) == (CaseSubject.CRASH, HOST, "worker")
    assert case_details(store, case).state is CaseState.NOT_TRIED
    with zipfile.ZipFile(io.BytesIO(zip_of(iter((folder_of(store, case),))))) as packed:
        files = {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
    assert files.keys() == {"url", "page.html", "fetched_at", "content_type", "cases.json"}
    assert files["page.html"] == BODY
    assert files["content_type"] == b"text/html; charset=gbk\n"
    (event,) = store.events.read()
    assert (event.kind, event.link) == (EventKind.POISON, case.page_id)


def test_the_copy_is_no_archived_answer(store: Store) -> None:
    page = deadly()
    assert keep_poison(store, page, KeepRaw.ALL, 0)
    assert not store.answers.body(page.page_id, None)


@pytest.mark.parametrize(
    ("page", "keep_raw"),
    [
        (deadly(), KeepRaw.NONE),
        (deadly(body=b""), KeepRaw.ALL),
        (deadly(crashes=MOST_CRASHES + 1), KeepRaw.ALL),
    ],
    ids=["archives nothing", "no body", "died while it was kept"],
)
def test_no_copy(store: Store, page: QueuedPage, keep_raw: KeepRaw) -> None:
    assert not keep_poison(store, page, keep_raw, 0)
    assert store.cases.count() == 0


def test_a_large_page_and_a_full_table_have_no_copy(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poison_pages, "MOST_CASE_BYTES", 10)
    assert MOST_CASE_BYTES > 1 << 20
    assert not keep_poison(store, deadly(), KeepRaw.ALL, 0)
    monkeypatch.setattr(poison_pages, "MOST_CASE_BYTES", MOST_CASE_BYTES)
    monkeypatch.setattr(poison_pages, "MOST_CASES", 0)
    assert not keep_poison(store, deadly(), KeepRaw.ALL, 0)
