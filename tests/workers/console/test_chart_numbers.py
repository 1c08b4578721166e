"""Numbers behind charts and marks of events: each value counts once, each event is named once."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import Event, EventKind, Gauge
from crawlclean.workers.console.charts import (
    MARKS,
    MOST_ROWS,
    MOST_TITLES,
    WIDTH,
    Happening,
    Line,
    drawn_marks,
    rows_of,
    steps_of_row,
)
from tests.kit.console import open_console

SINCE = datetime(2026, 11, 22, 14, 0, tzinfo=UTC)
UNTIL = SINCE + timedelta(hours=1)


def happening(minute: float, level: str = "", title: str = "a") -> Happening:
    at = SINCE + timedelta(minutes=minute)
    return Happening(at=at, title=title, to=f"/events?after={minute:.0f}", level=level)


@pytest.mark.parametrize(("values", "steps"), [(0, 1), (61, 1), (63, 2), (1441, 24), (2881, 47)])
def test_numbers_are_few_rows(values: int, steps: int) -> None:
    lines = [Line(name="a", values=[1.0] * values)]
    rows = rows_of(lines, SINCE, 60)
    assert steps_of_row(lines) == steps
    assert len(rows) == -(-values // steps) <= MOST_ROWS


def test_a_row_has_means_without_gaps() -> None:
    lines = [
        Line(name="a", values=[1.0, 3.0, None, 5.0] * 30),
        Line(name="b", values=[None] * 120),
    ]
    newest, *_, first = rows_of(lines, SINCE, 60)
    assert (first.at, list(first.means)) == (SINCE, [2.0, None])
    assert (newest.at, list(newest.means)) == (SINCE + timedelta(minutes=118), [5.0, None])


def ticks(*events: Happening) -> list[tuple[str, str, float, str]]:
    """(address, level, place, title) of each tick."""
    found = re.findall(
        r'<a href="([^"]*)".*?class="tick (\w*)" d="M(\d+) .*?<title>(.*?)</title>',
        drawn_marks(events, SINCE, UNTIL),
        re.DOTALL,
    )
    return [(to, level, float(x), title) for to, level, x, title in found]


def test_marks_that_would_touch_are_one() -> None:
    left, right = ticks(
        happening(30.01, "ok", "later"), happening(30, "bad", "sooner"), happening(5)
    )
    assert left[2] < right[2] < WIDTH
    assert right[:2] == ("/events?after=30", "bad")
    assert right[3] == "later\nsooner"
    assert ticks(happening(-1), happening(61)) == []
    assert len(ticks(happening(0), happening(60))) == 2


def test_a_mark_of_many_events_counts_the_rest() -> None:
    (tick,) = ticks(*[happening(1)] * (MOST_TITLES + 3))
    assert tick[3].splitlines()[-1] == "+3"
    assert len(ticks(*(happening(n / 100) for n in range(6000)))) == MARKS


def test_titles_never_become_markup() -> None:
    drawn = drawn_marks([happening(1, title="</title><script>")], SINCE, UNTIL)
    assert "<script>" not in drawn
    assert 'tabindex="-1"' in drawn


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an hour of samples, an event in it and one before it."""
    data = tmp_path_factory.mktemp("sampled")
    store = SqliteStore(data / DATABASE)
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=("https://a.example/",)), CrawlState.FINISHED)
    now = datetime.now(UTC)
    for minute in range(50, -1, -1):
        total = 60.0 * (50 - minute)
        values = {str(Counter.PAGES_PUT): total, str(Gauge.PENDING_URLS): float(minute)}
        store.samples.add(now - timedelta(minutes=minute), values)
    for hours, text in ((0.5, "<b>half an hour</b>"), (30, "long ago")):
        at = now - timedelta(hours=hours)
        store.events.add(Event(kind=EventKind.DRIFT, host="a.example", text=text, at=at))
    at = now - timedelta(hours=0.2)
    store.events.add(
        Event(kind=EventKind.NOT_LEARNED, host="a.example", text=Message("not_learned"), at=at)
    )
    store.close()
    return data


def test_now_has_numbers_and_marks(sampled: Path) -> None:
    page = open_console(sampled).get("/?range=hour").text
    assert page.count('<details class="numbers">') == 6
    assert re.search(r'<tr><th scope="row">[\d :UTC-]+</th><td class="n">1</td>', page)
    assert page.count('class="tick warn"') == 6
    assert "&lt;b&gt;half an hour" in page
    assert "long ago" not in page
    seq = re.search(r'<a href="(/events\?after=\d+)" tabindex="-1">', page)
    assert seq
    first = open_console(sampled).get(seq[1]).text.partition("<tbody>")[2]
    assert "half an hour" in first.partition("</tr>")[0]


def test_marks_and_their_list_are_chinese_on_a_chinese_page(sampled: Path) -> None:
    page = open_console(sampled).get("/", headers={"Accept-Language": "zh"}).text
    assert page.count("未能学习：其作业反复终止") == 7  # six charts and the list
    assert "its jobs died" not in page
