"""Bodies of sixteen whole sites learned from few pages, against each page alone.

From the pages of a site that are not tested, n are drawn several times; a model is learned from a
draw and cleans tested pages. A *cell* is a site and a number of pages: all its draws and tests.

- A page *loses* when its F1 is more than .02 below that of the page alone.
- A *copy* is a site whose pages were all changed in one way (``copies``), gold and tests as before.
- Means are over sites; their intervals are from resampling sites.
"""

from __future__ import annotations

import json
import os
import random
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, unquote

from benchmarks.kit.results import require_data
from benchmarks.kit.scoring import interval, score
from benchmarks.site.pages import gold_of
from cleaning import RawPage, clean, learn_site

DRAWS = {1: 2, 2: 6, 3: 6, 5: 4, 8: 4, 20: 3, 60: 2}
"""Number of pages -> number of draws; few pages differ most from draw to draw."""
TESTED = 24  # tested pages of a site, half of them by each draw
LOSS = 0.02  # difference in F1 from which a page loses
LEAST_TOKENS_CHARS = 20  # shortest gold body that is tested

Change = Callable[[str, random.Random], str]
"""Changes the HTML of a page; every page of a copy is changed with a generator of the same seed."""


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
            if not root.is_dir() or folder != "sites" and root == Path(name) / "www":
                with tarfile.open(data / "www.tar.xz") as archive:
                    archive.extractall(name, filter="data")
            labels = json.loads((data / "sites.json").read_text("utf-8"))
            sites += [_read(root / host, host, site) for host, site in labels.items()]
        yield sites


def _read(root: Path, host: str, labels: Mapping[str, Any]) -> Site:
    """Reads the pages of a site and the gold of those it is tested on."""
    pages, content = [], []
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
        if len("".join(body.split())) >= LEAST_TOKENS_CHARS:
            tested.append(i)
            golds[i] = body
    return Site(name=host, pages=pages, tested=tested, golds=golds)


def changed(site: Site, change: Change) -> Site:
    """Returns a copy of a site whose pages are all changed in one way."""
    pages = []
    for page in site.pages:
        chance = random.Random(site.name)  # noqa: S311 - equal names are changed equally
        html = change(page.html, chance)
        pages.append(RawPage.from_bytes(page.url, html.encode(), "text/html; charset=utf-8"))
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
            "f1_95_hosts": [round(bound, 4) for bound in interval(sorted(f1.values()))],
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
