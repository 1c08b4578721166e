"""Tables of ``docs/methods.md`` from ``make bench-robust``: changed copies beside plain pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.documents.cells import Rows, share
from benchmarks.kit.results import kept

_HEADER = ("hosts", "plain (90 % of hosts drawn anew)", "least host", "least copy keeps", "copy")


def bodies() -> Rows:
    """Bodies of pages by set."""
    yield ["bodies of", *_HEADER]
    for name, row in kept("robust")["bodies"]["sets"].items():
        yield [name, *_cells(row)]


def forums() -> Rows:
    """Thread classes and posts of labelled and of generated forums."""
    result = kept("robust")
    yield ["forums", *_HEADER]
    for kind, title in (("forums", "labelled"), ("generated", "generated")):
        for figure, row in result[kind].items():
            yield [f"{title}: {figure}", *_cells(row)]


def links() -> Rows:
    """Kinds of links and related links."""
    yield ["links", *_HEADER]
    for name, row in kept("robust")["links"].items():
        if name != "rules":
            yield [name, *_cells(row)]


def left_out() -> Rows:
    """Links with all rules, and by the word of other hosts."""
    result = kept("robust")["links"]["rules"]
    plain, left = result["plain"], result["one host left out"]
    yield ["mean of hosts", "all rules", "false alarms", "one host left out", "false alarms"]
    for name, row in plain.items():
        other = left[name]
        yield [
            name,
            share(row["host mean"]),
            row.get("false alarms", ""),
            share(other["host mean"]),
            other.get("false alarms", ""),
        ]


def sites() -> Rows:
    """Sites learned from few pages."""
    result = kept("robust")["sites"]
    yield [
        "learned from", "the page alone, F1", "with the model", "least site", "recall",
        "least recall", "pages that lose .02", "most in a cell",
    ]  # fmt: skip
    for size, row in result["few pages"].items():
        yield [
            f"{size} pages",
            share(row["alone"]),
            f"{share(row['f1'])} ({_bounds(row['f1_90_hosts'])})",
            share(row["least_site"][1]),
            share(row["recall"]),
            share(row["least_recall"][1]),
            f"{row['losing']:.1%}",
            f"{row['most_losing'][1]:.1%}",
        ]


def site_copies() -> Rows:
    """Whole sites on changed copies."""
    yield ["sites", *_HEADER]
    yield ["bodies", *_cells(kept("robust")["sites"]["copies"])]


def _cells(row: Mapping[str, Any]) -> tuple[object, ...]:
    copy, keeps = row["least copy"]
    return (
        row["hosts"],
        f"{share(row['plain'])} ({_bounds(row['plain_90'])})",
        share(row["least host"][1]),
        share(keeps),
        copy,
    )


def _bounds(interval: list[float]) -> str:
    low, high = interval
    return f"{share(low)}-{share(high)}"


ROBUST_TABLES: dict[str, Callable[[], Rows]] = {
    "robust-bodies": bodies,
    "robust-forums": forums,
    "robust-links": links,
    "links-left-out": left_out,
    "robust-sites": sites,
    "robust-site-copies": site_copies,
}
