"""The job that re-cleans the older pages of a host after the host was learned.

1. Pages are re-cleaned in slices of a few seconds, so that new pages never wait long for a worker.
   A slice continues where the slice before it ended; a newer model version starts over.
2. Of the records that one model made in one URL class, some are re-cleaned first. Where none of
   their verdicts change, the other records stay as they are. A record whose verdicts stay is not
   saved.
3. Records of a model that was learned from many pages are re-cleaned only up to a share of all
   records, because such models rarely disagree.
4. Pages of an older layout keep the last model of that layout (``recleaning.py``).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from rq.timeouts import BaseTimeoutException

from crawlclean.cleaning.errors import DatabaseDamaged, PageError, StoreDamaged
from crawlclean.cleaning.learn.model_diff import change_of
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.queue.jobs import LearningQueue
from crawlclean.storage.store.hosts import RecordVersion
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.context import Context
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.recleaning import Layouts, RecleanedPage, reclean_page

log = logging.getLogger(__name__)

SLICE_S = 3.0
TRIED_PAGES = 30  # of one model, after which its records stay when no verdict changed
TRIED_OF_CLASS = 6  # of one URL class among them, after which the class's records stay
# Share of a host's records that may be re-cleaned although their model was learned from many pages.
WELL_TAUGHT_SHARE = 0.15
LEAST_WELL_TAUGHT = 100  # records that may be so at least
WELL_TAUGHT_PAGES = 20
MAX_CLASSES = 200  # whose trials are remembered; records of further classes are all re-cleaned
PORTION = 20  # records saved together
LINKS_SHARE = 0.05  # of a page's links that must change their kind to be worth a new record


@dataclass(slots=True)
class RecleaningProgress:
    """How far the re-cleaning of a host has come; it travels with the job as JSON.

    Attributes:
        after: The last record that was looked at: (page id, crawl), ``("", "")`` at the start.
        tried: Records that were re-cleaned.
        changed: Records of these whose verdicts changed.
        by_class: [tried, changed] by ``"<old version> <new version> "`` and by
            ``"<old version> <new version> <URL class>"``, such as ``"1 2 /*.html": [6, 0]``.
        cpu_ms: Processor time spent.
        well_taught: Re-cleaned records whose model was learned from many pages.
        skipped: Records that stay as they are because the budget for these was spent.
    """

    after: tuple[str, str] = ("", "")
    tried: int = 0
    changed: int = 0
    by_class: dict[str, list[int]] = field(default_factory=dict)
    cpu_ms: int = 0
    well_taught: int = 0
    skipped: int = 0

    def is_settled(self, models: str, url_class: str = "") -> bool:
        """Whether enough records were tried without a change, so that the others stay.

        Args:
            models: The version that made the records and the one that would, ``"1 2"``.
            url_class: Their URL class; ``""`` for records of any class.
        """
        tried, changed = self.by_class.get(f"{models} {url_class}", (0, 0))
        return not changed and tried >= (TRIED_OF_CLASS if url_class else TRIED_PAGES)

    def note(self, models: str, url_class: str, *, changed: bool) -> None:
        """Counts one re-cleaned record."""
        self.tried += 1
        self.changed += changed
        for key in (f"{models} ", f"{models} {url_class}"):
            if key in self.by_class or len(self.by_class) < MAX_CLASSES:
                counts = self.by_class.setdefault(key, [0, 0])
                counts[0] += 1
                counts[1] += changed

    def to_args(self) -> dict[str, Any]:
        """The progress as JSON values, for the arguments of an RQ job."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values

    @classmethod
    def from_args(cls, args: dict[str, Any]) -> RecleaningProgress:
        """The progress that ``to_args`` wrote.

        Raises:
            ValueError: The arguments are no progress.
        """
        return msgspec.convert(args, cls)


def reclean_now(
    context: Context, job_id: str, host: str, version: int, args: dict[str, Any]
) -> None:
    """Runs a job: re-cleans one slice of a host's older pages, and enqueues the next slice."""
    queue, store = context.frontier.learning, context.store
    if not queue.is_newest(host, job_id):
        return
    model = context.models.version(host, version)
    if model is None or store.models.newest(host) != version:
        queue.end(host, job_id)
        return
    progress = RecleaningProgress.from_args(args)
    begun = time.process_time()

    def save_progress(reached: RecleaningProgress) -> None:
        queue.save_progress(host, job_id, version, reached.to_args())

    budget = _budget(queue, host)
    before = progress.well_taught
    work = RecleaningSlice(store, model, progress, save_progress, budget)
    work.hooks = HookCalls(context.hooks, fatal=(BaseTimeoutException,))
    is_done = work.run(time.monotonic() + SLICE_S)
    queue.add_repeated(host, progress.well_taught - before)
    context.frontier.count({str(name): n for name, n in work.hooks.tally.items()})
    progress.cpu_ms += int((time.process_time() - begun) * 1000)
    if not is_done:
        queue.enqueue_recleaning(host, job_id, version, progress.to_args())
        return
    extra = {
        "host": host,
        "version": version,
        "pages": progress.tried,
        "changed": progress.changed,
        "skipped": progress.skipped,
        "cpu_ms": progress.cpu_ms,
    }
    log.info("re-cleaned", extra=extra)
    queue.end(host, job_id)


