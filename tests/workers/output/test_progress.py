"""What a running crawl and long batch work show."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from crawlclean.cleaning.lexicon import duration
from crawlclean.storage.crawl_types import CrawlCounts, CrawlState
from crawlclean.workers.operations.controlling.waits import visit_text
from crawlclean.workers.operations.crawling.lifecycle import VisitWait
from crawlclean.workers.operations.crawling.many_crawls import SitesCounts
from crawlclean.workers.output.progress import (
    LEAST_PAST_S,
    LOG_LINE_S,
    QUIET_S,
    Progress,
    SitesProgress,
    Tally,
)

COUNTS = CrawlCounts(
    state=CrawlState.RUNNING,
    pending=7,
    leased=1,
    queued=2,
    done=9,
    stored=8,
    failed=1,
    fetched=12,
    hosts=1,
    budget_left=None,
)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def last_line(out: io.StringIO) -> str:
    return out.getvalue().splitlines()[-1]


def test_a_log_has_a_line_a_minute_and_at_changes(clock: Clock) -> None:
    out = io.StringIO()
    shown = Progress(out)
    for _ in range(960):
        clock.now += 0.125
        shown.show(COUNTS)
    assert len(out.getvalue().splitlines()) == 120 / LOG_LINE_S
    shown.show(COUNTS, "paused")
    shown.show(COUNTS, "paused")
    assert len(out.getvalue().splitlines()) == 3
    shown.print_line("a message")
    shown.show(replace(COUNTS, hosts=2), "the end", last=True)
    *_, said, last = out.getvalue().splitlines()
    assert said == "a message"
    assert last == (
        "fetched 12, cleaned 8, failed 1, in flight 3 (2 at workers), waiting 7, 0.0 pages/s, "
        "2 hosts, 2m00s (the end)"
    )
    assert "\x1b" not in out.getvalue()
    assert "\r" not in out.getvalue()


def test_the_rate_is_that_of_the_last_minute(clock: Clock) -> None:
    out = io.StringIO()
    shown = Progress(out)
    for n in range(600):
        clock.now += 1
        shown.show(replace(COUNTS, stored=3 * n))
    assert ", 3.0 pages/s" in last_line(out)
    for _ in range(66):
        clock.now += 1
        shown.show(replace(COUNTS, stored=3 * 599))
    assert ", 0.0 pages/s" in last_line(out)


def test_no_end_is_foretold_while_the_backlog_grows(clock: Clock) -> None:
    out = io.StringIO()
    shown = Progress(out)
    for n in range(70):
        clock.now += 1
        shown.show(replace(COUNTS, stored=2 * n, pending=9 * n))
    assert "left" not in last_line(out)


def test_the_end_is_foretold_by_a_limit_or_a_shrinking_backlog(clock: Clock) -> None:
    def line(budget_left: int | None, step: int, max_time_s: float | None = None) -> str:
        out = io.StringIO()
        shown = Progress(out, max_time_s)
        for n in range(61):
            clock.now += 1
            shown.show(
                replace(
                    COUNTS,
                    stored=2 * n,
                    pending=500 + step * n,
                    leased=0,
                    queued=0,
                    budget_left=budget_left,
                )
            )
        return last_line(out)

    assert line(240, +9).endswith("1m01s, about 2m00s left"), "240 pages, two a second"
    assert line(None, -5).endswith("1m01s, about 40s left"), "200 URLs, five a second fewer"
    assert line(None, +9, max_time_s=90).endswith("about 29s left")
    assert line(20, -5).endswith("about 10s left"), "what comes first"


def test_the_first_half_minute_foretells_nothing(clock: Clock) -> None:
    out = io.StringIO()
    shown = Progress(out)
    for n in range(int(LEAST_PAST_S)):
        shown.show(replace(COUNTS, stored=n, pending=100 - n), f"note {n}")
        clock.now += 1
    assert "left" not in out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (7.9, "7s"), (59.9, "59s"), (60, "1m00s"), (187, "3m07s"), (7500, "2h05m")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_what_waits_in_the_store_is_shown() -> None:
    said = io.StringIO()
    Progress(said).show(replace(COUNTS, pending=70, spilled=63), last=True)
    assert "waiting 70 (63 in the store), " in said.getvalue()


def test_sites_name_the_slowest(clock: Clock) -> None:
    out = io.StringIO()
    shown = SitesProgress(out)
    for n in range(61):
        clock.now += 1
        shown.show(
            SitesCounts(
                ended=1,
                now=2,
                to_come=3,
                fetched=9 * n,
                cleaned=4 * n,
                at_workers=5,
                waiting=340,
                visits=None,
                note="",
                open_sites=[
                    ("http://fast.example/", 3 * n, 300),
                    ("http://slow.example/", n // 5, 40),
                ],
            )
        )
    shown.site_ended("http://fast.example/", "", 9, 61.0)
    *_, line, ended = out.getvalue().splitlines()
    assert line == (
        "1 of 6 sites ended, 2 open, fetched 540, cleaned 240, 5 at workers, waiting 340, "
        "4.0 pages/s, 1m01s, slowest http://slow.example/ (40 waiting, 0.2 pages/s)"
    )
    assert ended == "http://fast.example/: done, 9 records, 1m01s"


def test_short_work_shows_nothing(clock: Clock) -> None:
    out = io.StringIO()
    tally = Tally("cleaned", 1, out)
    tally.done = 9
    clock.now += QUIET_S / 2
    tally.show()
    clock.now += QUIET_S
    tally.show(last=True)
    assert out.getvalue() == ""


def test_long_work_shows_how_far_it_is(clock: Clock) -> None:
    out = io.StringIO()
    tally = Tally("cleaned", 3, out)
    tally.show()
    tally.files, tally.done, tally.failed = 2, 98, 2
    clock.now += 10
    tally.show()
    tally.show()
    tally.print_line("a.html: broken")
    tally.files, tally.done = 3, 198
    clock.now += 10
    tally.show(last=True)
    assert out.getvalue().splitlines() == [
        "cleaned 98 pages, 2 failed, file 2 of 3, 10.0 pages/s, 10s",
        "a.html: broken",
        "cleaned 198 pages, 2 failed, file 3 of 3, 10.0 pages/s, 20s",
    ]


@pytest.mark.parametrize(
    ("visits", "shown"),
    [
        ((0, 200.4), "next visit in 3m20s, "),
        ((12, 0.0), "12 to visit again, "),
        ((0, None), "visited again 7, 0.0 pages/s"),
    ],
)
def test_a_crawl_that_keeps_fresh_shows_when_it_goes_on(visits: VisitWait, shown: str) -> None:
    said = io.StringIO()
    Progress(said).show(replace(COUNTS, revisited=7), visits=visits, last=True)
    assert "visited again 7, " in said.getvalue()
    assert shown in said.getvalue()


def test_when_a_page_is_visited_again() -> None:
    now = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
    assert visit_text(now + timedelta(seconds=30), now) == "next visit at 23:59:30 UTC (in 30s)"
    later = visit_text(now + timedelta(hours=3), now)
    assert later == "next visit at 2026-11-23 02:59:00 UTC (in 3h00m)"
    assert visit_text(now - timedelta(hours=1), now) == "a visit is due since 22:59:00 UTC"
