"""Re-cleans the stored pages of a host from the archive, with the host's model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.hosts import RecordVersion
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.hooks.loading import load_hooks
from crawlclean.workers.jobs.recleaning import RecleaningCounts, older_records, reclean_records
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.hosts.host_models import find_version, host_named
from crawlclean.workers.operations.process_pool import batches, spread
from crawlclean.workers.site_models import read_model

EXAMPLES = 5
PARALLEL_LOTS = 4  # fewer batches are done before other processes have started


@dataclass(frozen=True, slots=True, kw_only=True)
class Recleaned:
    """The result of re-cleaning a host.

    Attributes:
        host: Lower-case authority.
        version: Of the model that was used; 0 without a model.
        total: Counts, failures and examples.
        is_whole: Whether every record was looked at; False after Ctrl-C.
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
    """Re-cleans the records of a host that older versions of its model made.

    Ctrl-C ends the work in order; records that were re-cleaned until then stay so.

    Args:
        settings: Where the store is.
        host: A host, or any URL of it.
        progress: Called after some records with (counts so far, counts of these records).
        dry_run: Store nothing; collect examples of records that would differ.
        again: Also re-clean records of the version in use; then the host needs no model.

    Raises:
        NotFound: Nothing of the host is stored, or it has no model.
        ConfigError: Its model has a format that this program cannot read.
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
            for part in _reclean(settings, records, model, save=not dry_run):
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


def _reclean(
    settings: Settings, records: Iterator[RecordVersion], model: SiteModel | None, *, save: bool
) -> Iterator[RecleaningCounts]:
    """Yields the counts of some records at a time; uses several processes when there are many."""
    work = partial(_reclean_batch, settings=settings, model=model, save=save)
    yield from spread(work, batches(records, lambda _: 0), _not_recleaned, PARALLEL_LOTS)


def _reclean_batch(
    versions: Sequence[RecordVersion], settings: Settings, model: SiteModel | None, *, save: bool
) -> list[RecleaningCounts]:
    store = open_store(settings.storage)
    try:
        examples = 0 if save else EXAMPLES
        hooks = HookCalls(load_hooks(settings))
        wanted = list(versions)
        return [reclean_records(store, wanted, model, save=save, examples=examples, hooks=hooks)]
    finally:
        store.close()


def _not_recleaned(version: RecordVersion) -> RecleaningCounts:
    error = f"{version.page_id}: the process that cleaned it died (out of memory?)"
    return RecleaningCounts(failed=[error])
