"""Crawls as answers: `crawls`, and the API."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import UNSET

from crawlclean.storage.crawl_types import UrlState
from crawlclean.workers.answers.crawls import CrawlLine
from crawlclean.workers.operations.answering.waits import hosts_left, wait_counts, waiting_host
from crawlclean.workers.operations.controlling.crawls import CrawlStatus


def crawl_line(
    crawl: CrawlStatus, paused_hosts: Collection[str], *, with_hosts: bool = False
) -> CrawlLine:
    """One crawl; what the queue holds only while the queue runs.

    Args:
        crawl: The crawl.
        paused_hosts: Its paused hosts.
        with_hosts: Whether each examined host is in it.
    """
    row, counts, waits = crawl.row, crawl.counts, crawl.waits
    return CrawlLine(
        crawl=row.spec.crawl_id,
        state=crawl.state,
        records=row.pages.get(UrlState.RECORD, 0),
        failed=row.pages.get(UrlState.FAILED, 0),
        pages=dict(row.pages),
        created_at=row.created_at,
        as_of=crawl.as_of,
        seeds=tuple(row.spec.seeds),
        include=row.spec.include,
        exclude=row.spec.exclude,
        paused_hosts=tuple(paused_hosts),
        keep_fresh=row.spec.keep_fresh,
        next_visit=crawl.next_visit,
        other_queue=crawl.other_queue.place if crawl.other_queue else UNSET,
        to_visit_again=counts.revisits if counts else UNSET,
        visited_again=counts.revisited if counts else UNSET,
        waiting=counts.pending if counts else UNSET,
        in_flight=counts.in_flight if counts else UNSET,
        hosts=counts.hosts if counts else UNSET,
        waiting_in_store=counts.spilled if counts else UNSET,
        waits=wait_counts(waits) if waits else UNSET,
        hosts_examined=len(waits.hosts) if waits else UNSET,
        holds=tuple(waits.holds) if waits else UNSET,
        spiders=waits.spiders if waits else UNSET,
        hosts_left=tuple(map(waiting_host, hosts_left(waits))) if waits and with_hosts else UNSET,
    )
