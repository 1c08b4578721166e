"""Tables of ``docs/methods.md`` from ``make bench-site`` and ``make bench-recleaning``."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, median
from typing import Any

from benchmarks.documents.cells import Rows, share
from benchmarks.kit.results import kept

M2_POINTS = (0.0, 0.1, 0.2, 0.3, 0.5)
POINTS = {  # of each curve, the thresholds in the table
    "m1, P in N-sigma": (0.8, 0.9, 1.0),
    "m1, learned from m2": (0.1, 0.3, 0.5, 0.7),
    "m2, printed": M2_POINTS,
    "m2, without the page itself": M2_POINTS,
    "m3, base n": (0.2, 0.4, 0.6),
    "m3, log2": (2.0, 4.0, 6.0),
    "m3, log2, 4 words by TF*IDF": (2.0, 4.0, 6.0),
}


def _bounds(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_95"]
    return f"{share(row[name])} ({share(low)}-{share(high)})"


def noise() -> Rows:
    """Figure 4 at some thresholds, and the cascade."""
    result = kept("site")["noise"]
    counts = {kind: f"{result[kind]['noise']} of {result[kind]['counted']}" for kind in result}
    yield [
        "model",
        "threshold",
        *(f"{kind} ({counts[kind]} noise): NPrecision / NRecall" for kind in result),
    ]
    for name, thresholds in POINTS.items():
        for threshold in thresholds:
            cells = []
            for kind in result:
                curve = result[kind]["models"][name]
                row = next(row for row in curve if row["threshold"] == threshold)
                cells.append(f"{share(row['nprecision'])} / {share(row['nrecall'])}")
            yield [name, threshold, *cells]
    for name in result["links"]["cascade"]:
        rows = [result[kind]["cascade"][name] for kind in result]
        cells = [f"{share(row['nprecision'])} / {share(row['nrecall'])}" for row in rows]
        yield [f"cascade, {name}", "", *cells]


def noise_added() -> Rows:
    """Gain of m1 and m3 on top of ``clean``."""
    result = kept("site")["noise"]
    yield [
        "to what clean says",
        "best threshold",
        *(f"{kind}: NPrecision / NRecall / false positives" for kind in result),
    ]
    for rows in zip(*(result[kind]["added"] for kind in result), strict=True):
        name, way = rows[0]["model"], rows[0]["way"]
        best = [row.get("best_in_hindsight", row) for row in rows]
        parts = ("nprecision", "nrecall", "false_positives")
        yield [
            f"{name}: {way}" if way else "nothing",
            " / ".join(str(row.get("threshold", "")) for row in best) if way else "",
            *(" / ".join(share(row[part]) for part in parts) for row in best),
        ]


def site_text() -> Rows:
    """Text kept against gold bodies by the number of pages learned from."""
    curves = kept("site")["text"]["curves"]
    sizes = list(curves["default"])
    yield ["F1 (characters; tokens with interval)", *(f"{size} pages" for size in sizes)]
    for name, curve in curves.items():
        if "0" in curve:
            yield [name, _text_cell(curve["0"]), *[""] * (len(sizes) - 1)]
        else:
            yield [name, *(_text_cell(curve[size]) for size in sizes)]


def _text_cell(row: dict[str, Any]) -> str:
    return f"{share(row['characters']['f1'])}; {_bounds(row, 'f1')}"


def site_text_by_site() -> Rows:
    """Text by the page alone and by the model, by site."""
    by_site = kept("site")["text"]["by_site"]
    columns = ("the page alone", "3", "20", "100")
    yield ["site, P / R / F1", columns[0], *(f"{size} pages" for size in columns[1:])]
    for name in by_site[columns[0]]:
        rows = [by_site[column][name] for column in columns]
        yield [
            name.removesuffix(".test"),
            *(" / ".join(share(row[k]) for k in ("precision", "recall", "f1")) for row in rows),
        ]


def site_links() -> Rows:
    """Template links, images and noise links."""
    result = kept("site")
    links, images = result["links"]["template_links"], result["links"]["images"]
    yield ["learned from", "template links P", "R", "ads found", "content images kept"]
    for size, row in links.items():
        picture = images[size]
        yield [
            f"{size} pages" if size != "0" else "the page alone",
            _bounds(row, "precision"),
            _bounds(row, "recall"),
            f"{share(picture['ads_found'])} of {picture['ads']}",
            f"{share(picture['content_kept'])} of {picture['content']}",
        ]


def site_hosts() -> Rows:
    """Noise links of the labelled hosts."""
    result = kept("site")["hosts"]
    yield ["noise links", "P", "R", "false positives"]
    for name in ("the page alone", "default", "other hosts, the page alone"):
        row = result[name]
        yield [name, *(_bounds(row, part) for part in ("precision", "recall", "false_positives"))]


def site_crawls() -> Rows:
    """Cost of learning and re-cleaning in crawls, and records the newest model would change."""
    sites = kept("recleaning")["undisturbed"]["sites"]
    yield [
        "site",
        "records",
        "by versions 0 / 1 / 2",
        "learning, s",
        "re-cleaning, s",
        "cleaning, s",
        "share of cleaning",
        "of the calls of `clean`",
        "other verdicts",
    ]
    for name, row in sites.items():
        yield [
            name.removesuffix(".test"),
            row["records"],
            " / ".join(str(row["by_version"].get(version, 0)) for version in "012"),
            *(f"{row[part] / 1000:.2f}" for part in ("learning_ms", "again_ms", "cleaning_ms")),
            share(row["share"]),
            share(row["share_of_clean"]),
            row["other"],
        ]


def site_drift() -> Rows:
    """Redesigns of the six sites: alarms, delay in pages, F1 after learning."""
    drift = kept("site")["drift"]
    crawls = [alarms for orders in drift["false_alarms"].values() for alarms in orders.values()]
    yield ["change", "noticed", "pages until then", "learned", "F1 by the old model", "new model"]
    yield ["none", f"{sum(map(bool, crawls))} of {len(crawls)} crawls", "", "", "", ""]
    for change, by_site in drift["redesigns"].items():
        rows = list(by_site.values())
        delays = [pages for row in rows for pages in row["pages"]]
        seen, done = (sum(int(row["noticed"].split(" of ")[i]) for row in rows) for i in (0, 1))
        scores = [each for row in rows for each in row["f1"] if each]
        means = [fmean(each[i] for each in scores) for i in (0, 3)] if scores else []
        yield [
            change,
            f"{seen} of {done}",
            f"{min(delays)} to {max(delays)}, median {median(delays):g}" if delays else "",
            f"{sum(row['learned'] for row in rows)} of {seen}",
            *([share(mean) for mean in means] or ["", ""]),
        ]


SITE_TABLES: dict[str, Callable[[], Rows]] = {
    "noise": noise,
    "noise-added": noise_added,
    "site-text": site_text,
    "site-text-by-site": site_text_by_site,
    "site-links": site_links,
    "site-hosts": site_hosts,
    "site-crawls": site_crawls,
    "site-drift": site_drift,
}
