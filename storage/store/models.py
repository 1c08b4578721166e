"""Site models at rest: numbered versions of what a host taught, the newest is in use.

A version is never replaced. Numbers only grow, because the fence of records compares them: a
rollback stores the text of an older version under a new number, so that records made by the version
it takes back can be replaced. The versions of a host are thereby the log of what was in use when.
A store holds a model as text: reading it is not its business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from cleaning.errors import StoreDamaged
from storage.store.codec import DAMAGE, from_microseconds, to_microseconds
from storage.store.ports import Row, Scan, Tables
from storage.store.record_blobs import compress, decompress

KEPT_VERSIONS = 10
"""Versions of a host that are kept, the newest ones."""

_ABOUT = ("version", "learned_at", "saved_at", "page_count", "size_bytes", "reason", "detail")


class LearnReason(StrEnum):
    """Why a version was made."""

    ASKED = "asked"  # an operator's command
    PAGES = "pages"  # the host has reached a number of pages
    DRIFT = "drift"  # newer pages no longer fit the version before
    AGE = "age"  # the version before was old
    ROLLBACK = "rollback"  # an operator took an older version up again


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """One version of a host's model.

    Attributes:
        host: Lower-case authority.
        version: From 1; grows with every version of the host.
        learned_at: When the newest page it was learned from was fetched.
        saved_at: When it was stored, by the clock of who stored it; it is in use since then.
        page_count: Pages it was learned from.
        size_bytes: Of its text.
        reason: Why it was made.
        detail: The same in words, may be empty.
    """

    host: str
    version: int
    learned_at: datetime
    saved_at: datetime
    page_count: int
    size_bytes: int
    reason: LearnReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """A version with its text, as the store was given it."""

    about: ModelVersion
    text: str


class Models:
    """The table ``models``; a version is one row, inserted once."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def save(self, model: StoredModel) -> bool:
        """Whether the version is now stored: False unless it is newer than all of its host.

        Of two who save the same version one gets False. Old versions go,
        ``KEPT_VERSIONS`` stay.
        """
        host = model.about.host
        with self._tables.together():
            if model.about.version <= self.newest(host):
                return False
            if not self._tables.add("models", [_model_row(model)]):
                return False  # another was first
            old = self._versions(host)[KEPT_VERSIONS:]
            if old:
                self._tables.delete("models", {"host": host, "version": old})
        return True

    def get(self, host: str, version: int | None = None) -> StoredModel | None:
        """A version of a host's model, the newest when ``version`` is None; None without."""
        where = {"host": host} | ({} if version is None else {"version": version})
        wanted = Scan("models", (*_ABOUT, "packed"), where, ("version",), backwards=True, limit=1)
        for *about, packed in self._tables.scan(wanted):
            return StoredModel(about=_version(host, about), text=_unpack_text(packed))
        return None

    def versions(self, host: str) -> list[ModelVersion]:
        """All that are kept of a host, newest first."""
        wanted = Scan("models", _ABOUT, {"host": host}, ("version",), backwards=True)
        return [_version(host, row) for row in self._tables.scan(wanted)]

    def newest(self, host: str) -> int:
        """The number of the version in use, 0 when the host has none."""
        return next(iter(self._versions(host, 1)), 0)

    def _versions(self, host: str, limit: int | None = None) -> list[int]:
        """Numbers, newest first."""
        order = ("version",)
        wanted = Scan("models", order, {"host": host}, order, backwards=True, limit=limit)
        return [row[0] for row in self._tables.scan(wanted)]

    def delete(self, host: str) -> int:
        """Forgets what a host taught; returns how many versions were kept."""
        return self._tables.delete("models", {"host": host})


def _model_row(model: StoredModel) -> Row:
    about = model.about
    return {
        "host": about.host,
        "version": about.version,
        "learned_at": to_microseconds(about.learned_at),
        "saved_at": to_microseconds(about.saved_at),
        "page_count": about.page_count,
        "size_bytes": about.size_bytes,
        "reason": about.reason.value,
        "detail": about.detail,
        "packed": compress(model.text.encode()),
    }


def _version(host: str, row: Sequence[Any]) -> ModelVersion:
    """The version of the values of ``_ABOUT``.

    Raises:
        StoreDamaged: They are none that this program wrote.
    """
    try:
        return ModelVersion(
            host=host,
            version=row[0],
            learned_at=from_microseconds(row[1]),
            saved_at=from_microseconds(row[2]),
            page_count=row[3],
            size_bytes=row[4],
            reason=LearnReason(row[5]),
            detail=row[6],
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored model cannot be read: {error}") from error


def _unpack_text(packed: Any) -> str:
    """The text of a stored model.

    Raises:
        StoreDamaged: The bytes are none that this program wrote.
    """
    try:
        return decompress(bytes(packed)).decode()
    except DAMAGE as error:
        raise StoreDamaged(f"a stored model cannot be read: {error}") from error
