"""A folder and its index file with one text are one page; with two texts they are two."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import UrlState
from tests.kit.crawls import counted, crawlclean, run_crawl, stored_urls
from tests.kit.web import Web, html

TEXT = "这里是学校的介绍，说明学校的历史、院系和招生办法，欢迎各位同学前来参观。" * 4
LINKS = {"/": "首页", "/index.html": "回到首页", "/news.html": "新闻", "/docs/index.php": "文档"}
NEWS = html("新闻", "新闻的正文，只在这一页上。" * 12, links={"/docs/": "文档目录"})
DOCS = html("文档", "文档的正文，只在文档的目录里。" * 12, links={"/docs/a.html": "甲"})
SITE = {"/news.html": NEWS, "/docs/": DOCS, "/docs/index.php": DOCS}


@pytest.mark.parametrize(
    ("home", "index", "is_one"),
    [
        (html("首页", TEXT, links=LINKS), html("首页", TEXT, links=LINKS), True),
        # Not a text, but a list; and the page of each address leaves out the link to itself.
        (html("首页", links=LINKS), html("首页", links=LINKS), True),
        (html("首页", TEXT, links=LINKS), html("首页", TEXT, links={**LINKS, "/x": "热点"}), True),
        (html("首页", TEXT, links=LINKS), html("首页", TEXT + "第二版。", links=LINKS), False),
        (html("首页", TEXT, links=LINKS), html("旧首页", TEXT, links=LINKS), False),
        (html("首页", links=LINKS), html("首页", links={**LINKS, "/x": "热点"}), False),
    ],
)
def test_a_home_page_is_stored_once(tmp_path: Path, home: str, index: str, is_one: bool) -> None:
    pages = {**SITE, "/": home, "/index.html": index, "/docs/a.html": html("甲", TEXT[5:])}
    with Web(tmp_path / "web", pages) as web:
        data = tmp_path / "data"
        assert run_crawl(data, web.url(), "--delay", "0")["state"] == "finished"
        stored = {url.removeprefix(web.url("")) for url in stored_urls(data)}
        kept = {"/", "/news.html", "/docs/a.html"} | (set() if is_one else {"/index.html"})
        assert stored - {"/docs/", "/docs/index.php"} == kept
        assert len(stored & {"/docs/", "/docs/index.php"}) == 1
        told = crawlclean("why", web.url("/index.html"), "--data", str(data)).stdout
        assert (f"duplicate: the same page is {web.url('/')}" in told) is is_one


@pytest.mark.parametrize("name", ["index.htm", "Default.aspx", "default.asp"])
@pytest.mark.parametrize("is_longer_first", [False, True])
def test_a_folder_has_one_record_whatever_came_first(
    tmp_path: Path, name: str, is_longer_first: bool
) -> None:
    links = {"/a/": "目录", f"/a/{name}": "目录", "/b/": "别的", "/a/x.html": "甲", "/": "首页"}
    pages = dict.fromkeys(("/a/", f"/a/{name}"), html("目录", TEXT, links=links))
    # The same page in another folder, and under names that are no index of one.
    pages |= dict.fromkeys(("/b/", "/a/x.html", "/a/home.html"), html("目录", TEXT, links=links))
    pages["/"] = html("首页", "欢迎。", links={"/a/home.html": "主页"})
    first, second = (f"/a/{name}", "/a/") if is_longer_first else ("/a/", f"/a/{name}")
    with Web(tmp_path / "web", pages) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(first), "--delay", "0")
        kept = ["/", first, "/b/", "/a/x.html", "/a/home.html"]
        assert sorted(stored_urls(data)) == sorted(map(web.url, kept))
        told = crawlclean("why", web.url(second), "--data", str(data)).stdout
        assert f"duplicate: the same page is {web.url(first)}" in told
        ended = counted(data)
        assert (ended[UrlState.RECORD], ended[UrlState.EXCLUDED]) == (len(kept), 1)
        assert UrlState.FAILED not in ended
