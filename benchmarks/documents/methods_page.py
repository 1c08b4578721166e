"""Tables of ``docs/methods.md`` about pages and forums, with the papers' own figures beside ours.

The figures of the papers are constants here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.documents.cells import Rows, share, with_bounds
from benchmarks.kit.results import kept

TABLE_1 = {  # paper 1: T -> precision, recall, F
    0.25: (0.875, 0.725, 0.793),
    0.29: (0.904, 0.699, 0.788),
    0.30: (0.904, 0.697, 0.787),
    0.32: (0.905, 0.690, 0.783),
    0.35: (0.908, 0.666, 0.769),
}
TABLES_2_AND_3 = {  # paper 1: pages -> method -> precision, recall, F
    "with a marker": {
        "start markers": (0.943, 0.796, 0.863),
        "containers, rules": (0.904, 0.697, 0.787),
    },
    "without": {"start markers": (0.827, 0.407, 0.545), "containers, rules": (0.859, 0.706, 0.775)},
}
SETS = ("zh articles", "zh with forums", "aeb")


def body() -> Rows:
    """Every tool on the sets of ``SETS``."""
    sets = kept("page")["body"]
    yield ["tool", *(f"{name} ({_pages(sets[name])})" for name in SETS), "empty answers"]
    for tool in sets[SETS[0]]:
        rows = [sets[name][tool] for name in SETS]
        figures = [with_bounds({"value": row["f1"], "95": row["f1_95"]}) for row in rows]
        yield [tool, *figures, rows[1]["empty"] + rows[2]["empty"]]


def _pages(by_tool: dict[str, Any]) -> str:
    return f"{next(iter(by_tool.values()))['pages']} pages"


def failures() -> Rows:
    """Faults of our worst bodies, and traits of these pages."""
    found = kept("page")["failures"]
    yield [f"pages with F1 below {share(found['f1_below'])}", "count"]
    yield from found["by_fault"].items()
    yield from found["by_trait"].items()


def posts() -> Rows:
    """Bodies of real forum engines' threads."""
    yield ["engine", "pages", "F1", "of one post"]
    for name, row in kept("page")["posts"].items():
        f1 = with_bounds({"value": row["f1"], "95": row["f1_95"]})
        yield [name, row["pages"], f1, share(row["f1_of_one_post"])]


def related() -> Rows:
    """Related links by every method, Chinese and English pages."""
    result = kept("page")["related"]
    yield ["method", "pages", "P", "R", "F1", "macro F1", "false alarms", "P with hot and ad"]
    for lang in ("zh", "en"):
        for name, row in result[lang].items():
            yield [
                name, lang, share(row["precision"]), share(row["recall"]), with_bounds(row["f1"]),
                with_bounds(row["macro_f1"]), row["false_alarms"],
                share(row["precision_with_hot_and_ad"]),
            ]  # fmt: skip


def sweep() -> Rows:
    """Paper 1, Table 1: thresholds."""
    ours = kept("page")["related"]["sweep_zh"]
    forms = ("containers, rules", "containers, figure1", "small logical blocks, rules")
    yield ["T", "paper P / R / F", *(f"{name}: P / R / F" for name in forms)]
    for at, (threshold, paper) in enumerate(TABLE_1.items()):
        rows = [ours[name][at] for name in forms]
        yield [f"{threshold:.2f}", _three(paper), *(_three(_prf(row)) for row in rows)]


def markers() -> Rows:
    """Paper 1, Tables 2 and 3: pages with and without a marker."""
    result = kept("page")["related"]["markers_zh"]
    yield ["pages", "method", "paper P / R / F", "ours P / R / F"]
    for pages, paper in TABLES_2_AND_3.items():
        for name in (*paper, "start markers, containers", "default"):
            printed = _three(paper[name]) if name in paper else "-"
            label = f"{pages} ({result[pages]['pages']})"
            yield [label, name, printed, _three(_prf(result[pages][name]))]


def _prf(row: dict[str, Any]) -> tuple[float, float, float]:
    return row["precision"], row["recall"], row["f1"]


def _three(figures: Sequence[float]) -> str:
    return " / ".join(map(share, figures))


