"""Tokens of the console's API, and the answers to its actions, in ``console.sqlite``.

A token is stored as the SHA-256 of its secret, so the file opens nothing to its reader. Answers to
actions are kept for a day: a program that repeats a request gets the first one's answer.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.queue.embedded import make_data_folder

# What the console keeps between its starts: a secret, who is logged in, tokens that served once.
#
# A file of its own beside the records, ``console.sqlite`` (mode 0600): logins outlive the queue,
# and no store of results holds them. A session is stored as the SHA-256 of its id, so the file
# opens no session to its reader.

FILE = "console.sqlite"
SECRET_BYTES = 32  # nobody guesses 256 bits
TOUCH_S = 60
"""A session's last use is written when the written one is older than this: no write a request."""

_FILE_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (digest BLOB PRIMARY KEY, used_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS spent (
    token TEXT PRIMARY KEY, at INTEGER NOT NULL, seq INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, digest BLOB NOT NULL, name TEXT NOT NULL, scope TEXT NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER, used_at INTEGER
);
CREATE TABLE IF NOT EXISTS answers (
    token TEXT NOT NULL, name TEXT NOT NULL, asked BLOB NOT NULL, at INTEGER NOT NULL,
    status INTEGER, body BLOB, PRIMARY KEY (token, name)
);
"""


class ConsoleFile:
    """The file of one data folder; threads take turns. Methods raise ``StoreUnavailable``."""

    def __init__(self, data: Path) -> None:
        """Opens the file, and creates what is absent.

        Raises:
            StoreUnavailable: The folder cannot be made, or not be written.
        """
        path = data / FILE
        self._lock = threading.Lock()
        try:
            make_data_folder(data)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._file.executescript(_FILE_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable(f"{path} cannot be written ({error})") from error

    def secret(self, name: str) -> bytes:
        """32 random bytes of a name, the same at every start."""
        with self._turn() as file:
            file.execute(
                "INSERT OR IGNORE INTO facts VALUES (?, ?)",
                (name, secrets.token_bytes(SECRET_BYTES)),
            )
            (value,) = file.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return bytes(value)

    def use_password(self, mark: bytes) -> None:
        """Ends every session when the mark of the password is another than at the last start."""
        with self._turn() as file:
            before = file.execute("SELECT value FROM facts WHERE name = 'password'").fetchone()
            if before is not None and bytes(before[0]) != mark:
                file.execute("DELETE FROM sessions")
            file.execute("INSERT OR REPLACE INTO facts VALUES ('password', ?)", (mark,))

    def open_session(self, digest: bytes, now_s: int, idle_s: int) -> None:
        """Adds a session, and deletes those that were not used for ``idle_s`` seconds."""
        with self._turn() as file:
            file.execute("DELETE FROM sessions WHERE used_at < ?", (now_s - idle_s,))
            file.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", (digest, now_s))

    def is_open(self, digest: bytes, now_s: int, idle_s: int) -> bool:
        """Whether a session was used in the last ``idle_s`` seconds; this is a use."""
        with self._turn() as file:
            row = file.execute(
                "SELECT used_at FROM sessions WHERE digest = ?", (digest,)
            ).fetchone()
            if row is None or row[0] < now_s - idle_s:
                return False
            if row[0] < now_s - TOUCH_S:
                file.execute("UPDATE sessions SET used_at = ? WHERE digest = ?", (now_s, digest))
        return True

    def close_session(self, digest: bytes) -> None:
        """Ends a session."""
        with self._turn() as file:
            file.execute("DELETE FROM sessions WHERE digest = ?", (digest,))

    def spend(self, token: str, now_s: int, kept_s: int) -> int | None:
        """Takes a token that serves once; returns None, or the action that took it before.

        Args:
            token: The token.
            now_s: Seconds since 1970.
            kept_s: Tokens that were taken longer ago are forgotten.

        Returns:
            The number that ``note_action`` has kept; 0: the process ended before it did.
        """
        with self._turn() as file:
            file.execute("DELETE FROM spent WHERE at < ?", (now_s - kept_s,))
            row = (token, now_s)
            new = file.execute("INSERT OR IGNORE INTO spent VALUES (?, ?, 0)", row).rowcount
            if new:
                return None
            (seq,) = file.execute("SELECT seq FROM spent WHERE token = ?", (token,)).fetchone()
        return int(seq)

    def note_action(self, token: str, seq: int) -> None:
        """Keeps the number of the action that took a token."""
        with self._turn() as file:
            file.execute("UPDATE spent SET seq = ? WHERE token = ?", (seq, token))

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._file.close()

    @contextmanager
    def _turn(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time."""
        try:
            with self._lock:
                yield self._file
        except sqlite3.Error as error:
            raise StoreUnavailable(f"{FILE}: {error}") from error


KEPT_S = 86_400
"""Answers to actions are kept this long."""


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


class TokenLine(Struct, frozen=True, kw_only=True):
    """A line of `console tokens`: a token of the console's API, without its secret.

    Attributes:
        id: Its public part, 8 hex digits.
        name: What it is for.
        scope: What it permits.
        created_at: When it was made.
        expires_at: When it ends; null: when it is revoked.
        used_at: When it was used last, to the minute; null: never.
    """

    id: str
    name: str
    scope: TokenScope
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None


class TokenFile(ConsoleFile):
    """The tokens of one data folder; threads take turns. Methods raise ``StoreUnavailable``."""

    @staticmethod
    def is_there(data: Path) -> bool:
        """Whether a data folder has a file of its console, and so perhaps tokens."""
        return (data / FILE).exists()

    def add(self, row: TokenLine, digest: bytes) -> None:
        """Adds a token."""
        ends = None if row.expires_at is None else int(row.expires_at.timestamp())
        values = (row.id, digest, row.name, row.scope, int(row.created_at.timestamp()), ends)
        with self._turn() as file:
            file.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", values)

    def find(self, token: str) -> tuple[TokenLine, bytes] | None:
        """A token by its id, with the digest of its secret; None: there is none."""
        with self._turn() as file:
            row = file.execute(
                f"SELECT {_COLUMNS}, digest FROM tokens WHERE id = ?",  # noqa: S608 - our columns
                (token,),
            ).fetchone()
        return (_token(row[:-1]), bytes(row[-1])) if row else None

    def tokens(self) -> list[TokenLine]:
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

    def touch(self, row: TokenLine, at: datetime) -> None:
        """Notes that a token was used."""
        if row.used_at is None or (at - row.used_at).total_seconds() >= TOUCH_S:
            with self._turn() as file:
                file.execute(
                    "UPDATE tokens SET used_at = ? WHERE id = ?", (int(at.timestamp()), row.id)
                )

    def begin(self, token: str, name: str, asked: bytes) -> tuple[bytes, int | None, bytes] | None:
        """Notes an action that begins; returns what is known when it was asked for before.

        That is the digest of the request, and status and body of its answer; without a status the
        action has not ended.

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
        return bytes(row[0]), row[1], bytes(row[2] or b"")

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


def _token(row: tuple[str, str, str, int, int | None, int | None]) -> TokenLine:
    name, label, scope, created, ends, used = row
    return TokenLine(
        id=name,
        name=label,
        scope=TokenScope(scope),
        created_at=datetime.fromtimestamp(created, UTC),
        expires_at=None if ends is None else datetime.fromtimestamp(ends, UTC),
        used_at=None if used is None else datetime.fromtimestamp(used, UTC),
    )
