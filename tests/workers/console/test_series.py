"""Figures over time by the API and on pages, and the marks of events on their charts."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import Event, EventKind, Gauge
from crawlclean.workers.output.charts import (
    MARKS,
    MOST_TITLES,
    WIDTH,
    Happening,
    drawn_marks,
)
from tests.kit.api import program
from tests.kit.console import open_console

SINCE = datetime(2026, 11, 22, 14, 0, tzinfo=UTC)
UNTIL = SINCE + timedelta(hours=1)


def happening(minute: float, level: str = "", title: str = "a") -> Happening:
    at = SINCE + timedelta(minutes=minute)
    return Happening(at=at, title=title, to=f"/events?after={minute:.0f}", level=level)


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
    """A data folder with 50 minutes of samples, an event in them and one before them."""
    data = tmp_path_factory.mktemp("sampled")
    store = SqliteStore(data / DATABASE)
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=("https://a.example/",)), CrawlState.FINISHED)
    now = datetime.now(UTC)
    for minute in range(50, -1, -1):
        store.samples.add(now - timedelta(minutes=minute), minute_of(minute))
    for hours, text in ((0.5, "<b>half an hour</b>"), (30, "long ago")):
        at = now - timedelta(hours=hours)
        store.events.add(Event(kind=EventKind.DRIFT, host="a.example", text=text, at=at))
    at = now - timedelta(hours=0.2)
    store.events.add(
        Event(kind=EventKind.NOT_LEARNED, host="a.example", text=Message("not_learned"), at=at)
    )
    store.close()
    return data


def minute_of(minute: int) -> dict[str, float]:
    """Two requests a second: 90 answered in 0.1 s, 20 in 2 s, 6 of them 404; 10 have no answer."""
    figures = {
        "answers_2xx": 104, "answers_3xx": 0, "answers_4xx": 6, "answers_5xx": 0,
        "answers_none": 10, "answered_in_0.1": 90, "answered_in_2.5": 20, "new_records": 90,
        "judged": 90, "relevant": 30, "pending_urls": minute,
    }  # fmt: skip
    crawl = {f"{name}:c1": float(n) for name, n in figures.items()}
    host = {f"{name}@a.example:8080": n / 2 for name, n in figures.items()}
    whole = {name: float(n) for name, n in figures.items()} | {Gauge.FREE_BYTES: 3e9}
    return whole | crawl | host


def test_the_api_gives_the_figures_of_everything_a_crawl_and_a_host(sampled: Path) -> None:
    asking = program(sampled)
    for of, share in (("", 1), ("?crawl=c1", 1), ("?host=a.example:8080", 0.5)):
        found = asking.value(f"/series{of}")
        assert found["step_s"] == 60
        values = {name: each for name, each in found.items() if isinstance(each, list) and each}
        assert {len(each) for each in values.values()} in ({60}, {61})
        newest = {name: each[-3] for name, each in values.items()}
        assert newest["fetched"] == 2 * share
        assert newest["answers_4xx"] == pytest.approx(0.1 * share)
        assert newest["answers_none"] == pytest.approx(10 / 60 * share, abs=1e-4)
        assert (newest["p50_s"], newest["p95_s"]) == (0.0806, 2.0875)
        assert newest["records"] == 1.5 * share
        assert newest["harvest"] == pytest.approx(1 / 3, abs=1e-4)
        assert 7 * share in found["waiting"]
        assert found["waiting"][0] is None
        assert bool(found["free_bytes"]) == (of == "")
    assert set(asking.value("/series?host=b.example")["fetched"]) == {None}


def test_a_time_and_a_step_may_be_asked_for(sampled: Path) -> None:
    asking, until = program(sampled), datetime.now(UTC).replace(second=0, microsecond=0)
    since = until - timedelta(minutes=10)
    asked = f"since={iso(since)}&until={iso(until)}"
    found = asking.value(f"/series?crawl=c1&{asked}")
    assert (found["since"], len(found["fetched"])) == (iso(since), 10)
    quarters = asking.value(f"/series?step=quarter&since={iso(until - timedelta(hours=1))}")
    assert quarters["step_s"] == 900
    assert 2.0 in quarters["fetched"], "a whole quarter has the same rate"
    old = asking.value(f"/series?since={iso(until - timedelta(days=20))}")
    assert old["step_s"] == 900
    assert asking.value(f"/series?since={iso(until - timedelta(days=700))}")["step_s"] == 86_400
    far = asking.value(f"/series?step=minute&since={iso(until - timedelta(days=30))}")
    assert (far["step_s"], len(far["fetched"])) == (900, 2881)
    assert asking.value(f"/series?since={iso(until)}&until={iso(since)}")["fetched"] == []
    ages = asking.value("/series?since=0001-01-01T00:00:00Z&host=a.example:8080&crawl=c1")
    assert len(ages["fetched"]) <= 3_001
    assert (
        ages["records"]
        == asking.value("/series?step=day&since=0001-01-01T00:00:00Z&host=a.example:8080")[
            "records"
        ]
    )
    assert asking.get("/series?topic=none").status_code == 404


def iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize("path", ["/", "/crawls/c1"])
def test_pages_have_pictures_and_marks(sampled: Path, path: str) -> None:
    page = open_console(sampled).get(f"{path}?range=hour").text
    pictures = page.count("<figure")
    figures = re.findall(r'data-figures="([^"]*)"', page)
    assert figures[0] == "fetched records failed"
    assert "p50_s p95_s" in figures
    assert page.count('class="line s1"') >= 3
    if path == "/":
        assert len(figures) == pictures
        assert page.count('class="tick warn"') == len(figures)
        assert "&lt;b&gt;half an hour" in page
        assert "long ago" not in page
        seq = re.search(r'<a href="(/events\?after=\d+)" tabindex="-1">', page)
        assert seq
        first = open_console(sampled).get(seq[1]).text.partition("<tbody>")[2]
        assert "half an hour" in first.partition("</tr>")[0]


def test_a_script_is_given_what_the_api_gives(sampled: Path) -> None:
    console, asking = open_console(sampled), program(sampled)
    found = console.get("/series?range=hour&of=:c1")
    assert json.loads(found.text)["p95_s"] == asking.value("/series?crawl=c1")["p95_s"]
    again = {"If-None-Match": found.headers["ETag"]}
    assert console.get("/series?range=hour&of=:c1", headers=again).status_code == 304
    assert console.get("/series?of=@").status_code == 200


def test_marks_and_their_list_are_chinese_on_a_chinese_page(sampled: Path) -> None:
    page = open_console(sampled).get("/", headers={"Accept-Language": "zh"}).text
    assert page.count("未能学习：其作业反复终止") == page.count("data-figures") + 1  # and the list
    assert "its jobs died" not in page
    assert "响应时间" in page


def test_the_script_of_another_project_has_its_licence_beside_it(sampled: Path) -> None:
    console = open_console(sampled)
    page = console.get("/").text
    address = re.search(r'src="(/static/uplot\.js\?v=\w+)"', page)
    assert address
    with console.get(address[1]) as script:
        assert "immutable" in script.headers["Cache-Control"]
    again = {"If-None-Match": script.headers["ETag"]}
    with console.get(address[1], headers=again) as unchanged:
        assert unchanged.status_code == 304
    with console.get("/static/uplot.LICENSE") as licence:
        assert b"Leon Sorokin" in licence.get_data()
