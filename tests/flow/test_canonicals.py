"""Canonical addresses that lead in circles, or all to one page, cost no page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.crawls import run_crawl, stored_urls
from tests.kit.web import Web, html


@pytest.mark.parametrize(
    "canonical",
    [
        {"/a.html": "/b.html", "/b.html": "/a.html"},
        {"/a.html": "/b.html", "/b.html": "/c.html", "/c.html": "/a.html"},
        {"/a.html": "/", "/b.html": "/", "/c.html": "/"},
        {"/a.html": "http://127.0.0.77:9/elsewhere", "/b.html": "/never-linked.html"},
    ],
)
def test_every_linked_page_is_fetched_once(tmp_path: Path, canonical: dict[str, str]) -> None:
    paths = [f"/{name}.html" for name in "abc"]
    site = {"/": html("首页", links=dict.fromkeys(paths, "看看"))}
    for name, path in zip("甲乙丙", paths, strict=True):
        page = html(f"{name}篇", f"这是{name}篇的正文，别处没有这样的话，请慢慢地读。" * 3)
        link = f'<link rel="canonical" href="{canonical.get(path, path)}">'
        site[path] = page.replace("<title>", f"{link}<title>", 1)
        assert link in site[path]
    with Web(tmp_path / "web", site) as web:
        assert run_crawl(tmp_path / "data", web.url())["state"] == "finished"
        assert set(stored_urls(tmp_path / "data")) == {web.url(path) for path in site}
        assert set(web.requests().values()) == {1}
        assert set(web.requests()) <= {*site, "/robots.txt"}
