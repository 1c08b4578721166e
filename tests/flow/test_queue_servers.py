"""A crawl over several queue servers: real servers, spiders and workers, kills, and a new list."""

from __future__ import annotations

import json
import signal
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from storage.mongo.store import MongoStore
from storage.server_list import server_of
from tests.kit.crawls import ROOT, crawlclean, start
from tests.kit.mongo_server import free_port, inside, running
from tests.kit.queue_server import QueueServer
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html
from tests.kit.wide_web import NAMES

HOSTS = ("s2.test", "s3.test", "s4.test", "s5.test")
"""The first two are on the second of two servers, the others on the first."""
PAGES = 10
DELAY_S = 0.1
TEXT = "这是一段足够长的正文文字，用来让页面看起来像一篇真正的文章。" * 4


def site(port: int) -> dict[str, Page]:
    """Pages ``/<host>/<n>``; each links to two of its host, and to one of the next host."""
    pages: dict[str, Page] = {}
    for place, host in enumerate(HOSTS):
        after = HOSTS[(place + 1) % len(HOSTS)]
        for n in range(PAGES):
            links = {f"http://{after}:{port}/{after}/{n}": f"下一站的文章 {n}"}
            for m in (2 * n + 1, 2 * n + 2):
                if m < PAGES:
                    links[f"http://{host}:{port}/{host}/{m}"] = f"本站的文章 {m}"
            pages[f"/{host}/{n}"] = html(f"{host} 第 {n} 篇", f"{host} {n} {TEXT}", links=links)
        picture = f'<p>{TEXT}</p><p><img src="http://{after}:{port}/{after}/p.png"></p>'
        album = html(f"{host} 相册", TEXT, links={f"/{host}/text": "说明文字"})
        pages[f"/{host}/album"] = album.replace("<ul>", f"{picture}<p>{TEXT}</p><ul>")
        pages[f"/{host}/text"] = html(f"{host} 说明", f"{host} {TEXT}")
        png = b"\x89PNG\r\n\x1a\n" + host.encode() * 40
        headers = {"Content-Type": "image/png"}
        pages[f"/{host}/p.png"] = {"body_base64": b64encode(png).decode(), "headers": headers}
    return pages


