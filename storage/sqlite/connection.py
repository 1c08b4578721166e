"""One SQLite connection: opening, transactions, forks, and translation of SQLite's errors.

Threads of a process take turns on it. It is opened at first use and closed before a fork: SQLite's
locks belong to the process, and a child that inherits them can destroy the file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crawlclean.cleaning.errors import (
    DatabaseDamaged,
    StorageError,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)
from crawlclean.storage.sqlite.schema import prepare

BUSY_TIMEOUT_S = 30.0  # for other writers: a long transaction is over by then
WAL_LIMIT_BYTES = 16 * 1024 * 1024
"""Size to which the write-ahead log is truncated when it is reused."""
REMEDY = "put a backup back or move it away, and run the same command again"
"""The command then finds a store that is older than its queue, and names `crawl recover`."""
LOOK_STEPS = 10_000
"""Steps of SQLite's machine between two looks at the clock: about a millisecond."""


class SqliteConnection:
    """A connection that threads share, and that forked processes may inherit."""

    def __init__(self, path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """Opens nothing yet.

        Args:
            path: The SQLite file, created at first use; its folder must exist.
            busy_timeout_s: How long a write waits for another process's write.
        """
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._db: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        _close_before_forks(self)

    @property
    def is_read_only(self) -> bool:
        """Whether the folder, a backup's or another user's, cannot be written by this user."""
        return self.path.exists() and not os.access(self.path.parent, os.W_OK)

    def _open_read_only(self) -> sqlite3.Connection:
        """Opens a file that nobody writes: SQLite makes no log beside it.

        Raises:
            StoreUnavailable: The log beside it holds what the file lacks.
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise StoreUnavailable(
                f"{self.path.parent} is read-only, and {log.name} was not written back: "
                "copy the folder to a place where it can be written"
            )
        db = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            prepare(db, self.path, is_read_only=True)
        except BaseException:
            db.close()
            raise
        return db

    def _open(self) -> sqlite3.Connection:
        if self.is_read_only:
            return self._open_read_only()
        db = sqlite3.connect(
            self.path,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,  # threads take turns, see use
        )
        try:
            self._use_wal(db)
            db.execute("PRAGMA synchronous = FULL")
            db.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
            prepare(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    def _use_wal(self, db: sqlite3.Connection) -> None:
        """Switches to WAL; repeats, because SQLite's busy timeout does not cover this switch."""
        deadline = time.monotonic() + self._busy_timeout_s
        while db.execute("PRAGMA journal_mode").fetchall() != [("wal",)]:
            try:
                db.execute("PRAGMA journal_mode = WAL").fetchall()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """The open connection, for this thread alone inside the block.

        Raises:
            StorageError: By its subclasses: SQLite's error with advice.
        """
        with self._lock:
            try:
                if self._db is None:
                    self._db = self._open()
                yield self._db
            except sqlite3.Error as error:
                raise self._translate(error) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The open connection in a write transaction; an exception rolls it back.

        A transaction inside another of the same thread is part of the outer one.
        """
        with self.use() as db:
            if db.in_transaction:
                yield db
                return
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a query; no read stays open."""
        with self.use() as db:
            return db.execute(sql, values).fetchall()

    @property
    def log_bytes(self) -> int:
        """Size of the write-ahead log; above 0 with no process at work: the last one was killed."""
        try:
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size
        except OSError:
            return 0

    def check(self, limit_s: float) -> None:
        """Reads the whole file for damage; a file that takes longer is not read to its end.

        Raises:
            DatabaseDamaged: The file is damaged; the message names the first damage.
        """
        deadline = time.monotonic() + limit_s
        with self.use() as db:
            db.set_progress_handler(lambda: time.monotonic() > deadline, LOOK_STEPS)
            try:
                found = db.execute("PRAGMA quick_check(1)").fetchall()[0][0]
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                    raise
                return
            finally:
                db.set_progress_handler(None, 0)
        if found != "ok":
            raise damaged(self.path, " ".join(found.split()))

    def _translate(self, error: sqlite3.Error) -> StorageError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        path = self.path
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and self._is_disk_full()):
            return StoreFull(f"no space left for {path}: free some, then run the command again")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreUnavailable(
                f"{path} was locked by another process for {self._busy_timeout_s:g} s: "
                "try again when it is done"
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
            return StoreUnavailable(
                f"{path} cannot be opened for writing ({error}): make sure its directory exists "
                "and this user can write to it, or choose another data directory"
            )
        if code == sqlite3.SQLITE_NOTADB:
            return DatabaseDamaged(
                f"{path} is no SQLite database, or its header is damaged: {REMEDY}"
            )
        if code == sqlite3.SQLITE_CORRUPT:
            return damaged(path, str(error))
        if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT):
            return StoreDamaged(f"{path} is damaged ({error}): {REMEDY}")
        return StoreUnavailable(
            f"{path} cannot be used ({error}): check its disk; if the disk is well, {REMEDY}"
        )

    def _is_disk_full(self) -> bool:
        try:
            disk = os.statvfs(self.path.parent)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < 1 << 20

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def __del__(self) -> None:
        # ``for record in open_data(folder).records()`` leaves nobody to close it.
        if self._db is not None:
            self._db.close()


def damaged(path: Path, why: str) -> DatabaseDamaged:
    """The error of a file of which a part cannot be read."""
    return DatabaseDamaged(f"{path} is damaged ({why}): {REMEDY}")


def _close_before_forks(connection: SqliteConnection) -> None:
    """Closes a connection before every fork of this process, while no thread uses it."""
    weak = weakref.ref(connection)

    def with_it(act: Callable[[SqliteConnection], object]) -> Callable[[], None]:
        def hook() -> None:
            found = weak()
            if found is not None:
                act(found)

        return hook

    def before(found: SqliteConnection) -> None:
        found._lock.acquire()
        found.close()

    def after(found: SqliteConnection) -> None:
        found._lock.release()

    os.register_at_fork(
        before=with_it(before),
        after_in_parent=with_it(after),
        after_in_child=with_it(after),
    )
