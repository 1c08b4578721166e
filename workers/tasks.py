"""The RQ tasks: functions that RQ calls by name in a worker's process, one after another.

A job of pages is done in this order: claim its pages; clean each page, marked before, so that a
page that kills the worker is known; save all in one transaction; offer the outlinks; acknowledge.
When a worker dies before the acknowledgement, the pages are done again; saving twice changes
nothing.
"""

from __future__ import annotations

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from rq import get_current_job
from rq.job import Job
from rq.timeouts import BaseTimeoutException

from crawlclean import __dist__
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.errors import (
    DatabaseDamaged,
    NotHtml,
    PageError,
    QueueUnavailable,
    ServiceError,
)
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import Outlink, Via
from crawlclean.cleaning.url_classes.stopping import PageYield
from crawlclean.cleaning.urls.normal_form import normal_page_id
from crawlclean.crawler.robots import RobotsRules
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    Discovery,
    FailureReason,
    KeepRaw,
    Outcome,
    PageRole,
    QueuedPage,
    UrlState,
)
from crawlclean.storage.queue.clients import OutageLog
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.journal import CLEANED_IN, Event, EventKind, Flow, in_time
from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.context import Context, process_context
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.images import images_of
from crawlclean.workers.jobs.learning import Learned, keep_first, learn_first
from crawlclean.workers.jobs.learning_schedule import FIRST_AT, LEARN_AT, count_records, learn_now
from crawlclean.workers.jobs.outcomes import (
    Ending,
    count_lost_fields,
    document_of,
    end_page,
    failed,
    judge_index,
    judge_loop,
    note_poison,
    redirects_a_seed,
    with_picture,
    with_stored_step,
)
from crawlclean.workers.jobs.recleaning import reclean_now
from crawlclean.workers.jobs.topic_adoption import Adopter, read_stored
from crawlclean.workers.jobs.topic_learning import learn_batch, rank_anew
from crawlclean.workers.jobs.topics import CrawlTopic, load_crawl_topic
from crawlclean.workers.jobs.url_classes import (
    JUDGED,
    HostUrlRules,
    host_rules,
    is_due,
    judge_yields,
    learn_classes,
    page_yields,
    unpacked_rules,
    with_samples,
)
from crawlclean.workers.jobs.url_filter import Chosen, UrlFilter, count_refusals, unknown
from crawlclean.workers.jobs.visits import with_visit, without_vanished_page

# Log lines about hooks that fail or are slow: one an hour for each hook, of all processes.

NOTICE_S = 3600  # a hook that fails on each page must not fill the log; counters count it

log = logging.getLogger(__name__)


class HookNotices:
    """Receives the reports of ``HookCalls`` in a job."""

    def __init__(self, frontier: Frontier) -> None:
        """Asks the queue whether another process has logged the same."""
        self._frontier = frontier

    def __call__(self, name: str, url: str, reason: str, error: BaseException | None) -> None:
        """Logs what failed with its traceback, unless the hook was logged in the last hour."""
        message = "hook failed" if error else "hook slow"
        with suppress(QueueUnavailable):  # else the line comes once too often
            if not self._frontier.is_first(f"{message}: {name}", NOTICE_S):
                return
        extra = {"hook": name, "url": url, "reason": reason}
        log.warning(message, extra=extra, exc_info=error)


# The robots rules that the queue knows, for the URL filters of a job.


class KnownRobots:
    """Robots rules, read once a host in one job."""

    def __init__(self, context: Context) -> None:
        """Reads nothing yet."""
        self._frontier = context.frontier
        self._rules = RobotsRules(__dist__)  # a user agent takes its version from disk

    def learn(self, host: str, rules: str | None) -> None:
        """Takes the rules of a host that were read with others."""
        self._rules.learn(host, 0, rules or "")

    def allows(self, host: str, url: str) -> bool:
        """Whether the rules of a host allow a URL; what is not known is allowed."""
        if not self._rules.known(host, 0):
            self.learn(host, self._frontier.robots(host))
        return self._rules.allow(host, 0, url)


