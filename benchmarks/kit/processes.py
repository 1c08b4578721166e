"""Processor time of processes, and what each of them is in a crawl."""

from __future__ import annotations

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
ROLES = ("spider", "worker", "sweeper")


def cpu_s(pid: int, *, with_children: bool = True) -> float | None:
    """Processor seconds of a process, and of its dead children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(int(n) for n in fields[11 : 15 if with_children else 13]) / TICKS


def role_of(pid: int, run: int) -> str:
    """What a process is in the crawl of a `run`."""
    if pid == run:
        return "run"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").split()
    except OSError:
        return ""
    if words and "valkey-server" in words[0]:
        return "queue server"
    return next((w for w in words if w in ROLES), "")
