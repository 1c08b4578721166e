"""Canonical addresses that lead in circles, or all to one page, cost no page."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.kit.crawls import run_crawl, stored_urls
from tests.kit.web import Web, html

CANONICAL: list[dict[str, str]] = [
    {"/a.html": "/b.html", "/b.html": "/a.html"},
    {"/a.html": "/b.html", "/b.html": "/c.html", "/c.html": "/a.html"},
    {"/a.html": "/", "/b.html": "/", "/c.html": "/"},
    {"/a.html": "http://127.0.0.77:9/elsewhere", "/b.html": "/never-linked.html"},
]
PATHS = [f"/{name}.html" for name in "abc"]


def site(canonical: dict[str, str]) -> dict[str, str]:
    """A home page and three articles, each with a canonical address."""
    pages = {"/": html("首页", links=dict.fromkeys(PATHS, "看看"))}
    for name, path in zip("甲乙丙", PATHS, strict=True):
        page = html(f"{name}篇", f"这是{name}篇的正文，别处没有这样的话，请慢慢地读。" * 3)
        link = f'<link rel="canonical" href="{canonical.get(path, path)}">'
        pages[path] = page.replace("<title>", f"{link}<title>", 1)
        assert link in pages[path]
    return pages


def test_every_linked_page_is_fetched_once(tmp_path: Path) -> None:
    with ExitStack() as stack:
        webs = [
            stack.enter_context(Web(tmp_path / str(n), site(canonical), f"127.0.0.{n}"))
            for n, canonical in enumerate(CANONICAL, 1)
        ]
        assert run_crawl(tmp_path / "data", *(w.url() for w in webs))["state"] == "finished"
        wanted = {web.url(path) for web in webs for path in ("/", *PATHS)}
        assert set(stored_urls(tmp_path / "data")) == wanted
        for web in webs:
            assert set(web.requests().values()) == {1}
            assert set(web.requests()) <= {"/", *PATHS, "/robots.txt"}
