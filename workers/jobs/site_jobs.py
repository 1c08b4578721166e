"""Learning in a crawl: when a host is learned, and how its pages are cleaned again to an end.

A host is learned when its pages have become many more; the model is used from the next page on.
Pages that an older version made are read again in slices of a few seconds, so that pages that wait
to be cleaned never wait long for a worker. Of what one model made in a class of URLs some are tried
first: where their verdicts stay the others are left alone, and nothing is saved of a page whose
verdicts stay. Each slice goes on where the one before ended, so cleaning again ends; a newer
version takes its place. Records of a model of many pages are cleaned again as far as a share of
cleaning goes: what such models say else of a page is little. Pages of an older layout are left to
the last model of that. What else makes a host be learned: ``drifting.py``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cleaning import SiteModel
from cleaning.drift.watch import DriftSign, Watch
from cleaning.errors import NotFound, PageError, StoreDamaged
from cleaning.learn.model_diff import change_of
from cleaning.learn.sample import MAX_SAMPLE
from cleaning.records import CleanRecord
from cleaning.url_classes.rules import class_of
from storage.crawl_types import Outcome
from storage.queue.counters import Counter
from storage.queue.learning import LearningQueue
from storage.store.host_pages import RecordVersion
from storage.store.models import LearnReason, ModelVersion
from storage.store.protocol import Store
from workers.context import Context
from workers.jobs.drift import answer, complete, judge
from workers.jobs.layout_epochs import Layouts
from workers.jobs.learning import Learned, archived_model, keep_model
from workers.jobs.recleaning import clean_again

log = logging.getLogger(__name__)

# Records of a host at which it is learned anew, and from how many pages at most: most of sixty say
# what a hundred of all do, and all of it shall cost a quarter of cleaning (ADR 21).
LEARN_AT = {8: 8, 60: 40, 2_000: 100, 20_000: 100, 200_000: 100, 2_000_000: 100}
SLICE_S = 3.0
TRIED_PAGES = 30  # that one model made, after which its records are left alone when nothing changed
TRIED_OF_CLASS = 6  # of a class of URLs among them, after which that is
COUNTED = {
    DriftSign.BODIES: Counter.DRIFTS_BODIES,
    DriftSign.FRAME: Counter.DRIFTS_FRAME,
    DriftSign.NEW_CLASSES: Counter.DRIFTS_NEW_CLASSES,
    DriftSign.AGE: Counter.MODELS_RENEWED,
}
# Of a host's records, those that may be tried again whose model was learned from so many pages.
AGAIN_SHARE = 0.15
AGAIN_PAGES = 100  # and at least
WELL_TAUGHT_PAGES = 20
MAX_CLASSES = 200  # whose trials are remembered; more are not left alone
PORTION = 20  # records saved together
LINKS_SHARE = 0.05  # of a page's links that must be of other kinds to be worth a new record


def pages_to_learn(before: int, after: int) -> int:
    """From how many pages a host is learned now that it has so many records; 0: not now.

    Args:
        before: How many it had when it was last learned; less than 0: before they were counted.
        after: How many it has.
    """
    return max((most for pages, most in LEARN_AT.items() if before < pages <= after), default=0)


@dataclass(slots=True)
class Trials:
    """How far cleaning a host again has come; it travels with the job as JSON.

    Attributes:
        after: The last record that was looked at: page id and crawl.
        tried: Pages that were cleaned again.
        changed: Those of them whose verdicts changed.
        by_class: The same as [tried, changed], by the models that made and would make a record,
            and by these and its class of URLs.
        cpu_ms: Processor time it took.
        again: Those tried whose model was learned from many pages.
        left: Such that were left as they are because more would cost too much.
    """

    after: tuple[str, str] = ("", "")
    tried: int = 0
    changed: int = 0
    by_class: dict[str, list[int]] = field(default_factory=dict)
    cpu_ms: int = 0
    again: int = 0
    left: int = 0

    def leaves_alone(self, models: str, pattern: str = "") -> bool:
        """Whether records stay as they are.

        Args:
            models: Which made them, and which would.
            pattern: Of which class of URLs; ``""``: of any.
        """
        tried, changed = self.by_class.get(f"{models} {pattern}", (0, 0))
        return not changed and tried >= (TRIED_OF_CLASS if pattern else TRIED_PAGES)

    def note(self, models: str, pattern: str, *, changed: bool) -> None:
        """Notes one page that was cleaned again."""
        self.tried += 1
        self.changed += changed
        for key in (f"{models} ", f"{models} {pattern}"):
            if key in self.by_class or len(self.by_class) < MAX_CLASSES:
                counts = self.by_class.setdefault(key, [0, 0])
                counts[0] += 1
                counts[1] += changed

    def to_args(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "after": list(self.after),
            "tried": self.tried,
            "changed": self.changed,
            "by_class": self.by_class,
            "cpu_ms": self.cpu_ms,
            "again": self.again,
            "left": self.left,
        }

    @classmethod
    def from_args(cls, args: dict[str, Any]) -> Trials:
        """What ``to_args`` made."""
        page_id, crawl_id = args["after"]
        return cls(
            after=(str(page_id), str(crawl_id)),
            tried=int(args["tried"]),
            changed=int(args["changed"]),
            by_class={str(k): [int(v[0]), int(v[1])] for k, v in args["by_class"].items()},
            cpu_ms=int(args["cpu_ms"]),
            again=int(args.get("again", 0)),
            left=int(args.get("left", 0)),
        )


def learn_now(context: Context, job_id: str, host: str, most_pages: int) -> None:
    """Does a job: learns a host, and begins to clean its older pages again."""
    queue = context.frontier.learning
    if not queue.is_newest(host, job_id):
        return
    begun = time.process_time()
    learned = _learned(context, job_id, host, most_pages)
    if learned is None:
        queue.give_way(host, job_id)
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
    queue.go_on(host, job_id, about.version, Trials().to_args())


def _learned(context: Context, job_id: str, host: str, most_pages: int) -> Learned | None:
    """What a host taught, after an alarm or because its pages have become many more.

    ``most_pages`` is 0 when only an alarm asks. None: nothing was learned, or another job has
    taken the place of this one and learns from more.
    """
    store, queue = context.store, context.frontier.learning
    watch = Watch.from_text(queue.watch(host)[1])
    if watch.alarm is not None:
        old = context.models.version(host, watch.version)
        if old is not None and store.models.newest(host) == watch.version:
            context.frontier.count({str(COUNTED[watch.alarm.sign]): 1})
            learned = answer(store, queue, host, watch, watch.alarm, old)
            if learned is not None and watch.alarm.sign in (DriftSign.BODIES, DriftSign.FRAME):
                queue.forget_again(host)  # the pages of the new layout were made by the old model
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


def tell_records(
    queue: LearningQueue,
    host: str,
    records: Sequence[CleanRecord],
    model: SiteModel | None,
    *,
    is_unreadable: bool = False,
) -> tuple[str, int] | None:
    """Counts new records of a host, and judges them.

    Returns:
        (job, most pages) of ``learn_now`` when the host is to be learned, which it is said to be.
        That is so at once where its model is of another format: the program was updated in between.
    """
    before, total, text = queue.add_records(host, len(records))
    if model is None:
        watch, is_new = Watch.from_text(text), False
    else:
        watch, is_new = judge(queue, host, records, model, total, text)
    most_pages = pages_to_learn(before - watch.born, total - watch.born)
    if model is not None and most_pages < model.page_count:
        most_pages = 0  # as after a redesign that was learned while others counted its pages
    is_wanted = watch.alarm is not None or is_unreadable
    if most_pages or is_new or (is_wanted and not queue.is_busy(host)):
        return queue.begin(host, total, most_pages), most_pages
    return None


def reclean_now(
    context: Context, job_id: str, host: str, version: int, args: dict[str, Any]
) -> None:
    """Does a job: one slice of cleaning a host's older pages again."""
    queue, store = context.frontier.learning, context.store
    if not queue.is_newest(host, job_id):
        return
    model = context.models.version(host, version)
    if model is None or store.models.newest(host) != version:
        queue.end(host, job_id)
        return
    trials = Trials.from_args(args)
    begun = time.process_time()

    def keep_place(reached: Trials) -> None:
        queue.keep_place(host, job_id, version, reached.to_args())

    room = _room(queue, host)
    before = trials.again
    is_done = clean_slice(store, model, trials, time.monotonic() + SLICE_S, keep_place, room)
    queue.add_again(host, trials.again - before)
    trials.cpu_ms += int((time.process_time() - begun) * 1000)
    if not is_done:
        queue.go_on(host, job_id, version, trials.to_args())
        return
    extra = {
        "host": host,
        "version": version,
        "pages": trials.tried,
        "changed": trials.changed,
        "left": trials.left,
        "cpu_ms": trials.cpu_ms,
    }
    log.info("cleaned again", extra=extra)
    queue.end(host, job_id)


