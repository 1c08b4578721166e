"""Finds the records or responses of an export, and writes the images that records show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError, NotFound, StoreDamaged
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import CleanRecord, PageKind, Provenance
from crawlclean.storage.archive.warc import FirstBodies, Original, original_of, payload_digest
from crawlclean.storage.store.export import ExportState, Selection, select
from crawlclean.storage.store.ports import Answer
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import Once
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.files.stored_images import save_images
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_hosts


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
) -> Iterator[Iterator[tuple[CleanRecord, dict[str, str]]]]:
    """Opens the store for an iteration over selected records, each with its images' files.

    The files are by URL, ``{"https://example.com/a.jpg": "3f/3fa8....jpg"}``, relative to the
    image folder.

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
            (
                record,
                save_images(store, record, crawl, images, largest=bool(topic)) if images else {},
            )
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
        is_chosen = wanted.kinds or wanted.min_chars or wanted.min_confidence
        if is_chosen or wanted.is_unique or wanted.topic:
            yield (record.to_json() for record in select(store, wanted, known))
        else:
            yield store.records.lines(wanted.crawl, wanted.since, wanted.host, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedAnswer:
    """An archived response to export.

    Attributes:
        answer: The response.
        digest: Of its body, ``sha1:2ESO5RC26ABJ3G5EJ4F3GUPX5BLEGQXC``.
        original: The earlier record of the export with the same body; None: this one has it.
        provenance: How its URL came to its crawl.
        depth: Links from the nearest seed.
    """

    answer: Answer
    digest: str
    original: Original | None
    provenance: Provenance
    depth: int


@contextmanager
def answers_to_export(
    settings: Settings,
    wanted: Selection,
    known: ExportState | None = None,
    on_damage: Callable[[StoreDamaged], None] | None = None,
) -> Iterator[Iterator[ExportedAnswer]]:
    """Opens the store for an iteration over archived responses: by crawl, host and time.

    Args:
        settings: Where the store is.
        wanted: Which responses; ``since`` is a time of responses.
        known: Responses and bodies of the files that are whole; None: none.
        on_damage: Called for each response that the archive has lost, and that is left out.

    Raises:
        NotFound: No crawl or no host has the name.
    """
    with _store_of(settings, wanted) as store, closing(FirstBodies(known)) as bodies:
        found = store.answers.scan(wanted.crawl, wanted.host, wanted.since, known, on_damage)
        yield (_exported(bodies, *each) for each in found)


def _exported(
    bodies: FirstBodies, answer: Answer, provenance: Provenance, depth: int
) -> ExportedAnswer:
    digest = payload_digest(answer.body)
    original = None
    if answer.body:  # without one there is nothing to save, and no tool to look for it
        original = bodies.find(digest)
        if original is None:
            bodies.keep(digest, original_of(answer, digest))
    return ExportedAnswer(
        answer=answer, digest=digest, original=original, provenance=provenance, depth=depth
    )


@contextmanager
def _store_of(settings: Settings, wanted: Selection) -> Iterator[Store]:
    """Opens the store; it has the crawl and the host."""
    with existing_store(settings) as store:
        if wanted.crawl and store.crawls.get(wanted.crawl) is None:
            raise NotFound(Message("no_crawl", wanted.crawl))
        if wanted.topic:
            from crawlclean.workers.operations.topics.topics import find_topic  # brings the cleaner

            find_topic(store, wanted.topic)
        if wanted.host and store.statistics.get(wanted.host) is None:
            hint = did_you_mean(near_hosts(store, wanted.host))
            raise NotFound(f"nothing of the host {wanted.host} is stored; `hosts` lists them{hint}")
        yield store
