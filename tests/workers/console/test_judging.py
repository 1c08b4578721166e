"""What is a sign of trouble, and what is none: evidence of a moment and its signs, by a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawlclean.cleaning.records import PageKind
from crawlclean.storage.crawl_types import (
    CrawlCounts,
    CrawlState,
    FailureReason,
    UrlRow,
    UrlState,
)
from crawlclean.storage.live_state import Hold, HostTrouble, WaitingHost, WaitReason
from crawlclean.storage.store.overview import HostRow, PageRow
from crawlclean.workers.operations.watching.signs.judging import (
    BEFORE_MINUTES,
    FEWEST_ERRORS,
    GROWN,
    MOST_OF_A_KIND,
    NEWEST,
    NOW_MINUTES,
    SOON_S,
    CrawlEvidence,
    HostEvidence,
    Sign,
    SignKind,
    in_order,
    judge_crawl,
    judge_end,
    judge_host,
    judge_seeds,
    judge_trend,
    shortened,
    without_echoes,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOST = "a.example"


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def trouble(requests: int, since_s: float, **more: Any) -> HostEvidence:
    values: dict[str, Any] = {
        "outcome": "slow_down",
        "why": "status 503",
        "newest": ago(5),
        "until": ago(5),
    }
    values |= {"crawls": ("c",), **more}
    told = HostTrouble(host=HOST, since=ago(since_s), requests=requests, **values)
    return HostEvidence(host=HOST, trouble=told)


def page(number: int, kind: PageKind = PageKind.ARTICLE, **more: Any) -> PageRow:
    values: dict[str, Any] = {"body_chars": 900, "signature": f"{number:016x}", "images_content": 0}
    values |= {"url": f"http://{HOST}/a/{number}.html", **more}
    return PageRow(
        crawl_id="c", host=HOST, page_id=f"{number:032x}", fetched_at=ago(number), kind=kind,
        links_navigation=9, **values,
    )  # fmt: skip


def forms(n: int) -> list[PageRow]:
    return [page(each, PageKind.OTHER, body_chars=0, signature="") for each in range(n)]


def articles(n: int, **more: Any) -> list[PageRow]:
    return [page(100 + each, **more) for each in range(n)]


def row(records: int, **more: Any) -> HostRow:
    values: dict[str, Any] = {"near_duplicates": 0, "first_seen": ago(3600), "last_seen": ago(5)}
    return HostRow(
        host=HOST, crawls=1, records=records, failed=0, excluded=0, other=0, body_chars=0,
        fetched_bytes=0, noise_share=0.0, model_version=0, updated_at=NOW, **(values | more),
    )  # fmt: skip


def of_pages(pages: Sequence[PageRow], records: int = 100, **more: Any) -> HostEvidence:
    return HostEvidence(host=HOST, pages=pages, row=row(records, **more))


WELL = "nothing"
HOSTS: dict[str, tuple[HostEvidence, str]] = {
    "nothing is known": (HostEvidence(host=HOST), WELL),
    "503 for minutes": (trouble(4, 120), "refuses"),
    "503 twice": (trouble(2, 120), WELL),
    "503 for a moment": (trouble(9, 20), WELL),
    "the host asked for a long rest": (trouble(1, 5, until=ago(-900)), "refuses"),
    "and for a short one": (trouble(1, 5, until=ago(-30)), WELL),
    "resets": (trouble(5, 90, outcome="none", why="connect: reset"), "refuses"),
    "few other errors": (trouble(FEWEST_ERRORS - 1, 90, outcome="error", why="status 403"), WELL),
    "403 for all": (trouble(FEWEST_ERRORS, 90, outcome="error", why="status 403"), "refuses"),
    "dead links": (trouble(99, 90, outcome="error", why="status 404"), WELL),
    "no crawl has work there": (trouble(9, 90, crawls=()), WELL),
    "long over": (trouble(9, 7200, newest=ago(3600), until=ago(3600)), WELL),
    "articles": (of_pages(articles(60)), WELL),
    "a form again and again": (of_pages([*forms(4), *articles(9)]), "forms"),
    "a form that looks like a list": (
        of_pages(
            [*(page(n, PageKind.INDEX, body_chars=3, signature="aa") for n in range(10)),
             *articles(30)]
        ),
        "forms",
    ),
    "lists with one line each": (
        of_pages(
            [*(page(n, PageKind.INDEX, body_chars=3, signature="aa") for n in range(9)),
             *articles(30)]
        ),
        WELL,
    ),
    "two forms": (of_pages([*forms(2), *articles(9)]), WELL),
    "forms from the first page on": (of_pages(forms(20), records=20), WELL),
    "pages without a text, each other": (
        of_pages([page(n, PageKind.OTHER, body_chars=n) for n in range(9)]), WELL,
    ),
    "pictures without a text": (
        of_pages(
            [page(n, PageKind.OTHER, body_chars=0, signature="", images_content=1)
             for n in range(9)]
        ),
        WELL,
    ),
    "one text": (of_pages(articles(50, signature="aa")), "repeats"),
    "one text, few pages": (of_pages(articles(49, signature="aa")), WELL),
    "copies of older pages": (of_pages([page(n, story=5) for n in range(100, 150)]), "repeats"),
    "half of the pages are copies": (
        of_pages([*articles(25, signature="aa"), *[page(n) for n in range(25)]]), WELL,
    ),
    "pages without a body": (of_pages(articles(50, signature="", body_chars=0)), WELL),
    "nearly all of its pages repeat": (of_pages(articles(3), 100, near_duplicates=95), "repeats"),
    "and nothing comes any more": (
        of_pages([page(3000)], 100, near_duplicates=95), WELL,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTS)
def test_hosts(name: str) -> None:
    evidence, kind = HOSTS[name]
    assert [each.kind for each in judge_host(evidence, NOW)] == [kind] * (kind != WELL)


def test_a_class_that_repeats_is_named() -> None:
    """Beside it the host has articles of their own, so the host is well as a whole."""
    copies = [page(n, signature="aa", url=f"http://{HOST}/print/{n}/view") for n in range(NEWEST)]
    mixed = [each for pair in zip(copies, articles(NEWEST), strict=True) for each in pair]
    (sign,) = judge_host(of_pages(mixed), NOW)
    assert (sign.target, sign.offers) == ("/print/{n}/view", ("forbid_class",))


COUNTS = CrawlCounts(
    state=CrawlState.RUNNING, pending=500, leased=1, queued=0, done=3, stored=3, failed=0,
    fetched=3, hosts=2, budget_left=None,
)  # fmt: skip


def wait(reason: WaitReason, host: str = HOST, pause_s: float = 1.0) -> WaitingHost:
    return WaitingHost(
        crawl="c", host=host, reason=reason, until=None, pause_s=pause_s, urls=9, in_flight=0
    )


def crawl(**more: Any) -> CrawlEvidence:
    values: dict[str, Any] = {"newest": ago(5), "since": ago(7200), "counts": COUNTS}
    return CrawlEvidence(crawl_id="c", **(values | more))


def rate(before: float, now: float, minutes: int = BEFORE_MINUTES) -> list[float | None]:
    """Totals of minutes: some with one rate, the last three with another."""
    totals = [before * minute for minute in range(minutes + 1)]
    lately = [totals[-1] + now * (n + 1) for n in range(NOW_MINUTES)]
    return [None, *totals, *lately, lately[-1]]


def growth(came: int, fetched: int) -> dict[str, Any]:
    return {"fetched": [None, 10.0, 10.0 + fetched], "pending": [None, 5.0, 5.0 + came]}


def harvest(before: int, now: int, minutes: int = 6) -> dict[str, Any]:
    """Sixty pages a minute are judged; so many were, and are, relevant."""
    values = [*[before] * 20, None, *[now] * minutes]
    return {"judged": [None if n is None else 60.0 for n in values], "relevant": values}


MONTHS = [
    page(n, PageKind.INDEX, body_chars=9, url=f"http://{HOST}/cal/{n}/1.html")
    for n in range(NEWEST)
]
CRAWLS: dict[str, tuple[CrawlEvidence, str]] = {
    "well": (crawl(), ""),
    "no page for minutes": (crawl(newest=ago(200)), "still ready"),
    "no page since it runs": (crawl(newest=None, since=ago(200)), "still ready"),
    "it has just begun again": (crawl(newest=ago(9999), since=ago(20)), ""),
    "no URL is left": (crawl(newest=ago(200), counts=changed(COUNTS, pending=0, leased=0)), ""),
    "pages are visited again": (crawl(newest=ago(200), counts=changed(COUNTS, pending=0)), ""),
    "only images are left": (crawl(newest=ago(200), counts=changed(COUNTS, images=500)), ""),
    "its limit is spent": (
        crawl(newest=ago(200), counts=changed(COUNTS, leased=0, budget_left=0)), "",
    ),
    "requests hang": (
        crawl(newest=ago(200), waits=[wait(WaitReason.IN_FLIGHT)]), "still in_flight",
    ),
    "its hosts are away": (crawl(newest=ago(200), waits=[wait(WaitReason.AWAY)]), "still away"),
    "the one host with URLs is away": (
        crawl(newest=ago(200), waits=[wait(WaitReason.NOTHING_LEFT), wait(WaitReason.NOTHING_LEFT),
                                      wait(WaitReason.AWAY, "c.example")]),
        "still away",
    ),
    "its host rests for minutes": (
        crawl(newest=ago(200), waits=[wait(WaitReason.DELAY, pause_s=600)]), "",
    ),
    "somebody paused its host": (crawl(newest=ago(200), waits=[wait(WaitReason.PAUSED)]), ""),
    "workers are behind": (crawl(newest=ago(200), oldest_job_s=60.0), "still workers"),
    "the disk is full": (crawl(newest=ago(200), holds=[Hold.DISK]), "still disk"),
    "a tenth of the rate": (crawl(fetched=rate(100, 10), pending=[None] * 16), "slower ready"),
    "most hosts have ended": (
        crawl(
            fetched=rate(100, 10), pending=[None] * 16,
            waits=[wait(WaitReason.NOTHING_LEFT), wait(WaitReason.NOTHING_LEFT, "b.example"),
                   wait(WaitReason.AWAY, "c.example")],
        ),
        "slower nothing_left",
    ),
    "three quarters of the rate": (crawl(fetched=rate(100, 75), pending=[None] * 16), ""),
    "a slow crawl": (crawl(fetched=rate(8, 1), pending=[None] * 16), ""),
    "too short to compare": (crawl(fetched=rate(100, 10, 5), pending=[None] * 11), ""),
    "a calendar": (crawl(pages=MONTHS, **growth(GROWN, 50)), "grows"),
    "a large site": (crawl(pages=articles(NEWEST), **growth(9 * GROWN, 50)), ""),
    "a calendar that ends": (crawl(pages=MONTHS, **growth(GROWN - 1, 50)), ""),
    "a topic brings what it did": (crawl(**harvest(30, 20)), ""),
    "a topic brings a fifth": (crawl(**harvest(30, 6)), "harvest"),
    "a topic brings nothing since few pages": (crawl(**harvest(30, 0, minutes=3)), ""),
    "a topic that never brought more": (crawl(**harvest(0, 0)), ""),
    "a topic without links": (crawl(counts=changed(COUNTS, pending=0), **harvest(30, 0)), ""),
    "as many pages as URLs": (crawl(pages=MONTHS, **growth(5 * GROWN, GROWN)), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CRAWLS)
def test_crawls(name: str) -> None:
    evidence, told = CRAWLS[name]
    signs = list(judge_crawl(evidence, NOW))
    assert " ".join(f"{each.kind} {each.why}" for each in signs).strip() == told


def test_a_calendar_is_named_by_its_class() -> None:
    (sign,) = judge_crawl(crawl(pages=MONTHS, **growth(5000, 50)), NOW)
    assert (sign.target, sign.n, sign.of) == ("/cal/{n}/{n}.html", 5000, 50)
    assert sign.offers == ("forbid_class",)


def seed(state: UrlState = UrlState.FAILED, at: datetime = NOW) -> UrlRow:
    reason = FailureReason.CONNECT if state is UrlState.FAILED else None
    return UrlRow(
        crawl_id="c", page_id="0" * 32, url=f"http://{HOST}/", host=HOST, state=state,
        finished_at=at, reason=reason,
    )  # fmt: skip


def test_seeds() -> None:
    one = judge_seeds("c", 2, [seed(), seed(UrlState.RECORD)], NOW)
    assert one
    assert (one.n, one.of, one.level, one.why) == (1, 2, "warn", "connect")
    every = judge_seeds("c", 1, [seed()], NOW)
    assert every
    assert every.level == "bad"
    assert judge_seeds("c", 1, [seed(UrlState.REDIRECT)], NOW) is None
    assert judge_seeds("c", 1, [seed(at=ago(86_400))], NOW) is None


@pytest.mark.parametrize(
    ("records", "former", "ended_s", "is_sign"),
    [(30, 100, 60, True), (40, 100, 60, False), (1, 20, 60, False), (30, 100, 86_400, False)],
)
def test_a_crawl_that_ended_with_few_pages(
    records: int, former: int, ended_s: float, is_sign: bool
) -> None:
    assert bool(judge_end("c", records, former, ago(ended_s), NOW)) is is_sign
    assert judge_end("c", records, former, None, NOW) is None


def test_room_by_its_trend() -> None:
    assert judge_trend("disk_soon", None, [1e9], 0) is None
    assert judge_trend("disk_soon", SOON_S + 1, [1e9], 0) is None
    sign = judge_trend("memory_soon", 1800.0, [3e6, 2e6, None], 8e6)
    assert sign
    assert (sign.n, sign.of, sign.lasts_s) == (2_000_000, 8_000_000, 1800.0)


def test_signs_stand_in_order_and_some_of_a_kind_stand_for_all() -> None:
    refusing = [Sign(kind=SignKind.REFUSES, host=f"h{n}.example") for n in range(9)]
    mended = Sign(kind=SignKind.CHANGED, host=HOST, is_mended=True)
    still = Sign(kind=SignKind.STILL, crawl_id="c")
    found = [mended, *refusing, still]
    assert in_order(found) == [still, *refusing, mended]
    shown = shortened(found)
    assert [each.kind for each in shown] == [
        "still", *["refuses"] * MOST_OF_A_KIND, "changed",
    ]  # fmt: skip
    assert [each.others for each in shown] == [0, 0, 0, 0, 9 - MOST_OF_A_KIND, 0]


def test_a_crawl_that_waits_for_a_host_with_a_sign_has_none() -> None:
    refuses = Sign(kind=SignKind.REFUSES, host=HOST, crawl_id="c")
    waits = Sign(kind=SignKind.STILL, crawl_id="c", why="slow_down")
    other = Sign(kind=SignKind.STILL, crawl_id="d", why="slow_down")
    behind = Sign(kind=SignKind.STILL, crawl_id="c", why="workers")
    assert without_echoes([refuses, waits, other, behind]) == [refuses, other, behind]
