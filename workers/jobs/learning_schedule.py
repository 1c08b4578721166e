"""The schedule of learning during a crawl, and the job that learns a host.

A host is learned at growing numbers of its records, and when its newer pages drift from its model
(``drift.py``). The new model is used from the next page on; ``recleaning.py`` re-cleans the
older pages.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.drift.watch import Watch
from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.learn.views import MAX_SAMPLE
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.jobs import LearningQueue
from crawlclean.storage.store.models import LearnReason
from crawlclean.workers.context import Context
from crawlclean.workers.jobs.drift import answer, complete, judge
from crawlclean.workers.jobs.learning import Learned, archived_model, keep_model
from crawlclean.workers.jobs.recleaning import RecleaningProgress

log = logging.getLogger(__name__)

# {records of a host at which the host is learned: most pages of the sample}. A sample of sixty
# pages has most of what a hundred have, and all learning shall cost a quarter of cleaning (ADR 21).
LEARN_AT = {8: 8, 60: 40, 2_000: 100, 20_000: 100, 200_000: 100, 2_000_000: 100}
COUNTED = {
    DriftSign.BODIES: Counter.DRIFTS_BODIES,
    DriftSign.FRAME: Counter.DRIFTS_FRAME,
    DriftSign.NEW_CLASSES: Counter.DRIFTS_NEW_CLASSES,
    DriftSign.AGE: Counter.MODELS_RENEWED,
}


def pages_to_learn(before: int, after: int) -> int:
    """Returns the most pages of the sample of a host that is due to be learned; 0 if it is not.

    Args:
        before: Records of the host when it was last learned, counted from its last redesign:
            negative when it was learned before that.
        after: Records of the host now.
    """
    return max((most for pages, most in LEARN_AT.items() if before < pages <= after), default=0)


def learn_now(context: Context, job_id: str, host: str, most_pages: int) -> None:
    """Runs a job: learns a host, then enqueues the re-cleaning of its older pages."""
    queue = context.frontier.learning
    if not queue.is_newest(host, job_id):
        return
    begun = time.process_time()
    learned = _learned(context, job_id, host, most_pages)
    if learned is None:
        queue.end_without_model(host, job_id)
        return
    about = learned.about
    extra = {
        "host": host,
        "version": about.version,
        "pages": about.page_count,
        "is_new": learned.is_new,
        "cpu_ms": int((time.process_time() - begun) * 1000),
    }
    log.info("learned", extra=extra)
    queue.enqueue_recleaning(host, job_id, about.version, RecleaningProgress().to_args())


def _learned(context: Context, job_id: str, host: str, most_pages: int) -> Learned | None:
    """Learns a host after a drift alarm, or because the host has many more pages.

    Args:
        context: The backends of this process.
        job_id: The job that learns.
        host: Lower-case authority.
        most_pages: Pages of the sample at most; 0 when only an alarm made the host due.

    Returns:
        None when nothing was learned, or when a newer job has replaced this one.
    """
    store, queue = context.store, context.frontier.learning
    watch = Watch.from_text(queue.watch(host)[1])
    if watch.alarm is not None:
        old = context.models.version(host, watch.version)
        if old is not None and store.models.newest(host) == watch.version:
            sign, learned = answer(store, queue, watch, watch.alarm, old)
            context.frontier.count({str(COUNTED[sign]): 1})
            if learned is not None and sign in (DriftSign.BODIES, DriftSign.FRAME):
                queue.reset_repeated(host)  # the old model made the records of the new layout
            if learned is not None or not most_pages:
                return learned
        else:
            complete(store, queue, host, watch.alarm)
    try:
        model = archived_model(store, host, most_pages or MAX_SAMPLE)
    except NotFound:
        log.info("nothing archived to learn from", extra={"host": host})
        return None
    return keep_model(store, model, LearnReason.PAGES) if queue.is_newest(host, job_id) else None


def count_records(
    queue: LearningQueue,
    host: str,
    records: Sequence[CleanRecord],
    model: SiteModel | None,
    *,
    is_unreadable: bool = False,
) -> tuple[str, int] | None:
    """Counts new records of a host and compares them with the host's model.

    Returns:
        (job id, most pages) for ``learn_now`` when the host is due, else None. A host whose model
        has another format (the program was updated in between) is due at once.
    """
    before, total, text = queue.add_records(host, len(records))
    if model is None:
        watch, is_new = Watch.from_text(text), False
    else:
        watch, is_new = judge(queue, records, model, total, text)
    most_pages = pages_to_learn(before - watch.born, total - watch.born)
    if model is not None and most_pages < model.page_count:
        most_pages = 0  # a redesign was learned while other workers counted its pages
    is_wanted = watch.alarm is not None or is_unreadable
    if most_pages or is_new or (is_wanted and not queue.is_busy(host)):
        return queue.begin(host, total, most_pages), most_pages
    return None