@dataclass(frozen=True)
class World:
    """Servers, a web, and the settings that lead to them."""

    servers: list[QueueServer]
    web: Web
    settings: dict[str, str]

    @property
    def seed(self) -> str:
        return f"http://{HOSTS[0]}:{self.web.port}/{HOSTS[0]}/0"

    def given(self, number: int) -> dict[str, str]:
        """The settings with the first servers as the list."""
        urls = ",".join(each.url for each in self.servers[:number])
        return {**self.settings, "CRAWLCLEAN_REDIS_URL": urls}

    def run(self, *more: str) -> tuple[str, ...]:
        """The arguments of the crawl."""
        return (
            *("run", self.seed, "--scope", "any", "--allow-private", "--workers", "1", "--json"),
            *("--delay", str(DELAY_S), "--crawl", "c", *more),
        )

    def asked(self) -> Mapping[str, int]:
        """How often each page was asked for."""
        return {path: n for path, n in self.web.requests().items() if "test/" in path}

    def make_due(self) -> int:
        """As if the next visits of all pages were due now; returns their number."""
        store = MongoStore(self.settings["CRAWLCLEAN_MONGODB_URL"])
        try:
            has_visit = {"next_visit": {"$gt": 0}}
            done = inside(store).urls.update_many(
                has_visit, {"$set": {"next_visit": time.time_ns() // 1000}}
            )
            return int(done.matched_count)
        finally:
            store.close()

    def records(self) -> list[str]:
        store = MongoStore(self.settings["CRAWLCLEAN_MONGODB_URL"])
        try:
            return sorted(record.url for record in store.records.scan())
        finally:
            store.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    names = tmp_path / "names"
    names.mkdir()
    (names / "sitecustomize.py").write_text(NAMES, "utf-8")
    port = free_port()
    with ExitStack() as stack:
        servers = [stack.enter_context(QueueServer(tmp_path / f"queue{n}")) for n in range(3)]
        mongo = stack.enter_context(running(tmp_path / "mongo"))
        web = stack.enter_context(Web(tmp_path / "web", site(port), port=port))
        settings = {
            "PYTHONPATH": f"{names}:{ROOT}",
            "CRAWLCLEAN_MONGODB_URL": mongo.url("crawl"),
            "CRAWLCLEAN_DATA": str(tmp_path / "data"),
        }
        yield World(servers, web, settings)


def assert_polite(world: World) -> None:
    """Between an answer of a host and the next request to it is the pause."""
    for host in HOSTS:
        rows = [row for row in world.web.log() if f"/{host}/" in row[2]]
        for (_, answered, _), (arrival, _, path) in pairwise(sorted(rows)):
            assert arrival - answered >= DELAY_S - 0.005, path


def test_a_crawl_over_two_servers_survives_one_and_moves_to_three(world: World) -> None:
    assert [server_of(f"{host}:{world.web.port}", 2) for host in HOSTS] == [1, 1, 0, 0]
    two, three = world.given(2), world.given(3)
    limit = 25
    crawl = start(*world.run("--max-pages", str(limit)), **two)
    try:
        wait_until(lambda: len(world.asked()) >= 8, limit_s=LIMIT_S)
        for server in world.servers[:2]:
            server.kill()
            server.start()
        out, err = crawl.communicate(timeout=LIMIT_S)
    finally:
        crawl.kill()
    assert crawl.returncode == 3, err
    summary = json.loads(out)
    assert (summary["records"], summary["ended_by"]) == (limit, "limit"), "to the page"
    assert len(world.records()) == limit
    places = {server_of(url.split("/")[2], 2) for url in world.records()}
    assert places == {0, 1}, "links lead from one server to the other"
    row = json.loads(crawlclean("crawls", "--json", env=two).stdout)
    assert (row["records"], row["state"]) == (limit, "stopped")

    # Another list: refused, then taken into use.
    refused = crawlclean(*world.run(), env=three, check=False)
    assert "hosts are split over 2 queue servers, this list has 3" in refused.stderr
    assert refused.stderr.count("\n") == 1
    moved = crawlclean("recover", "--servers", env=three)
    assert f"recovered c: {limit} finished URLs" in moved.stdout
    old = crawlclean("stop", "c", env=two, check=False)
    assert "hosts are split over 3 queue servers, this list has 2" in old.stderr

    summary = json.loads(crawlclean(*world.run(), env=three).stdout)
    assert (summary["state"], summary["records"]) == ("finished", len(HOSTS) * PAGES)
    everything = sorted(f"http://{h}:{world.web.port}/{h}/{n}" for h in HOSTS for n in range(PAGES))
    assert world.records() == everything
    twice = {path: n for path, n in world.asked().items() if n > 1}
    assert sum(twice.values()) <= 2 * len(HOSTS), "requests under way at the kills alone"
    assert_polite(world)


def test_sites_with_images_are_kept_fresh_over_two_servers(world: World, tmp_path: Path) -> None:
    two, listed = world.given(2), tmp_path / "sites.txt"
    chosen = (HOSTS[1], HOSTS[3])
    """One site on each server; its picture is of the next host, on the other server."""
    assert [server_of(f"{host}:{world.web.port}", 2) for host in chosen] == [1, 0]
    seeds = [f"http://{host}:{world.web.port}/{host}/album" for host in chosen]
    listed.write_text("\n".join(seeds), "utf-8")
    arguments = ("sites", str(listed), "--images", "--allow-private", "--workers", "1", "--json")
    pages = [f"/{host}/{name}" for host in chosen for name in ("album", "text")]
    pictures = [f"/{HOSTS[2]}/p.png", f"/{HOSTS[0]}/p.png"]
    fresh = start(*arguments, "--keep-fresh", "--delay", str(DELAY_S), **two)
    try:
        wait_until(lambda: len(world.records()) == len(pages), limit_s=LIMIT_S)
        wait_until(lambda: {*pictures} <= world.asked().keys(), limit_s=LIMIT_S)
        wait_until(lambda: world.make_due() == len(pages), limit_s=LIMIT_S)
        wait_until(lambda: all(world.asked()[each] > 1 for each in pages), limit_s=LIMIT_S)
        fresh.send_signal(signal.SIGINT)
        out, err = fresh.communicate(timeout=LIMIT_S)
    finally:
        fresh.kill()
    assert fresh.returncode == 130, err
    reports = [json.loads(line) for line in out.splitlines()]
    assert [each["url"] for each in reports] == seeds
    assert [(each["records"], each["failed"]) for each in reports] == [(2, 0), (2, 0)], out
    assert [each["state"] for each in reports] == ["stopped", "stopped"], "it keeps fresh"

    ended = crawlclean(*arguments, "--delay", str(DELAY_S), env=two)
    reports = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(each["state"], each["records"]) for each in reports] == [("finished", 2)] * 2
    assert [world.asked()[each] for each in pictures] == [1, 1]
    assert_polite(world)
