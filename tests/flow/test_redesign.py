"""A served site that is redesigned while it is crawled: noticed, learned anew, told of."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from cleaning.drift.alarms import DriftSign
from cleaning.records import BodySource
from storage.config import StorageConfig
from storage.sqlite.store import SqliteStore
from storage.store.drifts import DriftOutcome
from storage.store.models import LearnReason
from tests.kit.archived_site import article_html, redesigned_html
from tests.kit.commands import call
from tests.kit.crawls import run_crawl
from tests.kit.web import Page, Web
from workers.config import Settings


def test_new_pages_get_their_bodies_by_a_new_model_and_old_ones_keep_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = range(105), range(200, 240)
    pages: dict[str, Page] = {
        "/": {"body": "".join(f"<a href=/news/{n}.html>{n}</a>" for n in old)},
        **{f"/news/{n}.html": {"body": article_html(n).decode()} for n in old},
        **{f"/news/{n}.html": {"body": redesigned_html(n).decode()} for n in new},
    }
    # Level by level, so the newer pages come last.
    way = "".join(f"<a href=/news/{n}.html>{n}</a>" for n in new)
    pages["/news/0.html"] = {"body": "<a href=/way>way</a>" + article_html(0).decode()}
    pages["/way"] = {"body": way}
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        summary = run_crawl(data, web.url(), "--depth", "4", "--workers", "1")
        host = web.host
    assert summary["records"] == len(pages)
    with closing(SqliteStore(data / "records.sqlite")) as store:
        (event,) = store.drifts.of(host)
        assert (event.alarm.sign, event.outcome) == (DriftSign.BODIES, DriftOutcome.LEARNED)
        assert event.alarm.pages <= 20
        versions = {about.version: about.reason for about in store.models.versions(host)}
        assert versions[event.new_version] is LearnReason.DRIFT
        records = {record.url: record for record in store.records.scan() if "/news/" in record.url}
        assert {record.body_source for record in records.values()} == {BodySource.SITE}
        for n in (*old, *new):
            record = records[web.url(f"/news/{n}.html")]
            assert (record.model_version >= event.new_version) == (n in new)
        (stats,) = store.statistics.all()
        assert sum(stats.pages_by_kind.values()) == stats.pages_by_state["record"] == len(pages)
    settings = Settings(storage=StorageConfig(data=data))
    assert call(settings, "model", host) == 0
    said = capsys.readouterr().out
    assert "bodies in other containers: 0 of " in said
    assert f"; learned version {event.new_version}" in said
    assert event.alarm.examples[0] in said
    assert call(settings, "hosts", host) == 0
    assert "\n  changed  " in capsys.readouterr().out
    call(settings, "purge", host, "--yes")
    with closing(SqliteStore(data / "records.sqlite")) as store:
        assert store.drifts.of(host) == []
