"""The fleet of `run` and `sites`: the queue's server, all processes, and the room on the disk."""

from __future__ import annotations

import logging
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from crawlclean.cleaning.errors import (
    DatabaseDamaged,
    QueueUnavailable,
    ServiceError,
    StorageError,
)
from crawlclean.cleaning.lexicon import counted
from crawlclean.storage.queue.clients import OutageLog
from crawlclean.storage.queue.embedded import (
    EmbeddedServer,
    Watchdog,
    ends_within,
    read_owner,
    start_bound,
)
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.config import PREFIX, SECRETS, Settings, to_environ, variable
from crawlclean.workers.processes.fork_server import ForkedProcess, ForkServer, is_fork_safe

# Supervision of a fleet: starts processes, restarts the dead ones, stops them in order.

log = logging.getLogger(__name__)

STOP_LIMIT_S = 20.0  # a job of pages ends sooner; those of a killed worker are done again, unblamed
_NOT_OF_SPIDERS = tuple(variable(name) for name in SECRETS if name != "redis_url")
FIRST_PAUSE_S = 0.2  # one that was killed once is back at once
LONGEST_PAUSE_S = 10.0  # so often one that keeps dying is started, with a line of the log each time
STEADY_S = 30.0  # who lived so long has not died of its start
FIRST_RESTART_S = 1.0  # of the server, the second time: the first is at once
LONGEST_RESTART_S = 30.0  # reading a large file of the queue in vain takes as long


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
        # -P: modules in the current folder are not ours
        program = [sys.executable, "-P", "-m", "crawlclean.workers.cli", "join", role]
        with (self._logs / f"{role}.log").open("ab") as log_file:
            return start_bound(program, log_file, self._environ_of(role))

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

    def living(self, role: str = "") -> list[int]:
        """Returns the process ids of the living children of a role; ``""``: of all."""
        return [c.process.pid for c in self._children if c.due is None and role in ("", c.role)]

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


LOOK_S = 0.25  # between two looks, of 2 ms each: a finished crawl ends so soon
# A role stops before the role that it feeds; the stories of the last pages are to be told. What the
# housekeeper queues meanwhile waits for the next run.
STOP_ORDER = ("spider", "worker", "housekeeper")
MIN_FREE_BYTES = 8 << 20  # less cannot take the pages in flight
SILENT_EVERY_S = 5.0  # between two looks for silent processes
# Silent for a minute (LIFE_S) and for these looks, a process hangs or was stopped: one that waits
# for a store that is locked, or that is stopped for a moment, is heard before.
HUNG_S = 60.0
SIZE_EVERY_S = 2.0  # the folder holds few files, but measuring each costs


class Disk:
    """The room that one data folder has, on its disk and in its quota.

    Attributes:
        is_full: Whether the disk itself is full: no process can write, logs included.
        note: Why nothing is fetched, as ``no space left in crawlclean-data``; ``""`` otherwise.
    """

    def __init__(self, data: Path, quota_bytes: int) -> None:
        """Looks at nothing yet; ``quota_bytes`` is for all files of the folder, 0: no quota."""
        self._data, self._quota_bytes = data, quota_bytes
        self._size_bytes, self._measured = 0, -SIZE_EVERY_S
        self.is_full = False
        self.note = ""

    def look(self) -> bool:
        """Measures the room; returns whether ``note`` has changed."""
        before = self.note
        self.is_full = shutil.disk_usage(self._data).free < MIN_FREE_BYTES
        if self.is_full:
            self.note = f"no space left in {self._data}"
        elif self._quota_bytes and self._size() >= self._quota_bytes:
            self.note = f"{self._data} has reached its quota of {self._quota_bytes} bytes"
        else:
            self.note = ""
        return self.note != before

    def _size(self) -> int:
        now = time.monotonic()
        if now - self._measured >= SIZE_EVERY_S:
            self._measured, self._size_bytes = now, size_of(self._data)
        return self._size_bytes