def _room(queue: LearningQueue, host: str) -> int:
    """How many records of models of many pages may still be tried again."""
    total, _ = queue.watch(host)
    return max(AGAIN_PAGES, int(AGAIN_SHARE * total)) - queue.again(host)


def clean_slice(
    store: Store,
    model: SiteModel,
    trials: Trials,
    until: float,
    keep_place: Callable[[Trials], None] = lambda _: None,
    room: int = AGAIN_PAGES,
) -> bool:
    """Cleans again until a time of ``time.monotonic``; whether nothing is left to do.

    Args:
        store: Where the records are.
        model: What their host taught.
        trials: How far it has come; goes on.
        until: The time.
        keep_place: Is told before records are saved how to go on if that is the end: with all
            verdicts so far, from the first of the records that may not be saved.
        room: How many records of models of many pages it may try.
    """
    room += trials.again
    few = {0, *(v.version for v in store.models.versions(model.host) if _is_of_few(v))}
    outcomes: list[Outcome] = []
    is_done = True
    begun_at = saved_to = trials.after
    layouts = Layouts(store, model)
    for version in _older(store, model, trials.after):
        if time.monotonic() >= until and trials.after != begun_at:
            is_done = False  # a slow store must not keep all slices at one place
            break
        trials.after = (version.page_id, version.crawl_id)
        own = layouts.model_for(version) if version.is_archived else None
        if own is None:
            continue
        # One model's records may stay where another's change.
        models = f"{version.model_version} {own.version}"
        if trials.leaves_alone(models):
            continue
        is_again = version.model_version not in few
        if is_again and trials.again >= room:
            trials.left += 1
            continue
        record = store.records.get(version.page_id, version.crawl_id)
        if record is None:
            continue
        pattern = class_of(record.url)
        if trials.leaves_alone(models, pattern):
            continue
        try:
            again = clean_again(store, version, own, record)
        except (PageError, StoreDamaged):
            continue  # its record stays as it is
        if again is None:
            continue
        is_changed = bool(verdict_changes(again.before, again.after))
        trials.note(models, pattern, changed=is_changed)
        trials.again += is_again
        if is_changed and again.outcome is not None:
            outcomes.append(again.outcome)
        if len(outcomes) >= PORTION:
            keep_place(replace(trials, after=saved_to))
            store.save(outcomes)
            outcomes, saved_to = [], trials.after
    if outcomes:
        keep_place(replace(trials, after=saved_to))
        store.save(outcomes)
    return is_done


def _is_of_few(version: ModelVersion) -> bool:
    return version.page_count < WELL_TAUGHT_PAGES


def verdict_changes(before: CleanRecord, after: CleanRecord) -> tuple[str, ...]:
    """What of two records of a page makes the newer one worth saving; () when nothing."""
    change = change_of(before, after)
    verdicts = {
        "body": change.body,
        "kind": change.kind,
        "title": change.title,
        "images": change.images > 0,
        "links": change.links > LINKS_SHARE * len(after.links),
    }
    return tuple(name for name, is_other in verdicts.items() if is_other)


def _older(store: Store, model: SiteModel, after: tuple[str, str]) -> Iterator[RecordVersion]:
    """Records of older versions behind a place, by page id: in an order by chance."""
    for version in store.hosts.versions(model.host, after):
        if version.model_version < model.version:
            yield version
