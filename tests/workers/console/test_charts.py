from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from crawlclean.workers import formats
from crawlclean.workers.console import charts
from crawlclean.workers.console.charts import COLUMNS, Line, Part


def test_a_line_ends_at_the_edges_and_has_gaps() -> None:
    drawn = charts.drawn([Line(name="a", values=[0, 10, None, 5], style=2, is_dashed=True)])
    assert 'class="line s2 dashed" d="M0.0 120.0L333.3 0.0M1000.0 60.0"' in drawn


def test_a_long_line_keeps_its_peaks() -> None:
    values = [1.0] * 100_000
    values[54_321] = 900.0
    path = re.findall(r' d="(M0\.0[^"]*)"', charts.drawn([Line(name="a", values=values)]))[-1]
    assert path.count("L") <= 2 * COLUMNS
    assert " 12.0L" in path


@pytest.mark.parametrize(
    ("values", "top"), [([], 1), ([0], 1), ([None], 1), ([7], 10), ([0.03], 0.05), ([200], 200)]
)
def test_the_top_is_a_round_number(values: list[float | None], top: float) -> None:
    assert charts.top_of([Line(name="a", values=values)]) == pytest.approx(top)


def test_a_bar_has_its_parts_in_proportion() -> None:
    parts = [Part(name="a", value=1), Part(name="b", value=0, kind=2), Part(name="c", value=3)]
    assert re.findall(r'width="([\d.]+)"', charts.bar(parts)) == ["250.0", "750.0"]
    assert "rect" not in charts.bar([Part(name="a", value=0)])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (23 << 20, "23 MiB"), (1 << 60, "1024 PiB")],
)
def test_sizes(value: int, text: str) -> None:
    assert formats.size(value) == text


@pytest.mark.parametrize(
    ("seconds", "n", "unit"),
    [(-5, 0, "seconds"), (119, 119, "seconds"), (125, 2, "minutes"), (90_000, 25, "hours"),
     (200_000, 2, "days")],
)  # fmt: skip
def test_spans(seconds: float, n: int, unit: str) -> None:
    assert formats.span_of(seconds) == formats.Span(n, unit)


def test_times_are_printed_with_their_zone() -> None:
    at = datetime(2026, 11, 22, 14, 3, 9, tzinfo=UTC)
    assert formats.local(at, formats.zone_of("no zone")) == "2026-11-22 14:03:09 UTC"
    assert formats.local(at, formats.zone_of("Asia/Shanghai")) == "2026-11-22 22:03:09 CST"
    assert formats.iso(at) == "2026-11-22T14:03:09Z"


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0.0 %"), (0.0004, "< 0.1 %"), (0.034, "3.4 %"), (0.37, "37 %")]
)
def test_shares(share: float, text: str) -> None:
    assert formats.percent(share) == text


def test_labels_of_different_numbers_differ() -> None:
    assert charts.labels([0.5, 0.27, 0.28]) == ["0.50", "0.27", "0.28"]
    assert charts.labels([0.0005, 0.0004]) == ["0.0005", "0.0004"]
    assert charts.labels([20, 3, 3]) == ["20", "3", "3"]
    assert charts.labels([2000.0, 1234.0]) == ["2,000", "1,234"]
    assert len(set(charts.labels([1.0, 0.00001]))) == 2, "no end of digits"
