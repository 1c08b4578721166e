"""Crawls in a list, and one crawl: its counts, its order, its queues, its failures."""

from __future__ import annotations

from collections import Counter

from flask import g

from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.workers.console.routes import Console, Page, asked_limit, asked_place, render
from crawlclean.workers.console.screens.series import panel
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.controlling.crawl_orders import command_of
from crawlclean.workers.operations.controlling.crawls import (
    CrawlStatus,
    crawls_in_full,
    list_crawls,
    pause_of,
)
from crawlclean.workers.operations.failures import cause_totals, failure_causes, failure_groups
from crawlclean.workers.output.charts import Part

MOST_GROUPS = MOST_QUEUES = 20  # what one screen shows of each; their own screens have all
MOST_SEEDS = 20  # of a command that is shown
AT_REST = frozenset({CrawlState.STOPPED, CrawlState.FINISHED})
KINDS = {
    UrlState.RECORD: 3,
    UrlState.REDIRECT: 1,
    UrlState.SITEMAP: 7,
    UrlState.IMAGE: 2,
    UrlState.EXCLUDED: 6,
    UrlState.FAILED: 5,
}
"""Colours of final states, as classes of the style sheet."""


def show_crawls(console: Console) -> Page:
    """The list, newest first."""
    page = list_crawls(console.backends, asked_place(), asked_limit())
    return render("crawls.html", page=page)


def show_crawl(console: Console, crawl: str) -> Page:
    """One crawl."""
    backends = console.backends
    (line,) = crawls_in_full(backends, crawl)
    parts = [
        Part(name=say(g.language, f"url_state.{state}"), value=n, kind=KINDS[state])
        for state, n in line.row.pages.items()
    ]
    return render(
        "crawl.html", parts=parts, causes=cause_totals(failure_causes(backends, crawl).items),
        groups=failure_groups(backends, crawl, limit=MOST_GROUPS).items,
        pause=pause_of(backends, line), command=_command(console, line), **_live(line),
        **panel(console, f":{crawl}"),
    )  # fmt: skip


def _command(console: Console, line: CrawlStatus) -> str:
    """What goes on with a crawl; ``""`` while it goes on, and of imports and lists of sites."""
    spec = line.row.spec
    is_short = 0 < len(spec.seeds) <= MOST_SEEDS
    return command_of(console.settings, spec) if is_short and line.state in AT_REST else ""


def live_crawl(console: Console, crawl: str) -> Page:
    """The part of a crawl's page that is asked for again and again."""
    return render("crawl_live.html", **_live(crawls_in_full(console.backends, crawl)[0]))


def _live(line: CrawlStatus) -> dict[str, object]:
    hosts = line.waits.hosts if line.waits else ()
    waits = Counter(host.reason for host in hosts)
    queues = sorted((host for host in hosts if host.urls), key=lambda each: (-each.urls, each.host))
    return {
        "line": line,
        "waits": sorted(waits.items(), key=lambda each: (-each[1], each[0])),
        "queues": queues[:MOST_QUEUES],
    }
