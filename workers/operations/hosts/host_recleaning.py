"""Re-cleans the stored pages of a host from the archive, with the host's model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.hosts import StoredPage
from crawlclean.workers.answers.hosts import ChangedPage, RecleaningReport
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.hooks.loading import load_hooks
from crawlclean.workers.jobs.recleaning import (
    RecleanedPage,
    RecleaningCounts,
    older_records,
    reclean_records,
)
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.hosts.host_models import find_version, host_named
from crawlclean.workers.operations.process_pool import batches, spread
from crawlclean.workers.site_models import read_model

EXAMPLES = 5  # pages that are shown with what would change: a screen has no more
SHOWN_CHARS = 60  # of a value that has changed
PARALLEL_LOTS = 4  # fewer batches are done before other processes have started


def reclean_host(
    settings: Settings,
    host: str,
    progress: Callable[[RecleaningCounts, RecleaningCounts], None],
    *,
    dry_run: bool,
    again: bool,
) -> RecleaningReport:
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
            raise NotFound(Message("no_host", host))
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
    return RecleaningReport(
        host=host,
        model_version=version,
        dry_run=dry_run,
        cleaned=total.cleaned,
        changed=total.changed,
        with_new_content_images=total.with_new_images,
        by_field=dict(total.by_field),
        not_archived=total.unarchived,
        older_layout=total.outdated,
        failed=len(total.failed),
        examples=tuple(
            ChangedPage(
                url=each.before.url,
                changes={name: (old, new) for name, old, new in changes_of(each)},
            )
            for each in total.examples
        ),
        interrupted=not is_whole,
    )


def _reclean(
    settings: Settings, records: Iterator[StoredPage], model: SiteModel | None, *, save: bool
) -> Iterator[RecleaningCounts]:
    """Yields the counts of some records at a time; uses several processes when there are many."""
    work = partial(_reclean_batch, settings=settings, model=model, save=save)
    yield from spread(work, batches(records, lambda _: 0), _not_recleaned, PARALLEL_LOTS)


def _reclean_batch(
    versions: Sequence[StoredPage], settings: Settings, model: SiteModel | None, *, save: bool
) -> list[RecleaningCounts]:
    store = open_store(settings.storage)
    try:
        examples = 0 if save else EXAMPLES
        hooks = HookCalls(load_hooks(settings))
        wanted = list(versions)
        return [reclean_records(store, wanted, model, save=save, examples=examples, hooks=hooks)]
    finally:
        store.close()


def _not_recleaned(version: StoredPage) -> RecleaningCounts:
    error = f"{version.page_id}: the process that cleaned it died (out of memory?)"
    return RecleaningCounts(failed=[error])


def changes_of(each: RecleanedPage) -> Iterator[tuple[str, str, str]]:
    """Yields (field, before, after) of each change: ``("images", "content 1", "chrome 1")``."""
    for name in each.changed:
        before, after = getattr(each.before, name), getattr(each.after, name)
        if name in ("links", "images", "outlinks", "warnings"):
            old, new = _kinds(before), _kinds(after)
            yield name, old, new if new != old else "same kinds, other items or scores"
        elif isinstance(before, str) and isinstance(after, str):
            yield name, *_where_they_differ(before, after)
        elif isinstance(before, tuple):
            yield name, str(len(before)), str(len(after))
        else:
            yield name, str(before), str(after)


def _kinds(found: Sequence[Any]) -> str:
    counts = Counter(str(each.kind) for each in found).most_common()
    return ", ".join(f"{kind} {count}" for kind, count in counts) or "none"


def _where_they_differ(before: str, after: str) -> tuple[str, str]:
    """Cuts both texts to the part around their first difference; adds the lengths of long ones."""
    at = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(0, at - 10)
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    shown = " ".join(text[start : start + SHOWN_CHARS].split())
    if start or len(text) > SHOWN_CHARS:
        before = "..." if start else ""
        after = "..." if start + SHOWN_CHARS < len(text) else ""
        return f"{before}{shown}{after} ({len(text)} characters)"
    return shown or "none"
