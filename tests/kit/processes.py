"""Processes as the kernel shows them: families, roles, processor time, signals."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROLES = ("spider", "worker", "housekeeper", "run")
SERVERS = ("valkey-server", "redis-server")


def children_by_parent() -> dict[int, list[int]]:
    """The children of every process that has some now.

    By the parent of each process: ``/proc/PID/task/TID/children`` may leave out one while another
    child ends.
    """
    found: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # a process that ends takes its folder along
            fields = place.read_text("utf-8", "replace").rpartition(")")[2].split()
            found.setdefault(int(fields[1]), []).append(int(place.parent.name))
    return found


def children_of(pid: int) -> list[int]:
    """The children of a process now; none of one that is gone."""
    return children_by_parent().get(pid, [])


def processes_of(pid: int) -> list[int]:
    """The children of a `run`, and those that its fork server has forked."""
    below = children_by_parent()
    return [
        each
        for child in below.get(pid, ())
        for each in ([child] if role_of(child) else below.get(child, ()))
    ]


def family_of(pid: int) -> list[int]:
    """Every descendant of a process."""
    below = children_by_parent()
    family = below.get(pid, [])
    for each in family:  # grows meanwhile
        family += below.get(each, ())
    return family


def command_of(pid: int) -> str:
    """The command line of a process; ``""`` of one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def role_of(pid: int) -> str:
    """Role of a process: ``run``, ``spider``, ``worker`` (and jobs), ``housekeeper``, ``queue``.

    ``""`` is any other process, and one that is gone.
    """
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return ""
    program = Path(words[0].split(" ")[0]).name  # a server rewrites its title
    if program.startswith(SERVERS):
        return "queue"
    return next((w for w in words if w in ROLES), "")


def cpu_s(pid: int, *, with_children: bool = False) -> float:
    """Processor seconds that a process has used, 0 for one that is gone.

    ``with_children`` adds those of its family: who lives, and who has ended and was waited for.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    used = sum(map(int, fields[11 : 15 if with_children else 13])) / os.sysconf("SC_CLK_TCK")
    family = children_of(pid) if with_children else ()
    return used + sum(cpu_s(child, with_children=True) for child in family)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(") ")[2][0] not in "ZX"


def send(pid: int, signum: signal.Signals) -> None:
    """Sends a signal to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signum)


def kill(pid: int) -> None:
    """Kills a process that may be gone, as ``kill -9`` does."""
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
