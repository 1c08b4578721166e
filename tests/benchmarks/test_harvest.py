"""The ruler of topic crawls: what is a step, and when a crawl is whole."""

from __future__ import annotations

import pytest

from benchmarks.topic.harvest import harvest
from benchmarks.topic.web import BenchTopic, Web

PAGES = tuple(f"b.test/{number}.html" for number in range(12))
TOPIC = BenchTopic(
    name="quake", query="地震 救援", examples=PAGES[:1], relevant=frozenset(PAGES[:8])
)


def web() -> Web:
    """A portal with links to all pages."""
    links = dict.fromkeys(PAGES, ())
    portal = tuple((page, "") for page in PAGES)
    return Web(
        portal=("portal.test/",), links={**links, "portal.test/": portal}, texts={}, topics=(TOPIC,)
    )


def test_a_page_is_a_step_once_and_the_portal_is_none() -> None:
    small = web()
    targets = sorted(small.targets(TOPIC))
    found = harvest(small, TOPIC, [*small.portal, targets[0], targets[0], targets[1]])
    assert found.pages == 2
    assert found.recall[-1] == pytest.approx(2 / len(targets))
    assert not found.is_whole, "it ended before its last step, with targets left"
    assert harvest(small, TOPIC, targets).is_whole
