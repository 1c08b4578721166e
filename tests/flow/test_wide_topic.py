"""A topic crawl finds hosts through links, and loses little on a link farm, dead and slow hosts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.topic.wide import crawl_wide, least_gap_s
from crawlclean.storage.queue.topic_ranks import MOST_HOSTS
from tests.kit.wide_web import ROBOTS, WideSpec

SMALL = WideSpec(news=20, slow=2, plain=10, farm=8, dead=3, articles=6, seeds=2)
DELAY_S = 0.2
PAGES = 90


def test_new_hosts_are_found_through_links(tmp_path: Path) -> None:
    visits, report = crawl_wide(tmp_path, SMALL, PAGES, DELAY_S)
    pages = [visit for visit in visits if visit.path != ROBOTS]
    found = {(visit.host, visit.path) for visit in pages if visit.is_relevant}
    assert len({host for host, _ in found}) >= 6  # the seeds link to two of them
    assert len(found) >= PAGES / 8
    farm = Counter(visit.host for visit in pages if visit.is_farm)
    assert farm.total() < len(found)  # although each of its links names the topic
    assert len(farm) <= MOST_HOSTS
    assert least_gap_s(visits) >= DELAY_S - 0.005
    assert report["topic"]["relevant"] >= len(found) / 2
