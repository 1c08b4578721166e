"""Heartbeats: which processes there are, on which machine, and when they were heard last.

Every process tells its role at least once in 15 seconds. One that is not heard for a minute is
dead: the sweeper makes an event of it. Leases and claims have lives of their own, which are
shorter; what a process holds is given to others long before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from storage.live_state import ProcessRole
from storage.queue.clients import Arg, Scripts, queue_errors, queue_ms
from storage.queue.entries import process_name

LIFE_S = 60
"""A process that was not heard for so long is dead."""
BEAT_S = 10.0
"""A process that works all the time is heard so often; an idle worker every 11 s."""
_WHO = "cc:who"


def beat_args(role: ProcessRole, name: str, work: str = "") -> list[Arg]:
    """Arguments of ``beat.lua``; ``name`` is ``machine.4711`` or ``machine.4711.0a1b2c3d``."""
    machine, pid, *_ = name.split(".")
    return [str(role), name, machine, pid, work, LIFE_S]


class Processes:
    """The member ``processes`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts
        self._heard = -BEAT_S

    def beat(self, role: ProcessRole, work: str = "") -> None:
        """Tells that this process lives, at most every ``BEAT_S``: other calls cost nothing.

        Args:
            role: What this process does.
            work: What it works on, a line for a person.
        """
        now = time.monotonic()
        if now - self._heard < BEAT_S:
            return
        with queue_errors():
            self._scripts("beat", beat_args(role, process_name(), work))
        self._heard = now

    def leave(self, role: ProcessRole) -> None:
        """Tells that this process ends as it should: its silence is no death."""
        self._heard = -BEAT_S
        self._forget(f"{role} {process_name()}")

    def troubles(self) -> list[tuple[str, str]]:
        """Spiders of this machine that fetch nothing, and why: ``[("web1.4711.0a1b", "...")]``."""
        machine, _, _ = process_name().partition(".")
        with queue_errors():
            names = [
                name.decode()
                for role, _, name in (x.partition(b" ") for x in self._client.zrange(_WHO, 0, -1))
                if role.decode() == ProcessRole.SPIDER and name.startswith(f"{machine}.".encode())
            ]
            work = [(name, self._client.hget(f"{_WHO}:{name}", "work")) for name in names]
        return [(name, found.decode("utf-8", "replace")) for name, found in work if found]

    def take_silent(self) -> list[tuple[ProcessRole, str]]:
        """Forgets processes that were not heard for ``LIFE_S``, or were declared dead.

        Of several callers one gets a process: ``[(ProcessRole.WORKER, "machine.4711")]``.
        """
        with queue_errors():
            until = queue_ms(self._client) - LIFE_S * 1000
            silent = [each.decode() for each in self._client.zrangebyscore(_WHO, 0, until)]
            gone = [each for each in silent if self._forget(each)]
            return [(ProcessRole(role), name) for role, _, name in (x.partition(" ") for x in gone)]

    def declare_dead(self, is_dead: Callable[[str], bool]) -> None:
        """Declares processes dead by name; the next ``take_silent`` returns them."""
        with queue_errors():
            for member in self._client.zrange(_WHO, 0, -1):
                if is_dead(member.decode().partition(" ")[2] + "."):
                    self._client.zadd(_WHO, {member: 0}, xx=True)

    def forget_all(self) -> None:
        """Forgets all processes: those of an earlier run, which ended with their queue."""
        with queue_errors():
            for member in self._client.zrange(_WHO, 0, -1):
                self._forget(member.decode())

    def _forget(self, member: str) -> bool:
        with queue_errors(), self._client.pipeline() as pipe:
            pipe.zrem(_WHO, member)
            pipe.delete(f"{_WHO}:{member.partition(' ')[2]}")
            return bool(pipe.execute()[0])
