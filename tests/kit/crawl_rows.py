"""Rows of several hosts and crawls in a store: records, and failures for several reasons."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from crawlclean.storage.crawl_types import FailureReason, Outcome
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import T0, make_failure, make_outcome, page_id_of

REASONS = (FailureReason.TIMEOUT, FailureReason.HTTP_STATUS, FailureReason.DNS)


def save_hosts(store: Store, hosts: int) -> None:
    """Saves pages of hosts ``h0.example`` to ``h<hosts - 1>.example`` in two crawls, counted."""
    for number in range(hosts):
        host = f"h{number}.example"
        for crawl in ("c1", "c2")[: 1 + number % 2]:
            at = T0 + timedelta(minutes=number)
            pages = [
                make_outcome(f"/r/{n}", crawl_id=crawl, at=at) for n in range(number * 7 % 5 + 1)
            ]
            pages += [
                make_failure(
                    f"/f/{crawl}/{n}",
                    crawl_id=crawl,
                    at=at,
                    reason=(reason := REASONS[n % len(REASONS)]),
                    status=404 + n % 2 if reason is FailureReason.HTTP_STATUS else 0,
                )
                for n in range(number % 6 + 2)
            ]
            store.save([_on(host, page) for page in pages])
    store.statistics.refresh()


def _on(host: str, outcome: Outcome) -> Outcome:
    """The outcome on another host."""
    queued = outcome.queued
    url = queued.url.replace(queued.host, host)
    page_id = page_id_of(url)
    record = outcome.record and replace(outcome.record, host=host, page_id=page_id, url=url)
    moved = replace(queued, host=host, page_id=page_id, url=url)
    return replace(outcome, queued=moved, record=record)
