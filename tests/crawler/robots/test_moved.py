"""A robots.txt that moved within its host: the way to it keeps the host's pause, too."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.kit.crawls import run_crawl
from tests.kit.web import Page, Web, html

DELAY_S = 0.4


def test_a_redirect_of_robots_txt_waits_like_any_request(tmp_path: Path) -> None:
    site: dict[str, Page] = {
        "/robots.txt": {"status": 301, "headers": {"Location": "/moved.txt"}},
        "/moved.txt": {"status": 302, "headers": {"Location": "/rules.txt"}},
        "/rules.txt": "User-agent: *\nDisallow: /closed",
        "/": html("首页", links={"/closed": "关"}),
    }
    with Web(tmp_path / "web", site) as web:
        run_crawl(tmp_path / "data", web.url(), "--delay", str(DELAY_S))
        log = sorted(web.log())
    assert [path for _, _, path in log] == ["/robots.txt", "/moved.txt", "/rules.txt", "/"]
    gaps_s = [after[0] - before[1] for before, after in itertools.pairwise(log)]
    assert min(gaps_s) >= DELAY_S
