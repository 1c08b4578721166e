"""The operation of `clean`: pages of files become records in input order.

With ``--learn`` each host is learned first. The files are read once for the URLs of their pages,
and again for the pages in the sample of each host. Memory holds one URL a page, and some thousand
compressed pages at a time, however many there are.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from crawlclean.cleaning.errors import InvalidUrl, ServiceError
from crawlclean.cleaning.learn.views import MAX_SAMPLE, choose_sample
from crawlclean.cleaning.metadata.metadata import DEFECTS
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.site import learn_site
from crawlclean.cleaning.urls.normal_form import host_of, normalize
from crawlclean.workers.operations.pages.page_sources import Source
from crawlclean.workers.operations.process_pool import batches, in_order, spread

PARALLEL_LOTS = 2  # one batch is cleaned before other processes have started
MIN_PAGES = 2  # one page alone has nothing in common with others
SAMPLED_PAGES = 4_000  # compressed pages in memory, of the samples of some hosts
MAX_PAGE_BYTES = 2 << 20  # larger pages are cleaned, but not learned from

ReadSources = Callable[[], Iterator[Source]]
Render = Callable[[CleanRecord], bytes]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of a page of a file.

    Attributes:
        data: Its record as rendered; ``b""`` when there is none.
        url: URL of the record.
        error: Why there is no record, in one line; ``""`` when there is one.
        host: The host whose model the page was cleaned with; ``""``: without a model.
    """

    data: bytes = b""
    url: str = ""
    error: str = ""
    host: str = ""


def clean_sources(sources: Iterator[Source], render: Render, *, blocks: bool) -> Iterator[Cleaned]:
    """Yields what became of every source, in order.

    Pages are cleaned by one process for each core when there are many.

    Args:
        sources: Pages, and errors of what could not be read.
        render: Makes the text of a record; a function that processes import by its name.
        blocks: Whether the records get the link blocks of their sources.
    """
    work = partial(_clean_batch, render=render, blocks=blocks)
    lots = batches(sources, lambda source: len(source.body))
    yield from spread(work, lots, _not_cleaned, PARALLEL_LOTS)


def _not_cleaned(source: Source) -> Cleaned:
    return Cleaned(error=f"{source.origin}: the process that cleaned it died (out of memory?)")


def _clean_batch(batch: Sequence[Source], render: Render, blocks: bool) -> list[Cleaned]:
    return [_clean_one(source, render, blocks) for source in batch]


def _clean_one(source: Source, render: Render, blocks: bool) -> Cleaned:
    if source.error:
        return Cleaned(error=source.error)
    try:
        record = clean(source.page(), source.model, blocks=blocks)
        data = render(record)
    except ServiceError as error:
        return Cleaned(error=f"{source.origin}: {error}")
    except (*DEFECTS, MemoryError) as error:  # it must not cost the rest of the input
        return Cleaned(error=f"{source.origin}: {type(error).__name__}: {error}")
    host = source.model.host if source.model else ""
    return Cleaned(data, record.url, host=host)


def urls_by_host(sources: Iterator[Source], on_source: Callable[[], None]) -> dict[str, set[str]]:
    """Returns the normalized URLs of all pages, by host.

    Args:
        sources: Every source; one without a valid URL is left out.
        on_source: Called after each source.
    """
    urls: dict[str, set[str]] = {}
    for source in sources:
        url = _url_of(source)
        if url:
            urls.setdefault(host_of(url), set()).add(url)
        on_source()
    return urls


def learn_hosts(
    urls: Mapping[str, set[str]], read: ReadSources, warn: Callable[[str], None]
) -> dict[str, SiteModel]:
    """Returns the model of every host with two pages or more, by host.

    Args:
        urls: The normalized URLs of all pages, by host.
        read: Reads all sources anew; called once for each group of hosts.
        warn: Called with a line for each host that could not be learned.
    """
    models: dict[str, SiteModel] = {}
    for hosts in _groups(urls):
        wanted = {url: host for host in hosts for url in choose_sample(urls[host])}
        samples = [
            (host, found, sorted(urls[host])) for host, found in _sampled(read(), wanted).items()
        ]
        lots = batches(samples, lambda _: 0, most=1)
        for model, error in in_order(_learn_batch, lots, os.cpu_count() or 1, _not_learned):
            if model is not None:
                models[model.host] = model
            elif error:
                warn(error)
    return models


def with_models(sources: Iterator[Source], models: Mapping[str, SiteModel]) -> Iterator[Source]:
    """Yields the sources, each with the model of its host if there is one."""
    for source in sources:
        url = _url_of(source) if models else ""
        yield replace(source, model=models.get(host_of(url))) if url else source


def _url_of(source: Source) -> str:
    """Returns the normalized URL of a source; ``""`` when it has none."""
    with suppress(InvalidUrl):
        return "" if source.error else normalize(source.url)
    return ""


def _groups(urls: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Yields hosts whose samples fit into memory together."""
    group: list[str] = []
    room = SAMPLED_PAGES
    for host, known in urls.items():
        if len(known) < MIN_PAGES:
            continue
        group.append(host)
        room -= min(len(known), MAX_SAMPLE)
        if room <= 0:
            yield group
            group, room = [], SAMPLED_PAGES
    if group:
        yield group


def _sampled(sources: Iterator[Source], wanted: Mapping[str, str]) -> dict[str, list[Source]]:
    """Returns the sources of the wanted URLs by host, their bodies compressed.

    Args:
        sources: Every source.
        wanted: Host of each URL that is in a sample.
    """
    samples: dict[str, dict[str, Source]] = {}
    for source in sources:
        url = _url_of(source)
        if url in wanted and len(source.body) <= MAX_PAGE_BYTES:
            known = samples.setdefault(wanted[url], {})
            known[url] = replace(source, body=zlib.compress(source.body, 1))
    return {host: list(known.values()) for host, known in samples.items()}


_Sample = tuple[str, list[Source], list[str]]
"""A host to learn, its sampled pages with bodies compressed by zlib, the URLs of all its pages."""


def _learn_batch(samples: Sequence[_Sample]) -> list[tuple[SiteModel | None, str]]:
    """Returns (model, ``""``) for each sample; the model is None when no source is a page."""
    models: list[tuple[SiteModel | None, str]] = []
    for _, sources, urls in samples:
        pages = []
        for source in sources:
            with suppress(ServiceError, *DEFECTS):
                pages.append(replace(source, body=zlib.decompress(source.body)).page())
        models.append((learn_site(pages, urls) if pages else None, ""))
    return models


def _not_learned(sample: _Sample) -> tuple[SiteModel | None, str]:
    return None, f"{sample[0]} was not learned: the process that learned it died (out of memory?)"
