from __future__ import annotations

from collections.abc import Iterable

from benchmarks.topic.crawlers import FLOOR, Judge, Plan, TopicCrawl, best_first, breadth_first
from benchmarks.topic.harvest import AT, harvest, line
from benchmarks.topic.robust import DRAWS, WAYS, Change, Found, crawl_all
from benchmarks.topic.spread import leave_one_out, parts
from benchmarks.topic.web import BenchTopic, PageText, Web

HOSTS = ("a.test", "b.test", "c.test")
PAGES = 40
GOOD = frozenset(f"b.test/quake/{number}.html" for number in range(PAGES))
TOPIC = BenchTopic(
    name="quake", query="地震 救援", examples=("b.test/quake/0.html",), relevant=GOOD
)


def web() -> Web:
    links: dict[str, tuple[tuple[str, str], ...]] = {
        "portal.test/": tuple((f"{host}/", host) for host in HOSTS)
    }
    texts = {f"{host}/": PageText(title="首页", body="欢迎") for host in HOSTS}
    for host in HOSTS:
        folders = ("quake", "food") if host == "b.test" else ("food",)
        links[f"{host}/"] = tuple(
            (f"{host}/{folder}/{number}.html", f"第{number}条")
            for folder in folders
            for number in range(PAGES)
        )
        for target, _ in links[f"{host}/"]:
            links[target] = ((f"{host}/", "首页"),)
            body = "地震灾区的救援队伍" if "quake" in target else "今天的菜谱"
            texts[target] = PageText(title="新闻", body=body * 20)
    return Web(portal=("portal.test/",), links=links, dead={}, texts=texts, topics=(TOPIC,))


def test_every_crawler_fetches_every_page_once_and_ours_finds_the_topic_first() -> None:
    small = web()
    judge = Judge(small, TOPIC, examples=True)

    def ours(plan: Plan) -> Iterable[str]:
        return TopicCrawl(small, judge, plan).pages()

    crawls = {
        "breadth": breadth_first(small),
        "best": best_first(small, TOPIC),
        "ours": ours(Plan()),
        "floor": ours(Plan(ticks=True, floor=FLOOR)),
        "no floor": ours(Plan(ticks=True)),
    }
    orders = {name: list(pages) for name, pages in crawls.items()}
    for pages in orders.values():
        assert len(pages) == len(set(pages))
        assert set(pages) == small.reachable
    half = {name: harvest(small, TOPIC, pages).half for name, pages in orders.items()}
    assert half["ours"] < half["breadth"]
    assert half["floor"] < half["no floor"]
    assert list(ours(Plan())) == orders["ours"]


def test_a_line_has_the_means_and_the_least_topic() -> None:
    small = web()
    found = harvest(small, TOPIC, breadth_first(small))
    assert line([found]).startswith("recall 5/10/20/30 %: ")
    assert "least topic at 20 %: " in line([found])


def test_dead_links_are_followed_and_are_no_steps() -> None:
    small = web()
    gone = Web(
        portal=small.portal,
        links=small.links,
        dead={"a.test/": (("a.test/gone.html", "地震"),)},
        texts=small.texts,
        topics=small.topics,
    ).with_dead_links()
    assert gone.reachable == small.reachable
    pages = list(best_first(gone, TOPIC))
    assert "a.test/gone.html" in pages
    assert harvest(gone, TOPIC, pages).dead == 1


def test_each_part_is_crawled_in_the_ways_that_it_can_change() -> None:
    found = crawl_all(web(), ["as it is", "draws", "examples", "queries"])
    rows = {(title, str(way)): spread for title, way, spread in parts(found)}
    examples = "three examples, a page a host and tick"
    assert rows["as it is", examples].sd == (0.0,) * len(AT)
    assert rows["as it is", examples].crawls == 1
    assert rows["draws", examples].crawls == len(DRAWS)
    assert ("examples", "query alone") not in rows
    assert rows["queries", "query alone"].crawls == 3  # two queries of one word, one of titles


def test_a_constant_is_chosen_by_the_other_topics() -> None:
    way = WAYS[0]
    as_is = Change(part="as it is")
    halved = Change(part="constants", constant=("FLOOR", 0.5))
    found: Found = {
        (as_is, way): {"a": (0.5,) * 4, "b": (0.5,) * 4},
        (halved, way): {"a": (0.9,) * 4, "b": (0.4,) * 4},
    }
    (row,) = leave_one_out(found)
    assert row == ("FLOOR", way, (0.45,) * 4)
