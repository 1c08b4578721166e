"""Real crawls with ``--include`` and ``--exclude``: what is fetched, waits, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from storage.crawl_types import UrlState
from tests.kit.commands import DataFolder
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


def test_only_the_chosen_urls_are_fetched_and_why_names_the_pattern(
    tmp_path: Path, web: Web
) -> None:
    data = tmp_path / "data"
    options = ("--include", "/新闻/", "--exclude", r"[?&]print=", "--crawl", "c")
    run_crawl(data, web.url(), *options)
    news = {f"{NEWS}{n}.html" for n in range(1, 6)}
    assert paths(data, web) == {"/", *news, f"{NEWS}map.html"}
    folder = DataFolder(data)
    status, printed, _ = folder.call("why", web.url(f"{TAGS}a"))
    assert (status, "no --include matches it: /新闻/" in printed) == (1, True), printed
    _, printed, _ = folder.call("why", web.url(f"{NEWS}1.html?print=1"))
    assert r"excluded by --exclude [?&]print=" in printed
    [row] = folder.rows("crawls", "--json")
    assert (row["include"], row["exclude"]) == (["/新闻/"], [r"[?&]print="])
    assert "--include /新闻/" in folder.output("crawls")
    # The next run follows English, too: links, redirects and the sitemap are read again.
    again = run_crawl(
        data, web.url(), "--include", "/新闻/", "--include", "/(en/|go)", *options[2:]
    )
    english = {"/en/", "/en/1.html", "/en/map.html", f"{NEWS}moved.html"}
    assert paths(data, web) == {"/", *news, f"{NEWS}map.html", *english}
    assert again["new_records"] == len(english)
    assert web.requests()[f"{NEWS}1.html"] == 1, "no stored page is fetched again"


def test_what_waits_and_is_now_excluded_ends_and_comes_back(tmp_path: Path, web: Web) -> None:
    data = tmp_path / "data"
    run_crawl(data, web.url(), "--crawl", "c", "--max-pages", "1")
    run_crawl(data, web.url(), "--crawl", "c", "--exclude", "^[^?]*/(?:en|标签)/")
    assert not any(path.startswith(("/en/", TAGS)) for path in paths(data, web))
    assert counted(data)[UrlState.EXCLUDED] >= 2
    folder = DataFolder(data)
    printed = folder.output("why", web.url("/en/"))
    assert "excluded" in printed
    assert "pattern: excluded by --exclude ^[^?]*/(?:en|标签)/" in printed
    run_crawl(data, web.url(), "--crawl", "c")
    assert {"/en/1.html", f"{TAGS}a", f"{TAGS}b", f"{NEWS}moved.html"} <= paths(data, web)
    assert UrlState.EXCLUDED not in counted(data)


def test_a_finished_site_of_a_list_goes_on_when_it_may_go_further(tmp_path: Path, web: Web) -> None:
    sites = tmp_path / "sites.txt"
    sites.write_text(web.url() + "\n", "utf-8")
    data = tmp_path / "data"
    options = ("sites", str(sites), "--allow-private", "--data", str(data))
    crawlclean(*options, "--include", "/en/")
    assert paths(data, web) == {"/", "/en/", "/en/1.html", "/en/map.html"}
    crawlclean(*options, "--exclude", "/新闻/")
    assert {f"{TAGS}a"} <= paths(data, web)
    assert not any(path.startswith(NEWS) for path in paths(data, web))


def test_a_wider_depth_reads_the_links_again(tmp_path: Path, web: Web) -> None:
    data = tmp_path / "data"
    run_crawl(data, web.url(), "--crawl", "c", "--depth", "0")
    assert paths(data, web) == {"/"}
    run_crawl(data, web.url(), "--crawl", "c", "--depth", "1")
    assert {"/", "/en/", f"{NEWS}1.html", f"{TAGS}a"} <= paths(data, web)
    assert "/en/1.html" not in paths(data, web)


def test_a_redirected_seed_needs_no_include_pattern(tmp_path: Path) -> None:
    pages = site() | {"/": {"status": 301, "headers": {"Location": "/home"}}}
    pages["/home"] = html("首页", links={f"{NEWS}1.html": "新闻", "/en/": "English"})
    with Web(tmp_path / "web", pages) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--include", "/新闻/1")
        assert paths(data, web) == {"/home", f"{NEWS}1.html"}


def test_a_wrong_pattern_is_refused_before_anything_starts(tmp_path: Path) -> None:
    done = crawlclean("run", "http://127.0.0.1/", "--include", "/a(", check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "include is '/a(': missing ), unterminated subpattern at position 3" in done.stderr
    assert not list(tmp_path.iterdir())
