"""A stored page is cleaned again from the archive, with another model; only the newer record stays.

Whatever is interrupted here is done by doing it again: a record that has the model's version is
left alone, and the store's fence keeps the newer of two. Images that are content now and were not
are kept as due with the record itself; ``workers.jobs.images.offer_due`` offers them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime

from cleaning import clean
from cleaning.document.raw_page import RawPage
from cleaning.errors import PageError, StoreDamaged
from cleaning.model.site_model import SiteModel
from cleaning.records import CleanRecord, ImageKind, Provenance
from storage.crawl_types import FetchResult, Outcome, PageRole, QueuedPage, Step, UrlRow, UrlState
from storage.store.hosts import RecordVersion
from storage.store.protocol import Store
from workers.jobs.layout_epochs import Layouts

STEP = "cleaned again"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedAgain:
    """One record, before and after.

    Attributes:
        before: As it is stored.
        after: As it is with the model.
        outcome: What saving takes, or None: it would change nothing.
    """

    before: CleanRecord
    after: CleanRecord
    outcome: Outcome | None

    @property
    def changed(self) -> tuple[str, ...]:
        """Names of the fields that differ, in their order, but for the version of the model."""
        return tuple(
            each.name
            for each in fields(CleanRecord)
            if each.name != "model_version"
            and getattr(self.before, each.name) != getattr(self.after, each.name)
        )


def older_records(
    store: Store, host: str, version: int, *, again: bool = False
) -> Iterator[RecordVersion]:
    """Records of a host that an older version of its model made, archived or not.

    Args:
        store: Where they are.
        host: Lower-case authority.
        version: That of the model; a record of this or a newer one is left alone.
        again: Also those of this version.
    """
    for record in store.hosts.versions(host):
        if record.model_version < version or (again and record.model_version == version):
            yield record


def clean_again(
    store: Store,
    version: RecordVersion,
    model: SiteModel | None,
    before: CleanRecord | None = None,
) -> CleanedAgain | None:
    """A record cleaned from its archived answer; None when that is not archived (any more).

    Args:
        store: Where it is.
        version: Which.
        model: What its host taught, or None.
        before: The record, when it was read already.

    Raises:
        PageError: The page cannot be cleaned: its record stays as it is.
    """
    raw = store.answers.page(version.page_id, version.crawl_id)
    if raw is None or raw.fetched_at != version.fetched_at:
        return None
    before = before or store.records.get(version.page_id, version.crawl_id)
    if before is None or before.fetched_at != version.fetched_at:
        return None  # deleted, or fetched anew meanwhile
    after = clean(raw, model)
    if after == before:
        return CleanedAgain(before=before, after=after, outcome=None)
    rows = [row for row in store.urls.rows(version.page_id) if row.crawl_id == version.crawl_id]
    if not rows:
        return None  # deleted meanwhile
    outcome = _outcome(rows[0], raw, after)
    if not _content_images(after) <= _content_images(before):
        outcome = replace(outcome, images_due=True)
    return CleanedAgain(before=before, after=after, outcome=outcome)


def _content_images(record: CleanRecord) -> set[str]:
    return {image.url for image in record.images if image.kind is ImageKind.CONTENT}


def _outcome(row: UrlRow, raw: RawPage, record: CleanRecord) -> Outcome:
    """The outcome of the first cleaning with another record; the answer was counted then."""
    log = tuple(step for step in row.log if step.step != STEP)
    said = f"{record.kind}, body {len(record.body)} characters, model {record.model_version}"
    queued = QueuedPage(
        crawl_id=row.crawl_id,
        page_id=row.page_id,
        token=0,
        url=row.url,
        host=row.host,
        role=PageRole.PAGE,
        depth=row.depth,
        provenance=Provenance(
            crawl_id=row.crawl_id,
            referrer=row.referrer,
            via=row.via,
            link_text=row.link_text,
            discovered_at=row.discovered_at,
        ),
        attempt=1,
        crashes=0,
        poison=False,
        fetched_at=raw.fetched_at,
        result=FetchResult(status=raw.status, headers=raw.headers),
    )
    return Outcome(
        queued=queued,
        state=UrlState.RECORD,
        record=record,
        html_chars=len(raw.html),
        log=(*log, Step(at=datetime.now(UTC), step=STEP, detail=said)),
    )


@dataclass(slots=True, kw_only=True)
class Round:
    """What became of some records.

    Attributes:
        cleaned: How many were cleaned again.
        changed: How many of them say something else now.
        pictured: How many have images that are content now and were not.
        unarchived: How many are not in the archive and stay as they are.
        outdated: How many are of an older layout and stay as they are.
        failed: Why others could not be cleaned; they stay as they are.
        by_field: How many differ, by field.
        examples: The first records that differ.
    """

    cleaned: int = 0
    changed: int = 0
    pictured: int = 0
    unarchived: int = 0
    outdated: int = 0
    failed: list[str] = field(default_factory=list)
    by_field: Counter[str] = field(default_factory=Counter)
    examples: list[CleanedAgain] = field(default_factory=list)

    def add(self, other: Round, most_examples: int) -> None:
        """Adds what became of other records."""
        self.cleaned += other.cleaned
        self.changed += other.changed
        self.pictured += other.pictured
        self.unarchived += other.unarchived
        self.outdated += other.outdated
        self.failed += other.failed
        self.by_field += other.by_field
        self.examples += other.examples[: max(0, most_examples - len(self.examples))]


def clean_round(
    store: Store,
    versions: list[RecordVersion],
    model: SiteModel | None,
    *,
    save: bool = True,
    examples: int = 0,
) -> Round:
    """Cleans some records again and saves them together, in one transaction where there are such.

    Args:
        store: Where they are.
        versions: Which.
        model: What their host taught, or None.
        save: Whether they are saved, or only compared.
        examples: How many that differ are given back whole.
    """
    done = Round()
    outcomes = []
    layouts = Layouts(store, model)
    for version in versions:
        own = layouts.model_for(version)
        if own is None and not layouts.is_present(version):
            done.outdated += 1
            continue
        try:
            again = clean_again(store, version, own) if version.is_archived else None
        except (PageError, StoreDamaged) as error:
            done.failed.append(f"{version.page_id}: {error}")
            continue
        if again is None:
            done.unarchived += 1
            continue
        done.cleaned += 1
        if again.outcome is not None:
            outcomes.append(again.outcome)
            done.pictured += again.outcome.images_due
        changed = again.changed
        done.changed += bool(changed)
        done.by_field.update(changed)
        if changed and len(done.examples) < examples:
            done.examples.append(again)
    if save and outcomes:
        store.save(outcomes)
    return done
