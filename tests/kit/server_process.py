"""Servers that run for the length of a ``with`` block and leave nothing behind.

``Running`` is any of them, ``ServerProcess`` one in a process of its own, ``SocketServer`` one in
threads of this process.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from tests.kit.timing import LIMIT_S

ROOT = Path(__file__).parents[2]
JOIN_LIMIT_S = 5.0


class Running:
    """Something that is started on entering a ``with`` block and stopped on leaving it."""

    def start(self) -> None:
        """Starts; returns when it can be used."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ends everything that was started; does nothing where nothing was."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *about: object) -> None:
        self.stop()


class ServerProcess(Running):
    """A process that is ready when it has printed its port as its first line.

    It dies with the process that started it, even by kill -9. Where a printed port is no sign of
    readiness, subclasses give another ``await_ready``.
    """

    stop_signal = signal.SIGKILL

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
    ) -> None:
        """Prepares the process.

        Args:
            command: Program and arguments.
            log: File that the output is appended to; without one only the first line is read.
            env: Environment variables; this process's own without any.
            cwd: Working directory.
        """
        self.command = list(command)
        self.log_file = log
        self.env = env
        self.cwd = cwd
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started last."""
        assert self._process is not None, "not started"
        return self._process

    @property
    def pid(self) -> int:
        """Process id."""
        return self.process.pid

    def start(self) -> None:
        """Starts the process; returns when it is ready."""
        if self.log_file is None:
            self._open(subprocess.PIPE)
        else:
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
            with self.log_file.open("ab") as log:
                self._open(log)
        self.await_ready()

    def _open(self, output: int | IO[bytes]) -> None:
        # Not at the top: a server that imports this module would import the queue's client, too.
        from crawlclean.storage.queue.embedded import die_with_parent

        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=None if self.log_file is None else subprocess.STDOUT,
            env=self.env,
            cwd=self.cwd,
            start_new_session=True,
            preexec_fn=die_with_parent(),
        )

    def await_ready(self) -> None:
        """Returns when the process has printed its port."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"ended before it was ready: {self.command}"
        self.port = int(line)

    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def terminate(self, limit_s: float = LIMIT_S) -> int:
        """Exit status after SIGTERM."""
        self.process.terminate()
        return self.process.wait(limit_s)

    def kill(self) -> None:
        """Ends the process at once, as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends the process by its ``stop_signal`` and waits for it."""
        self._end(self.stop_signal)

    def _end(self, signum: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(signum)
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()


class SocketServer(Running):
    """A listener of this process with one thread a connection; it listens when it is made."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0) -> None:
        """Listens on a port, 0 for any; connections wait until ``start``."""
        self._listener = socket.create_server((address, port))
        self.port: int = self._listener.getsockname()[1]
        self.host = f"{address}:{self.port}"
        self._threads: list[threading.Thread] = []

    def serve(self, connection: socket.socket) -> None:
        """Answers one connection and closes it."""
        raise NotImplementedError

    def start(self) -> None:
        """Accepts connections from now on."""
        self._run(self._accept)

    def stop(self) -> None:
        """Closes the listener; connections get some seconds for their end."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(JOIN_LIMIT_S)

    def _run(self, target: Any, *args: Any) -> None:
        self._threads.append(threading.Thread(target=target, args=args, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._run(self.serve, connection)