P = ParamSpec("P")
T = TypeVar("T")

FIRST_PAUSE_S = 0.2  # a store that another process has locked is free so soon
LONGEST_PAUSE_S = 5.0  # a store that is back is noticed so late
PORTION = 20  # pages saved and acknowledged together; a job of a busy crawl has up to 100
FIRST_BYTES = 4 << 20  # of pages that are parsed and learned from before they are cleaned
PATIENCE_S = 120.0  # for a whole job; RQ ends it after JOB_TIMEOUT_S
ENDED = {
    UrlState.RECORD: Counter.RECORDS,
    UrlState.REDIRECT: Counter.REDIRECTS,
    UrlState.SITEMAP: Counter.SITEMAPS,
    UrlState.IMAGE: Counter.IMAGES,
    UrlState.EXCLUDED: Counter.EXCLUDED,
    UrlState.FAILED: Counter.FAILED,
}
OF_HOST = {Counter.RECORDS: Flow.RECORDS, Counter.FAILED: Flow.FAILED}
"""Ends that are also counted by crawl and host."""


def clean_pages(crawl_id: str, host: str, page_ids: Sequence[str]) -> None:
    """Runs a job: pages of one host of one crawl, from queue to store.

    Args:
        crawl_id: The crawl of the pages.
        host: Their host.
        page_ids: Pages when the job was made; the claim has those that are still to be done.
    """
    rq_job = _rq_job()
    job = _Job(process_context(), rq_job.id, crawl_id, host)
    try:
        job.run(rq_job.worker_name or "worker")
    except QueueUnavailable:
        # The parent logs the outage. Pages that cannot be given back return when the claim expires.
        with suppress(QueueUnavailable):
            job.give_back()
    except DatabaseDamaged as error:
        job.report_damage(str(error))
    except ServiceError as error:
        # A retryable error passes, and no page is to blame. Any other must not repeat for ever:
        # it counts as a crash, so that its page is done alone and ends as a failure.
        give_up = job.give_back if error.retryable else job.break_off
        extra = {"job": rq_job.id, "host": host, "pages": len(page_ids), "reason": str(error)}
        log.warning("job given back", extra=extra)
        give_up()
    except BaseTimeoutException:
        job.break_off() if job.is_cleaning else job.give_back()
        raise
    except MemoryError:  # it may pass: the page is tried alone, as one that killed its worker
        log.warning("job out of memory", extra={"job": rq_job.id, "host": host})
        job.break_off(Message("no_memory_on_page"))
        raise  # ends this process: the next one has its memory
    except BaseException:
        job.break_off()
        raise
    finally:
        with suppress(QueueUnavailable):
            job.count()


def learn_site(host: str, most_pages: int) -> None:
    """Runs a job: learns the next model of a host from its archived pages.

    Args:
        host: Lower-case authority.
        most_pages: Pages of the sample at most; 0 when a drift alarm made the host due.
    """
    with _outage_logged(host):
        fatal = (BaseTimeoutException,)
        learn_now(process_context(), _rq_job().id, host, most_pages, fatal=fatal)


def reclean_host(host: str, version: int, progress: dict[str, Any]) -> None:
    """Runs a job: re-cleans a slice of a host's older pages.

    Args:
        host: Lower-case authority.
        version: Of the host's model.
        progress: Written by ``RecleaningProgress.to_args``.
    """
    with _outage_logged(host):
        fatal = (BaseTimeoutException,)
        reclean_now(process_context(), _rq_job().id, host, version, progress, fatal)


def _rq_job() -> Job:
    rq_job = get_current_job()
    if rq_job is None:
        raise RuntimeError("tasks run in an RQ worker only")
    return rq_job


@contextmanager
def _outage_logged(host: str) -> Iterator[None]:
    """Logs a service error that ends a job of learning; the housekeeper enqueues the job again."""
    try:
        yield
    except QueueUnavailable:
        return  # the parent logs the outage
    except ServiceError as error:
        if isinstance(error, DatabaseDamaged):
            with suppress(QueueUnavailable):
                process_context().frontier.report_damage(str(error))
        log.warning("learning broken off", extra={"host": host, "reason": str(error)})


