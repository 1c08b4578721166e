"""What a running crawl shows."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import pytest

from storage.crawl_types import CrawlCounts, CrawlState
from workers.output.progress import PLAIN_LINE_S, Progress, Tally, duration

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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_plain_lines_come_every_few_seconds(clock: Clock) -> None:
    out = io.StringIO()
    shown = Progress(out)
    for _ in range(100):
        clock.now += 0.1
        shown.show(COUNTS)
    assert len(out.getvalue().splitlines()) == 10 / PLAIN_LINE_S
    shown.print_line("a line")
    shown.show(replace(COUNTS, hosts=2), "the end", last=True)
    *_, said, last = out.getvalue().splitlines()
    assert said == "a line"
    assert last == (
        "fetched 12, cleaned 8, failed 1, in flight 3, waiting 7, 0.0 pages/s, 2 hosts, 10s "
        "(the end)"
    )
    assert "\x1b" not in out.getvalue()
    assert "\r" not in out.getvalue()


def test_a_terminal_has_one_live_line(clock: Clock) -> None:
    out = Terminal()
    shown = Progress(out)
    for n in range(5):
        clock.now += 0.1
        shown.show(replace(COUNTS, stored=n))
    assert "\n" not in out.getvalue()
    assert out.getvalue().count("\r\x1b[K") == 5
    shown.print_line("above")
    shown.show(COUNTS, last=True)
    assert out.getvalue().count("\n") == 2
    assert "\r\x1b[Kabove\n\r\x1b[Kfetched 12, " in out.getvalue()


def test_the_rate_is_that_of_the_last_seconds(clock: Clock) -> None:
    out = Terminal()
    shown = Progress(out)
    for n in range(60):
        clock.now += 1
        shown.show(replace(COUNTS, stored=3 * n))
    assert "3.0 pages/s" in out.getvalue().rpartition("\r")[2]
    for _ in range(11):
        clock.now += 1
        shown.show(replace(COUNTS, stored=3 * 59))
    assert "0.0 pages/s" in out.getvalue().rpartition("\r")[2]
    assert "1m11s" in out.getvalue().rpartition("\r")[2]


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


def test_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    out = io.StringIO()
    tally = Tally("cleaned", 1, out)
    tally.done = 9
    clock.now += PLAIN_LINE_S / 2
    tally.show()
    tally.show(last=True)
    assert out.getvalue() == ""


def test_long_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    out = io.StringIO()
    tally = Tally("cleaned", 3, out)
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


def test_on_a_terminal_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    out = Terminal()
    tally = Tally("cleaned", 1, out)
    clock.now += 1
    tally.show()
    tally.print_line("a.html: broken")
    assert out.getvalue().count("\n") == 1
    assert out.getvalue().startswith("\r\x1b[Kcleaned 0 pages")
