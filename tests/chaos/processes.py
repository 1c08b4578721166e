"""Processes as the kernel shows them: who belongs to whom, and what a signal does to them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LIMIT_S = 600.0
ROLES = ("spider", "worker", "sweeper", "run")
SERVERS = ("valkey-server", "redis-server")


def children_of(pid: int) -> list[int]:
    """The children of a process, as the kernel tells."""
    found: list[int] = []
    with suppress(OSError):  # a process that ends takes its folder along
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def family_of(pid: int) -> list[int]:
    """Every descendant of a process."""
    below = children_of(pid)
    return below + [each for child in below for each in family_of(child)]


def role_of(pid: int) -> str:
    """``run``, ``spider``, ``worker`` (its jobs too), ``sweeper``, ``queue`` or ``""``."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return ""
    program = Path(words[0].split(" ")[0]).name  # a server rewrites its title
    if program.startswith(SERVERS):
        return "queue"
    return next((w for w in words if w in ROLES), "")


def cpu_s(pid: int) -> float:
    """Processor time that a process has used, seconds; 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be seen dead does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(") ")[2][0] not in "ZX"


def send(pid: int, signum: signal.Signals) -> None:
    """A signal to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signum)


def kill(pid: int) -> None:
    """Kill -9."""
    send(pid, signal.SIGKILL)


@contextmanager
def frozen(pids: Iterable[int]) -> Iterator[None]:
    """Stops processes for a moment, so that what they hold can be counted exactly."""
    stopped = list(pids)
    for pid in stopped:
        send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            send(pid, signal.SIGCONT)


def until(condition: Callable[[], bool], limit_s: float = LIMIT_S, look_s: float = 0.02) -> None:
    """Returns when a condition holds that only looking can tell.

    Raises:
        AssertionError: It does not within the limit.
    """
    deadline = time.monotonic() + limit_s
    between_looks = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        between_looks.wait(look_s)
