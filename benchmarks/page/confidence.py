"""The confidence of bodies, fitted and checked on hosts left out: ``make bench-confidence``.

The labelled pages are those of ``page.py``, the newspapers of ``public.py``, up to 20 threads of
each labelled forum, and the tested pages of the sixteen sites, each alone, with a model of 3 pages
and with one of 20. A body is right when its F1 is at least .8. The weights are those of a logistic
regression in which a host counts as the square root of its pages; they are printed as
``cleaning/confidence.py`` has them. The figures are of six parts of the hosts, each judged by
weights that were fitted on the other five.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, sqrt
from typing import Any, NamedTuple

from benchmarks.forum.labelled import forums, thread_pages
from benchmarks.forum.posts import raw_page
from benchmarks.kit.results import keep, show
from benchmarks.kit.scoring import score
from benchmarks.page.body import BY_KIND, SETS, labelled_pages
from benchmarks.page.public import rows_of
from benchmarks.robust.sites import sixteen_sites
from crawlclean import RawPage, SiteModel, learn_site
from crawlclean.cleaning.confidence import Evidence
from crawlclean.cleaning.page import read

RIGHT = 0.8  # F1 from which a body is right
PARTS = 6  # of the hosts
THREADS = 20  # of a forum: its pages are alike
LEARNED_FROM = (3, 20)
BINS = 10  # of the plot: tenths of the pages, two hundred each
STEPS, RIDGE = 12, 1.0  # of Newton's method, and what keeps its weights small
LEAST_CHARS = 10  # of gold: "+1" alone measures nothing


class Case(NamedTuple):
    """A labelled page: its set and host, the evidence for its body, whether this is right."""

    name: str
    host: str
    is_chinese: bool
    values: tuple[float, ...]
    is_right: bool


def cases() -> Iterator[Case]:
    """Yields every labelled page with a body."""
    for page in labelled_pages((*SETS, BY_KIND)):
        raw = RawPage.from_bytes(
            page["url"], page["html"].encode("utf-8", "replace"), "text/html; charset=utf-8"
        )
        is_chinese = page["lang"] == "zh"
        yield from _case(page["set"], page["site"] or raw.host, raw, page["gold"], is_chinese)
    for row in rows_of("publishers"):
        raw = RawPage.from_bytes(row["url"], row["html"])
        yield from _case("publishers", raw.host, raw, row["gold"], False)
    for name, rows in forums():
        golds = [(row, _shown(row["gold"])) for row in thread_pages(rows)]
        for row, gold in [each for each in golds if len(each[1].strip()) >= LEAST_CHARS][:THREADS]:
            yield from _case("forums", name, raw_page(row), gold, True)
    with sixteen_sites() as sites:
        for site in sites:
            others = site.others()
            for size in (0, *LEARNED_FROM):
                chance = random.Random(f"{site.name} {size} 0")  # noqa: S311 - a sample
                drawn = chance.sample(others, min(size, len(others)))
                model = learn_site([site.pages[i] for i in drawn]) if drawn else None
                kind = f"sites, {size} pages" if drawn else "sites, alone"
                for i in site.tested:
                    yield from _case(kind, site.name, site.pages[i], site.golds[i], True, model)


def _shown(gold: dict[str, Any]) -> str:
    posts = [gold.get("first") or "", *(gold.get("replies") or ())]
    return "\n".join(posts[i] for i in gold["on_page"] if i < len(posts))


def _case(
    name: str, host: str, page: RawPage, gold: str, is_chinese: bool, model: SiteModel | None = None
) -> Iterator[Case]:
    reading = read(page, model)
    if reading.evidence is not None:  # without a body there is nothing to judge
        is_right = score(reading.record.body, gold)[2] >= RIGHT
        yield Case(name, host, is_chinese, tuple(reading.evidence), is_right)


def fit(found: Sequence[Case]) -> list[float]:
    """Returns the bias and the weights of a logistic regression, by Newton's method."""
    pages = Counter(case.host for case in found)
    rows = [((1.0, *case.values), case.is_right, 1 / sqrt(pages[case.host])) for case in found]
    size = len(rows[0][0])
    weights = [0.0] * size
    for _ in range(STEPS):
        slope = [0.0] + [-RIDGE * w for w in weights[1:]]
        curve = [[RIDGE * (i == j and i > 0) for j in range(size)] for i in range(size)]
        for values, is_right, share in rows:
            p = probability(weights, values)
            error, spread = share * (is_right - p), share * p * (1 - p)
            for i, x in enumerate(values):
                slope[i] += error * x
                for j, other in enumerate(values):
                    curve[i][j] += spread * x * other
        weights = [w + step for w, step in zip(weights, solved(curve, slope), strict=True)]
    return weights


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solves a system of linear equations, positive definite, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, row in enumerate(rows):
        for k, other in enumerate(rows):
            if k != i:
                factor = other[i] / row[i]
                rows[k] = [x - factor * y for x, y in zip(other, row, strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def probability(weights: Sequence[float], values: Sequence[float]) -> float:
    """The probability of values behind a leading 1."""
    return 1 / (1 + exp(-sum(w * x for w, x in zip(weights, values, strict=True))))


def auc(judged: Sequence[tuple[float, bool]]) -> float | None:
    """How often a right body is surer than a wrong one, 0..1; None without one of the two."""
    right = [p for p, is_right in judged if is_right]
    wrong = [p for p, is_right in judged if not is_right]
    if not right or not wrong:
        return None
    surer = sum((p > q) + (p == q) / 2 for p in right for q in wrong)
    return round(surer / len(right) / len(wrong), 3)


def figures(judged: Sequence[tuple[float, bool]]) -> dict[str, float | int | None]:
    """Pages, wrong bodies, AUC and Brier score."""
    brier = sum((p - is_right) ** 2 for p, is_right in judged) / len(judged)
    wrong = sum(not is_right for _, is_right in judged)
    return {"pages": len(judged), "wrong": wrong, "auc": auc(judged), "brier": round(brier, 4)}


def bins(judged: Sequence[tuple[float, bool]]) -> list[dict[str, float | int]]:
    """Tenths of the pages by confidence: its mean, and the share of right bodies."""
    order = sorted(judged)
    parts = [order[len(order) * i // BINS : len(order) * (i + 1) // BINS] for i in range(BINS)]
    return [
        {
            "pages": len(part),
            "said": round(sum(p for p, _ in part) / len(part), 3),
            "right": round(sum(is_right for _, is_right in part) / len(part), 3),
        }
        for part in parts
    ]


def main() -> int:
    """Fits, checks and keeps; returns the exit status."""
    parser = argparse.ArgumentParser(description="Fit the confidence and check it.")
    parser.add_argument("--quick", action="store_true", help="print the result, keep nothing")
    found = list(cases())
    hosts = sorted({case.host for case in found})
    random.Random(0).shuffle(hosts)  # noqa: S311 - a division
    part_of = {host: i % PARTS for i, host in enumerate(hosts)}
    judged: list[tuple[Case, tuple[float, bool]]] = []
    for part in range(PARTS):
        weights = fit([case for case in found if part_of[case.host] != part])
        judged += [
            (case, (probability(weights, (1.0, *case.values)), case.is_right))
            for case in found
            if part_of[case.host] == part
        ]
    groups = {
        "all": [pair for _, pair in judged],
        "without models": [pair for case, pair in judged if not case.name.endswith("pages")],
        "chinese": [pair for case, pair in judged if case.is_chinese],
        **{
            name: [pair for case, pair in judged if case.name == name]
            for name in dict.fromkeys(case.name for case, _ in judged)
        },
    }
    weights = fit(found)
    result = {
        "hosts": len(hosts),
        "bias": round(weights[0], 2),
        "weights": {
            name: round(w, 2) for name, w in zip(Evidence._fields, weights[1:], strict=True)
        },
        "usual": {
            name: round(sum(case.values[i] for case in found) / len(found), 2)
            for i, name in enumerate(Evidence._fields)
        },
        "groups": {name: figures(pairs) for name, pairs in groups.items()},
        "bins": bins(groups["all"]),
    }
    if parser.parse_args().quick:
        show(result)
    else:
        keep("confidence", result)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
