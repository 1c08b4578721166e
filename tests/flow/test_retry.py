"""Failed URLs are fetched again when asked for, and then count as what they gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import counted, environment, run_crawl, stored_urls
from tests.kit.recount import recount
from tests.kit.web import Page, Web, html


def one_attempt(**extra: str) -> dict[str, str]:
    """The environment of a crawl that does not try for long."""
    return environment(**extra, CRAWLCLEAN_MAX_ATTEMPTS="1")


def test_what_failed_is_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.kit.crawls.environment", one_attempt)
    data = tmp_path / "data"
    paths = ("/500", "/501", "/404", "/secret")
    pages: dict[str, Page] = {
        "/": html("首页", links=dict.fromkeys(paths, "页")),
        "/500": {"status": 500},
        "/501": {"status": 501},
        "/404": {"status": 404},
        "/robots.txt": "User-agent: *\nDisallow: /secret\n",
    }
    with Web(tmp_path / "web", pages) as web:
        arguments = (web.url(), web.url("/secret"), "--crawl", "c")
        first = run_crawl(data, *arguments)
        assert (first["records"], first["failed"], first["state"]) == (1, 3, "finished")
        assert counted(data)[UrlState.EXCLUDED] == 1
    mended: dict[str, Page] = {
        "/": pages["/"],
        **{path: html(path, "正文", links={"/new": "新"}) for path in paths},
        "/new": html("新"),
    }
    with Web(tmp_path / "mended", mended, port=web.port) as web:
        folder = DataFolder(data)
        host = web.url().split("/")[2]
        assert folder.output("crawl", "retry", host) == "2 failed URLs of c are back in the queue\n"
        none = "no failed URL matches; `failures` lists all of them\n"
        assert folder.output("crawl", "retry", "c", "--host", web.host) == none, "they wait"
        assert folder.crawls()["c"]["state"] == "stopped", "no more finished"
        assert (
            folder.output("crawl", "retry", "c", "--reason", "robots", "--reason", "timeout")[0]
            == "1"
        )
        assert folder.output("crawl", "retry", "c", "--reason", "http_status")[0] == "1"
        second = run_crawl(data, *arguments)
        assert (second["records"], second["failed"], second["state"]) == (6, 0, "finished")
        assert sorted(stored_urls(data)) == sorted(web.url(path) for path in ("/", "/new", *paths))
        assert {state: n for state, n in counted(data).items() if n} == {UrlState.RECORD: 6}
        store = SqliteStore(data / "records.sqlite")
        assert not list(store.urls.failures())
        stats = store.statistics.get(web.host)
        assert stats is not None
        assert (stats.pages_by_state, stats.errors_by_reason) == ({"record": 6}, {})
        assert stats == recount(store, "c", web.host)
        store.close()
        assert "offered again  failed: http_status" in folder.output("why", web.url("/404"))
        assert "no crawl and no host is named x" in folder.error("crawl", "retry", "x")
