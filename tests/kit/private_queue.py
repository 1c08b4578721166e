"""One real process of the program on a private queue; the test plays all the other processes."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from redis import Redis

from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.crawls import command, environment
from tests.kit.forked import CAN_FORK, ForkedPopen
from tests.kit.server_process import Running, ServerProcess


class Program(ServerProcess):
    """A process of the program that writes a log; nothing is awaited at its start.

    A command of the program is forked, and imports a ``sitecustomize`` of its ``PYTHONPATH``.
    """

    def _open(self, output: int | IO[bytes]) -> None:
        if CAN_FORK and self.command[:3] == command():
            self._process = ForkedPopen(
                self.command[3:],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.env,
                cwd=self.cwd,
            )
        else:
            super()._open(output)

    def await_ready(self) -> None:
        """Returns at once: the test waits for what the process does."""


class PrivateQueue(Running):
    """The queue of one data folder, and at most one process that uses it."""

    def __init__(self, data: Path, **client_options: Any) -> None:
        """Prepares the queue; ``client_options`` are the plain client's."""
        data.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.server = EmbeddedServer(data)
        self._client_options = client_options
        self._program: Program | None = None
        self.endings = ExitStack()

    def start(self) -> None:
        """Starts the queue's server."""
        self.server.start()
        self.endings.callback(self.server.stop)
        self.frontier = Frontier(self.server.url)
        self.endings.callback(self.frontier.close)
        self.client: Any = Redis.from_url(self.server.url, **self._client_options)
        self.endings.callback(self.client.close)

    def start_program(self, role: str, words: list[str], **settings: str) -> None:
        """Starts a process that logs into ``ROLE.log``; ``settings`` are environment variables."""
        log = self.data / f"{role}.log"
        log.unlink(missing_ok=True)
        self._program = Program(words, log=log, env=environment(**settings))
        self.endings.enter_context(self._program)

    def stop(self) -> None:
        """Kills the process and ends the queue's server."""
        self.endings.close()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started last."""
        assert self._program is not None, "no process was started"
        return self._program.process

    @property
    def log(self) -> str:
        """Everything the process that was started last has written."""
        assert self._program is not None
        assert self._program.log_file is not None
        return self._program.log_file.read_text("utf-8")

    def assert_alive(self) -> None:
        """Fails with the log when a process was started and has ended."""
        assert self._program is None or self._program.is_running(), self.log
