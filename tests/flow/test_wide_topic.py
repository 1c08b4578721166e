"""A topic crawl finds hosts through links, and loses little on a link farm, dead and slow hosts."""

from __future__ import annotations

from pathlib import Path

from benchmarks.topic.wide import crawl_wide, least_gap_s
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
    assert sum(visit.is_farm for visit in pages) <= PAGES / 4
    assert len({visit.host for visit in pages if visit.is_farm}) <= 20
    assert least_gap_s(visits) >= DELAY_S - 0.005
    assert report["topic"]["relevant"] >= len(found) / 2
