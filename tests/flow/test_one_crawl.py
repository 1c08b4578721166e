"""From a URL to clean records with the real command: spider, queue, workers, store."""

from __future__ import annotations

import base64
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from crawlclean import LinkKind
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.queue.embedded import socket_url
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import counted, crawlclean, run_crawl, start, stored_urls
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"


def small_site() -> dict[str, Page]:
    return {
        "/": html("首页", links={"/a.html": "甲文", "/b.html": "乙文", "/old": "旧文"}),
        "/a.html": html("甲文", LONG, links={"/c.html": "丙文", "/missing": "没有的"}),
        "/b.html": {
            "body_base64": base64.b64encode(html("乙文", LONG).encode("gb18030")).decode(),
            "headers": {"Content-Type": "text/html; charset=utf-8"},
        },
        "/c.html": html("丙文", LONG, links={"http://other.invalid/": "外站"}),
        "/old": {"status": 301, "headers": {"Location": "/new.html"}},
        "/new.html": html("新文", LONG),
        "/secret/page.html": html("不可见", LONG),
        "/hidden.html": html("只在地图里", LONG, links={"/secret/page.html": "禁止"}),
        "/picture": {"body": "\x00", "headers": {"Content-Type": "image/png"}},
        "/robots.txt": {
            "body": "User-agent: *\nDisallow: /secret/\nSitemap: /map.xml\n",
            "headers": {"Content-Type": "text/plain"},
        },
        "/map.xml": {
            "body": '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/'
            'sitemap/0.9"><url><loc>/hidden.html</loc></url><url><loc>/picture</loc></url></urlset>',
            "headers": {"Content-Type": "application/xml"},
        },
    }


@dataclass(frozen=True)
class Crawled:
    """The small site, crawled to its end: not to be changed."""

    web: Web
    data: Path
    summary: dict[str, Any]
    asked: Counter[str]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("crawled")
    with Web(folder / "web", small_site()) as web:
        summary = run_crawl(folder / "data", web.url())
        yield Crawled(web, folder / "data", summary, web.requests())


def test_every_page_is_stored_once_and_everything_else_has_its_reason(crawled: Crawled) -> None:
    web, data = crawled.web, crawled.data
    pages = ["/", "/a.html", "/b.html", "/c.html", "/new.html", "/hidden.html"]
    assert sorted(stored_urls(data)) == sorted(web.url(path) for path in pages)
    assert crawled.summary["records"] == 6
    assert crawled.summary["state"] == "finished"
    assert set(crawled.asked.values()) == {1}, "each address is asked for once"
    assert "/secret/page.html" not in crawled.asked
    ends = {k: v for k, v in counted(data).items() if v}
    assert ends == {
        UrlState.RECORD: 6,
        UrlState.REDIRECT: 1,
        UrlState.SITEMAP: 1,
        UrlState.FAILED: 2,
    }
    with closing(SqliteStore(data / "records.sqlite")) as store:
        reasons = {f.url: f.reason for f in store.urls.failures()}
        assert reasons == {
            web.url("/missing"): FailureReason.HTTP_STATUS,
            web.url("/picture"): FailureReason.NOT_HTML,
        }
        by_url = {record.url: record for record in store.records.scan()}
        gbk = by_url[web.url("/b.html")]
        assert gbk.title == "乙文"
        assert gbk.encoding.lower().startswith("gb")
        assert LONG in by_url[web.url("/a.html")].body
        links = by_url[web.url("/c.html")].links
        assert [link.url for link in links] == ["http://other.invalid/"]
        assert all(isinstance(link.kind, LinkKind) for link in links)
        raw = store.answers.page(gbk.page_id)
        assert raw is not None
        assert raw.html == html("乙文", LONG)
        stats = store.statistics.get(web.host)
        assert stats is not None
        assert stats.pages_by_state["record"] == 6
        assert sum(stats.pages_by_kind.values()) == 6


def test_the_same_command_again_fetches_nothing(crawled: Crawled, tmp_path: Path) -> None:
    data, seed = shutil.copytree(crawled.data, tmp_path / "data"), crawled.web.url()
    before = sum(crawled.web.requests().values())
    again = run_crawl(data, seed)
    assert again["new_records"] == 0
    assert again["records"] == 6
    assert sum(crawled.web.requests().values()) == before
    fresh = run_crawl(data, seed, "--fresh")
    assert fresh["new_records"] == 6
    assert len(stored_urls(data)) == 6


def test_limits_hold(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"/{i}": html(f"第{i}页", LONG, links={f"/{i + 1}": "下一页", f"/x{i}": "没有"})
        for i in range(40)
    }
    with Web(tmp_path / "web", pages) as web:
        seed = web.url("/0")
        crawl = ("--crawl", "c", seed, web.url("/9"), "--depth", "3")
        some = run_crawl(tmp_path / "data", *crawl, "--max-pages", "5")
        assert (some["state"], some["records"]) == ("stopped", 5)
        deep = run_crawl(tmp_path / "data", *crawl)
        expected = {web.url(f"/{i}") for i in (*range(4), *range(9, 13))}
        assert set(stored_urls(tmp_path / "data")) == expected
        assert (deep["state"], deep["records"]) == ("finished", 8)


