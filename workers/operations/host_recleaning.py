"""A host's stored pages are cleaned again from the archive, with its model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from cleaning.errors import NotFound
from cleaning.model.site_model import SiteModel
from storage.opening import open_store
from storage.store.hosts import RecordVersion
from workers.config import Settings
from workers.jobs.recleaning import RecleaningCounts, older_records, reclean_records
from workers.operations.backends import existing_store
from workers.operations.host_models import find_version, host_named
from workers.operations.process_pool import BATCH, batches, in_order
from workers.site_models import read_model

EXAMPLES = 5
IN_PARALLEL = 4 * BATCH  # fewer are done before other processes have started


@dataclass(frozen=True, slots=True, kw_only=True)
class Recleaned:
    """What became of a host's records.

    Attributes:
        host: Lower-case authority.
        version: Of the model they were cleaned with; 0 without a model.
        total: Counts, failures and examples.
        is_whole: Whether every record was looked at; not when Ctrl-C came.
        fetches_images: Whether a crawl of the store fetches images.
    """

    host: str
    version: int
    total: RecleaningCounts
    is_whole: bool
    fetches_images: bool


def reclean_host(
    settings: Settings,
    host: str,
    progress: Callable[[RecleaningCounts, RecleaningCounts], None],
    *,
    dry_run: bool,
    again: bool,
) -> Recleaned:
    """Cleans the records of a host that an older version of its model made.

    Ctrl-C ends the work in order; what was cleaned until then counts.

    Args:
        settings: Where the store is.
        host: A host's name or any address of it.
        progress: Called after some records with (all records so far, the newest of them).
        dry_run: Store nothing, collect examples of what would differ.
        again: Also records that the version in use made; then the host needs no model.

    Raises:
        NotFound: Nothing of the host is stored, or it has no model.
        ConfigError: Its model is of a format this program cannot read.
    """
    host = host_named(host)
    with existing_store(settings) as store:
        model = None
        if not again or store.models.newest(host):
            model = read_model(find_version(store, host, None))
        elif store.statistics.get(host) is None:
            raise NotFound(f"nothing of {host} is stored")
        version = model.version if model else 0
        total = RecleaningCounts()
        records = older_records(store, host, version, again=again)
        is_whole = False
        try:
            for part in _rounds(settings, records, model, save=not dry_run):
                total.add(part, EXAMPLES)
                progress(total, part)
            is_whole = True
        except KeyboardInterrupt:
            pass
        if not dry_run:
            store.statistics.refresh()
        fetches_images = any(row.spec.images for row in store.crawls.all())
    return Recleaned(
        host=host,
        version=version,
        total=total,
        is_whole=is_whole,
        fetches_images=fetches_images,
    )


def _rounds(
    settings: Settings, records: Iterator[RecordVersion], model: SiteModel | None, *, save: bool
) -> Iterator[RecleaningCounts]:
    """What became of the records, some at a time; by several processes when there are many."""
    work = partial(_clean_some, settings=settings, model=model, save=save)
    lots = batches(records, lambda _: 0)
    first = [lot for _, lot in zip(range(IN_PARALLEL // BATCH), lots, strict=False)]
    cores = os.cpu_count() or 1
    if len(first) < IN_PARALLEL // BATCH or cores == 1:
        for lot in chain(first, lots):
            yield from work(lot)
    else:
        yield from in_order(work, chain(first, lots), cores, _lost)


def _clean_some(
    versions: Sequence[RecordVersion], settings: Settings, model: SiteModel | None, *, save: bool
) -> list[RecleaningCounts]:
    store = open_store(settings.storage)
    try:
        examples = 0 if save else EXAMPLES
        return [reclean_records(store, list(versions), model, save=save, examples=examples)]
    finally:
        store.close()


def _lost(version: RecordVersion) -> RecleaningCounts:
    said = f"{version.page_id}: the process that cleaned it died (out of memory?)"
    return RecleaningCounts(failed=[said])
