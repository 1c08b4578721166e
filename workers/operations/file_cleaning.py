"""Pages that were fetched by others, as records in input order; in parallel when there are many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from cleaning import clean
from cleaning.errors import ServiceError
from storage.store.codec import record_to_json
from workers.operations.page_files import Source
from workers.operations.process_pool import BATCH, batches, in_order


def clean_sources(sources: Iterator[Source], *, blocks: bool) -> Iterator[tuple[str, str]]:
    """Yields (record as JSON text, error) of every source in order; one of both is ``""``.

    Args:
        sources: Pages, and what could not be read.
        blocks: Whether the records have the link blocks of the sources.
    """
    work = partial(_clean_batch, blocks=blocks)
    lots = batches(sources, lambda source: len(source.body))
    first = next(lots, [])
    cores = os.cpu_count() or 1
    if len(first) < BATCH or cores == 1:
        for lot in chain([first], lots):
            yield from work(lot)
    else:
        yield from in_order(work, chain([first], lots), cores, _lost)


def _lost(source: Source) -> tuple[str, str]:
    return "", f"{source.origin}: the process that cleaned it died (out of memory?)"


def _clean_batch(batch: Sequence[Source], blocks: bool) -> list[tuple[str, str]]:
    return [_clean_one(source, blocks) for source in batch]


def _clean_one(source: Source, blocks: bool) -> tuple[str, str]:
    if source.error:
        return "", source.error
    try:
        record = clean(source.page(), source.model, blocks=blocks)
        return record_to_json(record).decode(), ""
    except ServiceError as error:
        return "", f"{source.origin}: {error}"
