"""A month of revisits on a synthetic clock, `make bench-revisits`.

2,000 pages (``changing_site.py``) are kept fresh through the product's schedule, change detection
and SQLite store; only clock and network are made. Every ten minutes the due URLs are taken as the
keeper takes them, at most 60 a host, and what comes back is saved in jobs of 20.

Printed and kept in ``results/revisits.json``:

- requests, beside a daily recrawl and the rules of Nutch and StormCrawler on the same pages;
- changes seen at all, within the interval that the page had, and within the first interval of its
  kind; the delays. A 304 that hides a change has not seen it;
- visits of unchanged pages that were answered 304 or left out, where the host's words are true;
- visits before their time, which must be 0, and the process's memory week by week;
- the same after a stop of ten days and with a clock set back by a day (``--disturbed``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any
from zlib import crc32

from benchmarks.kit.results import keep, show
from benchmarks.revisits.changing_site import (
    COUNTS,
    LIAR,
    PLAIN,
    START,
    TRUE,
    Page,
    headers_of,
    is_not_modified,
    make_site,
    record_of,
    sitemap_dates,
)
from benchmarks.revisits.other_rules import RULES, looks_of, visits_of
from crawlclean.cleaning.records import Provenance, Via
from crawlclean.cleaning.revisits import BOUNDS, DAY, HOUR, VisitClass, VisitKind
from crawlclean.cleaning.urls.normal_form import host_of, page_id
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    CrawlState,
    Failure,
    FailureReason,
    FetchResult,
    Outcome,
    PageRole,
    QueuedPage,
    UrlRow,
    UrlState,
)
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.hosts import read_trust
from crawlclean.storage.store.ports import Fold
from crawlclean.storage.store.visits import MOST_VERSIONS

Headers = tuple[tuple[str, str], ...]
CRAWL = "month"
TICK_S = 600
JOB = 20
SITEMAP = VisitClass(VisitKind.SITEMAP, "/sitemap.xml")
STOP_S = (10 * DAY, 20 * DAY)
BACK_S = 24 * DAY
MOST_GROWTH = 0.10


def queued(
    url: str, at_s: float, status: int, headers: Headers = (), role: PageRole = PageRole.PAGE
) -> QueuedPage:
    """A fetched page as a worker claims it."""
    return QueuedPage(
        crawl_id=CRAWL,
        page_id=page_id(url),
        token=1,
        url=url,
        host=host_of(url),
        role=role,
        depth=1,
        provenance=Provenance(crawl_id=CRAWL, via=Via.LINK),
        fetched_at=START + timedelta(seconds=at_s),
        result=FetchResult(status=status, headers=headers, body=b"x" if status == 200 else b""),
    )


def answer(page: Page, at_s: float, due: UrlRow | None) -> Outcome:
    """What a visit of a page gives."""
    if page.is_dead(at_s):
        gone = queued(page.url, at_s, 404)
        failure = Failure(reason=FailureReason.HTTP_STATUS, detail="status 404")
        return Outcome(queued=gone, state=UrlState.FAILED, failure=failure, visit=page.visit_class)
    headers = headers_of(page, at_s)
    if due is not None and is_not_modified(page, at_s, due.etag, due.last_modified):
        same = queued(page.url, at_s, 304, headers)
        return Outcome(queued=same, state=UrlState.RECORD, unchanged=True, visit=page.visit_class)
    return Outcome(
        queued=queued(page.url, at_s, 200, headers),
        state=UrlState.RECORD,
        record=record_of(page, at_s),
        visit=page.visit_class,
    )


class Month:
    """One run over the site."""

    def __init__(self, folder: Path, days: int, *, is_disturbed: bool) -> None:
        self.pages = make_site(days)
        self.end_s = days * float(DAY)
        self.is_disturbed = is_disturbed
        self.by_url = {page.url: page for page in self.pages}
        self.sitemaps = {f"https://{host}/sitemap.xml": host for host in (TRUE, LIAR)}
        self.store = SqliteStore(folder / "records.sqlite")
        self.store.crawls.put(CrawlSpec(crawl_id=CRAWL, seeds=()), CrawlState.RUNNING)
        self.visits: dict[str, list[float]] = defaultdict(list)
        self.looks: dict[str, list[float]] = defaultdict(list)
        self.intervals: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.early = 0
        self.memory_mb: list[float] = []
        self.cpu_s = 0.0

    def run(self) -> None:
        """Runs the month."""
        begun = time.process_time()
        first = [answer(page, 2.0 * n, None) for n, page in enumerate(self.pages)]
        for page, outcome in zip(self.pages, first, strict=True):
            self.visits[page.url].append((outcome.queued.fetched_at - START).total_seconds())
            self.looks[page.url].append(self.visits[page.url][0])
        self._save(first)
        self._save([self._sitemap(url, host, 0.0) for url, host in self.sitemaps.items()])
        for step in range(int(2 * HOUR), int(self.end_s), TICK_S):
            if self.is_disturbed and STOP_S[0] <= step < STOP_S[1]:
                continue
            self._tick(float(step))
            if step % DAY < TICK_S:
                self.memory_mb.append(memory_mb())
        self.cpu_s = time.process_time() - begun

    def clock_s(self, real_s: float) -> float:
        """What the queue's server takes for the time: it may be set back by a day."""
        return real_s - DAY if self.is_disturbed and real_s >= BACK_S else real_s

    def _tick(self, real_s: float) -> None:
        """Visits what is due."""
        now_s = self.clock_s(real_s)
        due = self.store.revisits.due(CRAWL, START + timedelta(seconds=now_s), per_host=60)
        outcomes = []
        for number, each in enumerate(due):
            if each.url in self.sitemaps:
                self.counts["sitemaps"] += 1
                outcomes.append(self._sitemap(each.url, each.host, now_s))
                continue
            page = self.by_url[each.url]
            at_s = now_s + number / 10
            self._check(page, each, real_s + number / 10, at_s)
            outcomes.append(answer(page, at_s, each))
            self._count(page, outcomes[-1], at_s)
            self.visits[page.url].append(at_s)
            is_same = page.version(at_s) == page.version(self.looks[page.url][-1])
            if is_same or not outcomes[-1].unchanged:
                self.looks[page.url].append(at_s)
            self.intervals[page.url].append((at_s, self._schedule(each)[1]))
        self._save(outcomes)

    def _check(self, page: Page, due: UrlRow, real_s: float, at_s: float) -> None:
        """Counts a visit that comes before its interval is over, on either clock."""
        before = self.visits[page.url][-1]
        least = BOUNDS[page.visit_class.kind].least_s
        due_at, interval_s = self._schedule(due)
        is_hurried = due_at - START.timestamp() < before + interval_s - 1
        wanted = least if is_hurried and page.host == TRUE else interval_s
        self.early += at_s - before < wanted - 1 or real_s - before < wanted - 1
        self.counts["hurried"] += is_hurried

    def _count(self, page: Page, outcome: Outcome, at_s: float) -> None:
        """Counts a visit by what it found in truth and what it cost."""
        self.counts["visits"] += 1
        if outcome.state is UrlState.FAILED:
            self.counts["gone"] += 1
            return
        is_same = page.version(at_s) == page.version(self.visits[page.url][-1])
        self.counts[f"{'same' if is_same else 'other'} {page.host}"] += 1
        if outcome.unchanged:
            self.counts[f"304 {'same' if is_same else 'other'} {page.host}"] += 1

    def _schedule(self, due: UrlRow) -> tuple[float, float]:
        """When a URL became due, seconds since 1970, and the interval that was over then."""
        columns = ("next_visit", "interval_s")
        rows = self.store._tables.get("urls", [(due.page_id, CRAWL)], columns)
        next_visit, interval_s = rows[due.page_id, CRAWL]
        return next_visit / 1_000_000, float(interval_s or 1)

    def _sitemap(self, url: str, host: str, at_s: float) -> Outcome:
        """The visit of a sitemap; its dates are used at once, as after its save."""
        dates = sitemap_dates([page for page in self.pages if page.host == host], at_s)
        self.store.revisits.announce(CRAWL, host, dates, START + timedelta(seconds=at_s))
        trust = read_trust(self.store._tables, [(host, CRAWL)])
        self.skipped[host] = sum(each.skipped for each in trust.values())
        return Outcome(
            queued=queued(url, at_s, 200, role=PageRole.SITEMAP),
            state=UrlState.SITEMAP,
            visit=SITEMAP,
            content=crc32(repr(dates).encode()),
        )

    def _save(self, outcomes: Sequence[Outcome]) -> None:
        by_host: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in outcomes:
            by_host[outcome.queued.host].append(outcome)
        for mine in by_host.values():
            for start in range(0, len(mine), JOB):
                self.store.save(mine[start : start + JOB])