class _Job:
    """One job of pages in progress."""

    def __init__(self, context: Context, job_id: str, crawl_id: str, host: str) -> None:
        self._context = context
        self._frontier = context.frontier
        self._id = job_id
        self._crawl_id = crawl_id
        self._host = host
        self._deadline = time.monotonic() + PATIENCE_S
        self._tally: Tally[Counter] = Tally()
        self._of_host: Tally[str] = Tally()
        self._robots = KnownRobots(context)
        self._hooks = HookCalls(
            context.hooks, HookNotices(context.frontier), (BaseTimeoutException,)
        )
        self._model: SiteModel | None = None
        self._topic: CrawlTopic | None = None
        self._adopter: Adopter | None = None
        self.is_cleaning = False
        self._are_rules_new = True
        self._first: Learned | None = None  # the model that this job has learned before it cleaned

    def run(self, worker: str) -> None:
        """Does all pages that the worker can claim."""
        pages = self._frontier.claim(self._id, worker)
        if not pages:
            self._tally[Counter.CLAIMS_REFUSED] += 1
            return
        spec = self._frontier.spec(self._crawl_id)
        if spec.topic:
            store, topics = self._context.store, self._frontier.topics
            self._topic = self._patiently(load_crawl_topic, store, topics, spec)
        running = self._patiently(self._context.store.topics.crawls, state=TopicState.RUNNING)
        others = {name: crawl for name, crawl in running.items() if crawl != self._crawl_id}
        if others:
            self._adopter = self._patiently(
                Adopter,
                self._context.store,
                self._frontier,
                self._host,
                others,
                self._robots.allows,
                self._crawl_id,
            )
        for start in range(0, len(pages), PORTION):
            if not self._do_some(spec, pages[start : start + PORTION]):
                return
        self._tally[Counter.JOBS_DONE] += 1

    def _do_some(self, spec: CrawlSpec, pages: Sequence[QueuedPage]) -> bool:
        """Does some of the job's pages, from cleaning to ack; False: another worker has them."""
        endings = self._clean_and_save(pages, spec)
        if endings is None:
            return False
        discoveries, finders = self._discoveries(spec, endings)
        if spec.images:
            self._offer_images(spec, endings)
        classes = self._frontier.classes
        discoveries = self._patiently(with_samples, classes, spec, self._host, discoveries)
        marks = self._patiently(self._frontier.offer, self._crawl_id, discoveries)
        self._tally[Counter.OUTLINKS_NEW] += sum(marks)
        new: dict[int, list[str]] = {}
        for discovery, finder, is_new in zip(discoveries, finders, marks, strict=True):
            if is_new:
                new.setdefault(finder, []).append(discovery.url)
        self._judge(spec, page_yields([e.outcome for e in endings], new))
        if self._adopter is not None:
            adopted = self._patiently(self._adopter.adopt, endings)
            self._tally[Counter.TOPIC_PAGES_ADOPTED] += adopted
        if self._topic is not None:
            self._tally[Counter.TOPIC_PAGES_ADOPTED] += self._patiently(
                read_stored,
                self._context.store,
                self._frontier,
                self._topic.topic,
                spec,
                self._robots.allows,
            )
        # Before the ack: a crawl with neither a page in flight nor a host to learn is over.
        learning = self._begin_to_learn(spec, endings)
        first = [e.outcome for e in endings if e.outcome.queued.was is None]
        self._learn_classes(spec, sum(outcome.state in JUDGED for outcome in first))
        self._keep_rules()
        judged = self._topic.harvest(e.outcome for e in endings) if self._topic else {}
        ended = [(e.outcome.queued, e.outcome.state) for e in endings]
        self._frontier.ack(self._id, ended, judged)
        self._take_back([e.outcome for e in endings])
        for ending in endings:
            counter = _counter_of(ending.outcome)
            self._tally[counter] += 1
            if counter in OF_HOST:
                self._of_host[OF_HOST[counter]] += 1
            self._tally[Counter.FIELDS_LOST] += count_lost_fields(ending)
            if self._topic is not None and ending.outcome.record is not None:
                is_relevant = self._topic.is_relevant(ending.outcome)
                self._tally[Counter.TOPIC_PAGES] += 1
                self._tally[Counter.TOPIC_RELEVANT] += is_relevant
                self._of_host[Flow.JUDGED] += 1
                self._of_host[Flow.RELEVANT] += is_relevant
        if learning:  # before the next pages of the host are cleaned
            job_id, most_pages = learning
            learned, self._first = self._first, None
            fatal = (BaseTimeoutException,)
            args = self._context, job_id, self._host, most_pages, learned, fatal
            self._patiently(learn_now, *args)
        if self._topic is not None:
            self._learn_topic(self._topic)
        return True

    def _learn_topic(self, topic: CrawlTopic) -> None:
        """Learns which links lead to relevant pages, from the pages of any worker."""
        store, ranks = self._context.store, self._frontier.topics
        learned = self._patiently(learn_batch, store, ranks, topic.topic, self._crawl_id)
        if learned is not None:
            self._tally[Counter.TOPIC_BATCHES] += 1
            ranked = self._patiently(rank_anew, store, self._frontier, self._crawl_id, learned)
            self._tally[Counter.TOPIC_URLS_RANKED] += ranked

    def _clean_and_save(self, pages: Sequence[QueuedPage], spec: CrawlSpec) -> list[Ending] | None:
        """Cleans and saves pages with their host's model; None when another worker has them.

        Re-cleaning looks at stored records alone. When a new model version appears while these
        pages are cleaned, re-cleaning may have passed them, so they are cleaned once more here.
        """
        store, models = self._context.store, self._context.models
        version = self._patiently(store.models.newest, self._host)
        documents = self._documents(pages, spec) if not version else {}
        first = learn_first([*documents.values()], LEARN_AT[FIRST_AT]) if documents else None
        while True:
            self._model = first or self._patiently(models.version, self._host, version)
            endings = self._clean(pages, spec, documents)
            if endings is None:
                return None
            if spec.keep_fresh:
                rules = host_rules(self._frontier, self._crawl_id, self._host)
                there = [
                    self._patiently(without_vanished_page, each, store.records.get)
                    for each in endings
                ]
                endings = [with_visit(each, rules, self._model) for each in there]
            endings = [self._patiently(judge_index, each, endings, store) for each in endings]
            looped = [
                self._patiently(judge_loop, each, endings[:place], store)
                for place, each in enumerate(endings)
            ]
            endings = self._patiently(self._judged, [ending for ending, _ in looped])
            outcomes = [with_stored_step(ending.outcome) for ending in endings]
            if first is not None:  # before the records that name it
                self._first, first = self._patiently(keep_first, store, first), None
                if self._first is None:
                    version = self._patiently(store.models.newest, self._host)
                    continue
                version = self._first.about.version
            self._patiently(store.save, outcomes)
            before, version = version, self._patiently(store.models.newest, self._host)
            if version == before or not any(each.record for each in outcomes):
                break
        for ending in endings if spec.keep_fresh else ():
            self._announce(ending)
        for again in {page_id for _, page_id in looped if page_id}:
            self._patiently(self._offer_again, again)
        for outcome in outcomes:
            self._patiently(note_poison, store, outcome)
        return endings

    def _offer_again(self, page_id: str, reason: FailureReason | None = None) -> None:
        """Offers a page again that ended for this reason, or redirected (None)."""
        end = self._context.store.urls.end(page_id, self._crawl_id)
        if end is not None and (reason is None or (end.reason is reason and not end.status)):
            self._frontier.reopen(self._crawl_id, [end])

    def _take_back(self, outcomes: Sequence[Outcome]) -> None:
        """Offers what ended as another form of a page again, where the rules have turned around.

        Else neither form is fetched: this one ended by the old rules, the other one before it.
        """
        forms = FailureReason.DUPLICATE
        urls = [o.queued.url for o in outcomes if o.failure and o.failure.reason is forms]
        own = host_rules(self._frontier, self._crawl_id, self._host) if urls else HostUrlRules()
        for url in {own.better_form(url) or url for url in urls}:
            if not own.is_refused(url):
                self._patiently(self._offer_again, normal_page_id(url), forms)

    def _announce(self, ending: Ending) -> None:
        """Lets the dates of a sitemap or a feed move the visits of its pages."""
        page, is_feed = ending.outcome.queued, bool(ending.feed_dates)
        dates = ending.feed_dates or ending.lastmods
        if dates and not ending.outcome.unchanged:
            announce, read_at = self._context.store.revisits.announce, page.fetched_at
            self._patiently(announce, self._crawl_id, self._host, dates, read_at, is_feed=is_feed)

    def _judged(self, endings: Sequence[Ending]) -> list[Ending]:
        """The endings with the judgements of the crawl's topic, and of topics that adopt pages."""
        judged = []
        for each in endings:
            outcome = each.outcome
            if self._topic is not None:
                outcome = self._topic.with_judgement(outcome)
                if named := self._topic.named_links(outcome):
                    new = self._patiently(unknown, self._frontier, self._crawl_id, named)
                    outcome = self._topic.with_new_links(outcome, len(new))
            if self._adopter is not None:
                outcome = self._adopter.with_judgements(outcome)
            judged.append(replace(each, outcome=outcome))
        return judged

    def _offer_images(self, spec: CrawlSpec, endings: Sequence[Ending]) -> None:
        """Offers the content images of pages that have a record; for a topic, of relevant ones."""
        topic = self._topic

        def is_wanted(outcome: Outcome) -> bool:
            return not spec.topic or (topic is not None and topic.is_relevant(outcome))

        found, counted = images_of(endings, self._robots.allows, is_wanted)
        self._tally.update(counted)
        self._tally[Counter.IMAGES_NEW] += self._patiently(
            self._frontier.add, self._crawl_id, found
        )

    def _documents(self, pages: Sequence[QueuedPage], spec: CrawlSpec) -> dict[str, Document]:
        """The pages that a host without a model is learned from before they are cleaned, by id.

        Cleaned first, they would be parsed three times and stored twice. Empty where they are too
        few or too large.
        """
        is_small = sum(len(page.result.body) for page in pages) <= FIRST_BYTES
        if len(pages) < FIRST_AT or not is_small or spec.keep_raw is not KeepRaw.ALL:
            return {}
        found = {}
        self.is_cleaning = True
        for page in pages:
            if not page.result.failure:
                self._frontier.mark(self._id, page.page_id)
            with suppress(PageError):
                if document := document_of(page, obeys=spec.page_robots):
                    found[page.page_id] = document
        return found if len(found) >= FIRST_AT else {}

    def _clean(
        self, pages: Sequence[QueuedPage], spec: CrawlSpec, documents: Mapping[str, Document]
    ) -> list[Ending] | None:
        begun = time.monotonic()
        endings = []
        self.is_cleaning = True
        for page in pages:
            # A page that could not be fetched is not cleaned, and cannot kill the worker.
            if not page.result.failure:
                self._frontier.mark(self._id, page.page_id)
            started = time.monotonic()
            ending = _end(page, spec, self._model, self._hooks, documents.get(page.page_id))
            endings.append(ending if self._topic is None else with_picture(ending))
            if not page.result.failure:
                took_s = time.monotonic() - started
                self._of_host[in_time(CLEANED_IN, took_s)] += 1
                self._of_host[Flow.CLEANING_MS] += round(took_s * 1000)
        self.is_cleaning = False
        self._tally[Counter.CLEANING_MS] += int((time.monotonic() - begun) * 1000)
        self._frontier.mark(self._id, "")
        return endings if self._frontier.keep_claim(self._id) else None

    def _judge(self, spec: CrawlSpec, yields: Sequence[PageYield]) -> None:
        """Adds what pages brought to the accounts of their URL classes; stops barren classes."""
        if not yields:
            return
        classes = self._frontier.classes
        stopped = self._patiently(judge_yields, classes, spec, self._host, yields)
        self._tally[Counter.TRAPS] += len(stopped)
        self._are_rules_new |= bool(stopped)
        for pattern, why in stopped.items():
            log.info("trap", extra={"host": self._host, "class": pattern, "reason": why})
            event = Event(
                kind=EventKind.TRAP,
                host=self._host,
                crawl_id=self._crawl_id,
                text=Message("stopped_class", pattern, why),
                link=pattern,
            )
            self._patiently(self._context.store.events.add, event)

    def _learn_classes(self, spec: CrawlSpec, count: int) -> None:
        """Learns the URL classes of the host when ``count`` more pages make them due."""
        if not count or not spec.trap_pages:
            return
        pages = self._frontier.classes.add_pages(self._crawl_id, self._host, count)
        if is_due(pages - count, pages):
            store = self._context.store
            # A model of most of these pages has just learned the same.
            first = self._first
            is_same = first is not None and 4 * first.about.page_count >= 3 * pages
            rules = first.model.url_rules if first is not None and is_same else None
            self._patiently(learn_classes, self._frontier, store, spec, self._host, rules)
            self._are_rules_new = True

    def _keep_rules(self) -> None:
        """Copies the rules of the host to the store, for `why` without a queue; once a job."""
        if not self._are_rules_new:
            return
        self._are_rules_new = False
        rules = self._frontier.classes.known(self._crawl_id, self._host)
        self._patiently(self._context.store.rules.put, self._crawl_id, self._host, rules)

    def _begin_to_learn(self, spec: CrawlSpec, endings: Sequence[Ending]) -> tuple[str, int] | None:
        """Returns (job id, most pages of the sample) when the host is due to be learned."""
        # A revisit is no further page of its host: it must not bring the next learning nearer.
        outcomes = [each.outcome for each in endings if each.outcome.queued.was is None]
        records = [each.record for each in outcomes if each.record is not None]
        if not records or spec.keep_raw is KeepRaw.NONE:
            return None
        models = self._context.models
        is_unreadable = self._model is None and self._patiently(models.is_unreadable, self._host)
        learning = self._frontier.learning
        if self._first is not None:
            _, total, _ = learning.add_records(self._host, len(records))
            return learning.begin(self._host, total, 0), 0
        return count_records(
            learning, self._host, records, self._model, is_unreadable=is_unreadable
        )

    def _discoveries(
        self, spec: CrawlSpec, endings: Sequence[Ending]
    ) -> tuple[list[Discovery], list[int]]:
        """Returns (new discoveries for the frontier, index of the page that found each one first).

        Pages of a host repeat most of their links; those that the crawl knows are left out.
        """
        for ending in endings:
            if redirects_a_seed(ending, spec):
                for outlink in ending.outlinks:
                    self._frontier.widen(spec.crawl_id, outlink.url)
        kept = self._frontier.classes.known(self._crawl_id, self._host)
        self._robots.learn(self._host, kept.robots)
        own = unpacked_rules(self._host, kept)
        url_filter = UrlFilter(
            spec,
            self._frontier.more_hosts(spec.crawl_id),
            self._robots.allows,
            own,
            self._hooks,
            self._frontier.topics,
        )
        found: dict[str, tuple[Chosen, int]] = {}
        others: dict[tuple[str, PageRole], tuple[Discovery, int]] = {}
        for index, ending in enumerate(endings):
            page = ending.outcome.queued
            depth = 0 if page.role is PageRole.SITEMAP else page.depth
            outlinks, referrer = ending.outlinks, page.url
            is_left_out = ending.outcome.state is UrlState.EXCLUDED and not outlinks
            if is_left_out and own.better_form(page.url):
                # Its class was proven while it waited: the link to it is followed as one found now.
                found_by = page.provenance
                outlinks = [Outlink(url=page.url, via=Via.LINK, text=found_by.link_text)]
                referrer, depth = found_by.referrer or referrer, depth - 1
            chosen, refused = url_filter.choose(outlinks, referrer, depth, page.hops)
            self._tally.update(count_refusals(refused))
            for link in chosen:
                found.setdefault(link.outlink.url, (link, index))
            for discovery in ending.discoveries:
                others.setdefault((discovery.url, discovery.role), (discovery, index))
        self._tally[Counter.SESSION_IDS_LEFT_OUT] += url_filter.sessions_left_out
        self._tally[Counter.OUTLINKS_OFFERED] += len(found) + len(others)
        new = self._patiently(unknown, self._frontier, self._crawl_id, found)
        rankers = [
            self._topic.ranker(each.outcome, own) if self._topic else None for each in endings
        ]
        ranked = [(url_filter.discovery(link, rankers[index]), index) for link, index in new]
        discoveries, finders = (
            zip(*others.values(), *ranked, strict=True) if others or new else ((), ())
        )
        return list(discoveries), list(finders)

    def _patiently(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls ``work`` until it succeeds, with growing pauses after retryable errors.

        Raises:
            ServiceError: Not retryable, or ``PATIENCE_S`` of the job are over.
        """
        pause, outage = FIRST_PAUSE_S, OutageLog("store")
        while True:
            try:
                result = work(*args, **kwargs)
            except ServiceError as error:
                if not error.retryable or time.monotonic() + pause > self._deadline:
                    raise
                if not isinstance(error, QueueUnavailable):  # the parent logs those of the queue
                    outage.notice(error)
                time.sleep(pause)  # the process of a job has nothing else to do
                pause = min(2 * pause, LONGEST_PAUSE_S)
            else:
                outage.end()
                return result

    def give_back(self) -> None:
        """Gives the pages back to the queue without blaming one of them."""
        self._tally[Counter.CLAIMS_ABANDONED] += 1
        self._frontier.give_back(self._id)

    def report_damage(self, message: str) -> None:
        """Gives the pages back, and lets `run` end: no page can be stored."""
        with suppress(QueueUnavailable):
            self._frontier.report_damage(message)
            self.give_back()

    def break_off(self, why: str = "") -> None:
        """Lets the housekeeper redo the pages, and count the crash of a marked one: ``why``."""
        self._frontier.break_claim(self._id, why)

    def count(self) -> None:
        """Adds the job's tally to the counters of all processes."""
        self._tally += self._hooks.tally
        if self._tally:
            of = f"{self._crawl_id} {self._host} "
            self._frontier.count(
                {str(name): n for name, n in self._tally.items()},
                {of + figure: n for figure, n in self._of_host.items() if n},
            )


def _counter_of(outcome: Outcome) -> Counter:
    if outcome.unchanged:
        return Counter.REVISITS_MISSED if outcome.failure else Counter.UNCHANGED
    return ENDED[outcome.state]


def _end(
    page: QueuedPage,
    spec: CrawlSpec,
    model: SiteModel | None,
    hooks: HookCalls,
    document: Document | None = None,
) -> Ending:
    try:
        return end_page(
            page, spec.keep_raw, model, hooks, obeys=spec.page_robots, document=document
        )
    except NotHtml as error:
        return failed(page, FailureReason.NOT_HTML, str(error))
    except PageError as error:
        return failed(page, FailureReason.PAGE_ERROR, str(error))
    except (BaseTimeoutException, MemoryError):
        raise  # the job's time or memory is over: it counts as a crash of this page
    except Exception as error:
        # A defect of this program must not fail the job's other pages; the log has the traceback.
        log.exception("page failed", extra={"url": page.url})
        return failed(page, FailureReason.INTERNAL, f"{type(error).__name__}: {error}")
