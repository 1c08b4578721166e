"""Places for the labels of plots: no label lies on another label, a point or an error bar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

# Corners and sides of a point, in points of the page: the first free place is taken.
OFFSETS = (
    (6, 4), (6, -11), (-6, 4), (-6, -11), (6, 14), (6, -21), (-6, 14), (-6, -21), (6, 24), (-6, 24),
    (6, 36), (-6, 36),
)  # fmt: skip


class Box(NamedTuple):
    """A rectangle on the page, in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def first_free(candidates: Sequence[Box], taken: Iterable[Box]) -> int:
    """Returns the number of the first candidate that meets no taken box; the least bad otherwise.

    The least bad one meets the fewest boxes.
    """
    boxes = list(taken)
    met = [sum(box.meets(other) for other in boxes) for box in candidates]
    return met.index(min(met))


def overlaps(boxes: Sequence[tuple[str, Box]]) -> list[tuple[str, str]]:
    """Returns the pairs of texts whose boxes have an area in common."""
    return [(a, b) for (a, first), (b, second) in combinations(boxes, 2) if first.meets(second)]


def annotate(axis: Any, points: Sequence[tuple[str, float, float, str]], taken: list[Box]) -> None:
    """Writes the label of each point (label, x, y, colour) into a free place of an axis.

    Args:
        axis: Axis of a figure whose limits are final.
        points: The points.
        taken: Boxes of what no label may lie on, in pixels.
    """
    figure = axis.figure
    renderer = figure.canvas.get_renderer()
    inside = _box(axis.get_window_extent(renderer))
    for label, x, y, colour in points:
        text = axis.annotate(label, (x, y), OFFSETS[0], textcoords="offset points", color=colour)
        candidates = []
        for offset in OFFSETS:
            _move(text, offset)
            box = _box(text.get_window_extent(renderer))
            outside = box.left < inside.left or box.right > inside.right or box.top > inside.top
            candidates.append(Box(-1e9, -1e9, 1e9, 1e9) if outside else box)
        chosen = first_free(candidates, taken)
        _move(text, OFFSETS[chosen])
        taken.append(candidates[chosen])


def _move(text: Any, offset: tuple[float, float]) -> None:
    text.set_position(offset)
    text.set_horizontalalignment("left" if offset[0] > 0 else "right")


def check(figure: Any) -> None:
    """Checks that no two texts of a figure overlap.

    Raises:
        ValueError: Two do; the message has both.
    """
    from matplotlib.text import Text

    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = _hidden_tick_labels(figure)
    texts = [
        (text.get_text(), _box(text.get_window_extent(renderer)))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in hidden
    ]
    if pairs := overlaps(texts):
        raise ValueError(f"labels overlap: {pairs}")


def _hidden_tick_labels(figure: Any) -> set[Any]:
    """Ticks beyond the limits of an axis have labels, too, which nobody draws."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low <= tick.get_loc() <= high:
                    hidden |= {tick.label1, tick.label2}
    return hidden


def _box(extent: Any) -> Box:
    return Box(extent.x0, extent.y0, extent.x1, extent.y1)
