"""Charts of a report as inline SVG, with labels as HTML around them.

The drawing stretches to the width of the page; its lines keep their width. Text inside would
stretch, too, and be unreadable on a telephone: labels are HTML at percentages of the chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from crawlclean.workers.answers.topics import HarvestStep
from crawlclean.workers.output.html_elements import Element, element

WIDTH, HEIGHT = 1000, 300
"""Units of a drawing; the page stretches them."""

TICKS = 5
"""Lines of a grid at most, beside that of 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a chart.

    Attributes:
        label: What the reader sees on pointing at it: ``2026-11-23: 12 stories``.
        stories: Height of its lower part.
        copies: Height of its upper part.
    """

    label: str
    stories: int
    copies: int


def curve(steps: Sequence[HarvestStep], title: str) -> Element:
    """Returns the harvest curve: stories, and copies on top, against pages fetched."""
    pages = [0, *accumulate(each.pages for each in steps)]
    stories = [0, *accumulate(each.stories for each in steps)]
    relevant = [0, *accumulate(each.stories + each.copies for each in steps)]
    top = scale_of(relevant[-1])
    xs = [WIDTH * each / max(pages[-1], 1) for each in pages]

    def points(values: Sequence[int]) -> list[str]:
        ys = (HEIGHT - HEIGHT * each / top[-1] for each in values)
        return [f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True)]

    low, high = points(stories), points(relevant)
    copies = [
        element("path", class_="copies-area", d=f"M{'L'.join([*low, *reversed(high)])}Z"),
        element("path", class_="copies-line", d=f"M{'L'.join(high)}"),
    ]
    drawing = [
        _grid(top),
        element("path", class_="stories-area", d=f"M{'L'.join(low)}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z"),
        copies if relevant != stories else [],
        element("path", class_="stories-line", d=f"M{'L'.join(low)}"),
    ]
    marks = [(each / max(pages[-1], 1), f"{each:,}") for each in scale_of(pages[-1])]
    marks = [(place, text) for place, text in marks if place <= 1]
    return _framed(drawing, top, marks, title)


def bars(values: Sequence[Bar], title: str, marks: Sequence[tuple[float, str]] = ()) -> Element:
    """Returns a chart of bars, stories below and copies on top.

    Args:
        values: From left to right.
        title: What the chart shows, for those who cannot see it.
        marks: (place 0..1, label) below it.
    """
    top = scale_of(max((each.stories + each.copies for each in values), default=1))
    wide = WIDTH / max(len(values), 1)
    gap = min(wide * 0.25, 6.0)
    drawing = [_grid(top)]
    for place, each in enumerate(values):
        left, unit = place * wide + gap / 2, HEIGHT / top[-1]
        low, high = each.stories * unit, each.copies * unit
        drawing.append(
            element(
                "g",
                element("title", each.label),
                # The whole column can be pointed at.
                _box("column", left - gap / 2, 0, wide, HEIGHT),
                _box("stories-bar", left, HEIGHT - low, wide - gap, low) if low else None,
                _box("copies-bar", left, HEIGHT - low - high, wide - gap, high) if high else None,
            )
        )
    return _framed(drawing, top, marks, title)


def scale_of(most: int) -> list[int]:
    """Round numbers from 0 to at least ``most``: ``[0, 50, 100, 150]`` for 121."""
    step = 1
    while step * TICKS < most:
        digits = 10 ** (len(str(step)) - 1)
        step = {1: 2, 2: 5, 5: 10}[step // digits] * digits
    return list(range(0, step * max(1, -(-most // step)) + 1, step))


def _box(name: str, x: float, y: float, width: float, height: float) -> Element:
    place = {"x": f"{x:.2f}", "y": f"{y:.2f}", "width": f"{width:.2f}", "height": f"{height:.2f}"}
    return element("rect", class_=name, **place)


def _grid(top: Sequence[int]) -> Element:
    lines = [HEIGHT - HEIGHT * each / top[-1] for each in top]
    return element("path", class_="grid", d="".join(f"M0 {y:.1f}H{WIDTH}" for y in lines))


def _framed(
    drawing: Sequence[Element], top: Sequence[int], marks: Sequence[tuple[float, str]], title: str
) -> Element:
    """The drawing with its numbers at the left and its labels below."""
    svg = element(
        "svg",
        *drawing,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=title,
    )
    left = [
        element("span", f"{each:,}", style=f"bottom:{100 * each / top[-1]:.2f}%") for each in top
    ]
    below = [
        element("span", text, class_=_side(place), style=f"left:{100 * place:.2f}%")
        for place, text in marks
    ]
    return element(
        "div",
        element(
            "div", left, class_="y", aria_hidden="true", style=f"width:{len(f'{top[-1]:,}')}ch"
        ),
        element("div", svg, class_="plot"),
        element("div", below, class_="x", aria_hidden="true"),
        class_="chart",
    )


def _side(place: float) -> str:
    """The class of a label that would leave the chart at its left or right end."""
    return "first" if place < 0.02 else "last" if place > 0.97 else ""
