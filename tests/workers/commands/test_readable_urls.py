"""Chinese URLs are shown as people read them, and what is shown can be typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.outcomes import HOST, changed_outcome, make_failure

PATH = "/%E5%A4%84%E7%90%86%E5%99%A8/%C4%E3%20%E2%80%AE.html"
EXACT = f"https://{HOST}{PATH}"
SHOWN = f"https://{HOST}/处理器/%C4%E3%20%E2%80%AE.html"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    store = SqliteStore(tmp_path / "records.sqlite")
    dead = make_failure(PATH + "x", reason=FailureReason.HTTP_STATUS, status=404)
    spec = CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",))
    store.crawls.put(spec, CrawlState.FINISHED)
    store.save([changed_outcome(PATH), dead])
    store.close()
    return DataFolder(tmp_path)


def test_a_shown_url_is_understood(folder: DataFolder) -> None:
    text = folder.output("why", EXACT)
    assert text.startswith(f"{SHOWN} in c1: record\n")
    assert folder.output("why", SHOWN) == text
    assert re.search(rf"^url +{re.escape(SHOWN)}$", folder.output("show", SHOWN), re.MULTILINE)


def test_json_has_the_exact_url(folder: DataFolder) -> None:
    for command in (("why", EXACT), ("show", SHOWN), ("failures",)):
        assert folder.rows(*command, "--json")[0]["url"].startswith(EXACT)


def test_failures_are_readable(folder: DataFolder) -> None:
    assert folder.output("failures").startswith(f"{SHOWN}x  http_status: ")
