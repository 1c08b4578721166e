"""Hosts that change: their pages are judged as they come, and a change is answered.

**Judging** costs a comparison of each record with its model and, where something does not fit, one
exchange with the queue for the records that are saved together. It comes after the save and before
the ack: a worker that dies between the two has its pages, 20 at most, judged again when they are
done again; nothing else counts twice or is lost, short of the queue itself. Only pages fetched
after the newest page that taught the model are judged.

**Answering** is a job of learning. The event is stored before anything is learned. After a redesign
only pages fetched since it began teach; their model must find bodies again, or it is not kept (a
wall teaches nothing). Whatever was done, the next pages are not judged: 50, and twice as many for
each event of the last 30 days, so that a host that changes from page to page is learned a
logarithm of its pages often.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from cleaning.drift.alarms import Alarm, DriftSign
from cleaning.drift.model_fit import fit_of
from cleaning.drift.watch import Watch
from cleaning.errors import NotFound
from cleaning.learn.sample import MAX_SAMPLE, choose_sample
from cleaning.model.rules import ClassShares
from cleaning.model.site_model import SiteModel
from cleaning.records import CleanRecord
from cleaning.urls.normal_form import normalize
from storage.queue.learning import LearningQueue
from storage.store.drifts import DriftEvent, DriftOutcome, recent
from storage.store.hosts import ArchivedPage
from storage.store.models import LearnReason
from storage.store.protocol import Store
from workers.jobs.learning import LEAST_PAGES, Learned, keep_model, model_of, of_present_layout

log = logging.getLogger(__name__)

TRIES = 3  # to write what is watched, while other workers do, too
QUIET_PAGES = 50
REMEMBERED = timedelta(days=30)
GIVEN_UP_PAGES = 1_000  # that are not judged after the jobs of an answer died
BUDGET = 10  # records for each page that new URL classes may cost to learn
LEAST_SAMPLE = 30
KEPT_SHARE = 0.5  # of the bodies the old model was to find, that a new one must
LEAST_LENGTH = 1 / 3  # of short bodies, beside those that the old model found
GAIN = 0.2  # in the share of pages whose bodies are at their place


def judge(
    queue: LearningQueue, records: Iterable[CleanRecord], model: SiteModel, total: int, text: str
) -> tuple[Watch, bool]:
    """What is watched of a host with some more of its pages, and whether an alarm is new.

    Args:
        queue: Keeps it.
        host: The host.
        records: New records, made with the model.
        model: What the host taught.
        total: Records of the host with these.
        text: What was watched so far.
    """
    fits = [fit_of(each, model) for each in records if each.fetched_at > model.learned_at]
    for _ in range(TRIES):
        watch = Watch.from_text(text)
        alarm = watch.judge(fits, model, total)
        after = watch.to_text()
        if after == text or queue.replace_watch(model.host, text, after):
            return watch, alarm is not None
        _, text = queue.watch(model.host)
    return Watch.from_text(text), False  # busier than evidence is worth


def pages_of_quiet(events: int) -> int:
    """How many records of a host are not judged after one more event than these."""
    return QUIET_PAGES << min(events, 20)


def settle(
    queue: LearningQueue, host: str, version: int, quiet: int, young: int | None = None
) -> None:
    """Says in the queue that an alarm is dealt with."""
    while True:
        total, text = queue.watch(host)
        watch = Watch.from_text(text)
        watch.settle(version, total, quiet, young)
        if queue.replace_watch(host, text, watch.to_text()):
            return


def answer(
    store: Store, queue: LearningQueue, watch: Watch, alarm: Alarm, old: SiteModel
) -> Learned | None:
    """Does something about an alarm, and says what; the new version, if there is one.

    Args:
        store: Holds pages and models, gets the event.
        queue: Where the host is watched.
        host: The host.
        watch: What is watched of it.
        alarm: What was found.
        old: The model its pages no longer fit.
    """
    host = old.host
    events = store.drifts.of(host)
    quiet = pages_of_quiet(len(recent(events, alarm.at, REMEMBERED)))
    if alarm.sign is DriftSign.AGE:
        learned = _renew(store, host, alarm)
        settle(queue, host, learned.about.version if learned else watch.version, quiet)
        return learned
    event = DriftEvent(
        host=host, model_version=watch.version, alarm=alarm, outcome=DriftOutcome.WAITS
    )
    store.drifts.save(event)
    total, _ = queue.watch(host)
    if alarm.sign is DriftSign.NEW_CLASSES:
        records = total - watch.begun
        wanted = BUDGET * max(LEAST_SAMPLE, old.page_count)
        event, learned = _learn_classes(store, event, records, wanted)
        quiet = max(quiet, wanted - records) if learned is None else quiet
    else:
        event, learned = _learn_layout(store, event, events, old)
    store.drifts.save(event)
    log.info("drift", extra=_extra(event))
    version = event.new_version or watch.version
    settle(queue, host, version, quiet, _young(event))
    return learned


def complete(store: Store, queue: LearningQueue, host: str, alarm: Alarm) -> None:
    """Ends an alarm whose job died after it had learned, or that another learning overtook."""
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
    """The pages that the host has anew when all of it changed: its learning begins anew, too."""
    return event.alarm.pages if event.is_redesign and not event.alarm.url_class else None


_LAYOUT = (DriftSign.BODIES, DriftSign.FRAME)


def _renew(store: Store, host: str, alarm: Alarm) -> Learned | None:
    """Learns a host anew whose model is old: from pages since then, and older ones beside few."""
    pages = of_present_layout(store.hosts.archived(host), store.drifts.of(host))
    newer = [page for page in pages if page.fetched_at > alarm.since]
    if not newer:
        return None
    older = (page.url for page in pages if page.fetched_at <= alarm.since)
    beside = set(choose_sample(older, max(0, MAX_SAMPLE - len(newer))))
    chosen = newer + [page for page in pages if normalize(page.url) in beside]
    days = (alarm.at - alarm.since).days
    detail = f"{days} days old, {alarm.pages} records since"
    try:
        model = model_of(store, host, chosen)
    except NotFound:  # deleted meanwhile
        return None
    return keep_model(store, model, LearnReason.AGE, detail)


def _learn_classes(
    store: Store, event: DriftEvent, records: int, wanted: int
) -> tuple[DriftEvent, Learned | None]:
    """Learns a host with its new URL classes, when that costs little beside cleaning them."""
    if records < wanted:
        detail = f"to be learned after {wanted - records} more pages"
        return replace(event, detail=detail), None
    pages = of_present_layout(store.hosts.archived(event.host), store.drifts.of(event.host))
    return _keep(store, event, pages, min(MAX_SAMPLE, records // BUDGET))


def _learn_layout(
    store: Store, event: DriftEvent, events: Sequence[DriftEvent], old: SiteModel
) -> tuple[DriftEvent, Learned | None]:
    """Learns a host from what it is since its redesign began, if that finds bodies again."""
    event = replace(event, alarm=_with_beginning(event, events))
    supposed = replace(event, outcome=DriftOutcome.LEARNED)
    pages = of_present_layout(store.hosts.archived(event.host), [supposed, *events])
    if len(pages) < LEAST_PAGES:
        return replace(event, detail=f"{len(pages)} pages since then are in the archive"), None
    try:
        model = model_of(store, event.host, pages)
    except NotFound:  # deleted meanwhile
        return event, None
    if not finds_bodies(model, old, event.alarm):
        outcome = DriftOutcome.NOTHING_BETTER
        detail = f"{model.page_count} pages since then teach no place of bodies"
        return replace(event, outcome=outcome, detail=detail), None
    return _kept(event, keep_model(store, model, LearnReason.DRIFT, _reason(event)))


def _with_beginning(event: DriftEvent, events: Iterable[DriftEvent]) -> Alarm:
    """The alarm, begun where those before it began that wait for more pages."""
    since = [
        each.alarm.since
        for each in events
        if each.model_version == event.model_version
        and each.alarm.sign in _LAYOUT
        and each.outcome is DriftOutcome.WAITS
        and each.alarm.url_class == event.alarm.url_class
    ]
    return replace(event.alarm, since=min([event.alarm.since, *since]))


def finds_bodies(model: SiteModel, old: SiteModel, alarm: Alarm) -> bool:
    """Whether a model of newer pages finds the bodies that the old one no longer does.

    Bodies of a wall are short, those of a redesign are about as long as before. Counted on the
    newer pages of URL classes that had bodies at places (on all, where each page has a class of its
    own): half as often as they had on the pages that taught the old model, and, where bodies were
    missed, clearly more often than it finds them now.
    """
    if LEAST_LENGTH * old.expected.short_chars > model.expected.short_chars:
        return False
    had = {each.pattern: each for each in old.expected.classes if 2 * each.at_place > each.pages}
    if alarm.url_class:
        had = {pattern: each for pattern, each in had.items() if pattern == alarm.url_class}
    if not had:
        return alarm.sign is DriftSign.FRAME
    now = [each for each in model.expected.classes if each.pattern in had]
    share = _place_share(now or model.expected.classes)
    if share < KEPT_SHARE * _place_share(had.values()):
        return False
    return alarm.sign is DriftSign.FRAME or share >= alarm.observed + GAIN


def _place_share(classes: Collection[ClassShares]) -> float:
    return sum(each.at_place for each in classes) / sum(each.pages for each in classes)


def _keep(
    store: Store, event: DriftEvent, pages: Sequence[ArchivedPage], most_pages: int
) -> tuple[DriftEvent, Learned | None]:
    try:
        model = model_of(store, event.host, pages, most_pages)
    except NotFound as error:
        return replace(event, detail=str(error)), None
    return _kept(event, keep_model(store, model, LearnReason.DRIFT, _reason(event)))


def _kept(event: DriftEvent, learned: Learned) -> tuple[DriftEvent, Learned | None]:
    if not learned.is_new:
        detail = "what is learned now says the same"
        return replace(event, outcome=DriftOutcome.NOTHING_BETTER, detail=detail), None
    version = learned.about.version
    return replace(event, outcome=DriftOutcome.LEARNED, new_version=version), learned


def _reason(event: DriftEvent) -> str:
    alarm = event.alarm
    which = f" of {alarm.url_class}" if alarm.url_class else ""
    return f"{alarm.sign}{which} since {alarm.since:%Y-%m-%d %H:%M}"


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
