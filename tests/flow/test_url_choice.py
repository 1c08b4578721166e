"""Real crawls with ``--include`` and ``--exclude``: what is fetched, waits, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from crawlclean.storage.crawl_types import UrlState
from tests.kit.commands import DataFolder, call_main
from tests.kit.crawls import counted, crawlclean, run_crawl, stored_urls
from tests.kit.web import Page, Web, html

NEWS = quote("/新闻/")
TAGS = quote("/标签/")


def site() -> dict[str, Page]:
    """News and tags with Chinese URLs, a section in English, a redirect, and a sitemap."""
    pages: dict[str, Page] = {
        "/": html("首页", links={f"{NEWS}1.html": "新闻", f"{TAGS}a": "标签", "/en/": "English"}),
        **{f"{NEWS}{n}.html": html(f"新闻{n}", links=_more(n)) for n in range(1, 6)},
        **{f"{TAGS}{name}": html(f"标签{name}", links={"/en/": "en"}) for name in "ab"},
        "/en/": html("English", links={"/en/1.html": "one", "/go": "away"}),
        "/en/1.html": html("One"),
        "/go": {"status": 302, "headers": {"Location": f"{NEWS}moved.html"}},
        f"{NEWS}moved.html": html("搬家"),
        "/robots.txt": {"body": "Sitemap: /map.xml\n", "headers": {"Content-Type": "text/plain"}},
        "/map.xml": {
            "body": f"<urlset><url><loc>{NEWS}map.html</loc></url><url><loc>/en/map.html</loc>"
            "</url></urlset>",
            "headers": {"Content-Type": "application/xml"},
        },
        f"{NEWS}map.html": html("地图"),
        "/en/map.html": html("Map"),
    }
    return pages


def _more(n: int) -> dict[str, str]:
    return {f"{NEWS}{n + 1}.html": "下一篇", f"{TAGS}b": "标签", f"{NEWS}{n}.html?print=1": "打印"}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with Web(tmp_path / "web", site()) as served:
        yield served


def paths(data: Path, web: Web) -> set[str]:
    return {url.removeprefix(f"http://{web.host}") for url in stored_urls(data)}


def test_chosen_urls_are_fetched_and_what_is_excluded_comes_back(tmp_path: Path, web: Web) -> None:
    data = tmp_path / "data"
    run_crawl(data, web.url(), "--crawl", "c", "--max-pages", "1")
    # What waits is excluded now, and so is what the next pages lead to.
    patterns = ("--include", "/新闻/", "--include", "/en/", "--exclude", r"[?&]print=")
    run_crawl(data, web.url(), "--crawl", "c", *patterns, "--exclude", "^[^?]*/en/")
    news = {f"{NEWS}{n}.html" for n in range(1, 6)}
    assert paths(data, web) == {"/", *news, f"{NEWS}map.html"}
    assert counted(data)[UrlState.EXCLUDED] >= 2
    folder = DataFolder(data)
    printed = folder.output("why", web.url(f"{TAGS}a"))
    assert "pattern: no --include matches it: /新闻/" in printed
    printed = folder.output("why", web.url("/en/"))
    assert "excluded" in printed
    assert "pattern: excluded by --exclude ^[^?]*/en/" in printed
    status, printed, _ = folder.call("why", web.url(f"{NEWS}1.html?print=1"))
    assert (status, r"excluded by --exclude [?&]print=" in printed) == (1, True), printed
    status, printed, _ = folder.call("why", web.url(f"{TAGS}b"))
    assert (status, "no --include matches it: /新闻/" in printed) == (1, True), printed
    [row] = folder.rows("crawls", "--json")
    assert row["include"] == ["/新闻/", "/en/"]
    assert row["exclude"] == [r"[?&]print=", "^[^?]*/en/"]
    assert "--include /新闻/" in folder.output("crawls")
    # The next run follows all: links, redirects and the sitemap are read again.
    again = run_crawl(data, web.url(), "--crawl", "c")
    english = {"/en/", "/en/1.html", "/en/map.html", f"{NEWS}moved.html"}
    assert paths(data, web) == {*("/", *news, f"{NEWS}map.html", *english, f"{TAGS}a", f"{TAGS}b")}
    assert again["new_records"] == len(english) + 2
    assert web.requests()[f"{NEWS}1.html"] == 1, "no stored page is fetched again"
    assert UrlState.EXCLUDED not in counted(data)


def test_a_finished_site_of_a_list_goes_on_when_it_may_go_further(tmp_path: Path) -> None:
    """The seed moves, and needs no include pattern where it lands."""
    pages = site() | {"/": {"status": 301, "headers": {"Location": "/home"}}}
    pages["/home"] = html("首页", links={f"{NEWS}1.html": "新闻", "/en/": "English"})
    with Web(tmp_path / "web", pages) as web:
        sites = tmp_path / "sites.txt"
        sites.write_text(web.url() + "\n", "utf-8")
        data = tmp_path / "data"
        options = ("--include", "/新闻/1", "--allow-private", "--data", str(data))
        crawlclean("sites", str(sites), *options, "--depth", "0")
        assert paths(data, web) == {"/home"}
        # The links are read again, for the depth and for the pattern.
        crawlclean("sites", str(sites), *options, "--depth", "1", "--include", "/en/$")
        assert paths(data, web) == {"/home", f"{NEWS}1.html", "/en/"}


def test_a_wrong_pattern_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = call_main("run", "http://127.0.0.1/", "--include", "/a(")
    assert status == 2
    assert "include is '/a(': missing ), unterminated subpattern at position 3" in err
    assert not list(tmp_path.iterdir())
