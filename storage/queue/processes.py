"""Heartbeats: which processes there are, on which machine, and when they were heard last.

Every process tells its role at least once in 15 seconds. One that is not heard for a minute is
lost: the sweeper makes an event of it. It is remembered until it is heard again or declared dead,
six hours at most: a process that was stopped, or whose machine is gone, cannot say so itself.
Leases and claims have lives of their own, which are shorter; what a process holds is given to
others long before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.queue.clients import Arg, Scripts, queue_ms, raises_queue_errors
from crawlclean.storage.queue.entries import process_name

LIFE_S = 60
"""A process that was not heard for so long is lost."""
REMEMBERED_S = 6 * 3600
"""A lost process is forgotten then, if nobody declared it dead."""
REPLACED_S = 60
"""A supervisor that has not replaced its child by then has none of that name."""
KEPT_REPLACED_S = 3600
"""So long it is known that a supervisor has killed its child."""
BEAT_S = 10.0
"""A process that works all the time is heard so often; an idle worker every 11 s."""
_WHO = "cc:who"
_TO_REPLACE = "cc:replace"
_REPLACED = "cc:replaced"


def beat_args(role: ProcessRole, name: str, work: str = "") -> list[Arg]:
    """Arguments of ``beat.lua``; ``name`` is ``machine.4711`` or ``machine.4711.0a1b2c3d``."""
    machine, pid, *_ = name.split(".")
    return [str(role), name, machine, pid, work, REMEMBERED_S]


@raises_queue_errors
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
        self._scripts("beat", beat_args(role, process_name(), work))
        self._heard = now

    def leave(self, role: ProcessRole) -> None:
        """Tells that this process ends as it should: its silence is no death."""
        self._heard = -BEAT_S
        self._forget(f"{role} {process_name()}")

    def troubles(self) -> list[tuple[str, str]]:
        """Spiders of this machine that fetch nothing, and why: ``[("web1.4711.0a1b", "...")]``."""
        machine, _, _ = process_name().partition(".")
        names = [
            name.decode()
            for role, _, name in (x.partition(b" ") for x in self._heard_lately())
            if role.decode() == ProcessRole.SPIDER and name.startswith(f"{machine}.".encode())
        ]
        work = [(name, self._client.hget(f"{_WHO}:{name}", "work")) for name in names]
        return [(name, found.decode("utf-8", "replace")) for name, found in work if found]

    def take_silent(self) -> list[tuple[ProcessRole, str]]:
        """Returns processes that fell silent for ``LIFE_S`` since the last call.

        With those that were declared dead, which are forgotten. Of several callers one gets a
        process:
        ``[(ProcessRole.WORKER, "machine.4711")]``.
        """
        now_ms = queue_ms(self._client)
        until = now_ms - LIFE_S * 1000
        silent = self._client.zrangebyscore(_WHO, 0, until, withscores=True)
        found = [
            member.decode()
            for member, heard in silent
            if self._is_news(member.decode(), heard, now_ms)
        ]
        return [(ProcessRole(role), name) for role, _, name in (x.partition(" ") for x in found)]

    def _is_news(self, member: str, heard: float, now_ms: int) -> bool:
        """Whether the silence of a process is news; forgets it where nobody waits for it."""
        if not heard:
            is_told = self._client.hexists(f"{_WHO}:{member.partition(' ')[2]}", "told")
            return self._forget(member) and not is_told
        if heard <= now_ms - REMEMBERED_S * 1000:
            self._forget(member)
            return False
        return bool(self._client.hsetnx(f"{_WHO}:{member.partition(' ')[2]}", "told", 1))

    def _heard_lately(self) -> list[bytes]:
        since = queue_ms(self._client) - LIFE_S * 1000
        members: list[bytes] = self._client.zrangebyscore(_WHO, since, "+inf")
        return members

    def silent(self, names: Sequence[str]) -> list[tuple[ProcessRole, str]]:
        """Returns those of some processes that were not heard for ``LIFE_S``, each time."""
        until = queue_ms(self._client) - LIFE_S * 1000
        lines = [each.decode() for each in self._client.zrangebyscore(_WHO, "(0", until)]
        found = [(ProcessRole(role), name) for role, _, name in (x.partition(" ") for x in lines)]
        # A spider's name has a part of its own: machine.4711.0a1b2c3d
        asked = {*names}
        plain = [(role, ".".join(name.split(".")[:2])) for role, name in found]
        return [(role, name) for role, name in plain if name in asked]

    def declare_dead(self, is_dead: Callable[[str], bool]) -> None:
        """Declares processes dead by name; the next ``take_silent`` returns them."""
        for member in self._client.zrange(_WHO, 0, -1):
            if is_dead(member.decode().partition(" ")[2] + "."):
                self._client.zadd(_WHO, {member: 0}, xx=True)

    def ask_to_replace(self, name: str) -> None:
        """Asks the supervisor of a process, ``machine.4711``, to kill it and start another."""
        with self._client.pipeline() as pipe:
            pipe.sadd(_TO_REPLACE, name)
            pipe.expire(_TO_REPLACE, REPLACED_S)
            pipe.execute()

    def take_to_replace(self, mine: Sequence[str]) -> list[str]:
        """Returns those of a supervisor's processes that it is asked to replace, once."""
        asked = {each.decode() for each in self._client.smembers(_TO_REPLACE)}
        taken = [each for each in mine if each in asked]
        for each in taken:  # at every moment it is asked for or taken up
            self._client.set(f"{_REPLACED}:{each}", 1, ex=KEPT_REPLACED_S)
            self._client.srem(_TO_REPLACE, each)
        return taken

    def is_to_replace(self, name: str) -> bool:
        """Whether a supervisor is asked to replace a process, and none has taken it up."""
        return bool(self._client.sismember(_TO_REPLACE, name))

    def is_replaced(self, name: str) -> bool:
        """Whether its supervisor has taken up a process within the last hour, to replace it."""
        return bool(self._client.exists(f"{_REPLACED}:{name}"))

    def forget_all(self) -> None:
        """Forgets all processes: those of an earlier run, which ended with their queue."""
        for member in self._client.zrange(_WHO, 0, -1):
            self._forget(member.decode())

    def _forget(self, member: str) -> bool:
        with self._client.pipeline() as pipe:
            pipe.zrem(_WHO, member)
            pipe.delete(f"{_WHO}:{member.partition(' ')[2]}")
            return bool(pipe.execute()[0])