def kinds() -> Rows:
    """Labels of links against our kinds."""
    result = kept("page")["links"]["kinds"]
    labels = sorted(result["confusion"])
    yield ["label \\ kind", *labels, "right"]
    for label in labels:
        row = result["confusion"][label]
        found = [row.get(kind, 0) or "" for kind in labels]
        yield [label, *found, share(row.get(label, 0) / sum(row.values()))]
    yield ["all", *[""] * len(labels), with_bounds(result["accuracy"])]


def link_failures() -> Rows:
    """Faults on the pages with the worst links."""
    result = kept("page")["links"]["kinds"]["failing_pages"]
    least = share(result["right_below"])
    yield [
        f"most frequent fault on pages with less than {least} right (of {result['of']})",
        "pages",
    ]
    counts = result["by_most_frequent_fault"]
    frequent = {fault: count for fault, count in counts.items() if count > 1}
    yield from frequent.items()
    yield ["others, once each", sum(counts.values()) - sum(frequent.values())]


def images() -> Rows:
    """Content images against all others."""
    result = kept("page")["links"]["images"]
    yield ["content images", "figure"]
    for name in ("precision", "recall"):
        yield [name, with_bounds(result[name])]


def cost() -> Rows:
    """CPU time and memory of every tool."""
    result = kept("page")["cost"]
    memory = result["peak_memory_mb_above_import"]
    yield ["tool", "CPU, bare parses", "peak memory above import, MB"]
    for name, spent in sorted(result["cpu_in_bare_parses"].items(), key=lambda item: item[1]):
        yield [name, f"{spent:.2f}", f"{memory[name]:.0f}"]


def steps() -> Rows:
    """CPU time of each step of ``clean``."""
    yield ["step of `clean`", "CPU, bare parses"]
    for name, spent in kept("page")["steps"]["cpu_in_bare_parses"].items():
        yield [name, f"{spent:.2f}"]


def link_blocks() -> Rows:
    """Link blocks at some points of the chapter's figures."""
    figures = kept("link_blocks")["figures"]
    points = (("text", 5), ("text", 20), ("text", 40), ("text", 60), ("code", 40), ("code", 80))
    yield [
        "pages, LCR / CCR / blocks", "count", "links (median)",
        *(f"{distance} {gap}" for distance, gap in points),
    ]  # fmt: skip
    for kind, groups in figures.items():
        for group, curves in groups.items():
            found = []
            for distance, gap in points:
                curve = curves[f"{distance}, d_t"]
                at = curve["x"].index(gap)
                rates = share(curve["lcr"][at]), share(curve["ccr"][at])
                found.append(" / ".join((*rates, f"{curve['blocks'][at]:.1f}")))
            yield [f"{kind}, {group}", curves["pages"], f"{curves['median_links']:.0f}", *found]


def taken() -> Rows:
    """Share of labelled links inside blocks."""
    result = kept("link_blocks")["taken"]
    points = ("text 5", "text 20", "text 40", "text 60", "code 40", "code 80")
    yield ["label", "links", *points]
    for label, count in result["links"].items():
        yield [label, count, *(share(result[point][label]) for point in points)]


def clustering() -> Rows:
    """Clusters of raw and of cleaned pages."""
    result = kept("clustering")
    yield ["clusterer", "text", "P", "R", "P of pairs", "R of pairs"]
    for method in ("genetic + k-means", "k-means"):
        for text, row in result[method].items():
            parts = ("precision", "recall", "pair_precision", "pair_recall")
            yield [method, text, *(with_bounds(row[part]) for part in parts)]


def topics() -> Rows:
    """The clustered pages by topic."""
    yield ["topic", "pages", "hosts"]
    for name, row in kept("clustering")["topics"].items():
        yield [name, row["pages"], row["hosts"]]


def public() -> Rows:
    """Bodies, dates, authors and titles by the public corpora's own measures."""
    found = kept("public")
    tools = ("product", *found["peers"])
    yield ["measure", "ours", *(f"{tool} {version}" for tool, version in found["peers"].items())]
    for what, figure in (
        ("segments", "precision"), ("segments", "recall"), ("segments", "f"),
        ("dates", "precision"), ("dates", "recall"), ("dates", "f"),
        ("body", "f1"), ("authors", "named"), ("authors", "right"), ("title", "right"),
    ):  # fmt: skip
        rows = [found[tool].get(what) for tool in tools]
        yield [f"{what}, {figure}", *(share(row[figure]) if row else "" for row in rows)]


