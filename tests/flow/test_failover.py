"""A queue's replica takes over in the middle of a crawl, at the address of its dead primary.

The address moves by ``CONFIG SET port``: the replica listens at its primary's port.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.crawls import crawlclean, start
from tests.kit.mongo_server import running
from tests.kit.queue_server import QueueServer
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html
from tests.kit.worker_bench import LONG

PARTS = ("", "second", "third")
PAGES = 15  # of a part, beside its list
LAST = 5
"""Pages of the second part that are done when the primary dies."""


def site_of(gates: Path) -> dict[str, Page]:
    """A site in three parts; the second and the third answer when their file is gone."""
    gates.mkdir()
    site: dict[str, Page] = {}
    for part, behind in zip(PARTS, (*PARTS[1:], ""), strict=True):
        paths = [f"/{part or 'first'}-{n}" for n in range(PAGES)]
        links = {path: f"第{path}页" for path in (*paths, *([f"/{behind}"] if behind else []))}
        (gates / (part or "open")).touch()
        held = {"held_by": str(gates / part)} if part else {}
        site[f"/{part}"] = {"body": html(f"目录{part}", LONG, links=links), **held}
        site |= {path: html(f"文章{path}", f"{path} {LONG}") for path in paths}
    return site


@pytest.mark.parametrize("is_cut_off", [False, True], ids=["up_to_date", "cut_off_before"])
def test_a_replica_takes_over(tmp_path: Path, *, is_cut_off: bool) -> None:
    site = site_of(tmp_path / "gates")
    with (
        QueueServer(tmp_path / "primary") as primary,
        QueueServer(tmp_path / "replica") as replica,
        running(tmp_path / "mongo") as mongo,
        Web(tmp_path / "web", site) as web,
        closing(Frontier(primary.url)) as queue,
        closing(Frontier(replica.url)) as copy,
        closing(Redis.from_url(replica.url, decode_responses=True)) as client,
    ):

        def done(at: Frontier) -> set[str]:
            """The paths of the pages that a queue takes for done."""
            ids = {path: page_id(web.url(path)) for path in site}
            return {
                path
                for crawl in at.crawl_ids()
                for path, page in ids.items()
                if at.has_seen(crawl, page) and at.trace(crawl, page, web.host) is None
            }

        _replicate(client, primary)
        env = {
            "CRAWLCLEAN_REDIS_URL": primary.url,
            "CRAWLCLEAN_MONGODB_URL": mongo.url("crawl"),
            "CRAWLCLEAN_DATA": str(tmp_path / "data"),
        }
        run = start("run", web.url(), "--allow-private", "--json", "--workers", "1", **env)
        wait_until(lambda: len(done(copy)) > PAGES)
        if is_cut_off:
            client.replicaof("NO", "ONE")
        (tmp_path / "gates" / "second").unlink()
        last = queue if is_cut_off else copy
        wait_until(lambda: len(done(last)) > PAGES + LAST)
        told = done(queue)
        primary.kill()
        kept = done(copy)
        assert len(told - kept) >= LAST or not is_cut_off, "what came last is on the primary alone"
        client.config_set("port", primary.url.rpartition(":")[2].partition("/")[0])
        if not is_cut_off:
            client.replicaof("NO", "ONE")  # until now it has refused every write
        (tmp_path / "gates" / "third").unlink()
        out, err = run.communicate(timeout=LIMIT_S)
        assert run.returncode == 0, err
        assert json.loads(out)["records"] == len(site)
        with closing(MongoStore(env["CRAWLCLEAN_MONGODB_URL"])) as store:
            urls = sorted(record.url for record in store.records.scan())
        assert urls == sorted(map(web.url, site)), "each page has one record"
        asked = web.requests()
        assert {path for path in kept if asked[path] > 1} == set()
        assert max(asked[path] for path in site) <= 2
        assert done(queue) == set(site)
        (counts,) = queue.counts_of(queue.crawl_ids()).values()
        assert (counts.done, counts.open, counts.failed) == (len(site), 0, 0)
        found = crawlclean("crawl", "recover", env=env).stdout
        assert found == "nothing to recover: queue and store have the same crawls\n"


def _replicate(client: Any, primary: QueueServer) -> None:
    """Makes a server the replica of a primary; returns when it has what its primary has."""
    client.replicaof("127.0.0.1", primary.url.rpartition(":")[2].partition("/")[0])
    wait_until(lambda: client.info("replication")["master_link_status"] == "up")
