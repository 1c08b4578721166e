"""Re-cleans stored pages from the archive with another model; the newer record replaces the older.

- An interrupted re-cleaning is completed by running it again: a record of the model's version is
  skipped, and the store keeps the newer of two records.
- A page of an older layout is re-cleaned with the last model of its layout (``Layouts``).
- Images that became content are marked as due in the record's outcome;
  ``crawlclean.workers.jobs.images.offer_due`` offers them.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, DatabaseDamaged, PageError, StoreDamaged
from crawlclean.cleaning.learn.model_diff import change_of
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import read
from crawlclean.cleaning.records import CleanRecord, ImageKind
from crawlclean.cleaning.topics.stories import record_signature
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.storage.crawl_types import FetchResult, Outcome, Step, UrlRow, UrlState
from crawlclean.storage.store.hosts import StoredPage
from crawlclean.storage.store.models import DriftEvent, redesign_after
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.outcomes import stored_page
from crawlclean.workers.jobs.topics import judged_again
from crawlclean.workers.site_models import read_model

if TYPE_CHECKING:  # commands re-clean records without a queue
    from crawlclean.storage.queue.jobs import LearningQueue
    from crawlclean.workers.context import Context

STEP = "re-cleaned"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecleanedPage:
    """One record before and after re-cleaning.

    Attributes:
        raw: The page.
        before: The stored record.
        after: The record with the model.
    """

    raw: RawPage
    before: CleanRecord
    after: CleanRecord

    @property
    def changed(self) -> tuple[str, ...]:
        """Names of the fields that differ, but for those about the reading: ``("body",)``."""
        return tuple(
            each.name
            for each in fields(CleanRecord)
            if each.name not in ("model_version", "confidence")
            and getattr(self.before, each.name) != getattr(self.after, each.name)
        )


class Layouts:
    """Which model each stored page of a host is re-cleaned with: that of the page's layout.

    Pages fetched before a redesign of their host have an older layout, which a newer model does
    not know. They are re-cleaned with the last model of that layout; if it is gone, their records
    stay.
    """

    def __init__(self, store: Store, model: SiteModel | None) -> None:
        """Reads the redesigns of the host; ``model`` is the model of its present layout."""
        self._store = store
        self._model = model
        drifts = store.drifts.of(model.host) if model is not None else []
        self._redesigns = [event for event in drifts if event.is_redesign]
        self._of_class = any(event.alarm.url_class for event in self._redesigns)
        self._older: dict[int, SiteModel | None] = {}

    def is_present(self, version: StoredPage) -> bool:
        """Whether a record's page has the present layout."""
        return self._redesign(version) is None

    def model_for(self, version: StoredPage) -> SiteModel | None:
        """Returns the model to re-clean a record with.

        Returns:
            None when the record was made by the last model of its layout, when that model is gone,
            and when the host has no model.
        """
        event = self._redesign(version)
        if event is None:
            return self._model
        number = event.model_version
        return self._read(number) if version.model_version < number else None

    def _redesign(self, version: StoredPage) -> DriftEvent | None:
        """Returns the first redesign after a record's page was fetched."""
        if not self._redesigns:
            return None
        record = (
            self._store.records.get(version.page_id, version.crawl_id) if self._of_class else None
        )
        pattern = class_of(record.url) if record is not None else ""
        return redesign_after(self._redesigns, pattern, version.fetched_at)

    def _read(self, number: int) -> SiteModel | None:
        if number not in self._older and self._model is not None:
            stored = self._store.models.get(self._model.host, number)
            with suppress(ConfigError):
                self._older[number] = None
                self._older[number] = read_model(stored) if stored is not None else None
        return self._older.get(number)


def older_records(
    store: Store, host: str, version: int, *, again: bool = False
) -> Iterator[StoredPage]:
    """Yields the records of a host that older model versions made, archived or not.

    Args:
        store: Holds the records.
        host: Lower-case authority.
        version: Of the model; records of newer versions are left out.
        again: Also yield records of this version.
    """
    for record in store.hosts.versions(host):
        if record.model_version < version or (again and record.model_version == version):
            yield record


def reclean_page(
    store: Store,
    version: StoredPage,
    model: SiteModel | None,
    before: CleanRecord | None = None,
    hooks: HookCalls | None = None,
) -> RecleanedPage | None:
    """Cleans an archived page with a model; None when the page is not archived (any more).

    Args:
        store: Holds record and page.
        version: Names the record.
        model: The host's model, or None.
        before: The stored record, when the caller has read it already.
        hooks: Record steps; a page that one of them drops keeps its record.

    Raises:
        PageError: The page cannot be cleaned; its record stays.
    """
    raw = store.answers.page(version.page_id, version.crawl_id)
    if raw is None or raw.fetched_at != version.fetched_at:
        return None
    before = before or store.records.get(version.page_id, version.crawl_id)
    if before is None or before.fetched_at != version.fetched_at:
        return None  # deleted, or fetched again meanwhile
    after = (hooks or HookCalls()).finish(read(raw, model).record)[0]
    return RecleanedPage(raw=raw, before=before, after=before if after is None else after)


