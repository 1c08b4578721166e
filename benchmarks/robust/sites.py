"""Bodies of whole sites learned from few pages, and on changed copies: a part of ``robust.py``.

From the pages of a site that are not tested, n are drawn several times; a model is learned from a
draw and cleans tested pages. A *cell* is a site and a number of pages: all its draws and tests.

- A page *loses* when its F1 is more than .02 below that of the page alone.
- Of a copy (``copies.py``) models are learned from 20 changed pages; gold and tests are as before.
- Means are over sites, and their intervals are from drawing the sites anew.

The rules were made on these sites: the figures are no forecast for other hosts.
"""

from __future__ import annotations

import json
import os
import random
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, unquote

from benchmarks.kit.results import require_data
from benchmarks.kit.scoring import score
from benchmarks.robust.copies import copy_page, copy_url
from benchmarks.robust.figures import PLAIN, host_interval, robust_figures
from benchmarks.site.pages import gold_of
from crawlclean import RawPage, clean, learn_site

DRAWS = {1: 2, 2: 6, 3: 6, 5: 4, 8: 4, 20: 3, 60: 2}
"""Number of pages -> number of draws; few pages differ most from draw to draw."""
TESTED = 24  # tested pages of a site, half of them by each draw
LOSS = 0.02  # difference in F1 from which a page loses
LEAST_CHARS = 20  # shortest gold body that is tested

COPIES_OF_SITES = ("names", "ids", "profile", "widget", "digits", "addresses", "no dates")
COPY_DRAWS = {20: 2}
QUICK_DRAWS = {2: 1, 20: 1}


