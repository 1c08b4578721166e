"""`crawls`, `pause`, `resume`, `stop`, `purge`: what an operator does to crawls and hosts."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import closing, suppress

from cleaning.errors import NotFound, QueueUnavailable, ServiceError
from storage.crawl_types import CrawlCounts, CrawlRow, CrawlState
from storage.opening import join_queue, open_store
from storage.queue.frontier import Frontier
from workers.config import Settings
from workers.operations.backends import any_queue
from workers.output.printing import print_json, table

PURGE_WAIT_S = 20.0
LOOK_S = 0.1


def live_counts(settings: Settings) -> dict[str, CrawlCounts]:
    """Counts of every crawl in a running queue; empty when none runs."""
    try:
        frontier = join_queue(settings.storage)
    except ServiceError:
        return {}
    try:
        return {crawl: frontier.counts(crawl) for crawl in frontier.crawl_ids()}
    finally:
        frontier.close()


def unrest(settings: Settings) -> str:
    """Why what the store says may change at this moment, in a line; ``""`` when nothing moves."""
    try:
        with closing(join_queue(settings.storage)) as frontier:
            if any(frontier.counts(crawl).in_flight for crawl in frontier.crawl_ids()):
                return "a crawl is running: these numbers are of this moment"
            if frontier.learning.count():
                return "pages are cleaned again: these numbers are of this moment"
    except NotFound:  # an embedded queue runs as long as its crawl
        return ""
    except ServiceError as error:
        return f"whether a crawl is running is unknown: {error}"
    return ""


def list_crawls(settings: Settings, *, as_json: bool) -> int:
    """Every crawl with its state and counts."""
    store = open_store(settings.storage)
    try:
        rows = store.crawls.all()
    finally:
        store.close()
    live = live_counts(settings)
    if as_json:
        for row in rows:
            print_json(_crawl_json(row, live.get(row.spec.crawl_id)))
        return 0
    lines = [("CRAWL", "STATE", "RECORDS", "FAILED", "WAITING", "IN FLIGHT", "STARTED", "SEED")]
    for row in rows:
        data = _crawl_json(row, live.get(row.spec.crawl_id))
        lines.append(
            (
                row.spec.crawl_id,
                str(data["state"]),
                str(data["records"]),
                str(data["failed"]),
                str(data.get("waiting", "-")),
                str(data.get("in_flight", "-")),
                f"{row.created_at:%Y-%m-%d %H:%M}",
                row.spec.seeds[0],
            )
        )
    sys.stdout.write(table(lines))
    return 0


def _crawl_json(row: CrawlRow, counts: CrawlCounts | None) -> dict[str, object]:
    pages = {str(state): n for state, n in row.pages.items()}
    data: dict[str, object] = {
        "crawl": row.spec.crawl_id,
        "state": str(counts.state if counts else _at_rest(row.state)),
        "records": pages.get("record", 0),
        "failed": pages.get("failed", 0),
        "pages": pages,
        "created_at": row.created_at.isoformat(),
        "seeds": list(row.spec.seeds),
    }
    if counts:
        data |= {"waiting": counts.pending, "in_flight": counts.in_flight, "hosts": counts.hosts}
        data |= {"waiting_in_store": counts.spilled}
    return data


def _at_rest(state: CrawlState) -> CrawlState:
    """A crawl whose queue does not run is not running, whatever its last words were."""
    return CrawlState.STOPPED if state is CrawlState.RUNNING else state


def change_state(settings: Settings, target: str, state: CrawlState) -> int:
    """Pauses, resumes or stops a crawl, or pauses and resumes a host for every crawl.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with any_queue(settings) as frontier:
        if target in frontier.crawl_ids():
            frontier.set_state(target, state)
            store = open_store(settings.storage)
            try:
                store.crawls.put(frontier.spec(target), state)
            finally:
                store.close()
            sys.stdout.write(f"crawl {target} is {state}\n")
        elif state is CrawlState.RUNNING:
            frontier.resume_host(_known(frontier, target))
            sys.stdout.write(f"host {target} is fetched again\n")
        else:
            frontier.pause_host(_known(frontier, target))
            sys.stdout.write(f"host {target} is left alone until `resume {target}`\n")
    return 0


def _known(frontier: Frontier, target: str) -> str:
    if not frontier.crawls_of(target):
        raise NotFound(f"no crawl and no host is named {target}; `crawls` and `hosts` list them")
    return target


def purge(settings: Settings, target: str, *, keep_records: bool) -> int:
    """Forgets a crawl, or a host in every crawl: its queue, and its records unless kept.

    A running worker may hold its pages and is about to save them: it is waited for.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with any_queue(settings) as frontier:
        store = open_store(settings.storage)
        try:
            stored = {row.spec.crawl_id: row.spec for row in store.crawls.all()}
            if target in frontier.crawl_ids() or target in stored:
                if target in stored:  # first: whoever misses its queue finds out why
                    store.crawls.put(stored[target], CrawlState.PURGED)
                urls = frontier.purge(target) if target in frontier.crawl_ids() else 0
                _await_workers(frontier, target)
                store.parcels.forget(target)
                store.images.forget_due(target)
                records = 0 if keep_records else store.delete_crawl(target)
            else:
                urls = records = 0
                for crawl in frontier.crawls_of(_known(frontier, target)):
                    urls += frontier.purge(crawl, target)
                    _await_workers(frontier, crawl, target)
                    store.parcels.forget(crawl, target)
                    store.images.forget_due(crawl, target)
                    records += 0 if keep_records else store.delete_host(crawl, target)
                if not keep_records:
                    store.models.delete(target)
                    store.drifts.delete(target)
                    frontier.learning.forget(target)
        finally:
            store.close()
    sys.stdout.write(f"forgot {urls} queued URLs and {records} records of {target}\n")
    return 0


def _await_workers(frontier: Frontier, crawl_id: str, host: str = "") -> None:
    """Returns when no worker holds pages any more, at the latest after ``PURGE_WAIT_S``."""
    deadline = time.monotonic() + PURGE_WAIT_S
    between_looks = threading.Event()
    with suppress(QueueUnavailable):  # the run has ended, its workers before it
        while frontier.has_claims(crawl_id, host) and time.monotonic() < deadline:
            between_looks.wait(LOOK_S)
