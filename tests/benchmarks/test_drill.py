"""The drill's site and its scripted operator; one whole drill, at small scale."""

from __future__ import annotations

from benchmarks.drill.drill import drill
from benchmarks.drill.drill_site import DrillSite
from benchmarks.drill.troubles import TROUBLES
from cleaning import RawPage, clean


def body_of(site: DrillSite, path: str) -> str:
    status, source = site.answer(3, path)
    assert status == 200
    url = f"http://127.88.0.4{path}"
    page = RawPage.from_bytes(url, source.encode(), "text/html; charset=utf-8")
    return clean(page).body


def test_what_a_trouble_makes_of_pages() -> None:
    site = DrillSite(short_host=3)
    before = body_of(site, "/news/7.html")
    assert len(before) > 100
    site.switches.redesigned.add(3)
    assert len(body_of(site, "/news/7.html")) > 100
    assert site.answer(3, "/news/7.html") != site.answer(4, "/news/7.html")
    site.switches.walls.add(3)
    assert len(body_of(site, "/news/7.html")) < 30
    assert site.answer(3, "/cal/2026/1/1.html")[0] == 404
    site.switches.calendars.add(3)
    assert "/cal/2027/1/28.html" in site.answer(3, "/cal/2026/12/1.html")[1]
    assert site.answer(3, "/news/9999.html")[0] == 404
    assert site.switches.asked[3, "cal"] == 2


def test_a_script_mends_a_paused_host() -> None:
    found = drill(1, 5, normal_s=0, is_auto=True)
    assert found["mended_s"] is not None, found
    assert found["actions"] == ["resume_host: hosts 1"]
    assert found["clicks"] == 3
    assert len(TROUBLES) == 6
