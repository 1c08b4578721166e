"""`show URL --history` and `show URL --diff`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from crawlclean.cleaning.revisits import VisitClass, VisitKind
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.outcomes import HOST, T0, make_outcome, make_queued

URL = f"https://{HOST}/t/1"
DAY = timedelta(days=1)
VISIT = VisitClass(VisitKind.THREAD, "/t/*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """A page with three versions, checked once more since; and a page with one version."""
    data = tmp_path_factory.mktemp("versions")
    store = SqliteStore(data / "records.sqlite")
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(URL,)), CrawlState.FINISHED)
    for number, word in enumerate(("第一", "第二", "第三")):
        made = make_outcome("/t/1", at=T0 + number * DAY, text=f"共有的。\n{word}次的话。\n")
        assert made.record is not None
        record = replace(made.record, body=f"共有的。\n{word}次的话。\n末行。", posts=())
        store.save([replace(made, record=record, visit=VISIT)])
    queued = make_queued("/t/1", at=T0 + 5 * DAY, body=b"", status=304)
    store.save([Outcome(queued=queued, state=UrlState.RECORD, unchanged=True, visit=VISIT)])
    store.save([make_outcome("/t/2")])
    store.close()
    return DataFolder(data)


def test_history(folder: DataFolder) -> None:
    head, _, newest, _, first = folder.output("show", URL, "--history").splitlines()
    assert head == f"{URL} in c1, last checked 2026-03-06T12:00:00Z"
    assert newest.split()[:2] == ["2026-03-03T12:00:00Z", "+2"]
    assert first.split()[:2] == ["2026-03-01T12:00:00Z", "first"]
    rows = folder.rows("show", URL, "--history", "--json")
    assert [row["added"] for row in rows] == [2, 2, 0]
    assert [row["is_newest"] for row in rows] == [True, False, False]


def test_difference(folder: DataFolder) -> None:
    text = folder.output("show", URL, "--diff").splitlines()
    assert text[:2] == ["--- 2026-03-02T12:00:00Z", "+++ 2026-03-03T12:00:00Z"]
    assert text[-4:] == [" 共有的。", "-第二次的话。", "+第三次的话。", " 末行。"]
    times = ["2026-03-03T12:00:00Z", "2026-03-01T18:00:00"]
    (row,) = folder.rows("show", URL, "--json", "--diff", *times)
    assert {"-第一次的话。", "+第三次的话。"} <= set(row["lines"])
    assert folder.rows("show", URL, "--json", "--diff", "2020-01-01", "2030-01-01") == [row]


def test_what_has_no_versions_is_named(folder: DataFolder) -> None:
    said = folder.error("show", f"https://{HOST}/t/2", "--diff")
    assert "has one version, of 2026-03-01 12:00:00 UTC" in said
    assert "/t/3; `why" in folder.error("show", f"https://{HOST}/t/3", "--history")
    status, _, said = folder.call("show", URL, "--diff", "2026-03-01")
    assert status == 2
    assert "--diff takes no time or two" in said
