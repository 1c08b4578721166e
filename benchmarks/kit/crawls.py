"""Whole crawls by the commands of ours and of peers, and what the processes of a command cost."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.crawl.peers import Options
from benchmarks.kit.environments import variables
from benchmarks.kit.results import ROOT
from tests.kit.crawls import command, environment
from tests.kit.processes import children_of, command_of, cpu_s, family_of, processes_of, role_of

LOOK_S = 0.1  # between two looks at the processes; the kernel tells nobody of their time
MEMORY_S = 1.0  # between two looks at the memory: a look costs some 20 ms of the kernel
MEMORY_LINE = re.compile(r"^(Rss|Pss|Private_Clean|Private_Dirty):\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a command cost with all of its processes.

    Attributes:
        cpu_s: Processor seconds of ``all``, and by role: ``{"run": 0.9, "jobs": 20.1}``, a peer's
            as ``command``. Looks find them; ``rest`` is what they missed: the ends of processes.
        seconds: From start to exit.
        peak_mb: The most memory together, seen once a second; shared pages count once (PSS).
        load: The load average of a minute at the exit.
    """

    cpu_s: dict[str, float]
    seconds: float
    peak_mb: float
    load: float


def cost_of(words: Sequence[str], env: Mapping[str, str]) -> tuple[Cost, str]:
    """Runs a command to its end; returns (its cost, its output). Ends the program if it fails."""
    before, begun, looked = waited_cpu_s(), time.monotonic(), 0.0
    spent: dict[int, dict[str, float]] = {}
    peak = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own program
            words, stdout=out, stderr=errors, env=env, cwd=ROOT
        )
        while process.poll() is None:
            for pid in [process.pid, *children_of(process.pid), *processes_of(process.pid)]:
                if command_of(pid):  # one that has ended keeps what it had
                    other = "command" if pid == process.pid else "fork server"
                    spent[pid] = spent_by(pid, role_of(pid) or other)
            if time.monotonic() - looked > MEMORY_S:
                looked = time.monotonic()
                peak = max(peak, together([process.pid, *family_of(process.pid)]))
            time.sleep(LOOK_S)
        for file in (out, errors):
            file.seek(0)
        if process.returncode not in (0, 3):  # 3: a limit that was given ended a crawl
            sys.exit(f"{words[-3:]} failed: {errors.read()}")
        printed = out.read()
    by_role: dict[str, float] = defaultdict(float)
    for row in spent.values():
        for role, seconds in row.items():
            by_role[role] += seconds
    everything = waited_cpu_s() - before
    by_role |= {"rest": everything - sum(by_role.values()), "all": everything}
    return Cost(
        cpu_s={role: round(seconds, 2) for role, seconds in by_role.items()},
        seconds=round(time.monotonic() - begun, 1),
        peak_mb=round(peak / 1e6, 1),
        load=round(os.getloadavg()[0], 1),
    ), printed


def spent_by(pid: int, role: str) -> dict[str, float]:
    """Returns the CPU seconds of a process and its ended children: those of a worker are jobs."""
    alone, together = cpu_s(pid), cpu_s(pid, with_children=True)
    if role == "worker":
        return {role: alone, "jobs": together - alone}
    return {role: alone if role in ("run", "fork server") else together}


def together(pids: Sequence[int]) -> int:
    """Returns the bytes of processes, shared pages once; one that has ended has none."""
    found = 0
    for pid in pids:
        with suppress(OSError, KeyError):
            found += memory_of(pid)["Pss"]
    return found


def memory_of(pid: int) -> dict[str, int]:
    """Returns the sizes of a process, bytes, by kernel name: ``Rss``, ``Private_Dirty``."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    return {name: int(kilobytes) * 1024 for name, kilobytes in MEMORY_LINE.findall(text)}


def waited_cpu_s() -> float:
    """Returns the CPU seconds of all ended descendants."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_ours(seeds: Sequence[str], data: Path, *options: str) -> Cost:
    """Crawls the seeds' hosts into a fresh folder."""
    words = command("run", *seeds, "--allow-private", "--json", "--data", str(data), *options)
    return cost_of(words, environment())[0]


def run_peer(
    python: Path, tool: str, options: Options, folder: Path
) -> tuple[dict[str, int], Cost]:
    """Runs a peer; returns (its printed counts, its cost)."""
    cost, printed = cost_of(peer_command(python, tool, options, folder), variables())
    return json.loads(printed.splitlines()[-1]), cost


def peer_command(python: Path, tool: str, options: Options, folder: Path) -> list[str]:
    """Writes the options of a peer into a folder; returns its command line."""
    file = folder / f"{tool}.json"
    file.write_text(json.dumps(asdict(options)), "utf-8")
    return [str(python), "-m", "benchmarks.crawl.peers", tool, str(file)]
