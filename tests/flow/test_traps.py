"""A site full of traps, crawled by the real command: it ends, and its own pages are all stored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from storage.crawl_types import FailureReason
from storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl, stored_urls
from tests.kit.trap_pages import ENTRANCES
from tests.kit.web import Web, html

ARTICLES = 20


def article(n: int) -> str:
    text = f"这是第{'一二三四五六七八九十'[n % 10] * (n // 10 + 1)}篇文章，别处没有的正文，" * 3
    return html(f"文章{n}", text, links={"/": "首页", **ENTRANCES})


def test_every_trap_ends_and_the_site_is_whole(tmp_path: Path) -> None:
    data = tmp_path / "data"
    links = {**ENTRANCES, **{f"/{n}.html": f"文章{n}" for n in range(ARTICLES)}}
    site = {"/": html("首页", links=links), **{f"/{n}.html": article(n) for n in range(ARTICLES)}}
    with Web(tmp_path / "web", site) as web:
        # At one request at a time the workers keep up: what is stopped is what was not yet asked.
        summary = run_crawl(data, web.url(), "--trap-pages", "5", "--slots", "1")
        asked = web.requests()
        stored = set(stored_urls(data))
        assert summary["state"] == "finished"
        assert {web.url(path) for path in site} <= stored
    families = Counter(path.split("/")[2].partition("?")[0] for path in asked if "/trap/" in path)
    assert set(families) == {entrance.split("/")[2].partition("?")[0] for entrance in ENTRANCES}
    assert set(asked.values()) == {1}, "no address is asked for twice"
    store = SqliteStore(data / "records.sqlite")
    failures = list(store.urls.failures())
    store.close()
    stopped = [f for f in failures if f.reason is FailureReason.TRAP]
    assert stopped, "what waited when its class was stopped is told"
    assert any("brought nothing new" in f.detail for f in stopped)
    # Some of the traps are known for calendars or other forms of a page before they repeat.
    assert all("brought nothing new" in f.detail or "leads to" in f.detail for f in stopped)
    assert {f.url for f in stopped}.isdisjoint(stored)
    folder = DataFolder(data)
    traps = folder.rows("traps", "--json")
    known = {row["template"] for row in traps}
    assert all(row["stopped_at"] for row in traps)
    assert all(any(name in f.detail for name in known) for f in stopped if "nothing" in f.detail)
    lifted = folder.output("classes", "--lift")
    assert lifted == f"{len(known)} stopped classes are fetched again\n"
    assert folder.output("traps") == "no URL class is stopped\n"
