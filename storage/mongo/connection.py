"""One MongoDB database: opening, forks, durability of writes, and translated errors.

The client is opened at first use and never crosses a fork: the child drops the inherited client
without closing it (the connections are the parent's) and opens another.

Every write waits for the journal (``j``), and for the majority unless the URL names another ``w``;
every read asks the primary.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bson.errors import BSONError, InvalidBSON
from pymongo import MongoClient, ReadPreference, WriteConcern
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    InvalidName,
    InvalidURI,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
)

from crawlclean.cleaning.errors import (
    ConfigError,
    SchemaMismatch,
    ServiceError,
    StorageError,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)
from crawlclean.storage.config import DATABASE
from crawlclean.storage.mongo.schema import prepare

OLDEST_WIRE = 9
"""The wire version of MongoDB 4.4."""

# A replica set elects another primary in seconds; callers repeat what may wait.
SELECTION_TIMEOUT_S = 5.0
# Statements over whole crawls take long; a silent server must not hang us for ever.
ANSWER_TIMEOUT_S = 120.0
# For the majority to confirm: without it a write waits for dead members for ever.
WRITE_TIMEOUT_S = 30.0

DUPLICATE_KEY = 11000  # MongoDB's code: the document is there already
_REFUSED = frozenset({11, 13, 18, 31, 334, 8000})
"""Unknown user, not authorized, wrong password, unknown role, unsupported mechanism, Atlas."""
_LATER = frozenset({6, 7, 24, 43, 50, 64, 89, 91, 100, 112, 133, 175, 189, 202, 237, 262, 290, 317})
_LATER_TOO = frozenset({9001, 10107, 11600, 11601, 11602, 13435, 13436})
"""Unreachable hosts, locks, time limits, elections, shutdowns."""
_OUT_OF_SPACE = 14031  # MongoDB's code OutOfDiskSpace
_NO_SPACE = re.compile(r"no space left|space quota|disk (is )?full|out of disk space", re.I)
_READ_ONLY = re.compile(r"read[- ]?only", re.I)


def _options(url: str) -> dict[str, Any]:
    """Our defaults for the options that the URL does not set."""
    given = {part.split("=")[0].lower() for part in re.split("[&;]", url.partition("?")[2])}
    defaults = {
        "serverSelectionTimeoutMS": int(SELECTION_TIMEOUT_S * 1000),
        "connectTimeoutMS": int(SELECTION_TIMEOUT_S * 1000),
        "socketTimeoutMS": int(ANSWER_TIMEOUT_S * 1000),
    }
    return {name: value for name, value in defaults.items() if name.lower() not in given}


class MongoConnection:
    """The database of a URL; threads share it, forked processes may inherit it."""

    def __init__(self, url: str) -> None:
        """Opens nothing yet.

        Args:
            url: ``mongodb://`` or ``mongodb+srv://``; its path names the database.
        """
        self._url = url
        self._lock = threading.Lock()
        self._client: Any = None
        self._database: Any = None
        self._inherited: list[Any] = []
        _forget_after_forks(self)

    @property
    def place(self) -> str:
        """The servers' addresses in the URL, ``db1.example.com:27017``, without credentials."""
        addresses = self._url.partition("://")[2].rpartition("@")[2]
        return re.split("[/?]", addresses)[0] or "the given address"

    @contextmanager
    def use(self) -> Iterator[Any]:
        """The open database.

        Raises:
            ServiceError: By its subclasses: the client's error with advice.
        """
        try:
            opened = self._database
            yield self._open() if opened is None else opened
        except (ConfigurationError, BulkWriteError) as error:
            raise self._translate(error) from None  # theirs may quote the URL, or pages
        except (PyMongoError, BSONError) as error:
            raise self._translate(error) from error

    def _open(self) -> Any:
        with self._lock:
            if self._database is not None:  # another thread was first
                return self._database
            if not self._url.startswith(("mongodb://", "mongodb+srv://")):
                raise self._bad_url()
            try:
                client: Any = MongoClient(self._url, **_options(self._url))
            except ValueError:  # ports and options out of range; may hold the password
                raise self._bad_url() from None
            try:
                concern = self._write_concern(client.write_concern.document)
                wire = client.admin.command("hello").get("maxWireVersion", 0)
                if wire < OLDEST_WIRE:
                    raise self._too_old()
                database = client.get_default_database(DATABASE)
                database = database.with_options(
                    read_preference=ReadPreference.PRIMARY,
                    write_concern=concern,
                )
                prepare(database, f"database {database.name} at {self.place}")
            except BaseException:
                client.close()
                raise
            self._client, self._database = client, database
            return database

    def _write_concern(self, given: Mapping[str, Any]) -> WriteConcern:
        if given.get("w") == 0:
            raise ConfigError("the MongoDB URL says w=0, which loses pages: leave w out")
        timeout = given.get("wtimeout") or int(WRITE_TIMEOUT_S * 1000)
        return WriteConcern(w=given.get("w", "majority"), j=True, wtimeout=timeout)

    def close(self) -> None:
        """Closes the connections; the next use opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = self._database = None

    # --- errors ---

    def _bad_url(self) -> ConfigError:
        return ConfigError(
            "the MongoDB URL cannot be used: write mongodb://user:password@host:port/database, "
            "special characters of user and password as %XX"
        )

    def _too_old(self) -> SchemaMismatch:
        return SchemaMismatch(f"the MongoDB server at {self.place} is too old: 4.4 is needed")

    def _translate(self, error: Exception) -> ServiceError:
        place = self.place
        if isinstance(error, ConfigurationError):
            if isinstance(error, InvalidURI) or "wire version" not in str(error):
                return self._bad_url()
            return self._too_old()
        if isinstance(error, InvalidName):
            return self._bad_url()
        if isinstance(error, NotPrimaryError):
            return StoreUnavailable(
                f"the MongoDB server at {place} takes no writes now: "
                "wait for its election, or name the whole replica set in the URL"
            )
        if isinstance(error, ConnectionFailure):
            return StoreUnavailable(
                f"the MongoDB server at {place} does not answer: start it, or correct the URL"
            )
        if isinstance(error, DocumentTooLarge):
            return StorageError("a document is larger than MongoDB can store")
        if isinstance(error, OperationFailure):
            return self._translate_answer(error)
        if isinstance(error, InvalidBSON):
            return StoreDamaged(f"a document at {place} cannot be read: restore it from a backup")
        return StorageError(f"MongoDB at {place} cannot be used: {type(error).__name__}")

    def _translate_answer(self, error: OperationFailure) -> ServiceError:
        place = self.place
        code, text = _code_and_text(error)
        if code == _OUT_OF_SPACE or _NO_SPACE.search(text):
            return StoreFull(f"no space left for MongoDB at {place}: free some, then run again")
        if code in _REFUSED:
            return ConfigError(
                f"the MongoDB server at {place} refuses this user: check user, password and "
                "authSource in the URL, and the role readWrite on the database"
            )
        if _READ_ONLY.search(text):
            return StoreUnavailable(
                f"the MongoDB server at {place} is read-only: make it writable, or name another"
            )
        if code in _LATER or code in _LATER_TOO:
            return StoreUnavailable(
                f"the MongoDB server at {place} cannot do this now (code {code}): try again"
            )
        return StorageError(f"the MongoDB server at {place} refused a command (code {code})")


def _code_and_text(error: OperationFailure) -> tuple[int, str]:
    """Code and text of an error; of a bulk write, the first error that is no duplicate key."""
    if isinstance(error, BulkWriteError):
        details: Any = error.details
        errors = [each for each in details["writeErrors"] if each["code"] != DUPLICATE_KEY]
        for each in [*errors, *details["writeConcernErrors"]]:
            return int(each.get("code") or 0), str(each.get("errmsg"))
    return int(error.code or 0), str(error)


def _forget_after_forks(connection: MongoConnection) -> None:
    """Has a forked child drop the inherited client and open another."""
    weak = weakref.ref(connection)

    def hook() -> None:
        found = weak()
        if found is not None:
            found._lock = threading.Lock()  # a thread of the parent may hold the old one
            found._inherited.append(found._client)  # deleting it would close the parent's
            found._client = found._database = None

    os.register_at_fork(after_in_child=hook)
