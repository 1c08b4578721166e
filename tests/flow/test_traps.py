"""A site full of traps, crawled by the real command: it ends, and its own pages are all stored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl, stored_urls
from tests.kit.trap_pages import ENTRANCES
from tests.kit.web import Web, html

ARTICLES = 20


def article(n: int) -> str:
    text = f"这是第{'一二三四五六七八九十'[n % 10] * (n // 10 + 1)}篇文章，别处没有的正文，" * 3
    return html(f"文章{n}", text, links={"/": "首页", **ENTRANCES})


def months(count: int) -> list[tuple[int, int]]:
    return [(2000 + n // 12, n % 12 + 1) for n in range(count)]


def test_a_calendar_is_stopped_at_default_settings(tmp_path: Path) -> None:
    """Its months name days, which say nothing either."""
    text = "这一天没有任何活动，请您选择另外的日子，或者写信告诉我们您知道的活动。" * 3
    site = {"/": html("首页", links={"/2000/1.html": "日历"})}
    for n, (year, month) in enumerate(months(120)):
        here, (after, following) = f"/{year}/{month}.html", months(121)[n + 1]
        days = {f"{here}?d={day}": str(day) for day in range(1, 29)}
        more = {f"/{after}/{following}.html": f"{after}年{following}月"}
        site[here] = html(f"{year}年{month}月", text, links={**more, **days})
        site |= {f"{here}?d={day}": html(f"{year}年{month}月{day}日", text) for day in range(1, 29)}
    with Web(tmp_path / "web", site) as web:
        summary = run_crawl(tmp_path / "data", web.url())
        asked = web.requests()
    assert summary["state"] == "finished"
    assert len(asked) <= 61, "however fast they are fetched, and however slowly cleaned"
    assert set(asked.values()) == {1}


def test_an_archive_by_month_is_fetched_whole(tmp_path: Path) -> None:
    site = {"/": html("首页", links={"/2000/01/": "存档"})}
    for n, (year, month) in enumerate(months(60)):
        after, following = months(61)[n + 1]
        links = {f"/2000/{year}-{month}-{k}.html": f"第{n}-{k}篇" for k in range(2)}
        for path, title in links.items():
            text = (
                f"这是编号{'甲乙丙丁戊己庚辛壬癸'[n % 10] * (n // 10 + 1)}的文章，别处没有的正文，"
                * 3
            )
            site[path] = html(title, text)
        more = {f"/{after}/{following:02d}/": "下月"} if n < 59 else {}
        site[f"/{year}/{month:02d}/"] = html(f"{year}年{month}月", links=links | more)
    with Web(tmp_path / "web", site) as web:
        run_crawl(tmp_path / "data", web.url(), "--slots", "2")
        assert set(stored_urls(tmp_path / "data")) == {web.url(path) for path in site}


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
    assert any(name in f.detail for f in stopped for name in known)
    lifted = folder.output("classes", "--lift")
    assert lifted == f"{len(known)} stopped classes are fetched again\n"
    assert folder.output("traps") == "no URL class is stopped\n"
