"""Site models at rest: numbered versions of a host's model; the newest is in use.

A version is never replaced. Numbers only grow, because records are fenced by them: a rollback
stores the text of an older version under a new number, so that records made by the rejected version
can be replaced. So the versions of a host are a log of the models in use.
A store holds a model as text: reading it is not its business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, dump
from crawlclean.cleaning.messages import Message, read_line, stored
from crawlclean.storage.store.journal import Event, EventKind, WithEvents
from crawlclean.storage.store.ports import Row, Scan, Values
from crawlclean.storage.store.rows import RowType, compress, decompress, to_microseconds

KEPT_VERSIONS = 10
"""Versions kept of a host, the newest."""


class LearnReason(StrEnum):
    """Why a version was made."""

    ASKED = "asked"  # by an operator's command
    PAGES = "pages"  # the host has reached a number of pages
    DRIFT = "drift"  # newer pages no longer fit the version before
    AGE = "age"  # the version before was old
    ROLLBACK = "rollback"  # an operator chose an older version
    OVERRIDES = "overrides"  # a person changed what overrides say of the pages


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLine:
    """A version of a host's model, without the model: the line of `model rollback`.

    Attributes:
        host: Lower-case authority.
        version: From 1; grows with every version of the host.
        learned_at: Fetch of the newest page it was learned from.
        saved_at: When it was stored.
        page_count: Pages it was learned from.
        size_bytes: Size of the model as text.
        reason: Why it was made.
        detail: The reason in words for a person, may be empty.
    """

    host: str
    version: int
    learned_at: datetime
    saved_at: datetime
    page_count: int
    size_bytes: int
    reason: LearnReason
    detail: str = ""


_ABOUT = RowType(ModelLine, "model", line="detail")


class StoredModel(Struct, frozen=True, kw_only=True):
    """A version with the text of the model."""

    about: ModelLine
    text: str


class Models(WithEvents):
    """The member ``models``; a version is one row, inserted once."""

    def save(self, model: StoredModel) -> bool:
        """Stores a version; False when the host has the same or a newer version.

        Of two processes that save the same version one gets False. All but the newest
        ``KEPT_VERSIONS`` are deleted.
        """
        host = model.about.host
        with self._tables.together():
            if model.about.version <= self.newest(host):
                return False
            row = {**_ABOUT.row(model.about), "packed": compress(model.text.encode())}
            if not self._tables.add("models", [row]):
                return False  # another was first
            old = self._versions(host)[KEPT_VERSIONS:]
            if old:
                self._tables.delete("models", {"host": host, "version": old})
            self._events.add(_version_event(model.about))
        return True

    def get(self, host: str, version: int | None = None) -> StoredModel | None:
        """A version of a host's model (None: the newest); None when it is not stored."""
        where = {"host": host} | ({} if version is None else {"version": version})
        wanted = Scan(
            "models", (*_ABOUT.columns, "packed"), where, ("version",), backwards=True, limit=1
        )
        for *about, packed in self._tables.scan(wanted):
            return StoredModel(about=_ABOUT.read(about), text=_unpack_text(packed))
        return None

    def versions(self, host: str) -> list[ModelLine]:
        """The kept versions of a host, newest first."""
        wanted = Scan("models", _ABOUT.columns, {"host": host}, ("version",), backwards=True)
        return [_ABOUT.read(row) for row in self._tables.scan(wanted)]

    def newest(self, host: str) -> int:
        """The number of the version in use; 0 when the host has no model."""
        return next(iter(self._versions(host, 1)), 0)

    def _versions(self, host: str, limit: int | None = None) -> list[int]:
        """Numbers, newest first."""
        order = ("version",)
        wanted = Scan("models", order, {"host": host}, order, backwards=True, limit=limit)
        return [row[0] for row in self._tables.scan(wanted)]

    def delete(self, host: str) -> int:
        """Deletes all versions of a host; returns how many."""
        return self._tables.delete("models", {"host": host})


def _version_event(about: ModelLine) -> Event:
    """The event of a version: ``version 3 of its model, from 64 pages (drift: ...)``."""
    reason = about.reason.value
    why = Message("learned", reason)
    if about.detail:
        why = Message("learned_why", reason, about.detail)
    return Event(
        kind=EventKind.MODEL,
        host=about.host,
        text=Message("model", about.version, about.page_count, why),
        link=str(about.version),
        at=about.saved_at,
    )


def _unpack_text(packed: Any) -> str:
    """The text of a stored model.

    Raises:
        StoreDamaged: This program never wrote these bytes.
    """
    try:
        return decompress(bytes(packed)).decode()
    except DAMAGE as error:
        raise StoreDamaged(f"a stored model cannot be read: {error}") from error


# Drift at rest: detected changes of hosts, each with its evidence and the reaction.
#
# The key of an event is host, model version and time of its last page, so that a repeated job
# writes the same row. Events belong to a host, not to a crawl; the newest 20 are kept. Learning and
# re-cleaning heed redesigns (``redesign_after``): pages fetched before a redesign keep the last
# model of their layout.

