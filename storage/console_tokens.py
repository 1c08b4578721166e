"""Tokens of the console's API, and the answers to its actions, in ``console.sqlite``.

A token is stored as the SHA-256 of its secret, so the file opens nothing to its reader. Answers to
actions are kept for a day: a program that repeats a request gets the first one's answer.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from crawlclean.storage.console_file import FILE, ConsoleFile

KEPT_S = 86_400
"""Answers to actions are kept this long."""

TOUCH_S = 60
"""A token's last use is written when the written one is older than this: no write a request."""

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, digest BLOB NOT NULL, "
    "name TEXT NOT NULL, scope TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER, "
    "used_at INTEGER)",
    "CREATE TABLE IF NOT EXISTS answers (token TEXT NOT NULL, name TEXT NOT NULL, "
    "asked BLOB NOT NULL, at INTEGER NOT NULL, status INTEGER, body BLOB, "
    "PRIMARY KEY (token, name))",
)
_COLUMNS = "id, name, scope, created_at, expires_at, used_at"


class TokenScope(StrEnum):
    """What a token permits."""

    READ = "read"  # to read
    ACT = "act"  # also what can be taken back: pause, resume
    ADMIN = "admin"  # also what cannot: purge

    def permits(self, wanted: TokenScope) -> bool:
        """Whether this scope contains another."""
        order = list(TokenScope)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """A token without its secret.

    Attributes:
        id: Its public part, 8 hex digits: ``4f1193a0``.
        name: What it is for.
        scope: What it permits.
        created_at: When it was made.
        expires_at: When it ends; None: never.
        used_at: When it was used last, to the minute; None: never.
    """

    id: str
    name: str
    scope: TokenScope
    created_at: datetime
    expires_at: datetime | None = None
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """An action that was asked for before.

    Attributes:
        asked: Digest of the request.
        status: Status of its answer; None: it has not ended.
        body: Its answer.
    """

    asked: bytes
    status: int | None
    body: bytes


class TokenFile(ConsoleFile):
    """The tokens of one data folder; threads take turns. Methods raise ``StoreUnavailable``."""

    def __init__(self, data: Path) -> None:
        """Opens the file, and creates what is absent.

        Raises:
            StoreUnavailable: The folder cannot be made, or not be written.
        """
        super().__init__(data)
        with self._turn() as file:
            for statement in _SCHEMA:
                file.execute(statement)

    @staticmethod
    def is_there(data: Path) -> bool:
        """Whether a data folder has a file of its console, and so perhaps tokens."""
        return (data / FILE).exists()

    def add(self, row: TokenRow, digest: bytes) -> None:
        """Adds a token."""
        ends = None if row.expires_at is None else int(row.expires_at.timestamp())
        values = (row.id, digest, row.name, row.scope, int(row.created_at.timestamp()), ends)
        with self._turn() as file:
            file.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", values)

    def find(self, token: str) -> tuple[TokenRow, bytes] | None:
        """A token by its id, with the digest of its secret; None: there is none."""
        with self._turn() as file:
            row = file.execute(
                f"SELECT {_COLUMNS}, digest FROM tokens WHERE id = ?",  # noqa: S608 - our columns
                (token,),
            ).fetchone()
        return (_token(row[:-1]), bytes(row[-1])) if row else None

    def tokens(self) -> list[TokenRow]:
        """Every token, the newest first; those that have expired are among them."""
        with self._turn() as file:
            rows = file.execute(
                f"SELECT {_COLUMNS} FROM tokens ORDER BY created_at DESC, id"  # noqa: S608
            ).fetchall()
        return [_token(row) for row in rows]

    def revoke(self, token: str) -> bool:
        """Deletes a token; False: there was none."""
        with self._turn() as file:
            file.execute("DELETE FROM answers WHERE token = ?", (token,))
            return bool(file.execute("DELETE FROM tokens WHERE id = ?", (token,)).rowcount)

    def touch(self, row: TokenRow, at: datetime) -> None:
        """Notes that a token was used."""
        if row.used_at is None or (at - row.used_at).total_seconds() >= TOUCH_S:
            with self._turn() as file:
                file.execute(
                    "UPDATE tokens SET used_at = ? WHERE id = ?", (int(at.timestamp()), row.id)
                )

    def begin(self, token: str, name: str, asked: bytes) -> KnownAnswer | None:
        """Notes an action that begins; returns what is known when it was asked for before.

        Args:
            token: Id of the token.
            name: The name that the client gave the action.
            asked: Digest of the request.
        """
        now = int(time.time())
        with self._turn() as file:
            file.execute("DELETE FROM answers WHERE at < ?", (now - KEPT_S,))
            is_new = file.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, NULL, NULL)",
                (token, name, asked, now),
            ).rowcount
            if is_new:
                return None
            row = file.execute(
                "SELECT asked, status, body FROM answers WHERE token = ? AND name = ?",
                (token, name),
            ).fetchone()
        return KnownAnswer(bytes(row[0]), row[1], bytes(row[2] or b""))

    def end(self, token: str, name: str, status: int, body: bytes) -> None:
        """Keeps the answer to an action."""
        with self._turn() as file:
            file.execute(
                "UPDATE answers SET status = ?, body = ? WHERE token = ? AND name = ?",
                (status, body, token, name),
            )

    def free(self, token: str, name: str) -> None:
        """Forgets an action that did nothing."""
        with self._turn() as file:
            file.execute("DELETE FROM answers WHERE token = ? AND name = ?", (token, name))


def digest_of(secret: str) -> bytes:
    """What is kept of a token's secret, which has 160 random bits."""
    return hashlib.sha256(secret.encode()).digest()


def _token(row: tuple[str, str, str, int, int | None, int | None]) -> TokenRow:
    name, label, scope, created, ends, used = row
    return TokenRow(
        id=name,
        name=label,
        scope=TokenScope(scope),
        created_at=datetime.fromtimestamp(created, UTC),
        expires_at=None if ends is None else datetime.fromtimestamp(ends, UTC),
        used_at=None if used is None else datetime.fromtimestamp(used, UTC),
    )