def test_ctrl_c_drains_and_the_same_command_resumes(tmp_path: Path) -> None:
    count = 60
    pages: dict[str, Page] = {
        "/": html("首页", links={f"/{i}": f"第{i}页" for i in range(count)}),
        **{f"/{i}": {"body": html(f"第{i}页", LONG), "latency_ms": 60} for i in range(count)},
    }
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        arguments = ["run", web.url(), "--allow-private", "--data", str(data)]
        crawl = start(*arguments, "--slots", "2")
        wait_until(lambda: sum(web.requests().values()) >= 20)
        crawl.send_signal(signal.SIGINT)
        out, err = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 130, err
        assert "same command resumes" in out
        first = stored_urls(data)
        assert 0 < len(first) < count + 1
        run_crawl(data, web.url())
        assert sorted(stored_urls(data)) == sorted(
            [web.url(), *(web.url(f"/{i}") for i in range(count))]
        )
        assert max(web.requests().values()) == 1, "a drained crawl repeats nothing"


def rq_info(data: Path) -> str:
    """What the stock `rq info` says of a running crawl."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "rq"), "info", "--url", socket_url(data)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.stdout


def test_others_join_a_crawl_and_end_with_it(tmp_path: Path) -> None:
    """The stock `rq info` shows who works; the crawl is paused until all are there."""
    count = 300
    pages: dict[str, Page] = {
        "/": html("首页", links={f"/{i}": f"第{i}页" for i in range(count)}),
        **{f"/{i}": {"body": html(f"第{i}页", LONG), "latency_ms": 50} for i in range(count)},
    }
    data = tmp_path / "data"
    folder = DataFolder(data)
    arguments = ("--allow-private", "--data", str(data), "--workers", "1", "--crawl", "c")
    with Web(tmp_path / "web", pages) as web, ExitStack() as ending:
        crawl = start("run", web.url(), *arguments)
        ending.callback(crawl.kill)
        wait_until(lambda: bool(web.requests()))
        folder.output("crawl", "pause", "c")
        joined = {
            role: start("join", role, "--data", str(data))
            for role in ("housekeeper", "spider", "worker")
        }
        for process in joined.values():
            ending.callback(process.kill)
        with Redis.from_url(socket_url(data)) as client:
            wait_until(lambda: client.scard("rq:workers") == client.zcard("cc:spiders") == 2)
        shown = rq_info(data)
        assert "2 workers" in shown
        assert "pages" in shown
        folder.output("crawl", "resume", "c")
        _, errors = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 0, errors
        for role, process in joined.items():
            _, errors = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 0, errors
            hello, *others = errors.splitlines()
            assert f"info {role} joined queue=unix://" in hello
            assert f"store={data}/records.sqlite crawls=0 hosts=0" in hello, "the crawl is paused"
            assert any(line.endswith(f"info {role} the run has ended") for line in others)
            assert all(" info " in line for line in others), "nothing went wrong"
    assert len(stored_urls(data)) == count + 1
    workers = set()
    with closing(SqliteStore(data / "records.sqlite")) as store:
        for url in stored_urls(data):
            for row in store.urls.rows(page_id(url)):
                workers |= {step.detail for step in row.log if step.step == "claimed"}
    assert len(workers) >= 2


def test_why_tells_every_step(crawled: Crawled) -> None:
    web = crawled.web
    folder = DataFolder(crawled.data)
    [told] = folder.rows("why", web.url("/new.html"), "--json")
    assert [s["step"] for s in told["steps"]] == [
        "discovered",
        "leased",
        "fetched",
        "claimed",
        "cleaned",
        "stored",
    ]
    assert told["referrer"] == web.url("/old")
    status, shown, _ = folder.call("why", "http://other.invalid/")
    assert status == 1
    assert "out of the crawl's scope" in shown


def test_a_seed_takes_what_it_is_moved_to_into_scope_twice_if_need_be(tmp_path: Path) -> None:
    with Web(tmp_path / "c", {"/": html("目标", LONG, links={"/x": "页"}), "/x": html("页")}) as c:
        to_c: dict[str, Page] = {"/": {"status": 301, "headers": {"Location": c.url()}}}
        with Web(tmp_path / "b", to_c) as b:
            to_b: dict[str, Page] = {"/": {"status": 302, "headers": {"Location": b.url()}}}
            with Web(tmp_path / "a", to_b) as a:
                run_crawl(tmp_path / "data", a.url())
                assert sorted(stored_urls(tmp_path / "data")) == [c.url(), c.url("/x")]


def test_seeds_without_a_record_are_one_clear_line_each(tmp_path: Path) -> None:
    """A port that no browser asks, and redirects in a row, which end."""
    pages: dict[str, Page] = {
        f"/{i}": {"status": 302, "headers": {"Location": f"/{i + 1}"}} for i in range(30)
    }
    with Web(tmp_path / "web", pages) as web:
        arguments = ("run", "http://127.0.0.1:9/", web.url("/0"), "--allow-private")
        done = crawlclean(*arguments, "--data", str(tmp_path / "data"), check=False)
        assert done.returncode == 1
        lines = done.stderr.splitlines()
        assert len([line for line in lines if line.startswith("http://127.0.0.1:9/: ")]) == 1
        assert len([line for line in lines if "redirects in a row" in line]) == 1
        assert "Traceback" not in done.stderr
        assert len(web.requests()) == 12, "robots.txt and eleven addresses"
