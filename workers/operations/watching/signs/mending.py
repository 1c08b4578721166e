"""Whether a host that changed is mended: bodies are back, older records are cleaned again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.drift.watch import KNOWN_PLACES
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.storage.store.hosts import StoredBody
from crawlclean.storage.store.journal import OperationState
from crawlclean.storage.store.models import DriftEvent
from crawlclean.storage.store.protocol import Store

MOST_RECORDS = 10_000
"""A host with more records is not looked at: these are read in 35 ms."""

NEWEST = 8
"""Pages that show whether bodies are back."""

MOST_READ = 200
"""Pages of a host whose URL is read to know their class, and bodies that are read whole: 20 ms."""

SURE_CHARS, NO_CHARS = 60, 30
"""A body of so many characters is one (``Records.without_body``); a shorter one is none."""

_RECLEANING = frozenset({"reclean", "try_reclean"})
LOOKED_AT = 50
"""Long actions among which the re-cleaning of a host is looked for, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodiesBack:
    """Bodies of a host's pages since it lost them.

    Attributes:
        newest: The newest pages of the classes that lost them, at most ``NEWEST``.
        with_body: Those of them that have a body.
        empty: Pages since then whose record has none.
    """

    newest: int
    with_body: int
    empty: int

    @property
    def is_answering(self) -> bool:
        """Whether the newest pages have bodies."""
        return 0 < self.newest == self.with_body


@dataclass(frozen=True, slots=True, kw_only=True)
class Recleaning:
    """What a new version of a host's model has not cleaned.

    Attributes:
        older: Records of pages since the change that an older version made.
        operation: Number of the re-cleaning that a worker has ended; 0: none.
        cleaned: Records that it looked at.
        at_work: Number of a re-cleaning, or a dry run, that waits or goes on; 0: none.
        is_tried: Whether a dry run with this version has ended.
    """

    older: int
    operation: int = 0
    cleaned: int = 0
    at_work: int = 0
    is_tried: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.operation > 0 or not self.older


def bodies_back(store: Store, events: Sequence[DriftEvent], records: int) -> BodiesBack | None:
    """Returns how a host's pages have bodies since it lost them; None: it has too many records.

    Args:
        store: Holds the pages.
        events: The kept changes of the host, newest first; at least one.
        records: Its records.
    """
    if records > MOST_RECORDS:
        return None
    since, classes = changed_since(events), _classes(events[0])
    pages = [each for each in store.hosts.bodies(events[0].host) if each.fetched_at >= since]
    pages.sort(key=lambda each: each.fetched_at, reverse=True)
    newest = _of_classes(store, pages[: MOST_READ // 2], classes)[:NEWEST]
    short = [each for each in pages if each.body_chars < SURE_CHARS][:MOST_READ]
    empty = set(_empty(store, _of_classes(store, short, classes)))
    # Where most misfits have a body, only at another place or as short as a button, a body proves
    # nothing: it has to be at the place that was learned.
    alarm = events[0].alarm
    is_any_proof = 2 * alarm.empty >= alarm.misfits
    of_newest = sum(
        (each.page_id, each.crawl_id) in empty or not (is_any_proof or _is_at_place(store, each))
        for each in newest
    )
    return BodiesBack(newest=len(newest), with_body=len(newest) - of_newest, empty=len(empty))


def _is_at_place(store: Store, page: StoredBody) -> bool:
    record = store.records.get(page.page_id, page.crawl_id)
    return record is not None and record.body_source in KNOWN_PLACES


def recleaning(store: Store, event: DriftEvent, records: int) -> Recleaning | None:
    """Returns what is left to re-clean after a change that was learned; None: too many records."""
    version, at_work, is_tried = event.new_version, 0, False
    for each in store.operations.read(limit=LOOKED_AT):
        if each.kind not in _RECLEANING or each.target != event.host:
            continue
        if not each.state.has_ended:
            at_work = at_work or each.seq
        elif each.state is OperationState.DONE and _version(each.asked) >= version:
            if each.kind == "reclean":
                return Recleaning(older=0, operation=each.seq, cleaned=each.done)
            is_tried = True
    if records > MOST_RECORDS:
        return None
    # Pages before a redesign have another layout, and keep the last model of that.
    since = event.alarm.since if event.is_redesign else None
    older = sum(
        each.model_version < version and (since is None or each.fetched_at >= since)
        for each in store.hosts.bodies(event.host)
    )
    return Recleaning(older=older, at_work=at_work, is_tried=is_tried)


def changed_since(events: Iterable[DriftEvent]) -> datetime:
    """Since when pages do not fit the model of the newest change.

    Args:
        events: The kept changes of a host, newest first; at least one.
    """
    events = list(events)
    version = events[0].model_version
    return min(each.alarm.since for each in events if each.model_version == version)


def _classes(event: DriftEvent) -> frozenset[str]:
    """The URL classes that have changed; empty: any."""
    alarm = event.alarm
    return frozenset([alarm.url_class] if alarm.url_class else [name for name, _ in alarm.classes])


def _of_classes(
    store: Store, pages: Sequence[StoredBody], classes: frozenset[str]
) -> list[StoredBody]:
    if not classes:
        return list(pages)
    urls = store.urls.known(
        [each.page_id for each in pages], {each.crawl_id for each in pages}
    )  # a page has one URL in every crawl
    return [each for each in pages if class_of(urls.get(each.page_id, "")) in classes]


def _empty(store: Store, pages: Sequence[StoredBody]) -> list[tuple[str, str]]:
    found = [(each.page_id, each.crawl_id) for each in pages if each.body_chars < NO_CHARS]
    for each in pages:
        is_unsure = each.body_chars >= NO_CHARS
        if is_unsure and store.records.without_body(each.crawl_id, [each.page_id]):
            found.append((each.page_id, each.crawl_id))
    return found


def _version(asked: str) -> int:
    """The version of the model that an operation re-cleaned with."""
    with suppress(ValueError, TypeError, KeyError):
        return int(json.loads(asked)["version"])
    return 0
