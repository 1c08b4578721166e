from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.topic.best_first import best_first
from benchmarks.topic.harvest import faults, harvest, least, line
from benchmarks.topic.simulator import Order, Simulated, port_of, simulate
from benchmarks.topic.sites import ServedSites
from benchmarks.topic.web import BenchTopic, PageText, Web
from crawlclean.storage.queue import clients

HOSTS = {"a.test": "127.0.9.1", "b.test": "127.0.9.2", "portal.test": "127.0.9.3"}
PAGES = 12
GOOD = frozenset(f"b.test/quake/{number}.html" for number in range(PAGES))
TOPIC = BenchTopic(
    name="quake", query="地震 救援", examples=("b.test/quake/0.html",), relevant=GOOD
)


def web() -> Web:
    links: dict[str, tuple[tuple[str, str], ...]] = {
        "portal.test/index.html": (("a.test/index.html", "甲"), ("b.test/index.html", "乙"))
    }
    texts = {}
    for host in ("a.test", "b.test"):
        folders = ("quake", "food") if host == "b.test" else ("food",)
        pages = tuple(
            (f"{host}/{folder}/{number}.html", f"第{number}条")
            for folder in folders
            for number in range(PAGES)
        )
        links[f"{host}/index.html"] = pages
        texts[f"{host}/index.html"] = PageText(title="首页", body="欢迎")
        for target, _ in pages:
            links[target] = ((f"{host}/index.html", "首页"),)
            what = "地震灾区的救援队伍来了，" if "quake" in target else "今天的菜谱很好吃，"
            texts[target] = PageText(title=f"新闻{target}", body=f"{what * 20}这是{target}。")
    return Web(portal=("portal.test/index.html",), links=links, texts=texts, topics=(TOPIC,))


class Site:
    """A folder of pages, read as the data's own module reads it."""

    mount = ""

    def __init__(self, host: str, www: str) -> None:
        self.root = f"{www}/{host}"
        self.files = {str(f.relative_to(self.root)) for f in Path(self.root).rglob("*.html")}

    def resolve(self, path: str, _query: str) -> tuple[str, str] | None:
        if path == "/":
            return "redir", "/index.html"
        return ("file", path[1:]) if path[1:] in self.files else None


def serve(www: Path, small: Web, draw: int) -> ServedSites:
    """Writes the pages of a web with links for one draw, and links to what is not there."""
    for page, out in small.links.items():
        text = small.texts.get(page, PageText(title="网站导航", body=""))
        urls = [(target.partition("/")[0], target.partition("/")[2], name) for target, name in out]
        rows = [
            f'<li><a href="http://{HOSTS[host]}:{port_of(draw)}/{path}">{name}</a>'
            for host, path, name in urls
        ]
        if page in ("a.test/index.html", "b.test/index.html"):
            rows.append('<li><a href="/gone.html">地震救援</a>')
        more = f'，见<a href="http://nowhere.test/{page}">地震救援</a>' if "quake" in page else ""
        file = www / page
        file.parent.mkdir(parents=True, exist_ok=True)
        body = f"<h1>{text.title}</h1><p>{text.body}{more}</p><ul>{''.join(rows)}</ul>"
        file.write_text(f"<meta charset=utf-8><title>{text.title}</title>{body}", "utf-8")
    module = SimpleNamespace(Site=Site, SITES=HOSTS, ip=HOSTS.__getitem__)
    return ServedSites(module, www, port_of(draw))


def crawl(folder: Path, small: Web, draw: int, max_pages: int) -> tuple[list[str], Simulated]:
    """Simulates a draw in a process of its own; returns the pages in order, and what it did."""
    sites = serve(folder / f"www{draw}", small, draw)
    order = Order(
        name=TOPIC.name,
        query=TOPIC.query,
        examples=None,
        seeds=small.portal,
        max_pages=max_pages,
        delay_s=0.05,
    )
    with get_context("fork").Pool(1) as pool:
        did = pool.apply(simulate, (order, sites, folder / f"data{draw}", draw))
    return [sites.page(url) for _, url in did.fetched], did


@pytest.fixture
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the records of a test out of ``build``."""
    monkeypatch.setattr("benchmarks.topic.records.BUILD", tmp_path / "build")


@pytest.mark.usefixtures("own_records")
def test_the_product_crawls_on_a_clock_of_the_simulator(tmp_path: Path) -> None:
    small = web()
    pages, did = crawl(tmp_path, small, 0, 100)
    assert set(pages) - {"portal.test/index.html"} == small.reachable
    assert did.failed == 2, "the dead link of each list"
    assert 0 < did.unknown_names < PAGES, "a name is given up after a few look-ups"
    times = [at_s for at_s, _ in did.fetched]
    assert times == sorted(times)
    for host in HOSTS.values():
        own = [at_s for at_s, url in did.fetched if f"//{host}:" in url]
        assert all(after - before >= 0.05 for before, after in pairwise(own))
    found = harvest(small, TOPIC, pages)
    assert found.is_whole
    food = [place for place, page in enumerate(pages) if "food" in page]
    quake = [place for place, page in enumerate(pages) if "quake" in page]
    assert sum(quake) / len(quake) < sum(food) / len(food), "links to the topic go first"
    source = clients.script_source("lease")
    assert "cc:simulated_ms" not in source, "the scripts of this process are the product's"
    assert source.count("redis.call('TIME')") == 1


@pytest.mark.usefixtures("own_records")
def test_draws_differ_and_a_budget_ends_a_crawl(tmp_path: Path) -> None:
    small = web()
    orders = [crawl(tmp_path, small, draw, 20)[0] for draw in (0, 1)]
    assert orders[0] != orders[1]
    for pages in orders:
        assert 20 <= len(pages) <= 30, "the budget, and what was under way"
        assert set(pages) <= small.reachable | set(small.portal)


def test_best_first_fetches_every_page_once() -> None:
    small = web()
    pages = list(best_first(small, TOPIC))
    assert len(pages) == len(set(pages))
    assert set(pages) == small.reachable
    assert line([harvest(small, TOPIC, pages)]).startswith("recall 5/10/20/30 %: ")


def test_a_page_is_a_step_once_and_the_portal_is_none() -> None:
    small = web()
    targets = sorted(small.targets(TOPIC))
    found = harvest(small, TOPIC, [*small.portal, targets[0], targets[0], targets[1]])
    assert found.pages == 2
    assert found.recall[-1] == pytest.approx(2 / len(targets))
    assert not found.is_whole, "it ended before its last step, with targets left"
    assert harvest(small, TOPIC, targets).is_whole


def test_live_may_be_a_little_below_the_least_draw() -> None:
    small = web()
    one = harvest(small, TOPIC, [])
    draws = [replace(one, recall=(0.3, 0.6, 0.9, 1.0)), replace(one, recall=(0.4, 0.5, 1.0, 1.0))]
    assert least(draws) == [0.3, 0.5, 0.9, 1.0]
    assert faults(replace(one, recall=(0.0, 0.41, 0.81, 0.5)), draws) == []
    assert faults(replace(one, recall=(0.4, 0.39, 0.9, 1.0)), draws) == [
        "live .39 at 10 %, least draw .50"
    ]
    assert len(faults(replace(one, recall=(0.4, 0.1, 0.1, 1.0)), draws)) == 2
