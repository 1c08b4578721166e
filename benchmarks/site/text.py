"""The text kept of whole sites against their gold bodies: a part of ``site.py``.

A model is learned from n pages drawn from a site and cleans other content pages.

- P, R and F1 of a page are of the longest common subsequence of tokens (``kit/scoring.py``); of a
  site, means over its pages; a figure is the mean over the sites.
- ``characters``: P, R and F1 of the bags of characters (without white space), summed over a site's
  pages. With this count the F1 of all text equals the figure in the data's table.
- Every n is drawn ``DRAWS`` times; intervals are bootstrapped over the pages of each site and draw.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.kit.scoring import score
from benchmarks.site.pages import Gold, Site
from crawlclean import RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.model.paths import step_of

SIZES = (1, 3, 5, 10, 20, 50, 100)
DRAWS = 3
TESTED = 30
RESAMPLES = 1000
LEAST_PAGES = 3
LEAST_SHARE = 0.7

Tool = Callable[[RawPage], str]


@dataclass(frozen=True, slots=True)
class Draw:
    """Pages to test on, and the other pages in random order."""

    site: Site
    tested: list[RawPage]
    golds: list[Gold]
    others: list[RawPage]


def draws_of(sites: Iterable[Site], count: int = DRAWS, tested: int = TESTED) -> list[Draw]:
    """Returns the draws of every site; every run has the same draws."""
    draws = []
    for site in sites:
        for seed in range(count):
            chance = random.Random(seed)  # noqa: S311 - a sample
            content = [i for i, yes in enumerate(site.is_content) if yes]
            chosen = chance.sample(content, len(content))
            pages, golds, taken = [], [], set()
            for i in chosen:
                gold = site.gold(i)
                if gold.body:
                    pages.append(site.pages[i])
                    golds.append(gold)
                    taken.add(i)
                if len(pages) == tested:
                    break
            others = [page for i, page in enumerate(site.pages) if i not in taken]
            chance.shuffle(others)
            draws.append(Draw(site, pages, golds, others))
    return draws


def measure_text(draws: Sequence[Draw], sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Returns the curves of the default and of simple rules, and the default's ends by site."""
    curves: dict[str, dict[str, Any]] = {}
    by_site: dict[str, dict[str, Any]] = {}
    rows = [_scores(draw, lambda page: parse(page.html).text()) for draw in draws]
    curves["all text"] = {"0": _figure(draws, rows)}
    rows = [_scores(draw, lambda page: clean(page).body) for draw in draws]
    curves["the page alone"] = {"0": _figure(draws, rows)}
    by_site["the page alone"] = _by_site(draws, rows)
    for name, make in TOOLS.items():
        curves[name] = {}
        for size in sizes:
            rows = [_scores(draw, make(draw.others[:size])) for draw in draws]
            curves[name][str(size)] = _figure(draws, rows)
            if name == "default":
                by_site[str(size)] = _by_site(draws, rows)
    return {"curves": curves, "by_site": by_site}


@dataclass(frozen=True, slots=True)
class Scores:
    """(P, R, F1) of each page of a draw, and characters kept, wanted and common."""

    pages: list[tuple[float, float, float]]
    kept: int
    wanted: int
    common: int


def _scores(draw: Draw, tool: Tool) -> Scores:
    pages = []
    kept = wanted = common = 0
    for page, gold in zip(draw.tested, draw.golds, strict=True):
        answer = tool(page)
        pages.append(score(answer, gold.body))
        mine, theirs = Counter("".join(answer.split())), Counter("".join(gold.body.split()))
        kept += mine.total()
        wanted += theirs.total()
        common += (mine & theirs).total()
    return Scores(pages, kept, wanted, common)


