"""The plots of ``docs/methods.md`` and ``docs/topics.md``, drawn from the kept results.

``make bench-plots``.

Each plot is a small SVG with text as text, which can be read without the document: question, number
of pages, units, the better direction. Nothing is measured here; a plot without a kept result is
skipped with a message. A plot whose labels overlap is an error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.documents.labels import Box, annotate, check
from benchmarks.documents.plots_site import SITE_PLOTS
from benchmarks.kit.environments import EXPERIMENTS, move_to
from benchmarks.kit.results import ROOT, kept

FOLDER = ROOT / "docs" / "plots"
GROUPS = {"portals": "#c0392b", "others": "#2471a3", "all": "#555555"}
PAPER_1 = {  # Table 1: T -> (precision, recall, F)
    0.25: (0.8751, 0.7253, 0.7932),
    0.29: (0.9039, 0.6989, 0.7883),
    0.30: (0.9037, 0.6966, 0.7867),
    0.32: (0.9046, 0.6897, 0.7826),
    0.35: (0.9078, 0.6664, 0.7685),
}
STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 3,
    "svg.fonttype": "none",
    "svg.hashsalt": "plots",
}
SHAPE = "the curves describe pages, no direction is better"
OURS = {"ours, record": "ours, whole record", "ours, body": "ours, body alone"}


def main() -> int:
    """Draws every plot that has a kept result."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # none but --help
    move_to("experiments", EXPERIMENTS, "benchmarks.documents.plots", "matplotlib")
    import matplotlib as mpl

    mpl.use("agg")  # it measures texts; savefig writes SVG
    mpl.rcParams.update(STYLE)
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PLOTS.items():
        try:
            figure = draw()
        except KeyError as missing:
            sys.stderr.write(f"{name}: not drawn: no kept result {missing}\n")
            continue
        check(figure)
        figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
        sys.stdout.write(f"docs/plots/{name}.svg\n")
    return 0


def gap_figures() -> Any:
    """Figures 5-4 to 5-6: coverage and number of blocks against d_t."""
    return _block_figures(
        "d_t",
        {"text": "d_t, units of text", "code": "d_t, characters of code"},
        "Share of links (LCR) and of characters (CCR) in link blocks, by the distance d_t",
    )


def min_links_figures() -> Any:
    """Figures 5-7 and 5-8: coverage and number of blocks against C_t."""
    return _block_figures(
        "C_t",
        {"text": "C_t, links (text, d_t = 40)", "code": "C_t, links (code, d_t = 80)"},
        "Share of links (LCR) and of characters (CCR) in link blocks, by their least size C_t",
    )


def _block_figures(sweep: str, distances: dict[str, str], title: str) -> Any:
    from matplotlib import pyplot

    figures = kept("link_blocks")["figures"]
    panels = [(kind, distance) for distance in distances for kind in ("index", "content")]
    figure, axes = pyplot.subplots(2, 4, figsize=(11, 4.6), sharex="col", sharey="row")
    for column, (kind, distance) in enumerate(panels):
        rates, blocks = axes[0][column], axes[1][column]
        for group, colour in GROUPS.items():
            curve = figures[kind].get(group, {}).get(f"{distance}, {sweep}")
            if curve is None:
                continue
            rates.plot(curve["x"], curve["lcr"], "-", color=colour, label=f"LCR {group}")
            rates.plot(curve["x"], curve["ccr"], "--", color=colour, label=f"CCR {group}")
            blocks.plot(curve["x"], curve["blocks"], "-", color=colour, label=group)
        rates.set_title(f"{figures[kind]['all']['pages']} {kind} pages")
        rates.set_ylim(0, 1)
        blocks.set_xlabel(distances[distance])
    axes[1][0].set_ylim(bottom=0)
    axes[0][0].set_ylabel("share")
    axes[1][0].set_ylabel("blocks a page")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=6, bbox_to_anchor=(0.5, -0.07))
    figure.suptitle(f"{title}; {SHAPE}")
    figure.tight_layout()
    return figure