def confidence() -> Rows:
    """How well the confidence tells right bodies from wrong ones, on hosts left out."""
    yield ["pages of", "count", "wrong bodies", "AUC", "Brier score"]
    for name, row in kept("confidence")["groups"].items():
        auc = "" if row["auc"] is None else share(row["auc"])
        yield [name, row["pages"], row["wrong"], auc, share(row["brier"])]


def titles() -> Rows:
    """Share of right titles; whole sites (names with a dot) are numbered."""
    yield ["pages of", "count", "ours", "the whole `<title>`"]
    sites = 0
    for name, row in kept("page")["metadata"]["titles"].items():
        sites += "." in name
        shown = f"whole site {sites}" if "." in name else name
        yield [shown, row["pages"], share(row["right"]), share(row["whole_title_right"])]


def page_kinds() -> Rows:
    """Kinds of pages by labelled type."""
    yield ["labelled type", "pages", "right", "found"]
    for name, row in kept("page")["kinds"]["types"].items():
        found = ", ".join(f"{kind} {count}" for kind, count in row["found"].items())
        yield [name, row["pages"], share(row["right"]), found]


def usc() -> Rows:
    """Topic pages of forums by USC, means over forums; the paper comes first."""
    result = kept("forum")["usc"]
    yield ["reading", "fetched URLs: P / R / F", "all discovered: P / R / F"]
    yield ["paper, 10 forums, centres by hand", _three((1.0, 0.981, 0.990)), "-"]
    for reading in result["fetched"]:
        yield [reading, *(_three(_mean_of_forums(result[part][reading])) for part in result)]


def _mean_of_forums(by_forum: dict[str, Any]) -> list[float]:
    rows = [row for row in by_forum.values() if isinstance(row, dict)]
    return [sum(row[part] for row in rows) / len(rows) for part in ("precision", "recall", "f")]


def url_classes() -> Rows:
    """Topic pages of forums by URL classes, without a given page."""
    result = kept("forum")["classes"]
    yield ["forum", "classes", *result["mean f"]]
    for name, row in result["forums"].items():
        yield [name, row["rules"], *(_three(_three_of(row[part])) for part in result["mean f"])]
    left_out = result["thresholds chosen on the others"]["mean f"]
    yield ["mean F", "-", *(share(f) for f in result["mean f"].values())]
    yield ["mean F, thresholds chosen on the seven others", "-", "-", share(left_out), "-"]


def _three_of(row: dict[str, float]) -> list[float]:
    return [row[part] for part in ("precision", "recall", "f")]


def url_kinds() -> Rows:
    """Labelled types of forum URLs and the kinds found."""
    yield ["labelled type", "kinds found"]
    for name, row in kept("forum")["classes"]["kinds"].items():
        yield [name, ", ".join(f"{kind} {count}" for kind, count in row.items())]


def ksf() -> Rows:
    """The class of the posts, learned from five pages."""
    yield ["method", "first post's class", "any post's class"]
    yield ["paper, KSF, 118 of 130 draws", share(0.908), "-"]
    yield ["paper, SCEED", share(0.723), "-"]
    for name, row in kept("forum")["class of the posts"].items():
        yield [name, share(row["mean"]["first"]), share(row["mean"]["any"])]


PAGE_TABLES: dict[str, Callable[[], Rows]] = {
    "body": body,
    "failures": failures,
    "posts": posts,
    "related": related,
    "sweep": sweep,
    "markers": markers,
    "kinds": kinds,
    "images": images,
    "link-failures": link_failures,
    "cost": cost,
    "steps": steps,
    "link-blocks": link_blocks,
    "taken": taken,
    "public": public,
    "confidence": confidence,
    "titles": titles,
    "page-kinds": page_kinds,
    "usc": usc,
    "url-classes": url_classes,
    "url-kinds": url_kinds,
    "ksf": ksf,
    "clustering": clustering,
    "topics": topics,
}
