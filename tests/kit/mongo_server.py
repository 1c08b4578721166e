"""A real MongoDB-protocol server in a process of its own, for the tests of the MongoDB store."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from storage.mongo.store import MongoStore
from storage.queue.embedded import die_with_parent
from tests.kit.servers import require

START_LIMIT_S = 30.0


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class MongoServer:
    """``secantusdb`` on a folder, standalone; it dies with the process that started it."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str, options: str = "") -> str:
        return f"mongodb://{self.address}/{database}{options}"

    @property
    def command(self) -> list[str]:
        """What starts it."""
        return [
            *(sys.executable, "-m", "secantus", "--standalone", "--enable-test-commands"),
            *("--host", "127.0.0.1", "--port", self.address.rpartition(":")[2]),
            *("--storage-path", str(self.folder / "data"), *self.options),
        ]

    def start(self) -> None:
        """Returns when it answers."""
        self.folder.mkdir(exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent(),
            )
        self.await_answer()

    def await_answer(self) -> None:
        """Returns when it answers, whoever started it."""
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            try:
                with plain_client(self.url("admin")) as client:
                    client.admin.command("hello")
                    return
            except PyMongoError:
                has_ended = self._process is not None and self._process.poll() is not None
                if has_ended or time.monotonic() > deadline:
                    raise AssertionError((self.folder / "log").read_text()) from None

    def kill(self) -> None:
        """Ends it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """Ends it in order: only then it keeps users that were made without a journal."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait()

    def freeze(self) -> None:
        """From now on it keeps its connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

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
def plain_client(url: str) -> Iterator[Any]:
    """A client of its own, beside the store's."""
    client: Any = MongoClient(url, serverSelectionTimeoutMS=1000)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def running(folder: Path, *options: str) -> Iterator[MongoServer]:
    """A server that is gone on leaving."""
    if find_spec("secantus") is None:
        require("needs secantusdb, of the extra `test`")
    server = MongoServer(folder, *options)
    try:
        server.start()
        yield server
    finally:
        server.kill()


def given_url() -> str | None:
    """The MongoDB the tests were told to use besides, or None."""
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
