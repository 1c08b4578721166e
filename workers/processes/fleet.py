"""What `run` and `sites` keep going: the queue's server, the processes, an eye on the disk."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from cleaning.errors import QueueUnavailable, ServiceError
from storage.queue.clients import OutageLog
from storage.queue.embedded import EmbeddedServer
from storage.queue.entries import process_name
from storage.queue.frontier import Frontier
from workers.config import PREFIX, Settings, to_environ
from workers.processes.disk import Disk
from workers.processes.supervisor import ServerKeeper, Supervisor

LOOK_S = 0.1
STOPPED = ("spider", "worker", "sweeper")  # whoever feeds the others first


class Fleet:
    """One run's processes, from the first to the last.

    Attributes:
        disk: Whether there is room for what is fetched.
        interrupts: Signals that asked for an end.
        absence: What was said of a queue that is away.
    """

    def __init__(
        self,
        settings: Settings,
        server: EmbeddedServer | None,
        frontier: Frontier,
        say: Callable[[str], None],
    ) -> None:
        """Starts nothing yet; ``say`` is told in a line what goes wrong."""
        self.disk = Disk(settings.storage.data, settings.storage.disk_quota_bytes)
        self.interrupts = 0
        self.absence = OutageLog("queue")
        self._settings = settings
        self._server = server
        self._frontier = frontier
        self._say = say
        self._keeper = ServerKeeper(server, say) if server else None
        storage = replace(settings.storage, data=settings.storage.data.resolve())
        environ = {**_foreign_environ(), **to_environ(replace(settings, storage=storage))}
        self._supervisor = Supervisor(storage.data, environ)
        self._mourned: list[int] = []  # dead processes whose work the queue still thinks is done
        self._woken = threading.Event()

    def start(self) -> None:
        """Starts every process; from now on signals are counted."""
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, self._interrupted)
        self._supervisor.start("sweeper")
        self._supervisor.start("worker", self._settings.workers.count)
        self._supervisor.start("spider")

    def stop(self) -> None:
        """Stops every process; what had to be killed did not die of the page it was at."""
        for role in STOPPED:
            self._forgive(self._supervisor.stop(role))

    def _interrupted(self, *_: object) -> None:
        self.interrupts += 1
        self._woken.set()

    def _forgive(self, killed: Sequence[int]) -> None:
        for pid in killed:
            with suppress(QueueUnavailable):
                self._frontier.expire_process(process_name(pid), blame=False)

    def wait(self) -> None:
        """Returns after ``LOOK_S`` or at a signal; looks at disk and processes."""
        self._woken.wait(LOOK_S)
        self._woken.clear()
        if self._server:
            self._look_at_disk()
        if not self.disk.is_full:  # nobody who starts now would live, or could say why not
            self._mourned += self._supervisor.look_after()

    def look_after(self) -> None:
        """Starts the server again if need be, and tells the queue who died.

        Raises:
            QueueUnavailable: The server is dead.
            ServiceError: It cannot start, and no waiting mends that.
        """
        if self._keeper and not self._keeper.look_after():
            raise QueueUnavailable("its server is dead; the same command resumes")
        while self._mourned:
            self._frontier.expire_process(process_name(self._mourned[-1]))
            self._mourned.pop()

    def bear(self, error: ServiceError) -> None:
        """Returns when waiting may mend an error and nobody is in a hurry; raises it otherwise."""
        in_vain = self.interrupts > 1 or (self.interrupts and self.disk.is_full)
        if in_vain or not error.retryable:
            raise error
        if not self._server:  # of its own server's end the keeper tells
            self.absence.notice(error)

    def _look_at_disk(self) -> None:
        """Holds what is crawled while what is fetched could not be stored."""
        if not self.disk.look():
            return
        if self.disk.is_full:
            self._say(f"{self.disk.note}: free some, and the crawl goes on")
        elif self.disk.note:
            self._say(f"{self.disk.note}: run it again with a larger one to go on")
        with suppress(QueueUnavailable):  # it may be unable to write itself
            self._frontier.hold_for_disk(is_full=bool(self.disk.note))


def _foreign_environ() -> dict[str, str]:
    """The environment without our own settings: the children get those whole."""
    return {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
