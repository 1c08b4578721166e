"""The decision graph of a forum's URLs as an SVG (paper 5, Alg. 1).

``make bench-decision_graph ARGS="FORUM FILE.svg"`` draws log delta against log log rho for the
fetched URLs. The paper picks centres by eye; the automatic centres are filled circles.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from pathlib import Path

from benchmarks.forum.labelled import forums
from crawlclean.cleaning.papers import knn_dpc
from crawlclean.cleaning.papers.prefix_tree import PrefixTree
from crawlclean.cleaning.papers.usc import split_blocks

_WIDTH, _HEIGHT, _MARGIN = 640, 400, 50


def draw(points: list[tuple[float, float, bool]], title: str) -> str:
    """Draws a scatter plot as SVG text.

    Args:
        points: (asinh ln rho, ln delta, whether it is a centre); equal points are a larger circle.
        title: Text above the plot.
    """
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    left, low = min(xs), min(ys)
    width, height = max(max(xs) - left, 1e-9), max(max(ys) - low, 1e-9)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<text x="{_MARGIN}" y="20">{title}</text>',
        f'<path d="M{_MARGIN} 30V{_HEIGHT - _MARGIN}H{_WIDTH - 10}" fill="none" stroke="#888"/>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 15}">asinh ln rho</text>',
        '<text x="5" y="45">ln delta</text>',
    ]
    for (x, y, is_centre), count in sorted(Counter(points).items()):
        at_x = _MARGIN + 10 + (x - left) / width * (_WIDTH - _MARGIN - 40)
        at_y = _HEIGHT - _MARGIN - 10 - (y - low) / height * (_HEIGHT - _MARGIN - 60)
        parts.append(
            f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="{3 + math.log10(count) * 3:.1f}" '
            f'fill="{"#c33" if is_centre else "none"}" stroke="#336"/>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Draws the graph of one forum."""
    parser = argparse.ArgumentParser(description="The decision graph of a forum's URLs.")
    parser.add_argument("forum", help="name in the labelled data")
    parser.add_argument("file", type=Path, help="the SVG to write")
    given = parser.parse_args()
    name, target = given.forum, given.file
    rows = next((rows for forum, rows in forums() if forum == name), None)
    if rows is None:
        sys.exit(f"{name}: no such forum")
    space = PrefixTree(split_blocks(row["url"]) for row in rows if row["fetched"])
    params = knn_dpc.Params()
    graph = space.decision_graph(params)
    centres = set(knn_dpc.choose_centres(graph, params))
    points = [
        (round(math.asinh(log), 3), round(math.log1p(distance), 3), i in centres)
        for i, (log, distance) in enumerate(zip(graph.log_density, graph.distance, strict=True))
    ]
    target.write_text(draw(points, f"{name}: {len(points)} URLs, {len(centres)} centres"), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
