"""The only redo authority: gives what dead processes held to others, once a second.

Any number of sweepers may run anywhere. It also keeps the hosts' statistics and the crawls' rows
in the store up to date.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections import Counter as Tally

from cleaning.errors import ServiceError
from storage.base import CrawlState
from storage.counters import Counter
from storage.opening import has_ended, patience_s
from workers.context import Context, process_context

log = logging.getLogger(__name__)

ROUND_S = 1.0
STATISTICS_S = 10.0
COUNTED = {
    "leases_lost": Counter.LEASES_LOST,
    "claims_lost": Counter.CLAIMS_LOST,
    "poison_pages": Counter.POISON_PAGES,
    "jobs_enqueued": Counter.JOBS_ENQUEUED_AGAIN,
}


def sweep_until_stopped() -> None:
    """Sweeps until SIGTERM or SIGINT, or until an embedded queue is gone for good.

    Raises:
        ServiceError: What no waiting mends.
    """
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    context = process_context()
    away_s, since_statistics_s = 0.0, 0.0
    while not stop.wait(ROUND_S):
        try:
            sweep_once(context)
            since_statistics_s += ROUND_S
            if since_statistics_s >= STATISTICS_S:
                since_statistics_s = 0.0
                context.store.refresh_statistics()
                record_states(context)
        except ServiceError as error:
            if not error.retryable:
                raise
            if has_ended(context.settings.storage):
                log.info("the run has ended")
                return
            if not away_s:
                log.warning("waiting", extra={"reason": str(error)})
            away_s += ROUND_S
            patience = patience_s(context.settings.storage)
            if patience is not None and away_s > patience:
                log.info("queue gone, ending")
                return
        else:
            away_s = 0.0


def sweep_once(context: Context) -> None:
    """One round."""
    swept = context.frontier.sweep()
    tally: Tally[str] = Tally({COUNTED[name]: n for name, n in swept.items() if n})
    if tally:
        log.info("swept", extra={str(k): v for k, v in tally.items()})
    tally[Counter.SWEEPS] += 1
    context.frontier.count(tally)


def record_states(context: Context) -> None:
    """Writes to the store which crawls have finished."""
    for row in context.store.crawls():
        if row.state is CrawlState.RUNNING and row.spec.crawl_id in context.frontier.crawl_ids():
            state = context.frontier.counts(row.spec.crawl_id).state
            if state is not row.state:
                context.store.put_crawl(row.spec, state)
