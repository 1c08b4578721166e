"""The functions named on the wire: what RQ calls in a forked worker.

A job is done in this order: claim its pages, clean each (marked, so that a page that kills the
worker is known), save all in one transaction, offer the outlinks, acknowledge. Whatever dies
before the last step, the pages are done again by somebody; saving twice changes nothing.
"""

from __future__ import annotations

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from typing import TypeVar

from rq import get_current_job
from rq.timeouts import BaseTimeoutException

from cleaning.errors import NotHtml, PageError, ServiceError
from crawler.robots import RobotsRules
from crawler.settings import user_agent
from storage.base import (
    CrawlSpec,
    Discovery,
    Failure,
    FailureReason,
    KeepRaw,
    PageRole,
    QueuedPage,
    UrlState,
)
from storage.counters import Counter
from workers.admission import Admission, count_refusals
from workers.context import Context, process_context
from workers.endings import Ending, end_page, failed

log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0
PATIENCE_S = 90.0
ENDED = {
    UrlState.RECORD: Counter.RECORDS,
    UrlState.REDIRECT: Counter.REDIRECTS,
    UrlState.SITEMAP: Counter.SITEMAPS,
    UrlState.EXCLUDED: Counter.EXCLUDED,
    UrlState.FAILED: Counter.FAILED,
}


def clean_pages(crawl_id: str, host: str, page_ids: Sequence[str]) -> None:
    """Does one job: pages of one host of one crawl, from queue to store.

    Args:
        crawl_id: Whose pages.
        host: Their host.
        page_ids: The job's pages as it was made; the claim says which are still to be done.
    """
    job = get_current_job()
    if job is None:
        raise RuntimeError("clean_pages runs in an RQ worker only")
    context = process_context()
    tally: Tally[Counter] = Tally()
    try:
        _do_job(context, job.id, job.worker_name or "worker", crawl_id, tally)
    except ServiceError as error:
        # Nobody's page is to blame: the pages go back as they are.
        log.warning(
            "job given back",
            extra={"job": job.id, "host": host, "pages": len(page_ids), "reason": str(error)},
        )
        tally[Counter.CLAIMS_ABANDONED] += 1
        context.frontier.give_back(job.id)
    except BaseException:
        context.frontier.break_claim(job.id)
        raise
    finally:
        if tally:
            context.frontier.count({str(name): n for name, n in tally.items()})


def _do_job(
    context: Context, job_id: str, worker: str, crawl_id: str, tally: Tally[Counter]
) -> None:
    frontier = context.frontier
    pages = frontier.claim(job_id, worker)
    if not pages:
        tally[Counter.CLAIMS_REFUSED] += 1
        return
    spec = frontier.spec(crawl_id)
    begun = time.monotonic()
    endings = []
    for page in pages:
        if not frontier.mark(job_id, page.page_id):
            return  # the claim ran out: somebody else has these pages
        endings.append(_end(page, spec.keep_raw))
    frontier.mark(job_id, "")
    tally[Counter.CLEANING_MS] += int((time.monotonic() - begun) * 1000)
    _patiently(lambda: context.store.save([e.outcome for e in endings]), job_id, context)
    discoveries = _discoveries(context, spec, endings, tally)
    tally[Counter.OUTLINKS_OFFERED] += len(discoveries)
    tally[Counter.OUTLINKS_NEW] += _patiently(
        lambda: frontier.add(crawl_id, discoveries), job_id, context
    )
    frontier.ack(job_id, [(e.outcome.queued, e.outcome.state) for e in endings])
    tally[Counter.JOBS_DONE] += 1
    for ending in endings:
        tally[ENDED[ending.outcome.state]] += 1


def _end(page: QueuedPage, keep_raw: KeepRaw) -> Ending:
    try:
        return end_page(page, keep_raw)
    except NotHtml as error:
        return failed(page, Failure(reason=FailureReason.NOT_HTML, detail=str(error)))
    except PageError as error:
        return failed(page, Failure(reason=FailureReason.PAGE_ERROR, detail=str(error)))
    except BaseTimeoutException:
        raise  # the job's time is over: the page goes the way of one that killed its worker
    except Exception as error:
        # A defect of ours must not take the companions down; the log has the traceback.
        log.exception("page failed", extra={"url": page.url})
        detail = f"{type(error).__name__}: {error}"
        return failed(page, Failure(reason=FailureReason.INTERNAL, detail=detail))


def _discoveries(
    context: Context, spec: CrawlSpec, endings: Sequence[Ending], tally: Tally[Counter]
) -> list[Discovery]:
    frontier = context.frontier
    for ending in endings:
        page = ending.outcome.queued
        if ending.outcome.state is UrlState.REDIRECT and page.url in spec.seeds:
            for outlink in ending.outlinks:
                frontier.widen(spec.crawl_id, outlink.url)
    robots = _Robots(context)
    admission = Admission(spec, frontier.more_hosts(spec.crawl_id), robots.allows)
    found: dict[tuple[str, PageRole], Discovery] = {}
    for ending in endings:
        page = ending.outcome.queued
        depth = 0 if page.role is PageRole.SITEMAP else page.depth
        taken, refused = admission.sift(ending.outlinks, page.url, depth)
        tally.update(count_refusals(refused))
        for discovery in (*ending.discoveries, *taken):
            found.setdefault((discovery.url, discovery.role), discovery)
    return list(found.values())


class _Robots:
    """The robots rules known so far, for one job."""

    def __init__(self, context: Context) -> None:
        self._frontier = context.frontier
        self._rules = RobotsRules(user_agent(context.settings.crawl))

    def allows(self, host: str, url: str) -> bool:
        if not self._rules.known(host, 0):
            self._rules.learn(host, 0, self._frontier.robots(host) or "")
        return self._rules.allow(host, 0, url)


def _patiently(work: Callable[[], T], job_id: str, context: Context) -> T:
    """The result of ``work``, tried again while what it needs is away; one log line.

    Raises:
        ServiceError: Not retryable, or away for longer than ``PATIENCE_S``.
    """
    pause, waited = FIRST_PAUSE_S, 0.0
    while True:
        try:
            return work()
        except ServiceError as error:
            if not error.retryable or waited >= PATIENCE_S:
                raise
            if not waited:
                log.warning("waiting", extra={"reason": str(error)})
            time.sleep(pause)  # a forked job has nothing else to do, and no signal to wait for
            waited += pause
            pause = min(2 * pause, LONGEST_PAUSE_S)
            context.frontier.keep_claim(job_id)