def measure(quick: bool = False) -> dict[str, Any]:
    """Returns the figures by number of pages, and F1 from 20 pages on each copy."""
    tests: list[Test] = []
    scores: dict[str, dict[str, list[float]]] = {PLAIN: {}}
    with sixteen_sites() as sites:
        for site in sites[:: 4 if quick else 1]:
            tests += tests_of(site, QUICK_DRAWS if quick else DRAWS)
            of_20 = [test.score[2] for test in tests if (test.site, test.size) == (site.name, 20)]
            scores[PLAIN][site.name] = of_20
            for copy in COPIES_OF_SITES:
                found = tests_of(changed(site, copy), QUICK_DRAWS if quick else COPY_DRAWS)
                of_copy = [test.score[2] for test in found if test.size != min(QUICK_DRAWS)]
                scores.setdefault(copy, {})[site.name] = of_copy
    return {"sites": {"few pages": figures_of(tests), "copies": robust_figures(scores)}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A whole site.

    Attributes:
        name: Its host.
        pages: All its pages.
        tested: Numbers of the tested pages.
        golds: Gold body of each tested page.
    """

    name: str
    pages: list[RawPage]
    tested: list[int]
    golds: dict[int, str]

    def others(self) -> list[int]:
        """Returns the numbers of the pages that models are learned from."""
        tested = set(self.tested)
        return [i for i in range(len(self.pages)) if i not in tested]


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A tested page: precision, recall and F1 by a model, and F1 of the page alone."""

    site: str
    size: int
    draw: int
    url: str
    score: tuple[float, float, float]
    alone: float

    @property
    def loss(self) -> float:
        """F1 that the model loses against the page alone; negative where it wins."""
        return self.alone - self.score[2]


@contextmanager
def sixteen_sites() -> Iterator[list[Site]]:
    """Yields the labelled sites of both sets, unpacked for the block (or from ``SITES16_WWW``)."""
    with TemporaryDirectory() as name:
        root = Path(os.environ.get("SITES16_WWW", f"{name}/www"))
        sites: list[Site] = []
        for folder in ("sites", "sites2"):
            data = require_data(folder)
            if "SITES16_WWW" not in os.environ:
                with tarfile.open(data / "www.tar.xz") as archive:
                    archive.extractall(name, filter="data")
            labels = json.loads((data / "sites.json").read_text("utf-8"))
            sites += [_read(root / host, host, site) for host, site in labels.items()]
        yield sites


def _read(root: Path, host: str, labels: Mapping[str, Any]) -> Site:
    """Reads the pages of a site and the gold of those it is tested on."""
    pages: list[RawPage] = []
    content: list[int] = []
    wanted = re.compile(labels["gold"]["content"])
    paths = labels.get("urls") or ["/" + file for file in labels["files"]]
    for path in sorted(paths):
        file = root / unquote(path.lstrip("/"))
        if file.is_dir():
            file = file / "index.html"
        if not file.is_file():
            file = root / path.lstrip("/")
            if not file.is_file():
                continue
        plain = path if labels.get("urls") else quote(path)
        if wanted.search(str(file.relative_to(root))):
            content.append(len(pages))
        pages.append(RawPage.from_bytes(f"http://{host}{plain}", file.read_bytes()))
    selectors = {key: value for key, value in labels["gold"].items() if key != "ads"}
    chance = random.Random(1)  # noqa: S311 - a sample
    chance.shuffle(content)
    tested: list[int] = []
    golds: dict[int, str] = {}
    for i in content:
        if len(tested) >= min(TESTED, len(content) // 3):
            break
        body = gold_of(pages[i], selectors).body
        if len("".join(body.split())) >= LEAST_CHARS:
            tested.append(i)
            golds[i] = body
    return Site(name=host, pages=pages, tested=tested, golds=golds)


def changed(site: Site, copy: str) -> Site:
    """Returns a copy of a site whose pages are all changed in one way (``copies.COPIES``)."""
    tested = set(site.tested)
    pages: list[RawPage] = []
    for i, page in enumerate(site.pages):
        html = copy_page(copy, site.name, page.html, is_list=i not in tested)
        url = copy_url(copy, site.name, page.url)
        pages.append(RawPage.from_bytes(url, html.encode(), "text/html; charset=utf-8"))
    return Site(name=site.name, pages=pages, tested=site.tested, golds=site.golds)


def tests_of(site: Site, sizes: Mapping[int, int]) -> Iterator[Test]:
    """Yields the tests of a site: for each size its draws, each on half of the tested pages."""
    alone = {i: score(clean(site.pages[i]).body, site.golds[i])[2] for i in site.tested}
    others = site.others()
    known: dict[tuple[int, str], tuple[float, float, float]] = {}
    for size, draws in sizes.items():
        for draw in range(draws):
            chance = random.Random(f"{site.name} {size} {draw}")  # noqa: S311 - a sample
            drawn = chance.sample(others, min(size, len(others)))
            model = learn_site([site.pages[i] for i in drawn])
            for i in site.tested[draw % 2 :: 2]:
                body = clean(site.pages[i], model).body
                if (i, body) not in known:
                    known[i, body] = score(body, site.golds[i])
                yield Test(
                    site=site.name, size=size, draw=draw, url=site.pages[i].url,
                    score=known[i, body], alone=alone[i],
                )  # fmt: skip


def figures_of(tests: Sequence[Test]) -> dict[str, Any]:
    """Returns the figures of all sites by number of pages: ``{"20": {"f1": 0.98, ...}, ...}``."""
    found: dict[str, Any] = {}
    for size in sorted({test.size for test in tests}):
        cells = _by_site(test for test in tests if test.size == size)
        f1 = {site: _mean(t.score[2] for t in cell) for site, cell in cells.items()}
        recall = {site: _mean(t.score[1] for t in cell) for site, cell in cells.items()}
        losing = {site: _mean(t.loss > LOSS for t in cell) for site, cell in cells.items()}
        worst = max((test for cell in cells.values() for test in cell), key=lambda test: test.loss)
        found[str(size)] = {
            "alone": round(_mean(_mean(t.alone for t in cell) for cell in cells.values()), 4),
            "f1": round(_mean(f1.values()), 4),
            "f1_90_hosts": [round(bound, 4) for bound in host_interval(sorted(f1.values()))],
            "least_site": _least(f1),
            "recall": round(_mean(recall.values()), 4),
            "least_recall": _least(recall),
            "losing": round(_mean(losing.values()), 4),
            "most_losing": _most(losing),
            "sites_losing_over_1_percent": sum(share > 0.01 for share in losing.values()),
            "worst": [worst.site, round(worst.alone, 3), round(worst.score[2], 3)],
        }
    return found


def _by_site(tests: Iterable[Test]) -> dict[str, list[Test]]:
    cells: dict[str, list[Test]] = {}
    for test in tests:
        cells.setdefault(test.site, []).append(test)
    return cells


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held)


def _least(values: Mapping[str, float]) -> list[Any]:
    name = min(values, key=values.__getitem__)
    return [name, round(values[name], 4)]


def _most(values: Mapping[str, float]) -> list[Any]:
    name = max(values, key=values.__getitem__)
    return [name, round(values[name], 4)]
