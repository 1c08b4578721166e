"""The versions of one page: its history, and the difference between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.storage.crawl_types import UrlRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.visits import difference
from crawlclean.workers.answers.hosts import PageVersion, VersionDifference
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.reading import UrlOrId, find_page, no_record

# The difference between two texts, line by line, and word by word in lines that were edited.

CONTEXT_LINES = 2
"""Equal lines shown around a difference."""
MOST_LINES = 4_000
"""Lines of both texts that are matched; longer texts count as rewritten."""
MOST_WORDS = 600
"""Words of a line that are matched: two such lines cost 30 ms."""
MOST_EDITED_LINES = 40
"""Lines that are compared word by word; those behind them are removed and added."""
LEAST_RATIO: Final = 0.3
"""Share of equal words below which a line was replaced, not edited."""

_WORDS = re.compile(r"[^\W\u2e80-\u9fff\uf900-\ufaff]+|\s+|.", re.DOTALL)
"""Words; each Chinese character and each mark is one."""


class Change(StrEnum):
    """What became of a line, or of a part of one."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    EDITED = "edited"  # only of lines: their parts are the others
    LEFT_OUT = "left_out"  # only of lines: equal ones that are not shown


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of a difference.

    Attributes:
        change: What became of it.
        parts: (what became of it, text), in order; of ``left_out`` none.
        lines: Number of lines: 1, or those that are left out.
    """

    change: Change
    parts: Sequence[tuple[Change, str]]
    lines: int = 1


def inline_difference(older: Sequence[str], newer: Sequence[str]) -> list[ChangedLine]:
    """Returns the difference between two texts; empty when they are equal.

    Args:
        older: Lines of the older text.
        newer: Lines of the newer text.
    """
    if list(older) == list(newer):
        return []
    if len(older) + len(newer) > MOST_LINES:
        return [*_whole(Change.REMOVED, older), *_whole(Change.ADDED, newer)]
    found: list[ChangedLine] = []
    matcher = SequenceMatcher(None, older, newer, autojunk=False)
    edited = told = 0
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        found += _left_out(group[0][1] - told)
        for tag, a, b, c, d in group:
            if tag == "equal":
                found += _whole(Change.SAME, older[a:b])
            elif tag == "replace" and b - a == d - c and edited + b - a <= MOST_EDITED_LINES:
                edited += b - a
                for before, after in zip(older[a:b], newer[c:d], strict=True):
                    found += _edited(before, after)
            else:
                found += [*_whole(Change.REMOVED, older[a:b]), *_whole(Change.ADDED, newer[c:d])]
        told = group[-1][2]
    return [*found, *_left_out(len(older) - told)]


def _whole(change: Change, lines: Sequence[str]) -> Iterator[ChangedLine]:
    for line in lines:
        yield ChangedLine(change, ((change, line),))


def _left_out(lines: int) -> list[ChangedLine]:
    """How many equal lines lie before, between or behind differences; none for none."""
    return [ChangedLine(Change.LEFT_OUT, (), lines)] if lines else []


def _edited(before: str, after: str) -> Iterator[ChangedLine]:
    ours, theirs = _WORDS.findall(before), _WORDS.findall(after)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    if max(len(ours), len(theirs)) > MOST_WORDS or matcher.ratio() < LEAST_RATIO:
        yield from (*_whole(Change.REMOVED, (before,)), *_whole(Change.ADDED, (after,)))
        return
    parts: list[tuple[Change, str]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            parts.append((Change.SAME, "".join(ours[a:b])))
            continue
        gone, new = "".join(ours[a:b]), "".join(theirs[c:d])
        parts += [(Change.REMOVED, gone)] * bool(gone) + [(Change.ADDED, new)] * bool(new)
    yield ChangedLine(Change.EDITED, tuple(parts))


def page_history(backends: Backends, url: UrlOrId) -> Part[PageVersion]:
    """The versions of a page, newest first, as `show --history --json` prints them.

    Args:
        backends: Queue and store.
        url: Its URL, with or without ``http://``, or the first digits of its page id, at least
            six: ``4f1193``.

    Raises:
        NotFound: No record of it is stored.
        InvalidUrl: It is no http(s) URL.
    """
    return Part(items=versions_of(backends, url))


def versions_of(backends: Backends, target: str, crawl: str = "") -> list[PageVersion]:
    """Returns the versions of a page as one crawl has it; ``""``: that which fetched it last.

    Raises:
        NotFound: No record of it is stored.
    """
    with backends.store() as store:
        page, history = _find(backends, store, target, crawl)
        newest = history[0][0]
        checked = store.revisits.checked_at(page.page_id, page.crawl_id) or newest
        walked = store.versions.walk(page.page_id, page.crawl_id)
        return [
            PageVersion(
                url=page.url,
                crawl=page.crawl_id,
                fetched_at=at,
                title=record.title,
                body_chars=len(record.body),
                posts=len(record.posts),
                added=added,
                removed=removed,
                model_version=record.model_version,
                is_newest=at == newest,
                checked_at=max(checked, newest) if at == newest else None,
            )
            for (at, added, removed), record in zip(history, walked, strict=False)
        ]


def page_difference(
    backends: Backends, url: UrlOrId, older: datetime | None = None, newer: datetime | None = None
) -> VersionDifference:
    """The difference between two versions of a page, as `show --diff --json` prints it.

    Args:
        backends: Queue and store.
        url: Its URL, with or without ``http://``, or the first digits of its page id, at least
            six: ``4f1193``.
        older: A time: the version that the page had then; without both times the newest version
            and the one before are compared.
        newer: A later time.

    Raises:
        NotFound: No record of it is stored, or the page has one version only.
        InvalidUrl: It is no http(s) URL.
    """
    times = [at if at.tzinfo else at.replace(tzinfo=UTC) for at in (older, newer) if at]
    page, before, after = two_versions(backends, url, times)
    return VersionDifference(
        url=page.url,
        crawl=page.crawl_id,
        older_at=before.fetched_at,
        newer_at=after.fetched_at,
        lines=difference(before, after),
    )


def two_versions(
    backends: Backends, target: str, wanted: Sequence[datetime], crawl: str = ""
) -> tuple[UrlRow, CleanRecord, CleanRecord]:
    """Returns (page, older, newer): two versions of a page.

    Args:
        backends: Queue and store.
        target: A URL, or the beginning of a page id.
        wanted: Two times: of each the version that the page had then, to the second; fewer: the
            newest and the one before.
        crawl: Only as this crawl has it; ``""``: the crawl that fetched it last.

    Raises:
        NotFound: No record of it is stored, or the page has one version only.
    """
    with backends.store() as store:
        page, history = _find(backends, store, target, crawl)
        known = [at for at, _, _ in history]
        if len(known) < 2:
            raise NotFound(
                f"{page.url} has one version, of {known[0]:%Y-%m-%d %H:%M:%S} UTC: no later visit "
                "found other content"
            )
        times = [known[1], known[0]]
        if len(wanted) == 2:
            times = sorted(_version_at(known, each) for each in wanted)
        older, newer = (store.versions.restore(page.page_id, page.crawl_id, at) for at in times)
        return page, older, newer


def _version_at(known: Sequence[datetime], at: datetime) -> datetime:
    """Which of the versions a page had at a time, to the second; the oldest, if it is later."""
    return next((each for each in known if each.replace(microsecond=0) <= at), known[-1])


def _find(
    backends: Backends, store: Store, target: str, crawl: str
) -> tuple[UrlRow, list[tuple[datetime, int, int]]]:
    """A page, and its versions as ``Versions.history`` has them, at least one.

    In the crawl that fetched it last, and stored a record of it; or in one crawl.

    Raises:
        NotFound: No record of it is stored.
    """
    page_id = find_page(store, target)
    for row in store.urls.rows(page_id):
        if crawl and row.crawl_id != crawl:
            continue
        history = store.versions.history(page_id, row.crawl_id)
        if history:
            return row, history
    raise no_record(backends, store, target)
