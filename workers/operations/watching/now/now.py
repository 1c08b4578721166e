"""What crawls at this moment, and everything that could hold it back."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import QueueNow, WaitReason
from crawlclean.storage.store.overview import FailureCause
from crawlclean.workers.answers.moments import DiskSpace, LookedAt
from crawlclean.workers.operations.controlling.crawls import (
    CrawlStatus,
    newest_crawls,
    running_crawls,
)
from crawlclean.workers.operations.failures import CauseTotal, cause_totals, failure_causes
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.queues import QueueState, ask_queue
from crawlclean.workers.operations.watching.signs.judging import Sign, shortened
from crawlclean.workers.operations.watching.signs.signs import all_signs, running_waits

MOST_CRAWLS = 8  # what one screen shows beside the rest; `crawls` lists all
MOST_CAUSES = 8  # as MOST_CRAWLS; `failures` lists all


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One moment of all crawls.

    Attributes:
        at: When it was read, by the clock of this machine.
        queue_state: Whether the queue could be asked (``QueueState``).
        queue: The queue; None unless it answers.
        why_no_queue: Why it could not be asked, for a person.
        why_no_store: Why the store could not be asked; ``""`` when it could, or has no crawl yet.
        crawls: Some crawls: those of signs first, then those that run, then the newest.
        running: Crawls that run.
        spent: Running crawls whose page budget is used up.
        pending: URLs that wait in running crawls.
        waits: Examined hosts of running crawls by what they wait for.
        causes: Causes of failures in all crawls, the most frequent first.
        totals: The same, those of all crawls together.
        as_of: When the store's figures were computed; None: they are of this moment.
        disk: The disk of the data folder; None with servers.
        signs: What somebody should look at, the worst first, some of each kind.
        looked: What was looked at.
        limit_pages: Pages that may wait for workers.
        limit_bytes: Their packed bytes.
    """

    at: datetime
    queue_state: str = QueueState.AT_REST
    queue: QueueNow | None = None
    why_no_queue: str = ""
    why_no_store: str = ""
    crawls: Sequence[CrawlStatus] = ()
    running: int = 0
    spent: int = 0
    pending: int = 0
    waits: Mapping[WaitReason, int] = field(default_factory=dict)
    causes: Sequence[FailureCause] = ()
    totals: Sequence[CauseTotal] = ()
    as_of: datetime | None = None
    disk: DiskSpace | None = None
    signs: Sequence[Sign] = ()
    looked: LookedAt = field(default_factory=LookedAt)
    limit_pages: int = 0
    limit_bytes: int = 0


def this_moment(backends: KeptBackends) -> Moment:
    """Returns the moment; what cannot be read is named in it."""
    config = backends.settings.storage
    queue = ask_queue(backends)
    crawls: list[CrawlStatus] = []
    running: list[CrawlStatus] = []
    causes: Part[FailureCause] = Part(items=())
    why_no_store = ""
    try:
        crawls, running = newest_crawls(backends), running_crawls(backends)
        causes = failure_causes(backends)
    except NotFound:
        pass
    except ServiceError as error:
        why_no_store = str(error)
    signs, looked = all_signs(backends)
    of_signs = {each.crawl_id for each in signs}
    known = {each.name: each for each in (*running, *crawls)}
    order = sorted(
        known.values(),
        key=lambda each: (each.name not in of_signs, each.state is not CrawlState.RUNNING),
    )
    waits = [each.reason for each in running_waits(backends)] if queue.queue else []
    return Moment(
        at=datetime.now(UTC),
        queue_state=queue.state,
        queue=queue.queue,
        why_no_queue=queue.why,
        why_no_store=why_no_store,
        crawls=order[:MOST_CRAWLS],
        running=len(running),
        spent=sum(each.counts.budget_left == 0 for each in running if each.counts),
        pending=sum(each.counts.pending for each in running if each.counts),
        waits=Counter(each for each in waits if each is not WaitReason.NOTHING_LEFT),
        causes=causes.items[:MOST_CAUSES],
        totals=cause_totals(causes.items)[:MOST_CAUSES],
        as_of=causes.as_of,
        disk=_disk(backends) if config.is_embedded else None,
        signs=shortened(signs),
        looked=looked,
        limit_pages=config.max_pages_in_flight,
        limit_bytes=config.max_bytes_in_flight,
    )


def _disk(backends: KeptBackends) -> DiskSpace | None:
    try:
        usage = shutil.disk_usage(backends.settings.storage.data)
    except OSError:
        return None
    return DiskSpace(free_bytes=usage.free, total_bytes=usage.total)