def memory_mb() -> float:
    """Resident memory of this process, MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def seen_changes(month: Month) -> dict[str, dict[str, Any]]:
    """Changes by class: how many, the share that was seen in time, the delays in hours.

    Changes of pages that are not due again before the end are counted apart.
    """
    delays: dict[str, list[float]] = defaultdict(list)
    changes: Counter[str] = Counter()
    in_time: Counter[str] = Counter()
    first: Counter[str] = Counter()
    open_ones: Counter[str] = Counter()
    for page in month.pages:
        intervals = month.intervals[page.url]
        ends = [at for at, _ in intervals]
        for changed, looked in looks_of(page, month.looks[page.url], month.end_s):
            number = bisect_left(ends, changed)
            if number == len(ends) and looked == inf:
                for name in (page.name, page.host, "all"):
                    open_ones[name] += 1  # the month ends before the page is due
                continue
            interval = intervals[number][1]
            for name in (page.name, page.host, "all"):
                changes[name] += 1
                in_time[name] += looked - changed <= interval + TICK_S
                first[name] += looked - changed <= BOUNDS[page.visit_class.kind].first_s
                if looked < inf:
                    delays[name].append(looked - changed)
    return {
        name: {
            "changes": total,
            "not_due_at_the_end": open_ones[name],
            "seen": round(len(delays[name]) / total, 3),
            "seen_within_interval": round(in_time[name] / total, 3),
            "seen_within_first_interval": round(first[name] / total, 3),
            "delay_h_p50": round(_quantile(delays[name], 0.5) / HOUR, 1),
            "delay_h_p90": round(_quantile(delays[name], 0.9) / HOUR, 1),
        }
        for name, total in sorted(changes.items())
    }


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


def others(month: Month) -> dict[str, Any]:
    """Requests, share of changes seen and delays of the rules of others."""
    answers = {}
    for name, rule in RULES.items():
        requests, delays, changes = 0, [], 0
        for page in month.pages:
            visits = visits_of(page, rule, month.end_s)
            looks = looks_of(page, visits, month.end_s)
            requests += len(visits)
            changes += len(looks)
            delays += [looked - changed for changed, looked in looks if looked < inf]
        answers[name] = {
            "requests": requests,
            "seen": round(len(delays) / changes, 3),
            "delay_h_p50": round(_quantile(delays, 0.5) / HOUR, 1),
            "delay_h_p90": round(_quantile(delays, 0.9) / HOUR, 1),
        }
    return answers


def result_of(month: Month) -> dict[str, Any]:
    """The figures of a run."""
    counts, supporting = month.counts, (TRUE, PLAIN)
    saved = sum(counts[f"304 same {host}"] + month.skipped[host] for host in supporting)
    same = sum(counts[f"same {host}"] + month.skipped[host] for host in supporting)
    columns: tuple[tuple[str, Fold], ...] = (("visits", "sum"), ("changed", "sum"))
    stored = month.store._tables.fold("visit_classes", ("crawl_id",), columns, {})
    last = month.memory_mb[-1]
    week = month.memory_mb[min(7, len(month.memory_mb) - 1)]
    return {
        "days": month.end_s / DAY,
        "pages": len(month.pages),
        "requests": counts["visits"] + counts["sitemaps"],
        "of_dead_pages": counts["gone"],
        "early_visits": month.early,
        "hurried_visits": counts["hurried"],
        "changes": seen_changes(month),
        "unchanged_304_or_skipped": round(saved / max(same, 1), 3),
        "skipped": month.skipped[TRUE],
        "answers_304": {
            host: counts[f"304 same {host}"] + counts[f"304 other {host}"] for host in COUNTS
        },
        "changes_hidden_by_304": counts[f"304 other {LIAR}"],
        "stored_counts": {"visits": stored[0][1], "changed": stored[0][2]},
        "most_versions": MOST_VERSIONS,
        "memory_mb_by_week": [round(each, 1) for each in [*month.memory_mb[::7], last]],
        "is_memory_flat": last <= week * (1 + MOST_GROWTH),
        "cpu_s": round(month.cpu_s, 1),
    }


def run_once(days: int, *, is_disturbed: bool) -> tuple[Month, dict[str, Any]]:
    """Runs a month in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        month = Month(Path(folder), days, is_disturbed=is_disturbed)
        month.run()
        result = result_of(month)
        month.store.close()
    return month, result


