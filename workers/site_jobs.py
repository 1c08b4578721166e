"""Learning in a crawl: when a host is learned, and how its pages are cleaned again to an end.

A host is learned when its pages have become many more; the model is used from the next page on.
Pages that an older version made are read again in slices of a few seconds, so that pages that wait
to be cleaned never wait long for a worker. In each class of URLs some are tried first: a class
whose verdicts stay is left alone, and nothing is saved of a page whose verdicts stay. Each slice
goes on where the one before ended, so cleaning again ends; a newer version takes its place. Pages
of an older layout are left to the last model of that. What else makes a host be learned:
``drifting.py``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cleaning import SiteModel
from cleaning.errors import NotFound, PageError, StoreDamaged
from cleaning.learn.alarms import DriftSign
from cleaning.learn.drift import change_of
from cleaning.learn.sample import MAX_SAMPLE
from cleaning.learn.watch import Watch
from cleaning.records import CleanRecord
from cleaning.source.url_patterns import patterns_of
from storage.base import Outcome
from storage.counters import Counter
from storage.learning import LearningQueue
from storage.models import LearnReason
from storage.site_pages import RecordVersion
from storage.store import Store
from workers.context import Context
from workers.drifting import answer, complete, judge
from workers.layouts import Layouts
from workers.learning import Learned, learn_host
from workers.recleaning import CleanedAgain, clean_again

log = logging.getLogger(__name__)

# Ended pages of a host after which it is learned anew, and from how many at most: a model of a few
# pages says nearly what one of a hundred does, and all of it shall cost a quarter of cleaning.
LEARN_AT = {8: 8, 100: 30, 2_000: 100, 20_000: 100, 200_000: 100, 2_000_000: 100}
SLICE_S = 3.0
TRIED_PAGES = 30  # of a host, after which cleaning again ends when nothing changed
TRIED_OF_CLASS = 6  # of a class of URLs, after which it is left alone when nothing changed
COUNTED = {
    DriftSign.BODIES: Counter.DRIFTS_BODIES,
    DriftSign.FRAME: Counter.DRIFTS_FRAME,
    DriftSign.NEW_CLASSES: Counter.DRIFTS_NEW_CLASSES,
    DriftSign.AGE: Counter.MODELS_RENEWED,
}
MAX_CLASSES = 200  # whose trials are remembered; more are not left alone
PORTION = 20  # records saved together
LINKS_SHARE = 0.05  # of a page's links that must be of other kinds to be worth a new record


def pages_to_learn(before: int, after: int) -> int:
    """From how many pages a host is learned now that so many have ended; 0: not now."""
    return max((most for pages, most in LEARN_AT.items() if before < pages <= after), default=0)


@dataclass(slots=True)
class Trials:
    """How far cleaning a host again has come; it travels with the job as JSON.

    Attributes:
        after: The last record that was looked at: page id and crawl.
        tried: Pages that were cleaned again.
        changed: Those of them whose verdicts changed.
        by_class: The same by class of URLs, as [tried, changed].
        cpu_ms: Processor time it took.
    """

    after: tuple[str, str] = ("", "")
    tried: int = 0
    changed: int = 0
    by_class: dict[str, list[int]] = field(default_factory=dict)
    cpu_ms: int = 0

    def is_over(self) -> bool:
        """Whether so many stayed as they are that the others need no trial."""
        return self.tried >= TRIED_PAGES and not self.changed

    def leaves_alone(self, pattern: str) -> bool:
        """Whether pages of a class stay as they are."""
        tried, changed = self.by_class.get(pattern, (0, 0))
        return tried >= TRIED_OF_CLASS and not changed

    def note(self, pattern: str, *, changed: bool) -> None:
        """Notes one page that was cleaned again."""
        self.tried += 1
        self.changed += changed
        if pattern in self.by_class or len(self.by_class) < MAX_CLASSES:
            counts = self.by_class.setdefault(pattern, [0, 0])
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
        )


def learn_now(context: Context, job_id: str, host: str, most_pages: int) -> None:
    """Does a job: learns a host, and begins to clean its older pages again."""
    queue = context.frontier.learning
    if not queue.is_newest(host, job_id):
        return
    begun = time.process_time()
    learned = _learned(context, host, most_pages)
    if learned is None:
        queue.end(host, job_id)
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


def _learned(context: Context, host: str, most_pages: int) -> Learned | None:
    """What a host taught, after an alarm or because its pages have become many more.

    ``most_pages`` is 0 when only an alarm asks.
    """
    store, queue = context.store, context.frontier.learning
    watch = Watch.from_text(queue.watch(host)[1])
    if watch.alarm is not None:
        old = context.models.version(host, watch.version)
        if old is not None and store.newest_model_version(host) == watch.version:
            context.frontier.count({str(COUNTED[watch.alarm.sign]): 1})
            learned = answer(store, queue, host, watch, watch.alarm, old)
            if learned is not None or not most_pages:
                return learned
        else:
            complete(store, queue, host, watch.alarm)
    try:
        most_pages = most_pages or MAX_SAMPLE
        return learn_host(store, host, LearnReason.PAGES, most_pages=most_pages)
    except NotFound:
        log.info("nothing archived to learn from", extra={"host": host})
        return None


def tell_records(
    queue: LearningQueue,
    host: str,
    records: Sequence[CleanRecord],
    model: SiteModel | None,
    *,
    is_unreadable: bool = False,
) -> None:
    """Counts new records of a host, judges them, and asks for it to be learned when that is due.

    That is so at once where the model is of another format: the program was updated in between.
    """
    total, text = queue.add_records(host, len(records))
    watch, is_new = Watch.from_text(text), False
    if model is not None:
        watch, is_new = judge(queue, host, records, model, total, text)
    total -= watch.born
    most_pages = pages_to_learn(total - len(records), total)
    is_wanted = watch.alarm is not None or is_unreadable
    if most_pages or is_new or (is_wanted and not queue.is_busy(host)):
        queue.ask(host, most_pages)


def reclean_now(
    context: Context, job_id: str, host: str, version: int, args: dict[str, Any]
) -> None:
    """Does a job: one slice of cleaning a host's older pages again."""
    queue, store = context.frontier.learning, context.store
    if not queue.is_newest(host, job_id):
        return
    model = context.models.version(host, version)
    if model is None or store.newest_model_version(host) != version:
        queue.end(host, job_id)
        return
    trials = Trials.from_args(args)
    begun = time.process_time()
    is_done = clean_slice(store, model, trials, time.monotonic() + SLICE_S)
    trials.cpu_ms += int((time.process_time() - begun) * 1000)
    if not is_done:
        queue.go_on(host, job_id, version, trials.to_args())
        return
    extra = {
        "host": host,
        "version": version,
        "pages": trials.tried,
        "changed": trials.changed,
        "cpu_ms": trials.cpu_ms,
    }
    log.info("cleaned again", extra=extra)
    queue.end(host, job_id)


