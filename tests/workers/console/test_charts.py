from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from crawlclean.workers import formats
from crawlclean.workers.output import charts
from crawlclean.workers.output.charts import COLUMNS, Column, Line, Part


def test_a_line_ends_at_the_edges_and_has_gaps() -> None:
    lines = [Line(name="a", values=[0, 10, None, 5], style=2, is_dashed=True)]
    drawn = charts.drawn(lines, charts.scale(lines))
    assert 'class="line s2 dashed" d="M0.0 300.0L333.3 0.0M1000.0 150.0"' in drawn


def test_a_long_line_keeps_its_peaks() -> None:
    values = [1.0] * 100_000
    values[54_321] = 900.0
    drawn = charts.drawn([Line(name="a", values=values)], [0, 1000])
    path = re.findall(r' d="(M0\.0[^"]*)"', drawn)[-1]
    assert path.count("L") <= 2 * COLUMNS
    assert " 30.0L" in path


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([], "0 1"), ([0], "0 1"), ([None], "0 1"), ([7], "0 2 4 6 8"), ([200], "0 50 100 150 200"),
        ([0.03], "0.00 0.01 0.02 0.03"), ([0.5, None, 0.1], "0.0 0.1 0.2 0.3 0.4 0.5"),
        ([4321], "0 1,000 2,000 3,000 4,000 5,000"),
    ],
)  # fmt: skip
def test_a_scale_has_round_numbers(values: list[float | None], numbers: str) -> None:
    scale = charts.scale([Line(name="a", values=values)])
    assert charts.labels(scale) == numbers.split()


def test_columns_stand_on_each_other_and_may_lead_somewhere() -> None:
    columns = [Column(values=(1, 2), title="<a>", to="/a?b=1"), Column(values=(0, 4), title="b")]
    drawn = charts.bars(columns, [0, 2, 4])
    heights = re.findall(r'class="(k\d)".*? y="([\d.]+)".*? height="([\d.]+)"', drawn)
    assert heights == [("k1", "225.0", "75.0"), ("k2", "75.0", "150.0"), ("k2", "0.0", "300.0")]
    assert drawn.count("<a href") == 1
    assert "&lt;a&gt;" in drawn


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