def outcome_of(store: Store, page: RecleanedPage, crawl_id: str) -> Outcome | None:
    """The outcome for ``Store.save``; None when both records are equal, or were deleted."""
    before, after = page.before, page.after
    rows = [each for each in store.urls.rows(after.page_id) if each.crawl_id == crawl_id]
    if after == before or not rows:
        return None
    outcome = judged_again(store, before, _outcome(rows[0], page.raw, after))
    if not _content_images(after) <= _content_images(before):
        outcome = replace(outcome, images_due=True)
    return outcome


def _content_images(record: CleanRecord) -> set[str]:
    return {image.url for image in record.images if image.kind is ImageKind.CONTENT}


def _outcome(row: UrlRow, raw: RawPage, record: CleanRecord) -> Outcome:
    """Returns the outcome of the first cleaning with another record."""
    log = tuple(step for step in row.log if step.step != STEP)
    made = record.kind.value, len(record.body), record.model_version
    step = Step(at=datetime.now(UTC), step=STEP, detail=Message("cleaned_again", *made))
    result = FetchResult(status=raw.status, headers=raw.headers)
    queued = stored_page(row, row.crawl_id, raw.fetched_at, result)
    return Outcome(
        queued=queued,
        state=UrlState.RECORD,
        record=record,
        html_chars=len(raw.html),
        log=(*log, step),
        story=record_signature(record),
    )


@dataclass(slots=True, kw_only=True)
class RecleaningCounts:
    """Counts of re-cleaned records.

    Attributes:
        cleaned: Re-cleaned records.
        changed: Those that differ from the stored record.
        with_new_images: Those with images that became content.
        unarchived: Records that stay because their page is not in the archive.
        outdated: Records that stay because their page has an older layout.
        failed: Why other records could not be re-cleaned, as ``<page id>: <error>``; they stay.
        by_field: Differing records by field: ``{"body": 3, "title": 1}``.
        examples: The first differing records.
    """

    cleaned: int = 0
    changed: int = 0
    with_new_images: int = 0
    unarchived: int = 0
    outdated: int = 0
    failed: list[str] = field(default_factory=list)
    by_field: Counter[str] = field(default_factory=Counter)
    examples: list[RecleanedPage] = field(default_factory=list)

    def add(self, other: RecleaningCounts, most_examples: int) -> None:
        """Adds the counts of other records, and their examples up to ``most_examples``."""
        self.cleaned += other.cleaned
        self.changed += other.changed
        self.with_new_images += other.with_new_images
        self.unarchived += other.unarchived
        self.outdated += other.outdated
        self.failed += other.failed
        self.by_field += other.by_field
        self.examples += other.examples[: max(0, most_examples - len(self.examples))]


def reclean_records(
    store: Store,
    versions: list[StoredPage],
    model: SiteModel | None,
    *,
    save: bool = True,
    examples: int = 0,
    hooks: HookCalls | None = None,
) -> RecleaningCounts:
    """Re-cleans some records of a host and saves them together, in one transaction with SQLite.

    Args:
        store: Holds the records.
        versions: Name the records.
        model: The host's model, or None.
        save: Whether changed records are saved; otherwise they are only compared.
        examples: Differing records to return whole, at most.
        hooks: Record steps, or None.
    """
    done = RecleaningCounts()
    outcomes = []
    layouts = Layouts(store, model)
    for version in versions:
        own = layouts.model_for(version)
        if own is None and not layouts.is_present(version):
            done.outdated += 1
            continue
        try:
            page = reclean_page(store, version, own, hooks=hooks) if version.is_archived else None
        except DatabaseDamaged:
            raise
        except (PageError, StoreDamaged) as error:
            record = store.records.get(version.page_id, version.crawl_id)
            done.failed.append(f"{record.url if record else version.page_id}: {error}")
            continue
        if page is None:
            done.unarchived += 1
            continue
        done.cleaned += 1
        if outcome := outcome_of(store, page, version.crawl_id):
            outcomes.append(outcome)
            done.with_new_images += outcome.images_due
        changed = page.changed
        done.changed += bool(changed)
        done.by_field.update(changed)
        if changed and len(done.examples) < examples:
            done.examples.append(page)
    if save and outcomes:
        store.save(outcomes)
    return done


