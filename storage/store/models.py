"""Site models at rest: numbered versions of what a host taught, the newest is in use.

A version is never replaced. Numbers only grow, because the fence of records compares them: a
rollback stores what an older version said under a new number, so that records made by the version
it takes back can be replaced. The versions of a host are thereby the log of what was in use when.
A store holds a model as text: reading it is not its business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from cleaning.errors import StoreDamaged
from storage.store.codec import DAMAGE, from_microseconds, to_microseconds
from storage.store.record_blobs import compress, decompress

KEPT_VERSIONS = 10
"""Versions of a host that are kept, the newest ones."""

VERSION_COLUMNS = "version, learned_at, saved_at, page_count, size_bytes, reason, detail"
"""Of ``version_row``, after the host."""


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


class ModelStore(Protocol):
    """What a store does with models."""

    def save_model(self, model: StoredModel) -> bool:
        """Whether the version is now stored: False unless it is newer than all of its host.

        Of two who save the same version one is told False. Old versions go,
        ``KEPT_VERSIONS`` stay.
        """

    def model(self, host: str, version: int | None = None) -> StoredModel | None:
        """A version of a host's model, the newest when ``version`` is None; None without."""

    def model_versions(self, host: str) -> list[ModelVersion]:
        """All that are kept of a host, newest first."""

    def newest_model_version(self, host: str) -> int:
        """The number of the version in use, 0 when the host has none."""

    def delete_models(self, host: str) -> int:
        """Forgets what a host taught; returns how many versions were kept."""


def version_values(model: StoredModel) -> tuple[Any, ...]:
    """The values of ``VERSION_COLUMNS``."""
    about = model.about
    return (
        about.version,
        to_microseconds(about.learned_at),
        to_microseconds(about.saved_at),
        about.page_count,
        about.size_bytes,
        about.reason.value,
        about.detail,
    )


def version_row(host: str, row: Sequence[Any]) -> ModelVersion:
    """What the values of ``VERSION_COLUMNS`` say.

    Raises:
        StoreDamaged: Nothing that was written by us.
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


def pack_text(text: str) -> bytes:
    """A model's text in few bytes."""
    return compress(text.encode())


def unpack_text(packed: Any) -> str:
    """What ``pack_text`` was given.

    Raises:
        StoreDamaged: Nothing that was written by us.
    """
    try:
        return decompress(bytes(packed)).decode()
    except DAMAGE as error:
        raise StoreDamaged(f"a stored model cannot be read: {error}") from error