def clean_slice(store: Store, model: SiteModel, trials: Trials, until: float) -> bool:
    """Cleans again until a time of ``time.monotonic``; whether nothing is left to do."""
    outcomes: list[Outcome] = []
    is_done = True
    layouts = Layouts(store, model)
    for version in _older(store, model, trials.after):
        if trials.is_over():
            break
        if time.monotonic() >= until:
            is_done = False
            break
        trials.after = (version.page_id, version.crawl_id)
        own = layouts.model_for(version) if version.is_archived else None
        if own is None:
            continue
        record = store.record(version.page_id, version.crawl_id)
        if record is None:
            continue
        pattern = patterns_of(record.url).pattern
        if own is not model:
            pattern = f"{pattern} {own.version}"
        if trials.leaves_alone(pattern):
            continue
        try:
            again = clean_again(store, version, own)
        except (PageError, StoreDamaged):
            continue  # its record stays as it is
        if again is None:
            continue
        is_changed = _is_worth_it(again)
        trials.note(pattern, changed=is_changed)
        if is_changed and again.outcome is not None:
            outcomes.append(again.outcome)
        if len(outcomes) >= PORTION:
            store.save(outcomes)
            outcomes = []
    if outcomes:
        store.save(outcomes)
    return is_done


def _is_worth_it(again: CleanedAgain) -> bool:
    change = change_of(again.before, again.after)
    links = len(again.after.links)
    return (
        change.body
        or change.kind
        or change.title
        or change.images > 0
        or change.links > LINKS_SHARE * links
    )


def _older(store: Store, model: SiteModel, after: tuple[str, str]) -> Iterator[RecordVersion]:
    """Records of older versions behind a place, by page id: in an order by chance."""
    for version in store.record_versions(model.host):
        if (version.page_id, version.crawl_id) > after and version.model_version < model.version:
            yield version