# The job that re-cleans the older pages of a host after the host was learned.
#
# 1. Pages are re-cleaned in slices of a few seconds, so that new pages never wait long for a
#    worker.
#    A slice continues where the slice before it ended; a newer model version starts over.
# 2. Of the records that one model made in one URL class, some are re-cleaned first. Where none of
#    their verdicts change, the other records stay as they are. A record whose verdicts stay is not
#    saved.
# 3. Records of a model that was learned from many pages are re-cleaned only up to a share of all
#    records, because such models rarely disagree.
# 4. Pages of an older layout keep the last model of that layout (``Layouts``).

log = logging.getLogger(__name__)

SLICE_S = 3.0  # new pages wait for a worker no longer than this
TRIED_PAGES = 30  # of one model, after which its records stay when no verdict changed
TRIED_OF_CLASS = 6  # of one URL class among them, after which the class's records stay
# Share of a host's records that may be re-cleaned although their model was learned from many pages:
# newer models rarely judge these otherwise, so what is looked for there costs at most this much.
WELL_TAUGHT_SHARE = 0.15
LEAST_WELL_TAUGHT = 100  # records that may be so at least
WELL_TAUGHT_PAGES = 20  # pages of a sample from which on newer models rarely judge otherwise
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
        is_whole: Whether every record of the host is looked at, because a person asks for another
            reading of its pages.
    """

    after: tuple[str, str] = ("", "")
    tried: int = 0
    changed: int = 0
    by_class: dict[str, list[int]] = field(default_factory=dict)
    cpu_ms: int = 0
    well_taught: int = 0
    skipped: int = 0
    is_whole: bool = False

    def is_settled(self, models: str, url_class: str = "") -> bool:
        """Whether enough records were tried without a change, so that the others stay.

        Args:
            models: The version that made the records and the one that would, ``"1 2"``.
            url_class: Their URL class; ``""`` for records of any class.
        """
        if self.is_whole:
            return False
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


def reclean_all(queue: LearningQueue, host: str, version: int) -> None:
    """Enqueues the re-cleaning of all records of a host with a version of its model."""
    total, _ = queue.watch(host)
    if total:
        args = RecleaningProgress(is_whole=True).to_args()
        queue.enqueue_recleaning(host, queue.begin(host, total, 0), version, args)


def reclean_now(
    context: Context,
    job_id: str,
    host: str,
    version: int,
    args: dict[str, Any],
    fatal: tuple[type[BaseException], ...] = (),
    counts: tuple[int, int] | None = None,
) -> None:
    """Runs a job: re-cleans one slice of a host's older pages, and enqueues the next slice.

    Args:
        context: The backends of this process.
        job_id: The job.
        host: Lower-case authority.
        version: Of the host's model.
        args: Written by ``RecleaningProgress.to_args``.
        fatal: Exceptions of record steps that end the job.
        counts: Of the host, by ``LearningQueue.counts``, where this job has just learned it.
    """
    queue, store = context.frontier.learning, context.store
    if counts is None and not queue.is_newest(host, job_id):
        return
    model = context.models.version(host, version)
    if model is None or store.models.newest(host) != version:
        queue.end(host, job_id)
        return
    progress = RecleaningProgress.from_args(args)
    begun = time.process_time()

    def save_progress(reached: RecleaningProgress) -> None:
        queue.save_progress(host, job_id, version, reached.to_args())

    total, repeated = counts or queue.counts(host)
    budget = max(LEAST_WELL_TAUGHT, int(WELL_TAUGHT_SHARE * total)) - repeated
    before = progress.well_taught
    work = RecleaningSlice(store, model, progress, save_progress, budget)
    work.hooks = HookCalls(context.hooks, fatal=fatal)
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

    def _try(self, version: StoredPage) -> None:
        """Re-cleans a record unless records like it are settled; keeps the outcome of a change."""
        progress = self._progress
        own = self._layouts.model_for(version) if version.is_archived else None
        if own is None:
            return
        # One model's records may stay where another's change.
        models = f"{version.model_version} {own.version}"
        if progress.is_settled(models):
            return
        is_well_taught = version.model_version not in self._poorly_taught and not progress.is_whole
        if is_well_taught and progress.well_taught >= self._most_well_taught:
            progress.skipped += 1
            return
        record = self._store.records.get(version.page_id, version.crawl_id)
        if record is None or progress.is_settled(models, class_of(record.url)):
            return
        page = self._clean(version, own, record)
        if page is None:
            return
        before, after = page.before, page.after
        is_changed = bool(verdict_changes(before, after)) or (
            progress.is_whole
            and (before.author, before.published_at) != (after.author, after.published_at)
        )
        progress.note(models, class_of(record.url), changed=is_changed)
        progress.well_taught += is_well_taught
        if is_changed and (outcome := outcome_of(self._store, page, version.crawl_id)):
            self._outcomes.append(outcome)

    def _clean(
        self, version: StoredPage, own: SiteModel, record: CleanRecord
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
