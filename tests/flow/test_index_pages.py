"""A folder and its index file with one text are one page; with two texts they are two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.kit.commands import DataFolder
from tests.kit.crawls import run_crawl, stored_urls
from tests.kit.web import Page, Web, html

TEXT = "这里是学校的介绍，说明学校的历史、院系和招生办法，欢迎各位同学前来参观。" * 4
LINKS = {"/": "首页", "/index.html": "回到首页", "/news.html": "新闻", "/docs/index.php": "文档"}
NEWS = html("新闻", "新闻的正文，只在这一页上。" * 12, links={"/docs/": "文档目录"})
DOCS = html("文档", "文档的正文，只在文档的目录里。" * 12, links={"/docs/a.html": "甲"})
SITE = {"/news.html": NEWS, "/docs/": DOCS, "/docs/index.php": DOCS}


HOMES = [
    (html("首页", TEXT, links=LINKS), html("首页", TEXT, links=LINKS), True),
    # Not a text, but a list; and the page of each address leaves out the link to itself.
    (html("首页", links=LINKS), html("首页", links=LINKS), True),
    (html("首页", TEXT, links=LINKS), html("首页", TEXT, links={**LINKS, "/x": "热点"}), True),
    (html("首页", TEXT, links=LINKS), html("首页", TEXT + "第二版。", links=LINKS), False),
    (html("首页", TEXT, links=LINKS), html("旧首页", TEXT, links=LINKS), False),
    (html("首页", links=LINKS), html("首页", links={**LINKS, "/x": "热点"}), False),
]
FOLDERS = [
    (first, second)
    for name in ("index.htm", "Default.aspx", "default.asp")
    for first, second in ((f"/a/{name}", "/a/"), ("/a/", f"/a/{name}"))
]


def folder_site(name: str) -> dict[str, Page]:
    """A folder and its index file; the same page elsewhere, and by names that are no index."""
    links = {"/a/": "目录", name: "目录", "/b/": "别的", "/a/x.html": "甲", "/": "首页"}
    same = ("/a/", name, "/b/", "/a/x.html", "/a/home.html")
    home = html("首页", "欢迎。", links={"/a/home.html": "主页"})
    return {"/": home, **dict.fromkeys(same, html("目录", TEXT, links=links))}


@dataclass(frozen=True)
class Crawled(DataFolder):
    """All sites after one crawl of them; each has an address of its own."""

    webs: list[Web]

    def kept(self, web: Web) -> set[str]:
        """The paths of a site that have a record."""
        found = [url for url in stored_urls(self.data) if url.startswith(web.url(""))]
        assert len(found) == len(set(found))
        return {url.removeprefix(web.url("")) for url in found}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("index-pages")
    about = html("甲", TEXT[5:])
    sites: list[tuple[Mapping[str, Page | str], str]] = [
        *(({**SITE, "/": h, "/index.html": i, "/docs/a.html": about}, "/") for h, i, _ in HOMES),
        *((folder_site(max(pair)), pair[0]) for pair in FOLDERS),
    ]
    with ExitStack() as stack:
        webs = [
            stack.enter_context(Web(folder / str(n), pages, f"127.0.0.{n}"))
            for n, (pages, _) in enumerate(sites, 31)
        ]
        seeds = [web.url(seed) for web, (_, seed) in zip(webs, sites, strict=True)]
        assert run_crawl(folder / "data", *seeds, "--delay", "0")["state"] == "finished"
        yield Crawled(folder / "data", webs)


@pytest.mark.parametrize("n", range(len(HOMES)))
def test_a_home_page_is_stored_once(crawled: Crawled, n: int) -> None:
    web, is_one = crawled.webs[n], HOMES[n][-1]
    stored = crawled.kept(web)
    kept = {"/", "/news.html", "/docs/a.html"} | (set() if is_one else {"/index.html"})
    assert stored - {"/docs/", "/docs/index.php"} == kept
    assert len(stored & {"/docs/", "/docs/index.php"}) == 1
    told = crawled.output("why", web.url("/index.html"))
    assert (f"duplicate: the same page is {web.url('/')}" in told) is is_one


@pytest.mark.parametrize("n", range(len(FOLDERS)))
def test_a_folder_has_one_record_whatever_came_first(crawled: Crawled, n: int) -> None:
    web, (first, second) = crawled.webs[len(HOMES) + n], FOLDERS[n]
    kept = {"/", first, "/b/", "/a/x.html", "/a/home.html"}
    assert crawled.kept(web) == kept
    told = crawled.output("why", web.url(second))
    assert f"duplicate: the same page is {web.url(first)}" in told
    [host] = crawled.rows("hosts", web.host, "--json")
    assert host["pages_by_state"] == {"record": len(kept), "excluded": 1}
