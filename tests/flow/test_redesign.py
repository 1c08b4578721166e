"""A served site that is redesigned: noticed, learned anew, told of; and sites that are not."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.records import BodySource
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import EventKind
from crawlclean.storage.store.models import DriftOutcome, LearnReason
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.learning import store_next
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs.signs import signs_now
from crawlclean.workers.site_models import read_model
from tests.kit.archived_site import SENTENCE, article_html, redesigned_html
from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl
from tests.kit.web import Page, Web


def test_new_pages_get_their_bodies_by_a_new_model_and_old_ones_keep_theirs(tmp_path: Path) -> None:
    old, new = range(105), range(200, 240)
    pages: dict[str, Page] = {
        "/": {"body": "".join(f"<a href=/news/{n}.html>{n}</a>" for n in old)},
        **{f"/news/{n}.html": {"body": article_html(n).decode()} for n in old},
        **{f"/news/{n}.html": {"body": redesigned_html(n).decode()} for n in new},
    }
    pages["/way"] = {"body": "".join(f"<a href=/news/{n}.html>{n}</a>" for n in new)}
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        run_crawl(data, web.url(), "--depth", "1", "--workers", "1")
        host = web.host
        with closing(SqliteStore(data / "records.sqlite")) as store:  # as if it was last week
            stored = store.models.get(host)
            assert stored is not None
            model = read_model(stored)
            learned_at = model.learned_at - timedelta(days=7)
            long_ago = structs.replace(model, learned_at=learned_at)
            store_next(store, long_ago, LearnReason.ASKED, "")
        run_crawl(data, web.url("/way"), "--depth", "1", "--workers", "1")
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
    folder = DataFolder(data)
    said = folder.output("model", host)
    assert "bodies in other containers: 0 of " in said
    assert f"; learned version {event.new_version}" in said
    assert event.alarm.examples[0] in said
    assert "\n  changed  " in folder.output("hosts", host)
    folder.output("crawl", "purge", host, "--yes")
    with closing(SqliteStore(data / "records.sqlite")) as store:
        assert store.drifts.of(host) == []


def _later_kind() -> dict[str, Page]:
    """Articles, and behind one of them older ones of another template and other menus."""
    old, new = range(105), range(200, 240)
    return {
        "/": {"body": "".join(f"<a href=/news/{n}.html>{n}</a>" for n in old)},
        **{f"/news/{n}.html": {"body": article_html(n).decode()} for n in old},
        **{f"/news/{n}.html": {"body": redesigned_html(n).decode()} for n in new},
        "/news/0.html": {"body": "<a href=/way>way</a>" + article_html(0).decode()},
        "/way": {"body": "".join(f"<a href=/news/{n}.html>{n}</a>" for n in new)},
    }


def _shop() -> dict[str, Page]:
    """Lists of goods; those on later pages are sets, which are described elsewhere."""
    head = "<div class=top><a href=/>店</a><a href=/list?p=1>货</a><a href=/a>我</a></div>"
    pages: dict[str, Page] = {"/": {"body": head + "<a href=/list?p=1>1</a>"}}
    for p in range(1, 26):
        goods = range(10 * p, 10 * p + 10)
        links = "".join(f"<a href=/p?cat={p % 3}&id={n}>{n}号</a>" for n in goods)
        pages[f"/list?p={p}"] = {"body": f"{head}{links}<a href=/list?p={p + 1}>后</a>"}
        for n in goods:
            text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(3))
            body = f"<div class=goods><h1>{n}号</h1><b>￥{n}</b><div class=says>{text}</div></div>"
            if p > 8:
                body = f"<table><tr><td>￥{n}</table><section id=set><i>{n}套</i>{text}</section>"
            pages[f"/p?cat={p % 3}&id={n}"] = {"body": f"<title>{n}号</title>{head}{body}"}
    return pages


@pytest.mark.parametrize("pages", [_later_kind(), _shop()], ids=["another template", "a shop"])
def test_a_kind_of_page_that_is_met_later_is_learned_and_no_change_of_the_site(
    tmp_path: Path, pages: dict[str, Page]
) -> None:
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        run_crawl(data, web.url(), "--depth", "99", "--workers", "1")
        host = web.host
    settings = Settings(storage=StorageConfig(data=data))
    with closing(SqliteStore(data / "records.sqlite")) as store:
        events = store.drifts.of(host)
        assert events
        assert not any(event.is_change for event in events)
        assert not store.events.read(limit=9, kind=EventKind.DRIFT.value)
        newest = events[0].new_version
        fresh = [each for each in store.records.scan() if each.model_version == newest]
        texts = [each for each in fresh if SENTENCE[-9:] in each.body]
        assert {each.body_source for each in texts} == {BodySource.SITE}
        with closing(KeptBackends(settings)) as backends:
            assert not list(signs_now(backends))
    said = DataFolder(data).output("hosts", host)
    assert "\n  new kind  " in said
    assert "\n  changed  " not in said
