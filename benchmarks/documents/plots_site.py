"""Plots of ``docs/methods.md`` from ``make bench-site``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.kit.results import kept

COLOURS = {
    "default": "#c0392b",
    "drop text seen on >= 3 pages": "#2471a3",
    "drop DOM paths whose text repeats on >= 70 %": "#1e8449",
    "the page alone": "#555555",
    "all text": "#aaaaaa",
}
CURVES = {  # of Figure 4: each model in the paper's form and in ours
    "m1, P in N-sigma": "m1, labels of other hosts (N-sigma)",
    "m1, learned from m2": "m1, learned from m2 (N-sigma)",
    "m2, printed": "m2, printed",
    "m2, without the page itself": "m2, without the page itself",
    "m3, base n": "m3, printed (base n)",
    "m3, log2, 4 words by TF*IDF": "m3, 4 words by TF*IDF (bits)",
}
LABELS = {
    "false_positives": "false positives (down is better)",
    "ads_found": "advertising found",
    "content_kept": "content kept",
}
PARTS = {"nprecision": ("NPrecision", "-", "#2471a3"), "nrecall": ("NRecall", "--", "#1e8449")}


def noise_models() -> Any:
    """Figure 4: precision and recall of the models against their thresholds; dotted: ``clean``."""
    from matplotlib import pyplot

    result = kept("site")["noise"]
    figure, axes = pyplot.subplots(2, len(CURVES), figsize=(15, 5), sharey=True, sharex="col")
    for row, kind in enumerate(("links", "images")):
        default = next(v for k, v in result[kind]["cascade"].items() if k.startswith("default"))
        for axis, (name, label) in zip(axes[row], CURVES.items(), strict=True):
            curve = result[kind]["models"][name]
            x = [point["threshold"] for point in curve]
            for part, (title, style, colour) in PARTS.items():
                axis.plot(x, [point[part] for point in curve], style, color=colour, label=title)
                axis.axhline(default[part], color=colour, ls=":", lw=1)
            axis.set_ylim(0, 1.03)
            axis.set_title(kind, fontsize=9)
            if row:
                axis.set_xlabel(label, fontsize=8)
    axes[0][0].legend(fontsize=8)
    for axis in axes[:, 0]:
        axis.set_ylabel("share, up is better")
    figure.suptitle(
        f"Noise links found by the models of paper 3 ({result['links']['counted']:,} links, "
        f"{result['links']['noise']:,} of them noise), by the threshold; dotted: the product"
    )
    figure.tight_layout()
    return figure


def site_text() -> Any:
    """Text kept against gold bodies by the number of pages learned from."""
    from matplotlib import pyplot

    curves = kept("site")["text"]["curves"]
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.2), sharey=True, sharex=True)
    for axis, part in zip(axes, ("precision", "recall", "f1"), strict=True):
        for name, colour in COLOURS.items():
            curve = curves[name]
            if "0" in curve:
                axis.axhline(curve["0"]["characters"][part], color=colour, ls=":", label=name)
                continue
            sizes = [int(size) for size in curve]
            values = [row["characters"][part] for row in curve.values()]
            axis.plot(sizes, values, "o-", color=colour, label=name)
        axis.set_title("F1" if part == "f1" else part)
        axis.set_xscale("log")
        axis.set_xticks([1, 3, 5, 10, 20, 50, 100], ["1", "3", "5", "10", "20", "50", "100"])
        axis.set_xlabel("pages learned from")
        axis.set_ylim(0.55, 1.01)
    axes[0].set_ylabel("share of characters, up is better")
    sites = len(kept("site")["text"]["by_site"]["the page alone"])
    figure.suptitle(f"Body text kept against the right text, {sites} sites")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, bbox_to_anchor=(0.5, -0.14))
    figure.tight_layout()
    return figure


def site_links() -> Any:
    """Template links and images by the number of pages learned from."""
    from matplotlib import pyplot

    result = kept("site")["links"]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    rows = result["template_links"]
    sizes = list(range(len(rows)))
    for name, style in (("precision", "o-"), ("recall", "s--"), ("false_positives", "^:")):
        label = LABELS.get(name, name)
        axes[0].plot(sizes, [row[name] for row in rows.values()], style, label=label)
    axes[0].set_title("template links against links in bodies")
    pictures = result["images"]
    for name, style in (("ads_found", "o-"), ("content_kept", "s--")):
        label = LABELS.get(name, name)
        axes[1].plot(sizes, [row[name] for row in pictures.values()], style, label=label)
    shown = pictures["0"]
    axes[1].set_title(f"images: {shown['ads']} of advertising, {shown['content']} of content")
    axes[0].set_ylabel("share, up is better")
    figure.suptitle(
        f"Template links and images found, {len(result['template_links_by_site']['0'])} sites"
    )
    for axis in axes:
        axis.set_xticks(sizes, ["alone" if size == "0" else size for size in rows])
        axis.set_xlabel("pages learned from")
        axis.set_ylim(0, 1.02)
        axis.legend()
    figure.tight_layout()
    return figure


SITE_PLOTS: dict[str, Callable[[], Any]] = {
    "noise-models": noise_models,
    "site-text": site_text,
    "site-links": site_links,
}
