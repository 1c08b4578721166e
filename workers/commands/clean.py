"""`clean`: pages that were fetched by others, as records on standard output, in input order."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from cleaning import clean
from cleaning.errors import ConfigError, ServiceError
from cleaning.model.site_model import SiteModel
from storage.store.codec import record_to_json
from workers.commands.clean_learning import learn_hosts, with_models
from workers.commands.clean_pool import BATCH, batches, in_order
from workers.commands.sources import (
    ROW_SUFFIXES,
    WARC_SUFFIXES,
    Source,
    find_files,
    read_sources,
)
from workers.output.progress import Tally


def clean_files(paths: Sequence[Path], url: str, blocks: bool = False, learn: bool = False) -> int:
    """Cleans every page of the files and folders; 1 when one of them could not be.

    Args:
        paths: HTML files, WARC files, ``.jsonl``/``.jsonl.gz`` rows with ``url`` and
            ``html_base64`` or ``html``, and folders of such files.
        url: Address of a single HTML file; else files have addresses made of their names.
        blocks: Whether the records have the link blocks of the sources.
        learn: Whether each host is learned from its pages first.

    Raises:
        ConfigError: A path does not exist, or ``url`` is given with several pages.
    """
    files, others = find_files(paths)
    if url and (len(paths) != 1 or paths[0].name.lower().endswith(WARC_SUFFIXES + ROW_SUFFIXES)):
        raise ConfigError("--url goes with one HTML file or one folder of them")
    if others:
        sys.stderr.write(f"left out {others} files that are no HTML, WARC or .jsonl\n")
    models: dict[str, SiteModel] = {}
    if learn:
        models = learn_hosts(lambda told: read_sources(files, url, told), len(files))
    told = Tally("cleaned", len(files))
    sources = with_models(read_sources(files, url, told), models)
    for line, error in _cleaned(sources, blocks):
        if error:
            told.failed += 1
            told.say(error)
        else:
            sys.stdout.write(line + "\n")
            told.done += 1
        told.show()
    told.show(last=True)
    return 1 if told.failed else 0


def _cleaned(sources: Iterator[Source], blocks: bool) -> Iterator[tuple[str, str]]:
    """(record as JSON, error) of every source in order; in parallel when there are many."""
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
