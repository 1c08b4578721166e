"""What the seeds of a topic name: hosts that are all relevant, and home pages that say nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.kit.crawls import crawlclean
from tests.kit.web import Web, html

HOSTS = tuple(f"127.21.1.{n}" for n in range(1, 5))
PAGES = 16  # of a host: four of them are over the pages from which a domain has a share
LAMP = "海岬上的灯塔建于{n}年前,守塔人每晚点亮灯塔,船只靠灯塔的光进港。第{n}号日志记下了风向。"
ROOM = "本店第{n}间客房朝南,配有书桌与热水,可住{n}人,早餐另计,入住时间为下午两点,退房在中午。"


@contextmanager
def webs(place: Path, *pages: dict[str, str]) -> Iterator[list[Web]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(Web(place / address, own, address))
            for address, own in zip(HOSTS, pages, strict=False)
        ]


def lamps(home: str = "灯塔") -> dict[str, str]:
    """A host whose pages are all on the topic, behind its home page."""
    articles = {f"/a/{n}.html": f"灯塔日志第{n}号" for n in range(1, PAGES)}
    return {"/": html(home, links=articles)} | {
        path: html(title, *[LAMP.format(n=n * 7 + k) for k in range(4)])
        for n, (path, title) in enumerate(articles.items(), 1)
    }


def crawl(place: Path, *options: str) -> str:
    return crawlclean(
        *("topic", "lamps", "--query", "灯塔", "--allow-private", "--delay", "0.02"),
        *("--data", str(place / "data"), *options),
    ).stdout


def leased_at(place: Path, url: str) -> str:
    """When the queue gave a URL to the spider: its clock decides, servers are busy or not."""
    why = crawlclean("why", url, "--json", "--data", str(place / "data")).stdout
    steps = json.loads(why.splitlines()[0])["steps"]
    return str(next(each["at"] for each in steps if each["step"] == "leased"))


@pytest.mark.parametrize("scope", ["host", "topic"])
def test_seed_hosts_that_are_all_relevant_are_crawled_whole(tmp_path: Path, scope: str) -> None:
    with webs(tmp_path, *[lamps()] * len(HOSTS)) as found:
        seeds = [web.url("/") for web in found]
        end = crawl(tmp_path, "--scope", scope, "--seeds", *seeds)
        fetched = [set(web.requests()) - {"/robots.txt"} for web in found]
    assert [len(each) for each in fetched] == [PAGES] * len(HOSTS), end


def test_home_pages_that_a_seed_names_come_first(tmp_path: Path) -> None:
    """Rooms with the name of the topic stand before the home pages, on the seed as on the web."""
    rooms = {f"/room-{n}.html": f"灯塔旅馆客房{n}" for n in range(1, 13)}
    inn = {"/": html("欢迎光临", links=rooms)} | {
        path: html(title, *[ROOM.format(n=n + k) for k in range(3)])
        for n, (path, title) in enumerate(rooms.items(), 1)
    }
    with webs(tmp_path, {}, inn, lamps("首页"), lamps("主页")) as (_, *found):
        named = {found[0].url(path): title for path, title in rooms.items()}
        homes = {web.url("/"): "网站首页" for web in found}
        with Web(tmp_path / "portal", {"/": html("网址导航", links=named | homes)}) as portal:
            crawl(
                tmp_path,
                *("--scope", "any", "--max-pages", "45", "--seeds", portal.url("/")),
            )
        paths = [[path for *_, path in web.log() if path != "/robots.txt"] for web in found]
    assert [each[0] for each in paths] == ["/"] * 3
    first, second = (
        [leased_at(tmp_path, web.url(each[n])) for web, each in zip(found, paths, strict=True)]
        for n in (0, 1)
    )
    assert max(first) < min(second)
    assert min(len(set(each)) for each in paths[1:]) >= PAGES - 2, "behind the home pages"
