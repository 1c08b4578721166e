"""Plot of ``docs/topics.md`` from ``make bench-topic``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.kit.results import kept

PANELS = {
    "best URL of all hosts": "",
    "a page a host and tick": ", a page a host and tick",
}
COLOURS = {
    "ours, three examples": "#c0392b",
    "ours, query alone": "#2471a3",
    "best-first on anchors": "#1e8449",
    "breadth-first": "#888888",
}
NO_FLOOR = ", no floor"


def harvest() -> Any:
    """Share of the relevant pages found against the share of pages fetched."""
    from matplotlib import pyplot

    result = kept("topic")
    found = result["crawlers"]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    points = result["curve_points"]
    shares = [result["curve_per_cent"] * point / points for point in range(points + 1)]
    for axis, (title, suffix) in zip(axes, PANELS.items(), strict=True):
        for name, colour in COLOURS.items():
            curve = found.get(name + suffix, found.get(name))["curve"]
            axis.plot(shares, curve, "-", color=colour, label=name)
            if suffix and name + suffix + NO_FLOOR in found:
                curve = found[name + suffix + NO_FLOOR]["curve"]
                axis.plot(shares, curve, ":", color=colour, label=f"{name}{NO_FLOOR}")
        axis.set_title(title)
        axis.set_xlabel("pages fetched, % (left is better)")
        axis.set_ylim(0, 1)
        axis.legend(fontsize=7, loc="center right", bbox_to_anchor=(1.0, 0.35))
    axes[0].set_ylabel("relevant pages found, share (up is better)")
    figure.suptitle(
        f"Relevant pages found: mean of {result['topics']} topics among {result['pages']:,} pages"
    )
    figure.tight_layout()
    return figure


TOPIC_PLOTS: dict[str, Callable[[], Any]] = {"topic-harvest": harvest}