KEPT_DRIFTS = 20
"""Events kept of a host, the newest."""


class DriftOutcome(StrEnum):
    """The reaction to a change."""

    LEARNED = "learned"  # a new version of the model
    WAITS = "waits"  # too few pages to learn from so far
    NOTHING_BETTER = "nothing_better"  # a model of the newer pages fits them no better
    TAKEN_BACK = "taken_back"  # learned, then an operator rolled back to an older version


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEvent:
    """A detected change of a host.

    Attributes:
        host: Lower-case authority.
        model_version: The model version that its pages no longer fit.
        alarm: The evidence.
        outcome: The reaction.
        new_version: The version that was learned; 0: none.
        detail: The outcome in words for a person, may be empty.
    """

    host: str
    model_version: int
    alarm: Alarm
    outcome: DriftOutcome
    new_version: int = 0
    detail: str = ""

    @property
    def is_change(self) -> bool:
        """Whether the host itself has changed; a kind of page that is met later is no change."""
        return self.alarm.sign in (DriftSign.BODIES, DriftSign.FRAME)

    @property
    def is_redesign(self) -> bool:
        """Whether pages fetched before the change have an older layout."""
        return self.is_change and self.outcome is DriftOutcome.LEARNED


_DRIFT = RowType(DriftEvent, "drift event", but=("alarm", "detail"))
_COLUMNS = ("at", *_DRIFT.columns, "evidence")


class Drifts(WithEvents):
    """The member ``drifts``."""

    def save(self, event: DriftEvent) -> None:
        """Stores an event, or its new outcome; deletes all but the newest ``KEPT_DRIFTS``."""
        with self._tables.together():
            self._tables.put("drifts", _drift_row(event))
            if event.is_change and (event.detail or event.outcome is not DriftOutcome.WAITS):
                self._events.add(_drift_event(event))  # a change, once it is answered
            for at, host, model_version, *_ in self._rows(event.host)[KEPT_DRIFTS:]:
                old = {"host": host, "model_version": model_version, "at": at}
                self._tables.delete("drifts", old)

    def of(self, host: str) -> list[DriftEvent]:
        """The kept events of a host, newest first."""
        return list(map(_drift, self._rows(host)))

    def _rows(self, host: str) -> list[Values]:
        order = ("at", "model_version")
        return self._tables.scan(Scan("drifts", _COLUMNS, {"host": host}, order, backwards=True))

    def delete(self, host: str) -> int:
        """Deletes the events of a host; returns how many."""
        return self._tables.delete("drifts", {"host": host})


def redesign_after(
    events: Iterable[DriftEvent], pattern: str, fetched_at: datetime
) -> DriftEvent | None:
    """The first redesign of a host, or of the class of a URL, after a page was fetched.

    Args:
        events: Events of its host.
        pattern: The class of its URL, ``/thread-{n}-{n}-1.html``.
        fetched_at: End of its response.

    Returns:
        The event, whose ``model_version`` is the last one of the page's layout; None when the page
        has the present layout.
    """
    later = [
        event
        for event in events
        if event.is_redesign
        and fetched_at < event.alarm.since
        and event.alarm.url_class in ("", pattern)
    ]
    return min(later, key=lambda event: event.alarm.since, default=None)


def take_back(drifts: Drifts, host: str, version: int) -> None:
    """Marks as taken back the events that led to versions after this one."""
    for event in drifts.of(host):
        if event.outcome is DriftOutcome.LEARNED and event.new_version > version:
            drifts.save(replace(event, outcome=DriftOutcome.TAKEN_BACK))


def _drift_event(drift: DriftEvent) -> Event:
    """The event of a change, ``bodies: learned version 3``; equal for an equal change."""
    sign, outcome = (each.value.replace("_", " ") for each in (drift.alarm.sign, drift.outcome))
    text = Message("change", sign, outcome)
    if drift.new_version:
        text = Message("change_version", sign, outcome, drift.new_version)
    return Event(
        kind=EventKind.DRIFT,
        host=drift.host,
        text=Message("change_why", text, drift.detail) if drift.detail else text,
        link=str(drift.new_version or drift.model_version),
        at=drift.alarm.at,
    )


class _Evidence(msgspec.Struct):
    alarm: Alarm
    detail: str


_EVIDENCE = msgspec.json.Decoder(_Evidence)


def _drift_row(event: DriftEvent) -> Row:
    return {
        **_DRIFT.row(event),
        "at": to_microseconds(event.alarm.at),
        "evidence": dump(_Evidence(alarm=event.alarm, detail=stored(event.detail))).decode(),
    }


def _drift(row: Sequence[Any]) -> DriftEvent:
    """The event of the values of ``_COLUMNS``.

    Raises:
        StoreDamaged: This program never wrote these values.
    """
    try:
        found = _EVIDENCE.decode(row[-1])
    except DAMAGE as error:
        raise StoreDamaged(f"a stored drift event cannot be read: {error}") from error
    return _DRIFT.read(row[1:-1], alarm=found.alarm, detail=read_line(found.detail))
