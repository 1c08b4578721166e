"""Supervision of a fleet: starts processes, restarts the dead ones, stops them in order."""

from __future__ import annotations

import logging
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.queue.embedded import EmbeddedServer, Watchdog, die_with_parent, ends_within
from crawlclean.workers.config import variable
from crawlclean.workers.processes.fork_server import ForkedProcess, ForkServer

log = logging.getLogger(__name__)

STOP_LIMIT_S = 20.0
_NOT_OF_SPIDERS = (variable("mongodb_url"), variable("webhook_secret"))
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
STEADY_S = 30.0
FIRST_RESTART_S = 1.0
LONGEST_RESTART_S = 30.0


@dataclass(slots=True)
class _Child:
    role: str
    process: subprocess.Popen[bytes] | ForkedProcess
    started: float
    watchdog: Watchdog | None
    pause_s: float = FIRST_PAUSE_S
    due: float | None = None  # when to restart it, once it died


class Supervisor:
    """Starts, restarts and stops child processes; they die with this process, even by kill -9.

    Each child runs in a session of its own, so that Ctrl-C reaches only this process, which stops
    the children in order.
    """

    def __init__(
        self, data: Path, environ: Mapping[str, str], forks: ForkServer | None = None
    ) -> None:
        """Prepares the children's environment and the folder of their logs.

        Args:
            data: The data folder.
            environ: Environment of the children.
            forks: Starts the children while it lives; None: each is an interpreter of its own.
        """
        self._logs = logs_of(data)
        self._logs.mkdir(parents=True, exist_ok=True)
        self._environ = dict(environ)
        self._forks = forks
        self._children: list[_Child] = []

    def start(self, role: str, count: int = 1) -> None:
        """Starts ``count`` processes of a role, which is a command of ours: ``worker``."""
        for _ in range(count):
            process, watchdog = self._spawn(role)
            self._children.append(_Child(role, process, time.monotonic(), watchdog))

    def _spawn(self, role: str) -> tuple[subprocess.Popen[bytes] | ForkedProcess, Watchdog | None]:
        forks = None if self._has_secret_from(role) else self._forks
        if forks and (forked := forks.start(role)):
            return forked, None
        with (self._logs / f"{role}.log").open("ab") as log_file:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                # -P: modules in the current folder are not ours
                [sys.executable, "-P", "-m", "crawlclean.workers.cli", role],
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                env=self._environ_of(role),
                start_new_session=True,
                preexec_fn=die_with_parent(),
            )
        return process, None if sys.platform.startswith("linux") else Watchdog(process.pid)

    def _has_secret_from(self, role: str) -> bool:
        """Whether a role must not know a secret of `run`: a fork has all of `run` in memory."""
        return role == "spider" and any(self._environ.get(each) for each in _NOT_OF_SPIDERS)

    def _environ_of(self, role: str) -> dict[str, str]:
        """Returns the environment of a role: a spider gets no URL of the store, and no secret."""
        left_out = _NOT_OF_SPIDERS if role == "spider" else ()
        return {name: value for name, value in self._environ.items() if name not in left_out}

    def restart_dead(self) -> list[int]:
        """Restarts dead children, with growing pauses while they keep dying.

        Returns:
            Process ids of the children that died since the last call.
        """
        died = []
        now = time.monotonic()
        for child in self._children:
            if child.due is None and child.process.poll() is not None:
                died.append(child.process.pid)
                if now - child.started > STEADY_S:
                    child.pause_s = FIRST_PAUSE_S
                log.warning(
                    "process died, restarting",
                    extra={"role": child.role, "status": child.process.returncode},
                )
                child.due = now + child.pause_s
                child.pause_s = min(2 * child.pause_s, LONGEST_PAUSE_S)
            if child.due is not None and now >= child.due:
                self._end_watchdog(child)
                child.process, child.watchdog = self._spawn(child.role)
                child.started, child.due = now, None
        return died

    def pids(self, role: str) -> list[int]:
        """Returns the process ids of the living children of a role."""
        return [c.process.pid for c in self._children if c.role == role and c.due is None]

    def living(self) -> list[int]:
        """Returns the process ids of all living children."""
        return [c.process.pid for c in self._children if c.due is None]

    def kill(self, pid: int) -> None:
        """Kills a child and what it started, stopped ones too; ``restart_dead`` finds it dead."""
        if pid in self.living():
            log.warning("process declared dead, killed", extra={"child": pid})
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def stop(self, role: str) -> list[int]:
        """Stops the children of a role: SIGTERM first, SIGKILL after ``STOP_LIMIT_S``.

        Returns:
            Process ids of the children that were killed.
        """
        killed = []
        mine = [c for c in self._children if c.role == role]
        for child in mine:
            if child.process.poll() is None:
                child.process.terminate()
        deadline = time.monotonic() + STOP_LIMIT_S
        for child in mine:
            if not ends_within(child.process, max(0.1, deadline - time.monotonic())):
                log.warning("process does not stop, killed", extra={"role": child.role})
                killed.append(child.process.pid)
                with suppress(ProcessLookupError):  # it has ended at the last moment
                    os.killpg(child.process.pid, signal.SIGKILL)
                child.process.wait()
            self._end_watchdog(child)
        self._children = [c for c in self._children if c.role != role]
        return killed

    @staticmethod
    def _end_watchdog(child: _Child) -> None:
        if child.watchdog:
            child.watchdog.stop()
            child.watchdog = None


def logs_of(data: Path) -> Path:
    """The folder of the logs of a data folder's processes."""
    return data / "logs"


class ServerKeeper:
    """Restarts the queue's embedded server when it died, with growing pauses while it fails."""

    def __init__(self, server: EmbeddedServer, report: Callable[[str], None]) -> None:
        """Checks nothing yet; ``report`` gets a line when the server dies or cannot start."""
        self._server = server
        self._report = report
        self._started = -math.inf
        self._pause_s = 0.0
        self._due: float | None = None  # when to restart it, while it is dead
        self._has_failed = False

    def restart_dead(self) -> bool:
        """Restarts the server if it is dead and its pause is over; returns whether it runs.

        Raises:
            ServiceError: The server cannot start; not retryable.
        """
        if self._server.is_running():
            self._due = None
            return True
        now = time.monotonic()
        if self._due is None:
            self._report("the queue's server died; starting it again")
            if now - self._started > STEADY_S:
                self._pause_s = 0.0
            self._due = now + self._pause_s
        if now < self._due:
            return False
        self._pause_s = min(max(2 * self._pause_s, FIRST_RESTART_S), LONGEST_RESTART_S)
        try:
            self._server.start()
        except ServiceError as error:
            if not error.retryable:
                raise
            if not self._has_failed:
                self._report(f"the queue cannot start, waiting: {error}")
            self._has_failed = True
            self._due = time.monotonic() + self._pause_s
            return False
        if self._has_failed:
            self._report("the queue's server runs again")
        self._started, self._due, self._has_failed = time.monotonic(), None, False
        return True
