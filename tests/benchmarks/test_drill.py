"""The drill's site and its scripted operator; one whole drill, at small scale."""

from __future__ import annotations

import signal
import subprocess

from benchmarks.drill.drill import drill, first_about
from benchmarks.drill.drill_site import DrillSite
from benchmarks.drill.troubles import TROUBLES, is_stopped
from cleaning import RawPage, clean
from tests.kit.timing import wait_until


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


def test_a_trouble_is_found_with_the_first_page_about_it() -> None:
    clicks = ["GET /", "GET /help", "GET /queues", "GET /hosts/127.88.0.4:80"]
    times = [1.0, 2.0, 3.0, 4.0]
    assert first_about(("127.88.0.4:80",), clicks, times) == 4
    assert first_about(("127.88.0.4:80", *TROUBLES[6].trail), clicks, times) == 3
    assert first_about(("/space",), clicks, times) is None


def test_a_stopped_process_is_told_from_one_that_works() -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        assert not is_stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: is_stopped(process.pid))
        process.kill()
    assert not is_stopped(process.pid)


def test_a_script_mends_a_paused_host() -> None:
    found = drill(1, 5, normal_s=0, is_auto=True)
    assert found["mended_s"] is not None, found
    assert found["actions"] == ["resume_host: hosts 1"]
    assert found["clicks"] == 2
    assert len(TROUBLES) == 6
