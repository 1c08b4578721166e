"""Site models at rest: numbered versions of a host's model; the newest is in use.

A version is never replaced. Numbers only grow, because records are fenced by them: a rollback
stores the text of an older version under a new number, so that records made by the rejected version
can be replaced. So the versions of a host are a log of the models in use.
A store holds a model as text: reading it is not its business.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.cleaning.lexicon import counted
from crawlclean.storage.store.events import Event, EventKind, Events
from crawlclean.storage.store.ports import Scan, Tables
from crawlclean.storage.store.record_blobs import compress, decompress
from crawlclean.storage.store.row_types import RowType

KEPT_VERSIONS = 10
"""Versions kept of a host, the newest."""


class LearnReason(StrEnum):
    """Why a version was made."""

    ASKED = "asked"  # by an operator's command
    PAGES = "pages"  # the host has reached a number of pages
    DRIFT = "drift"  # newer pages no longer fit the version before
    AGE = "age"  # the version before was old
    ROLLBACK = "rollback"  # an operator chose an older version


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """One version of a host's model.

    Attributes:
        host: Lower-case authority.
        version: From 1; grows with every version of the host.
        learned_at: Fetch of the newest page it was learned from.
        saved_at: When it was stored, by the storing machine's clock; in use since then.
        page_count: Number of pages it was learned from.
        size_bytes: Size of its text.
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


_ABOUT = RowType(ModelVersion, "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """A version with the text of the model."""

    about: ModelVersion
    text: str


class Models:
    """The member ``models``; a version is one row, inserted once."""

    def __init__(self, tables: Tables, events: Events) -> None:
        self._tables = tables
        self._events = events

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
            self._events.add(_event_of(model.about))
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

    def versions(self, host: str) -> list[ModelVersion]:
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


def _event_of(about: ModelVersion) -> Event:
    """The event of a version: ``version 3 of its model, from 64 pages (drift: ...)``."""
    why = f"{about.reason.value}: {about.detail}" if about.detail else about.reason.value
    return Event(
        kind=EventKind.MODEL,
        host=about.host,
        text=f"version {about.version} of its model, "
        f"from {counted(about.page_count, 'page')} ({why})",
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
