"""Drift at rest: each time a host was seen to have changed, with its evidence and what was done.

An event is one row under host, model version and time of its last page, so that a job that died
and is done again writes the same one. They belong to the host, like its models, and the newest of
a host are kept. A redesign (``redesign_after``) counts for learning and for
cleaning again: pages fetched before a redesign are left to the last model of their layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from cleaning.drift.alarms import Alarm, DriftSign
from cleaning.errors import StoreDamaged
from storage.store.codec import DAMAGE, dump, from_microseconds, load, to_microseconds
from storage.store.ports import Row, Scan, Tables, Values

KEPT_DRIFTS = 20
"""Events of a host that are kept, the newest ones."""

_COLUMNS = ("at", "model_version", "since", "sign", "outcome", "new_version", "evidence")


class DriftOutcome(StrEnum):
    """What was done about a change."""

    LEARNED = "learned"  # a new version of the model
    WAITS = "waits"  # too few pages to learn from so far
    NOTHING_BETTER = "nothing_better"  # the newer pages teach nothing that fits them better
    TAKEN_BACK = "taken_back"  # learned, and an operator took an older version up again


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEvent:
    """A host has changed.

    Attributes:
        host: Lower-case authority.
        model_version: The version its pages no longer fit.
        alarm: The evidence.
        outcome: What was done.
        new_version: The version that was learned, 0 without.
        detail: The same in words, may be empty.
    """

    host: str
    model_version: int
    alarm: Alarm
    outcome: DriftOutcome
    new_version: int = 0
    detail: str = ""

    @property
    def is_redesign(self) -> bool:
        """Whether pages fetched before it are of an older layout."""
        is_of_layout = self.alarm.sign in (DriftSign.BODIES, DriftSign.FRAME)
        return is_of_layout and self.outcome is DriftOutcome.LEARNED


class Drifts:
    """The table ``drifts``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def save(self, event: DriftEvent) -> None:
        """Stores an event, or what was done about it since; old ones go, ``KEPT_DRIFTS`` stay."""
        with self._tables.together():
            self._tables.put("drifts", _drift_row(event))
            for row in self._rows(event.host)[KEPT_DRIFTS:]:
                old = {"host": event.host, **dict(zip(_COLUMNS[:2], row, strict=False))}
                self._tables.delete("drifts", old)

    def of(self, host: str) -> list[DriftEvent]:
        """All that are kept of a host, newest first."""
        return [_drift(host, row) for row in self._rows(host)]

    def _rows(self, host: str) -> list[Values]:
        order = _COLUMNS[:2]
        return self._tables.scan(Scan("drifts", _COLUMNS, {"host": host}, order, backwards=True))

    def delete(self, host: str) -> int:
        """Forgets the events of a host; returns how many."""
        return self._tables.delete("drifts", {"host": host})


def redesign_after(
    events: Iterable[DriftEvent], pattern: str, fetched_at: datetime
) -> DriftEvent | None:
    """The first redesign of a host, or of the class of a URL, after a page was fetched.

    None says that the page is of the present layout; else the version that its layout had last is
    the event's ``model_version``.

    Args:
        events: Of its host.
        pattern: The class of its URL.
        fetched_at: When its answer ended.
    """
    later = [
        event
        for event in events
        if event.is_redesign
        and fetched_at < event.alarm.since
        and event.alarm.url_class in ("", pattern)
    ]
    return min(later, key=lambda event: event.alarm.since, default=None)


def recent(events: Iterable[DriftEvent], at: datetime, within: timedelta) -> list[DriftEvent]:
    """Those not long before a time."""
    return [event for event in events if at - within < event.alarm.at < at]


def take_back(drifts: Drifts, host: str, version: int) -> None:
    """Marks the events that led to versions after this one as taken back."""
    for event in drifts.of(host):
        if event.outcome is DriftOutcome.LEARNED and event.new_version > version:
            drifts.save(replace(event, outcome=DriftOutcome.TAKEN_BACK))


def _drift_row(event: DriftEvent) -> Row:
    alarm = event.alarm
    evidence = {
        "url_class": alarm.url_class,
        "pages": alarm.pages,
        "misfits": alarm.misfits,
        "empty": alarm.empty,
        "expected": alarm.expected,
        "classes": alarm.classes,
        "examples": alarm.examples,
        "detail": event.detail,
    }
    return {
        "host": event.host,
        "model_version": event.model_version,
        "at": to_microseconds(alarm.at),
        "since": to_microseconds(alarm.since),
        "sign": alarm.sign.value,
        "outcome": event.outcome.value,
        "new_version": event.new_version,
        "evidence": dump(evidence).decode(),
    }


def _drift(host: str, row: Sequence[Any]) -> DriftEvent:
    """The event of the values of ``_COLUMNS``.

    Raises:
        StoreDamaged: They are none that this program wrote.
    """
    try:
        said = load(row[6])
        return DriftEvent(
            host=host,
            model_version=row[1],
            alarm=Alarm(
                sign=DriftSign(row[3]),
                url_class=said["url_class"],
                since=from_microseconds(row[2]),
                at=from_microseconds(row[0]),
                pages=said["pages"],
                misfits=said["misfits"],
                empty=said["empty"],
                expected=said["expected"],
                classes=tuple((pattern, n) for pattern, n in said["classes"]),
                examples=tuple(said["examples"]),
            ),
            outcome=DriftOutcome(row[4]),
            new_version=row[5],
            detail=said["detail"],
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored drift event cannot be read: {error}") from error