def after_the_stop(month: Month) -> dict[str, int]:
    """Pages by their visits in the hours after the stop: a missed visit is made once."""
    end = STOP_S[1] + 6 * HOUR
    articles = [page for page in month.pages if page.name == "article"]
    visits = [sum(STOP_S[1] <= at < end for at in month.visits[page.url]) for page in articles]
    return {"articles": len(articles), "visited": sum(map(bool, visits)), "most": max(visits)}


def main() -> None:
    """Runs the month, and the disturbed one; ends with 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--no-disturbed", action="store_true")
    parser.add_argument("--show", action="store_true", help="keep no result")
    arguments = parser.parse_args()
    month, result = run_once(arguments.days, is_disturbed=False)
    result["others"] = others(month)
    if not arguments.no_disturbed:
        disturbed, figures = run_once(arguments.days, is_disturbed=True)
        wanted = ("requests", "early_visits", "is_memory_flat")
        result["stopped_and_set_back"] = {name: figures[name] for name in wanted} | {
            "articles_after_the_stop": after_the_stop(disturbed)
        }
    (show if arguments.show else lambda found: keep("revisits", found))(result)
    misses = [
        name
        for name, is_missed in {
            "early visits": result["early_visits"] > 0,
            "changes seen": result["changes"]["all"]["seen_within_interval"] < 0.9,
            "304 or skipped": result["unchanged_304_or_skipped"] < 0.8,
            "memory": not result["is_memory_flat"],
        }.items()
        if is_missed
    ]
    if misses:
        sys.exit(f"missed: {', '.join(misses)}")


if __name__ == "__main__":
    main()
