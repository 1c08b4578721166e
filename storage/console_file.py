"""What the console keeps between its starts: a secret, who is logged in, tokens that served once.

A file of its own beside the records, ``console.sqlite`` (mode 0600): logins outlive the queue, and
no store of results holds them. A session is stored as the SHA-256 of its id, so the file opens
no session to its reader.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.queue.embedded import make_data_folder

FILE = "console.sqlite"
SECRET_BYTES = 32
TOUCH_S = 60
"""A session's last use is written when the written one is older than this: no write a request."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (digest BLOB PRIMARY KEY, used_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS spent (
    token TEXT PRIMARY KEY, at INTEGER NOT NULL, seq INTEGER NOT NULL
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
            self._file.executescript(_SCHEMA)
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
