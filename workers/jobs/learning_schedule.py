"""The schedule of learning during a crawl, and the job that learns a host.

A host is learned at growing numbers of its records, and when its newer pages drift from its model.
The new model is used from the next page on; ``recleaning.py`` re-cleans the older pages.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.drift.watch import Watch, fit_of
from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.learn.views import MAX_SAMPLE, choose_sample
from crawlclean.cleaning.lexicon import minute
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.rules import ClassShares
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.jobs import LearningQueue
from crawlclean.storage.store.hosts import StoredPage
from crawlclean.storage.store.models import DriftEvent, DriftOutcome, LearnReason
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.context import Context
from crawlclean.workers.jobs.learning import (
    MIN_PAGES,
    Learned,
    archived_model,
    keep_model,
    model_of,
    of_present_layout,
)
from crawlclean.workers.jobs.recleaning import RecleaningProgress, reclean_now

log = logging.getLogger(__name__)

# {records of a host at which the host is learned: most pages of the sample}. A sample of sixty
# pages has most of what a hundred have, and all learning shall cost a quarter of cleaning (ADR 21).
LEARN_AT = {8: 8, 60: 40, 2_000: 100, 20_000: 100, 200_000: 100, 2_000_000: 100}
FIRST_AT = min(LEARN_AT)
FEW_RECORDS = 30  # of a host: re-cleaned in .2 s, for which no page waits
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


def learn_now(
    context: Context,
    job_id: str,
    host: str,
    most_pages: int,
    learned: Learned | None = None,
    fatal: tuple[type[BaseException], ...] = (),
) -> None:
    """Runs a job: learns a host unless it has just been, then sees to its older pages.

    A few of them are re-cleaned at once; a job of their own would cost more than they do.
    """
    queue = context.frontier.learning
    if learned is None and not queue.is_newest(host, job_id):
        return
    begun = time.process_time()
    learned = learned or _learned(context, job_id, host, most_pages)
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
    args = about.version, RecleaningProgress().to_args()
    counts = queue.counts(host)
    if counts[0] > FEW_RECORDS:
        queue.enqueue_recleaning(host, job_id, *args)
    else:
        reclean_now(context, job_id, host, *args, fatal, counts)


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


# Drift of hosts: judge new records against the model, and answer an alarm by learning.
#
# Judging compares each record with the model of its host; where one does not fit, one exchange
# with the queue serves all records that are saved together. It runs between save and ack: when a
# worker dies in between, its pages, 20 at most, are judged again; nothing else counts twice or is
# lost, except with the queue itself. Only pages fetched after the newest page of the model's sample
# are judged.
#
# Answering is part of a learning job. The event is stored before anything is learned. After a
# redesign only pages fetched since its begin are learned from, and their model is kept only if it
# finds bodies again (an interstitial has none). After every answer the next records are not judged:
# 50, and twice as many for each event of the last 30 days, so that a host that changes with every
# page is learned a number of times that grows with the logarithm of its pages.

TRIES = 3  # to write the watch text, which other workers write, too
QUIET_PAGES = 50  # not judged after an answer
EVENTS_COUNT = timedelta(days=30)  # how long an event doubles the quiet pages
GIVEN_UP_PAGES = 1_000  # not judged after the jobs of an answer died
BUDGET = 10  # records for each page that is learned from because of new URL classes
MIN_SAMPLE = 30  # pages: a model of fewer is learned anew no sooner than one of so many
MIN_BODY_SHARE = 0.5  # of the old model's share of bodies at their place
MIN_LENGTH = 1 / 3  # of the old model's short body length
MIN_GAIN = 0.2  # in the share of bodies at their place, over the drifted pages
# How long a layout has been in use before it can change: templates live for years, and most first
# crawls end within a day. Until then pages of another kind, met later, are by far the likelier.
HELD_FOR = timedelta(days=1)


def judge(
    queue: LearningQueue, records: Iterable[CleanRecord], model: SiteModel, total: int, text: str
) -> tuple[Watch, bool]:
    """Judges new records of a host against its model; returns (watch, whether an alarm is new).

    Args:
        queue: Keeps the watch text of the host.
        records: New records, made with the model.
        model: The host's model.
        total: Records of the host so far, these included.
        text: The watch text before, ``""`` for none.
    """
    fits = [fit_of(each, model) for each in records if each.fetched_at > model.learned_at]
    for _ in range(TRIES):
        watch = Watch.from_text(text)
        alarm = watch.judge(fits, model, total)
        after = watch.to_text()
        if after == text or queue.replace_watch(model.host, text, after):
            return watch, alarm is not None
        _, text = queue.watch(model.host)
    return Watch.from_text(text), False  # too many writers: these records are not judged


def pages_of_quiet(events: int) -> int:
    """Returns the records that are not judged after an event that follows ``events`` others."""
    return QUIET_PAGES << min(events, 20)


def settle(
    queue: LearningQueue, host: str, version: int, quiet: int, young: int | None = None
) -> None:
    """Ends the alarm of a host in the queue.

    Args:
        queue: Keeps the watch text.
        host: Lower-case authority.
        version: Of the model that is in use now.
        quiet: Records that are not judged next.
        young: Pages of the host since all of it was redesigned; None: it was not.
    """
    while True:
        total, text = queue.watch(host)
        watch = Watch.from_text(text)
        watch.settle(version, total, quiet, young)
        if queue.replace_watch(host, text, watch.to_text()):
            return


def answer(
    store: Store, queue: LearningQueue, watch: Watch, alarm: Alarm, old: SiteModel
) -> tuple[DriftSign, Learned | None]:
    """Answers an alarm: learns the host if that helps, and stores a drift event.

    Args:
        store: Holds pages and models; gets the event.
        queue: Keeps the watch text.
        watch: The watch of the host.
        alarm: The alarm of the watch.
        old: The model that the host's pages no longer fit.

    Returns:
        (what it was, the new model version); None when nothing was learned.
    """
    host = old.host
    events = store.drifts.of(host)
    begin = alarm.at - EVENTS_COUNT
    quiet = pages_of_quiet(sum(begin < each.alarm.at < alarm.at for each in events))
    if alarm.sign is DriftSign.AGE:
        learned = _renew(store, host, alarm)
        settle(queue, host, learned.about.version if learned else watch.version, quiet)
        return alarm.sign, learned
    event = DriftEvent(
        host=host, model_version=watch.version, alarm=alarm, outcome=DriftOutcome.WAITS
    )
    store.drifts.save(event)
    total, _ = queue.watch(host)
    if alarm.sign is DriftSign.NEW_CLASSES:
        records = total - watch.begun
        wanted = BUDGET * max(MIN_SAMPLE, old.page_count)
        event, learned = _learn_classes(store, event, records, wanted)
        quiet = max(quiet, wanted - records) if learned is None else quiet
    else:
        event, learned = _learn_layout(store, event, events, old)
    store.drifts.save(event)
    log.info("drift", extra=_extra(event))
    version = event.new_version or watch.version
    settle(queue, host, version, quiet, _young(event))
    return event.alarm.sign, learned


def complete(store: Store, queue: LearningQueue, host: str, alarm: Alarm) -> None:
    """Ends an alarm whose job died after learning, or that another learning job has overtaken."""
    newest = store.models.versions(host)[0]
    for event in store.drifts.of(host):
        is_this = (event.alarm.at, event.alarm.sign) == (alarm.at, alarm.sign)
        if is_this and newest.reason is LearnReason.DRIFT:
            event = replace(event, outcome=DriftOutcome.LEARNED, new_version=newest.version)
            store.drifts.save(event)
            settle(queue, host, newest.version, QUIET_PAGES, _young(event))
            return
    settle(queue, host, newest.version, QUIET_PAGES)


def _young(event: DriftEvent) -> int | None:
    """Returns the pages since a redesign of the whole host; None for any other event."""
    return event.alarm.pages if event.is_redesign and not event.alarm.url_class else None


def _renew(store: Store, host: str, alarm: Alarm) -> Learned | None:
    """Learns a host whose model is old, from newer pages; older pages fill up a small sample."""
    pages = of_present_layout(store.hosts.archived(host), store.drifts.of(host))
    newer = [page for page in pages if page.fetched_at > alarm.since]
    if not newer:
        return None
    days = Message("days", (alarm.at - alarm.since).days)
    try:
        model = model_of(store, host, _with_older(newer, pages))
    except NotFound:  # deleted meanwhile
        return None
    return keep_model(store, model, LearnReason.AGE, Message("aged", days, alarm.pages))


def _with_older(newer: Sequence[StoredPage], pages: Sequence[StoredPage]) -> list[StoredPage]:
    """Returns the newer pages, and of all pages so many older ones that they fill a sample."""
    urls = {page.url for page in newer}
    older = (page.url for page in pages if page.url not in urls)
    beside = set(choose_sample(older, max(0, MAX_SAMPLE - len(newer))))
    return [*newer, *(page for page in pages if normalize(page.url) in beside)]


def _learn_classes(
    store: Store, event: DriftEvent, records: int, wanted: int
) -> tuple[DriftEvent, Learned | None]:
    """Learns a host with its new URL classes, once that costs little beside cleaning them."""
    if records < wanted:
        return replace(event, detail=Message("learned_later", wanted - records)), None
    pages = of_present_layout(store.hosts.archived(event.host), store.drifts.of(event.host))
    return _keep(store, event, pages, min(MAX_SAMPLE, records // BUDGET))


def _learn_layout(
    store: Store, event: DriftEvent, events: Sequence[DriftEvent], old: SiteModel
) -> tuple[DriftEvent, Learned | None]:
    """Learns a host from the pages since its redesign, and keeps a model that finds bodies.

    Where the layout was in use for less than a day, these are pages of another kind, unless they
    are short, and the host is learned from them and from those before.
    """
    event = replace(event, alarm=_with_beginning(event, events))
    as_learned = replace(event, outcome=DriftOutcome.LEARNED)
    stored = list(store.hosts.archived(event.host))
    pages = of_present_layout(stored, [as_learned, *events])
    if len(pages) < MIN_PAGES:
        return replace(event, detail=Message("archived", len(pages))), None
    try:
        model = model_of(store, event.host, pages)
    except NotFound:  # deleted meanwhile
        return event, None
    is_young = event.alarm.since - old.learned_at < HELD_FOR
    if is_young and not _are_short(store, event.alarm, old):
        event = replace(event, alarm=replace(event.alarm, sign=DriftSign.NEW_CLASSES))
    if not finds_bodies(model, old, event.alarm):
        outcome = DriftOutcome.NOTHING_BETTER
        detail = Message("no_place", model.page_count)
        return replace(event, outcome=outcome, detail=detail), None
    if is_young:
        both = _with_older(pages, of_present_layout(stored, events))
        return _keep(store, event, both, MAX_SAMPLE)
    return _kept(event, keep_model(store, model, LearnReason.DRIFT, _reason(event)))


def _are_short(store: Store, alarm: Alarm, old: SiteModel) -> bool:
    """Whether most examples of an alarm have hardly any text, as pages of a wall have."""
    found = [store.records.get(page_id(url)) for url in alarm.examples]
    short = [each is None or len(each.body) < old.expected.short_chars for each in found]
    return 2 * sum(short) > len(short)


def _with_beginning(event: DriftEvent, events: Iterable[DriftEvent]) -> Alarm:
    """Returns the alarm with the earliest begin of the waiting events of the same layout."""
    since = [
        each.alarm.since
        for each in events
        if each.model_version == event.model_version
        and each.is_change
        and each.outcome is DriftOutcome.WAITS
        and each.alarm.url_class == event.alarm.url_class
    ]
    return replace(event.alarm, since=min([event.alarm.since, *since]))


def finds_bodies(model: SiteModel, old: SiteModel, alarm: Alarm) -> bool:
    """Whether a model of newer pages finds the bodies that the old model no longer finds.

    - Short bodies are at least a third as long as before: those of an interstitial are shorter.
    - Pages of the URL classes that had bodies at known places (all pages, where each page is a
      class of its own) have them half as often as the sample of the old model.
    - For an alarm about bodies, they have them clearly more often than the old model finds them.

    Args:
        model: Learned from the newer pages.
        old: The model that the newer pages do not fit.
        alarm: The evidence.
    """
    if MIN_LENGTH * old.expected.short_chars > model.expected.short_chars:
        return False
    had = {each.pattern: each for each in old.expected.classes if 2 * each.at_place > each.pages}
    if alarm.url_class:
        had = {pattern: each for pattern, each in had.items() if pattern == alarm.url_class}
    if not had:
        return alarm.sign is DriftSign.FRAME
    now = [each for each in model.expected.classes if each.pattern in had]
    share = _place_share(now or model.expected.classes)
    if share < MIN_BODY_SHARE * _place_share(had.values()):
        return False
    return alarm.sign is DriftSign.FRAME or share >= alarm.observed + MIN_GAIN


def _place_share(classes: Collection[ClassShares]) -> float:
    return sum(each.at_place for each in classes) / sum(each.pages for each in classes)


def _keep(
    store: Store, event: DriftEvent, pages: Sequence[StoredPage], most_pages: int
) -> tuple[DriftEvent, Learned | None]:
    try:
        model = model_of(store, event.host, pages, most_pages)
    except NotFound as error:
        return replace(event, detail=str(error)), None
    return _kept(event, keep_model(store, model, LearnReason.DRIFT, _reason(event)))


def _kept(event: DriftEvent, learned: Learned) -> tuple[DriftEvent, Learned | None]:
    if not learned.is_new:
        detail = Message("same_model")
        return replace(event, outcome=DriftOutcome.NOTHING_BETTER, detail=detail), None
    version = learned.about.version
    return replace(event, outcome=DriftOutcome.LEARNED, new_version=version), learned


def _reason(event: DriftEvent) -> Message:
    alarm, since = event.alarm, minute(event.alarm.since)
    if alarm.url_class:
        return Message("class_since", alarm.sign.value, alarm.url_class, since)
    return Message("since", alarm.sign.value, since)


def _extra(event: DriftEvent) -> dict[str, object]:
    alarm = event.alarm
    return {
        "host": event.host,
        "sign": str(alarm.sign),
        "class": alarm.url_class,
        "version": event.model_version,
        "expected": alarm.expected,
        "observed": round(alarm.observed, 4),
        "pages": alarm.pages,
        "since": alarm.since.isoformat(),
        "outcome": str(event.outcome),
        "new_version": event.new_version,
        "example": alarm.examples[0] if alarm.examples else "",
    }