def _figure(draws: Sequence[Draw], rows: Sequence[Scores]) -> dict[str, Any]:
    means = [_mean(row.pages) for row in rows]
    chance = random.Random(1)  # noqa: S311 - resampling
    drawn = []
    for _ in range(RESAMPLES):
        again = [_mean(chance.choices(row.pages, k=len(row.pages))) for row in rows]
        drawn.append(sum(each[2] for each in again) / len(again))
    drawn.sort()
    recalls = [row["recall"] for row in _by_site(draws, rows).values()]
    kept_by_site = [
        sum(r.common for d, r in zip(draws, rows, strict=True) if d.site.name == name)
        / sum(r.wanted for d, r in zip(draws, rows, strict=True) if d.site.name == name)
        for name in {draw.site.name for draw in draws}
    ]
    characters = [(row.common / max(row.kept, 1), row.common / row.wanted) for row in rows]
    return {
        "precision": _round(each[0] for each in means),
        "recall": _round(each[1] for each in means),
        "f1": _round(each[2] for each in means),
        "f1_95": [round(drawn[int(RESAMPLES * share)], 4) for share in (0.025, 0.975)],
        "least_recall_of_a_site": min(recalls),
        "characters": {
            "precision": _round(p for p, _ in characters),
            "recall": _round(r for _, r in characters),
            "f1": _round(2 * p * r / (p + r) if p + r else 0.0 for p, r in characters),
            "least_recall_of_a_site": round(min(kept_by_site), 4),
        },
    }


def _by_site(draws: Sequence[Draw], rows: Sequence[Scores]) -> dict[str, dict[str, float]]:
    pages: dict[str, list[tuple[float, float, float]]] = {}
    for draw, row in zip(draws, rows, strict=True):
        pages.setdefault(draw.site.name, []).extend(row.pages)
    return {
        name: dict(
            zip(
                ("precision", "recall", "f1"),
                (round(value, 4) for value in _mean(values)),
                strict=True,
            )
        )
        for name, values in pages.items()
    }


def _mean(rows: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    p, r, f = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return p, r, f


def _round(values: Iterable[float]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 4)


def _default(pages: list[RawPage]) -> Tool:
    model: SiteModel = learn_site(pages)
    return lambda page: clean(page, model).body


def _repeated_text(pages: list[RawPage]) -> Tool:
    """Drops text seen on three pages or more."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({text for text, _ in _lines(parse(page.html))})

    def keep(page: RawPage) -> str:
        lines = _lines(parse(page.html))
        return "\n".join(text for text, _ in lines if counts[text] < LEAST_PAGES)

    return keep


def _repeated_paths(pages: list[RawPage]) -> Tool:
    """Drops DOM paths whose text repeats on at least 70 % of the pages with the path."""
    texts: dict[str, list[str]] = {}
    for page in pages:
        of_page: dict[str, list[str]] = {}
        for text, path in _lines(parse(page.html)):
            of_page.setdefault(path, []).append(text)
        for path, held in of_page.items():
            texts.setdefault(path, []).append("\n".join(held))
    dropped = set()
    for path, held in texts.items():
        counts = Counter(held)
        repeated = sum(count for count in counts.values() if count > 1)
        if repeated >= LEAST_SHARE * len(held):
            dropped.add(path)

    def keep(page: RawPage) -> str:
        lines = _lines(parse(page.html))
        return "\n".join(text for text, path in lines if path not in dropped)

    return keep


def _lines(tree: Tree) -> list[tuple[str, str]]:
    """Returns (text, path) of each line of a page."""
    paths = ["html"]
    for block in range(1, len(tree.block_tags)):
        step = step_of(tree.block_tags[block], tree.block_names[block])
        paths.append(f"{paths[tree.block_parents[block]]}/{step}")
    return [(tree.line_text(i), paths[block]) for i, block in enumerate(tree.line_blocks)]


TOOLS: dict[str, Callable[[list[RawPage]], Tool]] = {
    "drop text seen on >= 3 pages": _repeated_text,
    "drop DOM paths whose text repeats on >= 70 %": _repeated_paths,
    "default": _default,
}
