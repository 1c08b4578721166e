"""A spider whose machine has no network does not hold a crawl back (ADR 48)."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from redis import Redis

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.queue.embedded import socket_url
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder
from tests.kit.crawls import ROOT, command, counted, environment, start
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html

COUNT = 20
MACHINE = "cutoff"
LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"

may_unshare = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="only root on Linux makes a machine without a network",
)


def start_cut_off(data: Path) -> subprocess.Popen[str]:
    """A spider on a machine of its own name, which has the data folder but no network."""
    script = f'hostname {MACHINE} && exec "$@"'
    return subprocess.Popen(
        ["unshare", "--net", "--uts", "sh", "-c", script, "sh",
         *command("spider", "--data", str(data))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip


@may_unshare
def test_a_spider_without_a_network_leaves_the_host_to_others(tmp_path: Path) -> None:
    links = {f"/{i}": f"第{i}页" for i in range(COUNT)}
    pages: dict[str, Page] = {"/": html("首页", links=links)}
    pages |= {path: {"body": html(path, LONG), "latency_ms": 100} for path in links}
    data = tmp_path / "data"
    folder = DataFolder(data)
    with Web(tmp_path / "web", pages) as web, ExitStack() as ending:
        arguments = ("--workers", "1", "--crawl", "c", "--delay", "0.2", "--allow-private")
        crawl = start("run", web.url(), *arguments, "--data", str(data))
        ending.callback(crawl.kill)
        wait_until(lambda: len(web.requests()) > 2)
        folder.output("crawl", "pause", "c")
        spider = start_cut_off(data)
        ending.callback(spider.kill)
        with Redis.from_url(socket_url(data)) as client:
            wait_until(lambda: client.zcard("cc:spiders") == 2)
            folder.output("crawl", "resume", "c")
            wait_until(lambda: bool(client.hget(f"cc:g:{web.host}", "unable")))
        _, errors = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 0, errors
        _, log = spider.communicate(timeout=LIMIT_S)
        assert spider.returncode == 0, log
        assert counted(data) == {UrlState.RECORD: COUNT + 1}
        assert max(web.requests().values()) == 1
        assert "warning spider a host is left to other machines" in log
        with closing(SqliteStore(data / "records.sqlite")) as store:
            rows = [store.urls.rows(page_id(web.url(path)))[0] for path in pages]
        left = [step for row in rows for step in row.log if step.step == "elsewhere"]
        assert len(left) == 1
        assert left[0].detail.startswith(f"{MACHINE} does not reach the host: connect: ")
        assert not [step for row in rows for step in row.log if step.step == "away"]
        [url] = [row.url for row in rows if "elsewhere" in [step.step for step in row.log]]
        assert f"{MACHINE} does not reach the host" in folder.output("why", url)
