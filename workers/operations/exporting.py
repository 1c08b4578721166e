"""Finds the records of an export and writes the images that they show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cleaning.errors import ConfigError, NotFound
from cleaning.records import CleanRecord, PageKind
from storage.store.protocol import Store
from storage.store.records import Once
from storage.store.selection import Selection, select
from workers.config import Settings
from workers.operations.backends import existing_store
from workers.operations.near_matches import did_you_mean, near_hosts
from workers.operations.stored_images import save_images


@dataclass(frozen=True, slots=True)
class Exported:
    """A record to export.

    Attributes:
        record: The record.
        files: Files of its stored images, by URL:
            ``{"https://example.com/a.jpg": "3f/3fa8....jpg"}``, relative to the image folder.
    """

    record: CleanRecord
    files: dict[str, str]


def read_kinds(text: str) -> frozenset[PageKind]:
    """Reads page kinds, ``article,thread``; ``""``: none.

    Raises:
        ConfigError: One is not a page kind.
    """
    names = [name.strip() for name in text.split(",")] if text else []
    try:
        return frozenset(map(PageKind, names))
    except ValueError:
        known = ", ".join(PageKind)
        raise ConfigError(f"--kind {text!r} is not of the page kinds: {known}") from None


@contextmanager
def records_to_export(
    settings: Settings,
    wanted: Selection,
    images: Path | None = None,
    known: Once | None = None,
) -> Iterator[Iterator[Exported]]:
    """Opens the store for an iteration over selected records.

    Args:
        settings: Where the store is.
        wanted: Which records.
        images: Folder that gets the stored images of the records; None: none are written.
        known: Records and bodies that are left out, and get the others; None: none.

    Raises:
        NotFound: No crawl, no topic or no host has the name.
    """
    with _store_of(settings, wanted) as store:
        topic = store.topics.get(wanted.topic) if wanted.topic else None
        crawl = topic.crawl_id if topic else wanted.crawl or ""
        yield (
            Exported(record, save_images(store, record, crawl, images, largest=bool(topic)))
            if images
            else Exported(record, {})
            for record in select(store, wanted, known)
        )


@contextmanager
def lines_to_export(
    settings: Settings, wanted: Selection, known: Once | None = None
) -> Iterator[Iterator[bytes]]:
    """Opens the store for an iteration over selected records as stored, one line of JSON each.

    With a choice by crawl, host and time alone no record is decoded, which costs a third.

    Raises:
        NotFound: No crawl or no host has the name.
    """
    with _store_of(settings, wanted) as store:
        if wanted.kinds or wanted.min_chars or wanted.is_unique or wanted.topic:
            yield (record.to_json() for record in select(store, wanted, known))
        else:
            yield store.records.lines(wanted.crawl, wanted.since, wanted.host, known)


@contextmanager
def _store_of(settings: Settings, wanted: Selection) -> Iterator[Store]:
    """Opens the store; it has the crawl and the host."""
    with existing_store(settings) as store:
        if wanted.crawl and wanted.crawl not in {row.spec.crawl_id for row in store.crawls.all()}:
            raise NotFound(f"no crawl is named {wanted.crawl}; `crawls` lists them")
        if wanted.topic:
            from workers.operations.topics.topics import find_topic  # brings the cleaner

            find_topic(store, wanted.topic)
        if wanted.host and store.statistics.get(wanted.host) is None:
            hint = did_you_mean(near_hosts(store, wanted.host))
            raise NotFound(f"nothing of the host {wanted.host} is stored; `hosts` lists them{hint}")
        yield store
