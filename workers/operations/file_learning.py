"""`clean --learn`: hosts are learned from the pages of files before these are cleaned.

The files are read once for the addresses of their pages, and again for the pages that the sample
of each host names; what is held in memory is an address a page, and some thousand packed pages
at a time, however many there are.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from cleaning import learn_site
from cleaning.errors import InvalidUrl, ServiceError
from cleaning.learn.sample import choose_sample
from cleaning.model.site_model import SiteModel
from cleaning.urls.normal_form import host_of, normalize
from workers.operations.page_files import Source
from workers.operations.process_pool import batches, in_order

LEAST_PAGES = 2  # one page alone has nothing in common with others
PAGES_AT_ONCE = 4_000  # of the samples of some hosts, packed

MOST_BYTES = 2 << 20  # of a page that is learned from

Read = Callable[[], Iterator[Source]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """What a host is learned from: packed pages, and the addresses of all."""

    host: str
    sources: list[Source]
    urls: list[str]


def addresses_by_host(sources: Iterator[Source], done: Callable[[], None]) -> dict[str, set[str]]:
    """Returns the addresses of all pages in normal form, by host.

    Args:
        sources: Every source; one without an address is left out.
        done: Called after each source.
    """
    urls: dict[str, set[str]] = {}
    for source in sources:
        url = _address(source)
        if url:
            urls.setdefault(host_of(url), set()).add(url)
        done()
    return urls


def learn_hosts(
    urls: Mapping[str, set[str]], read: Read, say: Callable[[str], None]
) -> dict[str, SiteModel]:
    """Returns the model of every host with two pages or more, by host.

    Args:
        urls: The addresses of all pages, by host.
        read: Reads all sources anew; called once for each group of hosts.
        say: Gets a line for each host that could not be learned.
    """
    models: dict[str, SiteModel] = {}
    for hosts in _groups(urls):
        wanted = {url: host for host in hosts for url in choose_sample(urls[host])}
        samples = [
            _Sample(host=host, sources=found, urls=sorted(urls[host]))
            for host, found in _packed(read(), wanted).items()
        ]
        lots = batches(samples, lambda _: 0, most=1)
        for model, lost in in_order(_learn, lots, os.cpu_count() or 1, _lost):
            if model is not None:
                models[model.host] = model
            elif lost:
                say(lost)
    return models


def with_models(sources: Iterator[Source], models: Mapping[str, SiteModel]) -> Iterator[Source]:
    """The sources, each with the model of its host."""
    for source in sources:
        url = _address(source) if models else ""
        yield replace(source, model=models.get(host_of(url))) if url else source


def _address(source: Source) -> str:
    """The normal form of a source's address; ``""`` when it has none."""
    with suppress(InvalidUrl):
        return "" if source.error else normalize(source.url)
    return ""


def _groups(urls: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Hosts whose samples are held together."""
    group: list[str] = []
    room = PAGES_AT_ONCE
    for host, known in urls.items():
        if len(known) < LEAST_PAGES:
            continue
        group.append(host)
        room -= min(len(known), 100)
        if room <= 0:
            yield group
            group, room = [], PAGES_AT_ONCE
    if group:
        yield group


def _packed(sources: Iterator[Source], wanted: Mapping[str, str]) -> dict[str, list[Source]]:
    """The sources of the wanted addresses by host, their bodies packed."""
    samples: dict[str, dict[str, Source]] = {}
    for source in sources:
        url = _address(source)
        if url in wanted and len(source.body) <= MOST_BYTES:
            known = samples.setdefault(wanted[url], {})
            known[url] = replace(source, body=zlib.compress(source.body, 1))
    return {host: list(known.values()) for host, known in samples.items()}


def _learn(samples: Sequence[_Sample]) -> list[tuple[SiteModel | None, str]]:
    """(model, ``""``) of each sample; None where none of its sources is a page."""
    models: list[tuple[SiteModel | None, str]] = []
    for sample in samples:
        pages = []
        for source in sample.sources:
            with suppress(ServiceError):
                pages.append(replace(source, body=zlib.decompress(source.body)).page())
        models.append((learn_site(pages, sample.urls) if pages else None, ""))
    return models


def _lost(sample: _Sample) -> tuple[SiteModel | None, str]:
    return None, f"{sample.host} taught nothing: the process that learned it died"
