"""Pages that others fetched become records of a data folder, as if a crawl had fetched them.

Each page is kept in the archive and cleaned; what it leads to is not fetched. What is stored of a
page is one transaction, and a page whose answer is stored is left alone, so that the same command
finishes an import that was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from crawlclean.cleaning.errors import ConfigError, InvalidUrl, NotHtml, PageError
from crawlclean.cleaning.metadata.metadata import DEFECTS
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.urls.normal_form import host_of, normalize, page_id
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    CrawlState,
    FailureReason,
    FetchResult,
    KeepRaw,
    Outcome,
    QueuedPage,
    Step,
)
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.hooks.loading import load_hooks
from crawlclean.workers.jobs.outcomes import end_page, failed, with_stored_step
from crawlclean.workers.operations.pages.page_sources import Source
from crawlclean.workers.operations.process_pool import batches, spread
from crawlclean.workers.site_models import read_model

PARALLEL_LOTS = 2  # fewer batches are done before other processes have started


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of one page of the input.

    Attributes:
        host: Lower-case authority, ``""`` when the input gave no page.
        is_stored: Whether its record is stored, now or before.
        was_stored: Whether it was stored before.
        error: Why there is no record, in one line; ``""`` when there is one, and when a record
            step dropped it.
    """

    host: str = ""
    is_stored: bool = False
    was_stored: bool = False
    error: str = ""


def import_pages(settings: Settings, crawl: str, sources: Iterable[Source]) -> Iterator[Imported]:
    """Stores the pages of an input under a crawl's name; yields what became of each, in order.

    Args:
        settings: Where the store is; a data folder that is absent is made.
        crawl: Name that the pages are kept under.
        sources: Pages, and what could not be read.

    Raises:
        ConfigError: A crawl that fetches pages has this name.
    """
    spec = CrawlSpec(crawl_id=crawl, seeds=())
    store = open_store(settings.storage, create=True)
    try:
        if (row := store.crawls.get(crawl)) and row.spec.seeds:
            raise ConfigError(f"{crawl} is a crawl that fetches pages: choose another --crawl")
        store.crawls.put(spec, CrawlState.STOPPED)
        work = partial(_store_batch, settings=settings, crawl=crawl)
        lots = batches(sources, lambda source: len(source.body))
        yield from spread(work, lots, _lost, PARALLEL_LOTS)
        store.statistics.refresh()
        store.crawls.put(spec, CrawlState.FINISHED)
    finally:
        store.close()


def _lost(source: Source) -> Imported:
    return Imported(error=f"{source.origin}: the process that cleaned it died (out of memory?)")


def _store_batch(sources: Sequence[Source], settings: Settings, crawl: str) -> list[Imported]:
    store = open_store(settings.storage)
    try:
        return _Batch(store, crawl, HookCalls(load_hooks(settings))).store(sources)
    finally:
        store.close()


class _Batch:
    """Some pages of an input, saved together."""

    def __init__(self, store: Store, crawl: str, hooks: HookCalls) -> None:
        self._store = store
        self._hooks = hooks
        self._crawl = crawl
        self._models: dict[str, SiteModel | None] = {}

    def store(self, sources: Sequence[Source]) -> list[Imported]:
        """Cleans and saves those whose answer is not stored yet."""
        pages = [_queued(source, self._crawl) for source in sources]
        ids = [page.page_id for page in pages if isinstance(page, QueuedPage)]
        stored = self._store.answers.fetched_at(ids, self._crawl)
        results = []
        outcomes: dict[str, Outcome] = {}
        for page in pages:
            if not isinstance(page, QueuedPage):
                results.append(Imported(error=page))
                continue
            before = stored.get(page.page_id)
            if before is not None and before >= page.fetched_at:
                results.append(Imported(host=page.host, is_stored=True, was_stored=True))
                continue
            outcome, error = self._clean(page)
            outcomes[page.page_id] = with_stored_step(outcome)
            stored[page.page_id] = page.fetched_at
            line = f"{page.provenance.referrer}: {page.url}: {error}" if error else ""
            has_record = outcome.record is not None
            results.append(Imported(host=page.host, is_stored=has_record, error=line))
        self._store.save(list(outcomes.values()))
        return results

    def _clean(self, page: QueuedPage) -> tuple[Outcome, str]:
        """(outcome, why there is no record)."""
        try:
            model = self._model(page.host)
            # What a page says to robots was for who fetched it.
            return end_page(page, KeepRaw.ALL, model, self._hooks, obeys=False).outcome, ""
        except NotHtml as error:
            reason, detail = FailureReason.NOT_HTML, str(error)
        except PageError as error:
            reason, detail = FailureReason.PAGE_ERROR, str(error)
        except (*DEFECTS, MemoryError) as error:  # it must not cost the rest of the input
            reason, detail = FailureReason.INTERNAL, f"{type(error).__name__}: {error}"
        return failed(page, reason, detail).outcome, detail

    def _model(self, host: str) -> SiteModel | None:
        if host not in self._models:
            stored = self._store.models.get(host)
            self._models[host] = read_model(stored) if stored else None
        return self._models[host]


def _queued(source: Source, crawl: str) -> QueuedPage | str:
    """A page of the input as a worker would claim it, or why it is none."""
    if source.error:
        return source.error
    try:
        url = normalize(source.url)
    except InvalidUrl as error:
        return f"{source.origin}: {error}"
    now = datetime.now(UTC)
    content_type = (("Content-Type", source.content_type),) if source.content_type else ()
    return QueuedPage(
        crawl_id=crawl,
        page_id=page_id(url),
        url=url,
        host=host_of(url),
        provenance=source.provenance(crawl),
        fetched_at=source.fetched_at or now,
        result=FetchResult(status=200, headers=content_type, body=source.body),
        log=(Step(at=now, step="imported", detail=source.place),),
    )
