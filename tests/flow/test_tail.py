"""A crawl whose queue may hold few URLs: the others wait in the store, none is lost or repeated."""

from __future__ import annotations

from pathlib import Path

from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import crawlclean, stored_urls
from tests.kit.web import Page, Web, html

COUNT = 300
LATENCY_MS = 60  # more than a second of fetching: the housekeeper looks once a second


def test_a_small_queue_crawls_a_large_site(tmp_path: Path) -> None:
    data = tmp_path / "data"
    pages: dict[str, Page] = {
        "/": html("首页", links={f"/{i}": f"第{i}页" for i in range(COUNT)}),
        **{
            f"/{i}": {"body": html(f"第{i}页", "正文"), "latency_ms": LATENCY_MS}
            for i in range(COUNT)
        },
    }
    with Web(tmp_path / "web", pages) as web:
        few = {"CRAWLCLEAN_MAX_PENDING_URLS": "50"}
        arguments = ("run", web.url(), "--allow-private", "--data", str(data), "--crawl", "c")
        crawlclean(*arguments, env=few)
        assert sorted(stored_urls(data)) == sorted(web.url(path) for path in pages)
        assert set(web.requests().values()) == {1}
    shown = DataFolder(data).output("metrics")
    counters = dict(line.split() for line in shown.splitlines() if not line.startswith("#"))
    spilled = int(counters["crawlclean_urls_spilled_total"])
    assert spilled > 100
    assert int(counters["crawlclean_urls_refilled_total"]) == spilled
    assert int(counters.get("crawlclean_urls_lost_total", 0)) == 0
    store = SqliteStore(data / "records.sqlite")
    assert store.spills.ids("c") == [], "a finished crawl leaves none"
    store.close()
