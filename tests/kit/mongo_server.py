"""A real MongoDB-protocol server in a process of its own, for the tests of the MongoDB store."""

from __future__ import annotations

import os
import signal
import socket
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from crawlclean.storage.mongo.store import MongoStore
from tests.kit.server_process import ServerProcess
from tests.kit.servers import require
from tests.kit.timing import wait_until


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class MongoServer(ServerProcess):
    """``secantusdb`` on a folder, standalone."""

    def __init__(self, folder: Path, *options: str, address: str = "127.0.0.1") -> None:
        """Prepares a server on a free port; ``options`` are more arguments of the program."""
        folder.mkdir(exist_ok=True)
        port = free_port()
        super().__init__(
            [
                *(sys.executable, "-m", "secantus", "--standalone", "--enable-test-commands"),
                *("--host", address, "--port", str(port)),
                *("--storage-path", str(folder / "data"), *options),
            ],
            log=folder / "log",
            cwd=folder,
        )
        self.address = f"{address}:{port}"

    def url(self, database: str, options: str = "") -> str:
        return f"mongodb://{self.address}/{database}{options}"

    def await_ready(self) -> None:
        """Returns when the server answers, whoever started it."""

        def is_there() -> bool:
            has_ended = self._process is not None and not self.is_running()
            assert not has_ended, self.log_file and self.log_file.read_text()
            return answers(self.url("admin"))

        wait_until(is_there)

    def freeze(self) -> None:
        """Keeps the connections from now on and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)

    @contextmanager
    def failing(self, mode: Any, commands: list[str], **how: Any) -> Iterator[None]:
        """Some commands fail while this is open; ``mode`` and ``how`` are ``failCommand``'s."""
        with plain_client(self.url("admin")) as client:
            data = {"failCommands": commands, **how}
            client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)
            try:
                yield
            finally:
                client.admin.command("configureFailPoint", "failCommand", mode="off")


@contextmanager
def plain_client(url: str, patience_ms: int = 1000) -> Iterator[Any]:
    """A client of its own, beside the store's; it looks for the server for ``patience_ms``."""
    client: Any = MongoClient(url, serverSelectionTimeoutMS=patience_ms)
    try:
        yield client
    finally:
        client.close()


def answers(url: str, patience_ms: int = 1000) -> bool:
    """Whether a server answers at a URL."""
    try:
        with plain_client(url, patience_ms) as client:
            client.admin.command("hello")
            return True
    except PyMongoError:
        return False


@contextmanager
def running(folder: Path, *options: str) -> Iterator[MongoServer]:
    """A server that is gone on leaving."""
    if find_spec("secantus") is None:
        require("needs secantusdb, of the extra `test`")
    with MongoServer(folder, *options) as server:
        yield server


def given_url() -> str | None:
    """URL of the MongoDB that ``CRAWLCLEAN_TEST_MONGODB_URL`` names, or None."""
    return os.environ.get("CRAWLCLEAN_TEST_MONGODB_URL") or None


def with_database(url: str, database: str) -> str:
    """The URL with another database in its path; the user stays where it was."""
    parts = urlsplit(url)
    old, query = parts.path.strip("/"), parts.query
    if old and parts.username and "authsource" not in query.lower():
        query = f"{query}&authSource={old}".lstrip("&")
    return urlunsplit(parts._replace(path=f"/{database}", query=query))


@contextmanager
def own_store(url: str) -> Iterator[MongoStore]:
    """A store on a database of its own, dropped on leaving."""
    own = with_database(url, f"test_{uuid.uuid4().hex[:12]}")
    store = MongoStore(own)
    try:
        yield store
    finally:
        store.close()
        with plain_client(own) as client:
            client.drop_database(client.get_default_database().name)


def empty(url: str) -> None:
    """Makes a store's database as it was when its indexes were made."""
    with plain_client(url) as client:
        database = client.get_default_database()
        for name in set(database.list_collection_names()) - {"meta"}:
            database[name].delete_many({})
        database.meta.update_one({"_id": "saved"}, {"$set": {"n": 0, "at": 0}})


def inside(store: MongoStore) -> Any:
    """The store's database, to look at and to spoil."""
    with store._db.use() as database:
        return database


def url_of(store: MongoStore) -> str:
    """The URL that a store connects to."""
    return store._db._url