class Fleet:
    """All processes of one run; none, where another run on the data folder has them.

    Attributes:
        disk: The room for what is fetched.
        interrupts: Signals so far that asked for an end.
        starting_note: What ``start`` starts: ``starting the spider and 2 workers``.
        outage: Log of outages of the queue.
    """

    def __init__(
        self,
        settings: Settings,
        server: EmbeddedServer | None,
        frontier: Frontier,
        report: Callable[[str], None],
        forks: ForkServer | None = None,
    ) -> None:
        """Starts nothing yet; ``report`` gets a line about each problem."""
        self.disk = Disk(settings.storage.data, settings.storage.disk_quota_bytes)
        self.interrupts = 0
        workers = counted(settings.workers.count, "worker")
        self.starting_note = f"starting the spider and {workers}"
        self.outage = OutageLog("queue")
        self._settings = settings
        self._server = server
        self._is_guest = settings.storage.is_embedded and not server
        self._owner = read_owner(settings.storage.data).pid
        self._frontier = frontier
        self._report = report
        self._keeper = ServerKeeper(server, report) if server else None
        self._supervisor = Supervisor(settings.storage.data.resolve(), environ_of(settings), forks)
        self._dead: list[int] = []  # process ids whose leases and claims the queue still holds
        self._woken = threading.Event()
        self._silent_since: dict[str, float] = {}
        self._looked_for_silent = 0.0
        self._unanswered_since: float | None = None

    def start(self) -> None:
        """Starts every process, and begins to count signals."""
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, self._interrupted)
        if self._is_guest:
            return
        self._supervisor.start("housekeeper")
        self._supervisor.start("worker", self._settings.workers.count)
        self._supervisor.start("spider")

    def stop(self) -> None:
        """Stops every process; a page is not blamed for a process that had to be killed."""
        for role in STOP_ORDER:
            self._expire_unblamed(self._supervisor.stop(role))

    def _interrupted(self, *_: object) -> None:
        self.interrupts += 1
        self._woken.set()

    def _expire_unblamed(self, killed: Sequence[int]) -> None:
        for pid in killed:
            with suppress(QueueUnavailable):
                self._frontier.expire_process(process_name(pid), blame=False)

    def wait(self) -> None:
        """Waits for ``LOOK_S`` or a signal; then checks the disk and restarts dead processes."""
        self._woken.wait(LOOK_S)
        self._woken.clear()
        if self._server:
            self._look_at_disk()
        if not self.disk.is_full:  # a process that starts now would die, and could not log why
            self._dead += self._supervisor.restart_dead()

    def look_after(self) -> None:
        """Restarts a dead server, expires what dead processes hold, kills what was declared dead.

        Raises:
            QueueUnavailable: The server is dead, and is restarted later.
            DatabaseDamaged: A process could not read the store.
            ServiceError: The server cannot start; not retryable.
        """
        if self._keeper and not self._keeper.restart_dead():
            raise QueueUnavailable("its server is dead; the same command resumes")
        while self._dead:
            self._frontier.expire_process(process_name(self._dead[-1]))
            self._dead.pop()
        self._kill_declared_dead()
        self._kill_hung()
        self.look_for_damage()
        self._unanswered_since = None

    def _kill_declared_dead(self) -> None:
        """Kills the processes that an operator declared dead; ``wait`` starts others instead.

        A process that was stopped or hangs takes no signal that asks it to end.
        """
        mine = {process_name(pid): pid for pid in self._supervisor.living()}
        for name in self._frontier.processes.take_to_replace(list(mine)):
            self._supervisor.kill(mine[name])

    def _kill_hung(self) -> None:
        """Kills processes that hang or were stopped, and says so; ``wait`` starts others.

        Times are those of this process: while the machine or the queue slept, nobody was heard.
        """
        now = time.monotonic()
        if now - self._looked_for_silent < SILENT_EVERY_S:
            return
        if now - self._looked_for_silent > 2 * SILENT_EVERY_S:
            self._silent_since.clear()
        self._looked_for_silent = now
        mine = {process_name(pid): pid for pid in self._supervisor.living()}
        silent = self._frontier.processes.silent(list(mine))
        self._silent_since = since = {name: self._silent_since.get(name, now) for _, name in silent}
        for role, name in silent:
            if now - since.get(name, now) >= HUNG_S:
                self._report(f"the {role} {mine[name]} hangs, or was stopped: another one starts")
                self._supervisor.kill(mine[name])
                del since[name]

    def has_other_owner(self) -> bool:
        """Whether the run that another run had joined was replaced, too fast for an error."""
        return self._is_guest and read_owner(self._settings.storage.data).pid != self._owner

    def look_for_damage(self) -> None:
        """Returns when no process has met a damaged database; to be called after ``stop``, too.

        What a worker does after it acknowledged the last page can meet the damage when no page is
        in flight any more.

        Raises:
            DatabaseDamaged: A process could not read the store.
        """
        if damage := self._frontier.damage():
            raise DatabaseDamaged(damage)

    def tolerate(self, error: ServiceError) -> None:
        """Logs an error that may pass; raises one that is not retryable, or that delays an end."""
        in_vain = self.interrupts > 1 or (self.interrupts and self.disk.is_full)
        is_left = self._is_guest and isinstance(error, QueueUnavailable)  # the other run has ended
        if is_left and self.interrupts:
            raise StorageError("interrupted with the other run; the same command resumes")
        if in_vain or is_left or not error.retryable:
            raise error
        if not self._server:  # ServerKeeper reports the death of our own server
            self.outage.notice(error)
        elif self._server.is_running():
            self._kill_hung_server(self._server)

    def _kill_hung_server(self, server: EmbeddedServer) -> None:
        """Kills our server if it hangs or was stopped; ``look_after`` starts it again."""
        now = time.monotonic()
        since = self._unanswered_since = self._unanswered_since or now
        try:
            self._frontier.ping()  # it may have refused a command, because the disk is full
        except QueueUnavailable:
            if time.monotonic() - since >= HUNG_S and server.pid:
                self._report(f"the queue's server {server.pid} hangs, or was stopped")
                os.kill(server.pid, signal.SIGKILL)
        else:
            self._unanswered_since = None

    def _look_at_disk(self) -> None:
        """Holds all crawls while fetched pages could not be stored."""
        if not self.disk.look():
            return
        if self.disk.is_full:
            self._report(f"{self.disk.note}: free some space and the crawl continues")
        elif self.disk.note:
            self._report(f"{self.disk.note}: free some (`crawl drop-raw`) and the crawl continues")
        with suppress(QueueUnavailable):  # the queue may be unable to write, too
            self._frontier.hold_for_disk(is_full=bool(self.disk.note))


def environ_of(settings: Settings) -> dict[str, str]:
    """The environment of the processes: that of this one, with these settings and no others."""
    storage = replace(settings.storage, data=settings.storage.data.resolve())
    foreign = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
    return {**foreign, **to_environ(replace(settings, storage=storage))}


@contextmanager
def fork_server(settings: Settings) -> Iterator[ForkServer | None]:
    """The fork server of a fleet, to be started before anything is opened; None where none can be.

    It imports nothing before the fleet starts: a crawl that is finished needs no processes.
    """
    if not is_fork_safe():
        yield None
        return
    server = ForkServer(environ_of(settings), logs_of(settings.storage.data.resolve()))
    try:
        yield server
    finally:
        server.stop()


def size_of(folder: Path) -> int:
    """Returns the bytes on disk of all files below a folder; a file deleted meanwhile has none."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_blocks * 512
    return total
