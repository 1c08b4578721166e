"""Links and images with a site model, against selectors and labels: a part of ``site.py``.

- Template links: on content pages of the whole sites, links inside the template's selectors against
  links in the gold body. Found are the kinds navigation, function, advertising, hot, legal, and
  links of any kind that repeat by the model (a cloud of tags on every page).
- Images: advertising images found, and content images kept, on the same pages.
- Noise links: on hosts with three labelled pages or more, each page with a model of the host's
  other pages. Noise has the labels nav, function, ad, hot, legal; clean has related, inbody, tag;
  ``other`` (sources, names, other lists) is only counted. Hosts are registered domains, as in the
  labels; their pages get one host.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.page.links import Labelled, aligned, labelled_pages
from benchmarks.site.text import Draw
from crawlclean import ImageKind, Link, LinkKind, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.records import LinkReason

NOISE = frozenset(
    (LinkKind.NAVIGATION, LinkKind.FUNCTION, LinkKind.AD, LinkKind.HOT, LinkKind.LEGAL)
)
NOISE_LABELS = frozenset(("nav", "function", "ad", "hot", "legal"))
CLEAN_LABELS = frozenset(("related", "inbody", "tag"))
LEAST_PAGES = 3
RESAMPLES = 1000

Row = tuple[int, int, int, int]
"""Of one page: noise found, clean taken for noise, noise missed, clean kept."""


def measure_template(draws: Sequence[Draw], sizes: Sequence[int]) -> dict[str, Any]:
    """Returns the figures of template links and images by the number of pages learned from."""
    links: dict[str, Any] = {}
    images: dict[str, Any] = {}
    by_site: dict[str, Any] = {}
    for size in (0, *sizes):
        rows: list[Row] = []
        kinds: dict[str, Counter[str]] = {"ad": Counter(), "content": Counter()}
        of_site: dict[str, list[Row]] = {}
        for draw in draws:
            model = learn_site(draw.others[:size]) if size else None
            for page, gold in zip(draw.tested, draw.golds, strict=True):
                record = clean(page, model)
                labels = [{"href": href} for href, _ in gold.links]
                row = [0, 0, 0, 0]
                for place, link in aligned(labels, record.links):
                    is_template = gold.links[place][1]
                    if is_template is not None:
                        row[_cell(is_template, _is_of_frame(link))] += 1
                rows.append((row[0], row[1], row[2], row[3]))
                of_site.setdefault(draw.site.name, []).append(rows[-1])
                if len(gold.images) == len(record.images):
                    for (_, kind), image in zip(gold.images, record.images, strict=True):
                        if kind:
                            kinds[kind][image.kind.value] += 1
        links[str(size)] = rates(rows)
        by_site[str(size)] = {name: rates(found) for name, found in of_site.items()}
        images[str(size)] = {
            "ads": kinds["ad"].total(),
            "ads_found": _share(kinds["ad"], ImageKind.AD),
            "content": kinds["content"].total(),
            "content_kept": _share(kinds["content"], ImageKind.CONTENT),
        }
    return {"template_links": links, "template_links_by_site": by_site, "images": images}


def measure_hosts() -> dict[str, Any]:
    """Returns the rates of noise links, by the page alone and by the host's other pages.

    Hosts with fewer pages are measured by the page alone.
    """
    labelled = list(labelled_pages())
    pages = with_hosts(labelled)
    found: dict[str, list[Row]] = {"the page alone": [], "default": []}
    found["other hosts, the page alone"] = [
        _row(one, one.page, None) for one in labelled if one.host not in pages
    ]
    other: Counter[str] = Counter()
    for of_host in pages.values():
        for one, page in of_host:
            others = [raw for labelled, raw in of_host if labelled is not one]
            model = learn_site(others)
            found["the page alone"].append(_row(one, page, None))
            found["default"].append(_row(one, page, model))
            other["pages"] += 1
            other["links labelled other"] += sum(x["label"] == "other" for x in one.links)
        other["hosts"] += 1
    return {**other, **{name: rates(rows) for name, rows in found.items()}}


def with_hosts(labelled: Iterable[Labelled]) -> dict[str, list[tuple[Labelled, RawPage]]]:
    """Returns the pages of hosts with three or more; each page gets the host and a unique URL."""
    pages: dict[str, list[tuple[Labelled, RawPage]]] = {}
    for number, one in enumerate(labelled):
        mark = "&" if "?" in one.page.url else "?"
        page = replace(one.page, host=one.host, url=f"{one.page.url}{mark}page={number}")
        pages.setdefault(one.host, []).append((one, page))
    return {host: found for host, found in pages.items() if len(found) >= LEAST_PAGES}


def rates(rows: Sequence[Row]) -> dict[str, Any]:
    """Returns precision, recall and false positives, with intervals over pages."""
    chance = random.Random(1)  # noqa: S311 - resampling
    drawn = [_rates(chance.choices(rows, k=len(rows))) for _ in range(RESAMPLES)]
    figures: dict[str, Any] = {}
    for place, name in enumerate(("precision", "recall", "false_positives")):
        values = sorted(row[place] for row in drawn)
        figures[name] = round(_rates(rows)[place], 4)
        figures[f"{name}_95"] = [
            round(values[int(RESAMPLES * share)], 4) for share in (0.025, 0.975)
        ]
    figures["noise"] = sum(row[0] + row[2] for row in rows)
    figures["clean"] = sum(row[1] + row[3] for row in rows)
    return figures


def _rates(rows: Sequence[Row]) -> tuple[float, float, float]:
    hits, wrong, missed, kept = (sum(column) for column in zip(*rows, strict=True))
    return (
        hits / (hits + wrong) if hits + wrong else 1.0,
        hits / (hits + missed) if hits + missed else 1.0,
        wrong / (wrong + kept) if wrong + kept else 0.0,
    )


def _row(one: Labelled, page: RawPage, model: SiteModel | None) -> Row:
    row = [0, 0, 0, 0]
    for place, link in aligned(one.links, clean(page, model).links):
        label = one.links[place]["label"]
        if label in NOISE_LABELS or label in CLEAN_LABELS:
            row[_cell(label in NOISE_LABELS, link.kind in NOISE)] += 1
    return row[0], row[1], row[2], row[3]


def _is_of_frame(link: Link) -> bool:
    return link.kind in NOISE or link.reason is LinkReason.HOST_REPEATS


def _cell(is_noise: bool, is_found: bool) -> int:
    if is_noise:
        return 0 if is_found else 2
    return 1 if is_found else 3


def _share(kinds: Counter[str], kind: ImageKind) -> float | None:
    return round(kinds[kind.value] / kinds.total(), 4) if kinds else None
