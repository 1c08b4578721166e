"""Which hosts need a look after a crawl, and the lines about them."""

from __future__ import annotations

from typing import Any

import pytest

from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import HostStats, PageKind
from crawlclean.workers.answers.crawls import Concern, HostConcern
from crawlclean.workers.operations.crawling.outcome import CrawlOutcome, concerns_of
from crawlclean.workers.output.outcome_report import outcome_lines

ARTICLES = {PageKind.ARTICLE: 40, PageKind.INDEX: 20}


def host(**counts: Any) -> HostStats:
    made: dict[str, Any] = {"pages_by_state": {"record": 60}, "pages_by_kind": ARTICLES}
    return HostStats(host="a.example", **(made | counts))


@pytest.mark.parametrize(
    ("stats", "concern", "pages", "of"),
    [
        (
            host(pages_by_warning={WarningKind.NEEDS_JAVASCRIPT: 12}, empty_bodies=13),
            Concern.NEEDS_SCRIPTS,
            12,
            60,
        ),
        (host(empty_bodies=4), Concern.EMPTY_BODIES, 4, 40),
        (host(near_duplicates=30), Concern.REPEATED_BODIES, 30, 60),
        (host(pages_by_warning={WarningKind.LOST_FIELD: 1}), Concern.LOST_FIELDS, 1, 60),
        (
            host(errors_by_reason={"http_status": 30}, errors_by_status={"403": 20, "404": 10}),
            Concern.WALL,
            20,
            90,
        ),
        (host(errors_by_reason={"tls": 8}), Concern.CERTIFICATE, 8, 68),
        (
            HostStats(
                host="a.example", pages_by_state={"failed": 5}, errors_by_reason={"timeout": 5}
            ),
            Concern.NOTHING_STORED,
            5,
            5,
        ),
    ],
)
def test_a_host_that_needs_a_look(stats: HostStats, concern: Concern, pages: int, of: int) -> None:
    [found] = concerns_of(stats)
    assert (found.concern, found.pages, found.of) == (concern, pages, of)


@pytest.mark.parametrize(
    "stats",
    [
        host(),
        host(pages_by_warning={WarningKind.BAD_LINKS: 60}),
        host(empty_bodies=3),
        host(near_duplicates=29),
        host(errors_by_reason={"http_status": 30}, errors_by_status={"404": 30}),
        HostStats(host="images.example", pages_by_state={"image": 9}),
    ],
)
def test_an_ordinary_host(stats: HostStats) -> None:
    assert concerns_of(stats) == []


def test_four_lines_are_enough() -> None:
    def concern(name: str, what: Concern, pages: int) -> HostConcern:
        return HostConcern(host=name, concern=what, pages=pages, of=60, command=f"hosts {name}")

    outcome = CrawlOutcome(
        stored={"article": 1500, "index": 20},
        failed={f"http_status {n}": 90 - n for n in range(9)},
        concerns=(
            concern("a.example", Concern.NEEDS_SCRIPTS, 50),
            concern("a.example", Concern.EMPTY_BODIES, 40),
            *(concern(f"b{n}.example", Concern.EMPTY_BODIES, 9) for n in range(7)),
        ),
    )
    assert outcome_lines(outcome) == [
        "stored: article 1,500, index 20 (`hosts`)",
        "failed: http_status 0 90, http_status 1 89, http_status 2 88, http_status 3 87, "
        "others 420 (`failures`)",
        "look at a.example: 50 of 60 pages need JavaScript, which is not run (`hosts a.example`)",
        "look also at b0.example, b1.example, b2.example, b3.example, b4.example and 2 more "
        "(`hosts HOST`)",
    ]