def _budget(queue: LearningQueue, host: str) -> int:
    """How many more records of well-taught models may be re-cleaned."""
    total, _ = queue.watch(host)
    return max(LEAST_WELL_TAUGHT, int(WELL_TAUGHT_SHARE * total)) - queue.repeated(host)


class RecleaningSlice:
    """Re-cleans the records of a host in the order of their page ids, from a place on.

    Attributes:
        hooks: Record steps that the records go through; none at the beginning.
    """

    def __init__(
        self,
        store: Store,
        model: SiteModel,
        progress: RecleaningProgress,
        save_progress: Callable[[RecleaningProgress], None] = lambda _: None,
        budget: int = LEAST_WELL_TAUGHT,
    ) -> None:
        """Re-cleans nothing yet.

        Args:
            store: Where the records are.
            model: The newest model of their host.
            progress: Where to begin; updated while records are re-cleaned.
            save_progress: Called before records are saved, with the progress from which a later
                slice must continue if this process dies now.
            budget: How many records of well-taught models this slice may re-clean.
        """
        self.hooks = HookCalls()
        self._store = store
        self._model = model
        self._progress = progress
        self._save_progress = save_progress
        self._most_well_taught = budget + progress.well_taught
        versions = store.models.versions(model.host)
        self._poorly_taught = {
            0,
            *(v.version for v in versions if v.page_count < WELL_TAUGHT_PAGES),
        }
        self._layouts = Layouts(store, model)
        self._outcomes: list[Outcome] = []
        self._saved_to = progress.after

    def run(self, until: float) -> bool:
        """Re-cleans until a time of ``time.monotonic``; True when no record is left."""
        begun_at = self._progress.after
        for version in self._store.hosts.versions(self._model.host, begun_at):
            if version.model_version >= self._model.version:
                continue
            # A slow store must not keep all slices at one place.
            if time.monotonic() >= until and self._progress.after != begun_at:
                self._save()
                return False
            self._progress.after = (version.page_id, version.crawl_id)
            self._try(version)
            if len(self._outcomes) >= PORTION:
                self._save()
        self._save()
        return True

    def _try(self, version: RecordVersion) -> None:
        """Re-cleans a record unless records like it are settled; keeps the outcome of a change."""
        progress = self._progress
        own = self._layouts.model_for(version) if version.is_archived else None
        if own is None:
            return
        # One model's records may stay where another's change.
        models = f"{version.model_version} {own.version}"
        if progress.is_settled(models):
            return
        is_well_taught = version.model_version not in self._poorly_taught
        if is_well_taught and progress.well_taught >= self._most_well_taught:
            progress.skipped += 1
            return
        record = self._store.records.get(version.page_id, version.crawl_id)
        if record is None or progress.is_settled(models, class_of(record.url)):
            return
        page = self._clean(version, own, record)
        if page is None:
            return
        is_changed = bool(verdict_changes(page.before, page.after))
        progress.note(models, class_of(record.url), changed=is_changed)
        progress.well_taught += is_well_taught
        if is_changed and page.outcome is not None:
            self._outcomes.append(page.outcome)

    def _clean(
        self, version: RecordVersion, own: SiteModel, record: CleanRecord
    ) -> RecleanedPage | None:
        try:
            return reclean_page(self._store, version, own, record, self.hooks)
        except DatabaseDamaged:
            raise
        except (PageError, StoreDamaged):
            return None  # the record stays as it is

    def _save(self) -> None:
        if self._outcomes:
            self._save_progress(replace(self._progress, after=self._saved_to))
            self._store.save(self._outcomes)
            self._outcomes, self._saved_to = [], self._progress.after


def verdict_changes(before: CleanRecord, after: CleanRecord) -> tuple[str, ...]:
    """Names the verdicts that make a newer record worth saving, such as ``("body",)``."""
    change = change_of(before, after)
    verdicts = {
        "body": change.body,
        "kind": change.kind,
        "title": change.title,
        "images": change.images > 0,
        "links": change.links > LINKS_SHARE * len(after.links),
    }
    return tuple(name for name, is_other in verdicts.items() if is_other)
