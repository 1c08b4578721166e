"""Chinese URLs are shown as people read them, and what is shown can be typed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import Settings
from tests.kit.commands import call
from tests.kit.outcomes import HOST, changed_outcome, make_failure

PATH = "/%E5%A4%84%E7%90%86%E5%99%A8/%C4%E3%20%E2%80%AE.html"
EXACT = f"https://{HOST}{PATH}"
SHOWN = f"https://{HOST}/处理器/%C4%E3%20%E2%80%AE.html"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    store = SqliteStore(tmp_path / "records.sqlite")
    dead = make_failure(PATH + "x", reason=FailureReason.HTTP_STATUS, status=404)
    spec = CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",))
    store.crawls.put(spec, CrawlState.FINISHED)
    store.save([changed_outcome(PATH), dead])
    store.close()
    return replace(Settings(), storage=StorageConfig(data=tmp_path))


def test_a_shown_url_is_understood(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(settings, "why", EXACT) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{SHOWN} in c1: record\n")
    assert call(settings, "why", SHOWN) == 0
    assert capsys.readouterr().out == text
    assert call(settings, "show", SHOWN) == 0
    assert re.search(rf"^url +{re.escape(SHOWN)}$", capsys.readouterr().out, re.MULTILINE)


def test_json_has_the_exact_url(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (("why", EXACT), ("show", SHOWN), ("failures",)):
        assert call(settings, *command, "--json") == 0
        assert json.loads(capsys.readouterr().out)["url"].startswith(EXACT)


def test_failures_are_readable(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(settings, "failures") == 0
    assert capsys.readouterr().out.startswith(f"{SHOWN}x  http_status: ")
