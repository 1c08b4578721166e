"""The same crawl on servers: a Redis-protocol server on TCP and a MongoDB-protocol server."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.queue.clients import open_client, queue_errors, wait_for_queue
from crawlclean.storage.queue.embedded import die_with_parent, find_server
from crawlclean.storage.store.pictures import image_id
from tests.flow.test_images import NOISE, article, picture, png
from tests.flow.test_one_crawl import small_site
from tests.kit.commands import call_main
from tests.kit.crawls import ROOT, crawlclean
from tests.kit.mongo_server import MongoServer, free_port
from tests.kit.timing import LIMIT_S
from tests.kit.web import Page, Web, html
from tests.kit.worker_bench import LONG, SABOTAGE


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """A Redis-protocol server of its own, as an operator would run it."""
    folder, port = tmp_path / "redis", free_port()
    folder.mkdir()
    server = subprocess.Popen(
        [find_server(), "--port", str(port), "--bind", "127.0.0.1", "--appendonly", "yes"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        preexec_fn=die_with_parent(),
    )
    url = f"redis://127.0.0.1:{port}/0"
    client = open_client(url)

    def ping() -> None:
        with queue_errors():
            client.ping()

    wait_for_queue(ping, limit_s=LIMIT_S)
    client.close()
    yield url
    server.kill()
    server.wait()


def output(*arguments: str) -> str:
    """What a command prints that succeeds."""
    status, out, err = call_main(*arguments)
    assert status == 0, err
    return out


def test_a_crawl_on_servers_is_the_same(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mongo = MongoServer(tmp_path / "mongo")
    sabotage = tmp_path / "sabotage"
    sabotage.mkdir()
    (sabotage / "sitecustomize.py").write_text(SABOTAGE, "utf-8")
    site: dict[str, Page] = {
        **small_site(),
        "/c.html": article("丙文", "/1.png", links={"/kill": "毒"}),
        "/1.png": picture(png(1)),
        "/kill": html("毒", LONG),
    }
    servers = {
        "PYTHONPATH": f"{sabotage}:{ROOT}",
        "CRAWLCLEAN_REDIS_URL": redis_url,
        "CRAWLCLEAN_MONGODB_URL": mongo.url("crawl"),
        "CRAWLCLEAN_DATA": str(tmp_path / "data"),
    }
    for name in servers.keys() - {"PYTHONPATH"}:
        monkeypatch.setenv(name, servers[name])
    with mongo, Web(tmp_path / "web", site) as web:
        arguments = ("run", web.url(), "--allow-private", "--json", "--images")
        first = json.loads(crawlclean(*arguments, "--max-pages", "3", env=servers).stdout)
        with closing(open_client(redis_url)) as client:
            client.flushall()
        finished = re.search(r"(\d+) finished URLs", output("crawl", "recover"))
        assert finished
        assert int(finished[1]) >= first["records"] == 3
        summary = json.loads(crawlclean(*arguments, env=servers).stdout)
        assert (summary["records"], summary["new_records"]) == (6, 3)
        asked = web.requests()
        assert {path for path, n in asked.items() if n > 1} <= {"/robots.txt", "/map.xml", "/old"}
        store = MongoStore(servers["CRAWLCLEAN_MONGODB_URL"])
        pages = ["/", "/a.html", "/b.html", "/c.html", "/new.html", "/hidden.html"]
        assert sorted(r.url for r in store.records.scan()) == sorted(
            web.url(path) for path in pages
        )
        (crawl,) = store.crawls.all()
        assert (crawl.pages[UrlState.RECORD], crawl.pages[UrlState.IMAGE]) == (6, 1)
        assert store.answers.body(image_id(web.url("/1.png"))) == png(1)
        assert not NOISE & set(asked)
        reasons = {failure.url: failure.reason for failure in store.urls.failures()}
        assert reasons[web.url("/kill")] is FailureReason.POISON, "set aside alone"
        store.close()
        assert "乙文" in output("show", web.url("/b.html"))
        assert "status 404" in output("why", web.url("/missing"))
        again = crawlclean("run", web.url(), "--allow-private", "--json", env=servers)
        assert json.loads(again.stdout)["new_records"] == 0
    assert not (tmp_path / "data" / "records.sqlite").exists()
