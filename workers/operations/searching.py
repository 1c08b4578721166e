"""Search by words in the texts of records: hits of the index, checked against their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError, ServiceError
from crawlclean.storage.search import (
    FEWEST_LETTERS,
    MOST_CHARS,
    Asked,
    Phrase,
    SearchFile,
    has_all,
    phrases_of,
    snippet,
)
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import search_text
from crawlclean.workers.answers.hosts import SearchHit
from crawlclean.workers.jobs.search import SearchFiller
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_CHARS)]
Time = Annotated[datetime, msgspec.Meta(tz=True)]

FILL_S = 1.0
"""Between two reports of progress while the index is filled."""

MOST_CHECKED = 500
"""Hits of the index that one search compares with records, when many records are gone."""


class SearchPage(Struct, frozen=True, kw_only=True):
    """A part of what was found.

    Attributes:
        hits: Those saved last first.
        after: Number of the save behind which the next part begins; 0 at the end.
        indexed: Number of the newest save in the index.
        saved: Number of the newest save; larger: its record, and perhaps others, cannot be found
            yet.
        is_late: Whether the search took too long, and ended early.
    """

    hits: Sequence[SearchHit]
    after: int
    indexed: int
    saved: int
    is_late: bool


def search_records(
    backends: Backends,
    q: Words,
    host: str = "",
    crawl: str = "",
    since: Time | None = None,
    until: Time | None = None,
    after: Place | None = None,
    limit: int = 50,
) -> Part[SearchHit]:
    """Records by words of title and body, those saved last first; 404 while search is off.

    None where `q` has no word of two letters.

    Args:
        backends: Queue and store.
        q: Words, or phrases in quotation marks; a record has to have all of them.
        host: Only of this host.
        crawl: Only of this crawl.
        since: Only pages fetched then or later.
        until: Only pages fetched before.
        after: Only saves with a smaller number than the first of both.
        limit: At most this many.
    """
    backends.index()
    if not phrases_of(q):
        return Part(items=())
    wanted = Asked(text=q, host=host.lower(), crawl_id=crawl, since=since, until=until)
    found = search_words(backends, wanted, after[0] if after else None, limit)
    return Part(items=found.hits, after=str(found.after or ""))


def search_words(backends: Backends, wanted: Asked, before: int | None, limit: int) -> SearchPage:
    """Searches the index as it is; arguments and errors as of ``search_in``."""
    index = backends.index()
    with backends.store() as store:
        return search_in(store, index, wanted, before, limit)


def search_all(
    backends: Backends, wanted: Asked, limit: int, tell: Callable[[int], object]
) -> SearchPage:
    """Brings the index up to date, and searches.

    Args:
        backends: Queue and store.
        wanted: What is searched for.
        limit: At most so many records, >= 1.
        tell: Called with the number of records that were indexed so far.

    Raises:
        ConfigError: There is no word to search for.
        NotFound: Search is off, or there is no crawl.
    """
    index = backends.index()
    _phrases_of(wanted)
    with backends.store() as store:
        filler = SearchFiller(store, index, may_be_late=not backends.settings.storage.is_embedded)
        done = 0
        while added := filler.fill(FILL_S):
            done += added
            tell(done)
        return search_in(store, index, wanted, None, limit)


def search_in(
    store: Store, index: SearchFile, wanted: Asked, before: int | None, limit: int
) -> SearchPage:
    """Searches an index as it is.

    Args:
        store: Where the records are.
        index: Their index.
        wanted: What is searched for.
        before: Only saves with a smaller number; None: from the newest.
        limit: At most so many records, >= 1.

    Raises:
        ConfigError: There is no word to search for.
    """
    phrases = _phrases_of(wanted)
    hits: list[SearchHit] = []
    gone: list[int] = []
    place, checked, is_late, is_end = before, 0, False, False
    while len(hits) < limit and checked < MOST_CHECKED and not (is_end or is_late):
        some = limit - len(hits)
        found, is_late = index.find(wanted, place, some)
        is_end = len(found) < some
        for seq, page_id, crawl in found:
            place = seq
            record = store.records.get(page_id, crawl)
            if record is None:
                gone.append(seq)
                continue
            text = search_text(record.title, record.body)
            if has_all(text, phrases) and _is_in(record.fetched_at, wanted):
                hits.append(
                    SearchHit(
                        url=record.url,
                        title=record.title,
                        host=record.host,
                        crawl=crawl,
                        page_id=page_id,
                        fetched_at=record.fetched_at,
                        snippet=snippet(text, phrases),
                    )
                )
        checked += len(found)
    if gone:
        index.forget(gone)
    return SearchPage(
        hits=hits,
        after=0 if is_end and not is_late else place or 0,
        indexed=index.newest(),
        saved=store.records.last_number(),
        is_late=is_late,
    )


def _phrases_of(wanted: Asked) -> tuple[Phrase, ...]:
    """The phrases that are searched for.

    Raises:
        ConfigError: There is no word to search for.
    """
    if not wanted.phrases:
        raise ConfigError(
            f"there is no word to search for: give {FEWEST_LETTERS} letters or more, a phrase in "
            "quotation marks"
        )
    return wanted.phrases


def _is_in(at: datetime, wanted: Asked) -> bool:
    return not (
        (wanted.since is not None and at < wanted.since)
        or (wanted.until is not None and at >= wanted.until)
    )


def is_known_host(backends: Backends, host: str) -> bool:
    """Whether the store, or the queue while it runs, knows a host of this name."""
    with suppress(ServiceError), backends.store() as store:  # none yet, or away
        if store.overview.host(host):
            return True
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        return bool(frontier.crawls_of(host))
    return False
