"""A queue's server on a port, as an operator runs one: with a file that outlives it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from redis import Redis

from crawlclean.storage.queue.clients import wait_for_queue
from crawlclean.storage.queue.embedded import EmbeddedServer, find_server
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.mongo_server import free_port
from tests.kit.server_process import ServerProcess
from tests.kit.timing import LIMIT_S


@contextmanager
def running(data: Path) -> Iterator[tuple[EmbeddedServer, Any]]:
    """The private server of a data folder while the block lasts, and a client of it."""
    server = EmbeddedServer(data)
    server.start()
    try:
        with Redis.from_url(server.url) as client:
            yield server, client
    finally:
        server.stop()


class QueueServer(ServerProcess):
    """A Redis-protocol server; started again after a kill, it has what it had."""

    def __init__(self, folder: Path) -> None:
        """Prepares a server on a free port."""
        folder.mkdir(parents=True)
        port = free_port()
        arguments = [
            *(find_server(), "--port", str(port), "--bind", "127.0.0.1"),
            *("--save", "", "--appendonly", "yes", "--dir", str(folder)),
        ]
        super().__init__(arguments, log=folder / "log", cwd=folder)
        self.url = f"redis://127.0.0.1:{port}/0"

    def await_ready(self) -> None:
        """Returns when the server answers."""
        with closing(Frontier(self.url)) as frontier:
            wait_for_queue(frontier.ping, limit_s=LIMIT_S)

    def kill(self) -> None:
        """Ends it without a warning; what it was told is in its file."""
        self.process.kill()
        self.process.wait()
