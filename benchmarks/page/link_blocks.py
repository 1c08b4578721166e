"""Logical link blocks by their two thresholds: the data of the chapter's Figures 5-4 to 5-8.

``make bench-link_blocks``. LCR, CCR and the number of blocks, means over pages: d_t of 5 to 60
units of text and 10 to 120 characters of code at C_t = 3; C_t of 2 to 12 at d_t = 40 and 80.

The chapter separates index pages from content pages, and five portals from randomly drawn pages.
Here:

- Index and content pages of the sites are labelled (``SAMPLE`` of each, evenly over the site).
- Pages of the body data are content; pages of the link data have the kind found by ``clean``.
- A portal is a host with a median of ``PORTAL_LINKS`` links a page or more: the chapter's portal
  pages have up to a thousand, its others tens to hundreds.

The chapter does not measure which links are inside blocks. ``taken`` is the share of the labelled
links of each kind that are.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from benchmarks.kit.results import keep
from benchmarks.kit.sources import site_pages
from benchmarks.page import body as page_body, links as page_links
from crawlclean import PageKind
from crawlclean.cleaning.document.source import decode
from crawlclean.cleaning.papers.link_blocks import (
    Distance,
    LinkBlocks,
    SourceLink,
    find_source_links,
    group_links,
    scan_links,
)

GAPS = {Distance.TEXT: range(5, 61, 5), Distance.CODE: range(10, 121, 10)}
FIXED_GAP = {Distance.TEXT: 40, Distance.CODE: 80}
MIN_LINKS = range(2, 13)
FIXED_MIN_LINKS = 3
SAMPLE = 60
PORTAL_LINKS = 200
SWEEPS = [
    *(
        (f"{distance}, d_t", distance, FIXED_MIN_LINKS, gap)
        for distance, gaps in GAPS.items()
        for gap in gaps
    ),
    *(
        (f"{distance}, C_t", distance, least, FIXED_GAP[distance])
        for distance in GAPS
        for least in MIN_LINKS
    ),
]


@dataclass(frozen=True, slots=True)
class Source:
    """The input of the method for a page: host, kind (``index``, ``content``), HTML."""

    host: str
    kind: str
    html: str


@dataclass(frozen=True, slots=True)
class Measured:
    """(LCR, CCR, number of blocks) of a page for each point of ``SWEEPS``."""

    host: str
    kind: str
    link_count: int
    points: list[tuple[float, float, int]]


def main() -> int:
    """Measures all pages and keeps the means."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # none but --help
    pages = [measured for page in sources() if (measured := measure(page)).link_count]
    by_host = defaultdict(list)
    for page in pages:
        by_host[page.host].append(page.link_count)
    portals = {
        host for host, counts in by_host.items() if statistics.median(counts) >= PORTAL_LINKS
    }
    figures: dict[str, Any] = {}
    for kind in ("index", "content"):
        of_kind = [page for page in pages if page.kind == kind]
        groups = {
            "portals": [page for page in of_kind if page.host in portals],
            "others": [page for page in of_kind if page.host not in portals],
            "all": of_kind,
        }
        figures[kind] = {name: _curves(rows) for name, rows in groups.items() if rows}
    keep("link_blocks", {"portal_links": PORTAL_LINKS, "figures": figures, "taken": taken()})
    return 0


def sources() -> Iterator[Source]:
    """Yields the pages to measure."""
    by_site = defaultdict(list)
    for page in site_pages():
        if page.kind:
            by_site[page.site, page.kind].append(page)
    for pages in by_site.values():
        step = max(1, len(pages) // SAMPLE)
        for page in sorted(pages, key=lambda page: page.path)[::step][:SAMPLE]:
            yield Source(page.site, page.kind, decode(page.body).html)
    for row in page_body.labelled_pages():
        yield Source(urlsplit(row["url"]).netloc or row["site"], "content", row["html"])
    for labelled in page_links.labelled_pages():
        kind = "index" if labelled.record.kind is PageKind.INDEX else "content"
        yield Source(labelled.host, kind, labelled.page.html)


def measure(page: Source) -> Measured:
    """Measures a page at every point; links and distances are read once."""
    read = {distance: scan_links(page.html, distance, max(gaps)) for distance, gaps in GAPS.items()}
    points = [_point(page.html, *read[distance], least, gap) for _, distance, least, gap in SWEEPS]
    return Measured(page.host, page.kind, len(read[Distance.TEXT][0]), points)


def taken() -> dict[str, Any]:
    """Returns, by distance and d_t at C_t = 3, the share of each label's links inside blocks."""
    pages = list(page_links.labelled_pages())
    read = [(page, find_source_links(page.page.html)) for page in pages]
    result: dict[str, Any] = {"links": dict(Counter(_labels(read)).most_common())}
    for distance, gaps in GAPS.items():
        distances = [scan_links(page.page.html, distance, max(gaps))[1] for page in pages]
        for gap in gaps:
            inside: Counter[str] = Counter()
            for (page, links), between in zip(read, distances, strict=True):
                blocks = group_links(links, between, FIXED_MIN_LINKS, gap)
                in_blocks = [link for block in blocks for link in links[block.first : block.end]]
                inside.update(_labels([(page, in_blocks)]))
            result[f"{distance} {gap}"] = {
                label: round(inside[label] / count, 4) for label, count in result["links"].items()
            }
    return result


def _labels(read: Iterable[tuple[page_links.Labelled, list[SourceLink]]]) -> Iterator[str]:
    for page, links in read:
        for number, _ in page_links.aligned(page.links, links):
            yield page.links[number]["label"]


def _point(
    html: str, links: Sequence[SourceLink], distances: Sequence[int], least: int, gap: int
) -> tuple[float, float, int]:
    found = LinkBlocks(
        blocks=group_links(links, distances, least, gap),
        link_count=len(links),
        char_count=len(html),
    )
    return found.lcr, found.ccr, len(found.blocks)


def _curves(pages: Sequence[Measured]) -> dict[str, Any]:
    curves: dict[str, Any] = {
        "pages": len(pages),
        "hosts": len({page.host for page in pages}),
        "median_links": statistics.median(page.link_count for page in pages),
    }
    for at, (name, _, least, gap) in enumerate(SWEEPS):
        curve = curves.setdefault(name, {"x": [], "lcr": [], "ccr": [], "blocks": []})
        curve["x"].append(gap if name.endswith("d_t") else least)
        for place, part in enumerate(("lcr", "ccr", "blocks")):
            curve[part].append(round(statistics.fmean(page.points[at][place] for page in pages), 4))
    return curves


if __name__ == "__main__":
    sys.exit(main())
