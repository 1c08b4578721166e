"""Re-cleans stored pages from the archive with another model; the newer record replaces the older.

- An interrupted re-cleaning is completed by running it again: a record of the model's version is
  skipped, and the store keeps the newer of two records.
- A page of an older layout is re-cleaned with the last model of its layout (``Layouts``).
- Images that became content are marked as due in the record's outcome;
  ``crawlclean.workers.jobs.images.offer_due`` offers them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, DatabaseDamaged, PageError, StoreDamaged
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.records import CleanRecord, ImageKind
from crawlclean.cleaning.topics.stories import record_signature
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.storage.crawl_types import FetchResult, Outcome, Step, UrlRow, UrlState
from crawlclean.storage.store.hosts import RecordVersion
from crawlclean.storage.store.models import DriftEvent, redesign_after
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.outcomes import stored_page
from crawlclean.workers.jobs.topics import judged_again
from crawlclean.workers.site_models import read_model

STEP = "re-cleaned"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecleanedPage:
    """One record before and after re-cleaning.

    Attributes:
        before: The stored record.
        after: The record with the model.
        outcome: For ``Store.save``; None when both records are equal.
    """

    before: CleanRecord
    after: CleanRecord
    outcome: Outcome | None

    @property
    def changed(self) -> tuple[str, ...]:
        """Names of the fields that differ, ``model_version`` left out: ``("body", "markdown")``."""
        return tuple(
            each.name
            for each in fields(CleanRecord)
            if each.name != "model_version"
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

    def is_present(self, version: RecordVersion) -> bool:
        """Whether a record's page has the present layout."""
        return self._redesign(version) is None

    def model_for(self, version: RecordVersion) -> SiteModel | None:
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

    def _redesign(self, version: RecordVersion) -> DriftEvent | None:
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
) -> Iterator[RecordVersion]:
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
    version: RecordVersion,
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
    after = (hooks or HookCalls()).finish(clean(raw, model))[0]
    if after is None:
        return RecleanedPage(before=before, after=before, outcome=None)
    if after == before:
        return RecleanedPage(before=before, after=after, outcome=None)
    rows = [row for row in store.urls.rows(version.page_id) if row.crawl_id == version.crawl_id]
    if not rows:
        return None  # deleted meanwhile
    outcome = judged_again(store, before, _outcome(rows[0], raw, after))
    if not _content_images(after) <= _content_images(before):
        outcome = replace(outcome, images_due=True)
    return RecleanedPage(before=before, after=after, outcome=outcome)


def _content_images(record: CleanRecord) -> set[str]:
    return {image.url for image in record.images if image.kind is ImageKind.CONTENT}


def _outcome(row: UrlRow, raw: RawPage, record: CleanRecord) -> Outcome:
    """Returns the outcome of the first cleaning with another record."""
    log = tuple(step for step in row.log if step.step != STEP)
    detail = f"{record.kind}, body {len(record.body)} characters, model {record.model_version}"
    result = FetchResult(status=raw.status, headers=raw.headers)
    queued = stored_page(row, row.crawl_id, raw.fetched_at, result)
    return Outcome(
        queued=queued,
        state=UrlState.RECORD,
        record=record,
        html_chars=len(raw.html),
        log=(*log, Step(at=datetime.now(UTC), step=STEP, detail=detail)),
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
    versions: list[RecordVersion],
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
        if page.outcome is not None:
            outcomes.append(page.outcome)
            done.with_new_images += page.outcome.images_due
        changed = page.changed
        done.changed += bool(changed)
        done.by_field.update(changed)
        if changed and len(done.examples) < examples:
            done.examples.append(page)
    if save and outcomes:
        store.save(outcomes)
    return done