def threshold_sweep() -> Any:
    """Paper 1's Table 1, and the thresholds on our pages."""
    from matplotlib import pyplot

    ours = kept("page")["related"]["sweep_zh"]["containers, rules"]
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.3), sharey=True, sharex=True)
    rows = {
        "paper, 2,763 pages of one portal (2006)": PAPER_1,
        f"ours, {ours[0]['related']} related links": {
            row["T"]: (row["precision"], row["recall"], row["f1"]) for row in ours
        },
    }
    for axis, (name, points) in zip(axes, rows.items(), strict=True):
        for place, part in enumerate(("precision", "recall", "F")):
            axis.plot(list(points), [row[place] for row in points.values()], "o-", label=part)
        axis.set_title(name)
        axis.set_xlabel("threshold T, mean words shared with the title")
        axis.set_ylim(0, 1)
    axes[0].set_ylabel("share, up is better")
    axes[1].legend()
    figure.suptitle("Related links found by the method of paper 1, by its threshold T")
    figure.tight_layout()
    return figure


def quality_and_speed() -> Any:
    """F1 on Chinese articles against CPU time, all tools."""
    from matplotlib import pyplot

    page = kept("page")
    scores, cost = page["body"]["zh articles"], page["cost"]["cpu_in_bare_parses"]
    figure, axis = pyplot.subplots(figsize=(8, 4.4))
    axis.set_xscale("log")
    axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axis.set_xlabel("processor time, multiples of a bare lxml parse (left is better)")
    axis.set_ylabel("F1 of the body text (up is better)")
    axis.set_xlim(0.8, 150)
    axis.set_ylim(0.4, 1.06)
    axis.set_title(
        f"Quality and speed on {scores['ours, record']['pages']} Chinese articles, "
        "with 95 % intervals: the best place is top left"
    )
    figure.tight_layout()
    points, taken = [], []
    for tool, spent in cost.items():
        row = scores.get("ours, record" if tool in OURS else tool)
        if row is None:
            continue
        f1, (low, high) = row["f1"], row["f1_95"]
        colour = "#c0392b" if tool in OURS else "#2471a3" if tool.startswith("paper") else "#555555"
        axis.errorbar(spent, f1, [[f1 - low], [high - f1]], fmt="o", color=colour, elinewidth=0.8)
        points.append((OURS.get(tool, tool), spent, f1, colour))
        (x, bottom), (_, top) = axis.transData.transform([(spent, low), (spent, high)])
        taken.append(Box(x - 3, bottom, x + 3, top))
    annotate(axis, points, taken)
    return figure


def reliability() -> Any:
    """Share of right bodies against their confidence, by tenths of the pages."""
    from matplotlib import pyplot

    found = kept("confidence")
    bins = found["bins"]
    figure, axis = pyplot.subplots(figsize=(5, 4.2))
    axis.plot([0.5, 1], [0.5, 1], "--", color="#999999", label="as said")
    said, right = ([each[name] for each in bins] for name in ("said", "right"))
    axis.plot(said, right, "o-", color="#c0392b", label="tenths of the pages")
    axis.set_xlabel("mean confidence")
    axis.set_ylabel("share of bodies with F1 of .8 or more")
    pages, hosts = found["groups"]["all"]["pages"], found["hosts"]
    title = f"{pages:,} pages of {hosts} sites left out; no direction is better:"
    axis.set_title(title + "\nwhat is said comes true on the line")
    axis.legend()
    figure.tight_layout()
    return figure


PLOTS: dict[str, Callable[[], Any]] = {
    "link-blocks-by-gap": gap_figures,
    "link-blocks-by-size": min_links_figures,
    "related-threshold": threshold_sweep,
    "quality-and-speed": quality_and_speed,
    "confidence": reliability,
    **SITE_PLOTS,
}


if __name__ == "__main__":
    sys.exit(main())
