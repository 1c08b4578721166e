"""The processes of a crawl, started one by one: any number of each role, joined to one queue.

What ``run`` does for a user, opened up for measurements: several spiders, processes that are
killed, several crawls with manners of their own in one queue.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.processes import cpu_s
from storage.base import CrawlState
from storage.config import StorageConfig
from storage.embedded import EmbeddedServer
from storage.frontier import Frontier
from storage.opening import open_store
from tests.crawls import ROOT, command, environment
from workers.config import load_settings
from workers.crawl_specs import crawl_spec

SERVER = "queue server"
LOOK_S = 0.2
STOP_LIMIT_S = 30.0


class Fleet:
    """A queue's server and the processes that were started on it, for a ``with`` block."""

    def __init__(self, data: Path, **environ: str) -> None:
        """A fleet on a data folder; ``environ`` holds settings of its processes."""
        self.data = data
        self._environ = environment(
            CRAWLCLEAN_DATA=str(data), CRAWLCLEAN_ALLOW_PRIVATE="1", **environ
        )
        self._roles: dict[subprocess.Popen[bytes], str] = {}
        self._ended_cpu_s: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._server = EmbeddedServer(self.data)
        self._server.start()
        self.frontier = Frontier(self._server.url)
        (self.data / "logs").mkdir(exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for role in ("spider", "worker", "sweeper"):
            self.stop(*self.of_role(role))
        for process in list(self._roles):
            self.kill(process)
        self.frontier.close()
        self._server.stop()

    @property
    def url(self) -> str:
        """The queue's URL."""
        return self._server.url

    def open_crawl(self, name: str, seeds: Sequence[str], **flags: str) -> None:
        """A crawl as ``run SEEDS --name NAME --flag VALUE`` would open it."""
        settings = load_settings({}, {"allow_private": True, **flags})
        spec = crawl_spec(settings, seeds, name)
        store = open_store(StorageConfig(data=self.data), create=True)
        store.put_crawl(spec, CrawlState.RUNNING)
        store.close()
        self.frontier.open_crawl(spec)

    def start(self, role: str, program: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Starts a process of a role: our own command, or another program in its place."""
        with (self.data / "logs" / f"{role}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own programs
                [sys.executable, *program] if program else command(role),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environ,
                cwd=ROOT,
            )
        self._roles[process] = role
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill -9."""
        self._note_cpu(process)
        self._roles.pop(process, None)
        process.kill()
        process.wait()

    def stop(self, *processes: subprocess.Popen[bytes]) -> None:
        """Asks processes to end, and waits."""
        for process in processes:
            self._note_cpu(process)
            process.terminate()
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_LIMIT_S)
                self._roles.pop(process)

    def of_role(self, role: str) -> list[subprocess.Popen[bytes]]:
        """The processes of a role."""
        return [process for process, its in self._roles.items() if its == role]

    def pids(self) -> dict[str, list[int]]:
        """The processes that live, by role; the queue's server among them."""
        found: dict[str, list[int]] = {SERVER: [self._server.pid or 0]}
        for process, role in self._roles.items():
            if process.poll() is not None:
                sys.exit(f"a {role} ended with status {process.returncode}: see {self.data}/logs")
            found.setdefault(role, []).append(process.pid)
        return found

    def cpu_s(self) -> dict[str, float]:
        """Processor seconds by role so far, those of ended processes and of workers' jobs too."""
        found = dict(self._ended_cpu_s)
        for role, pids in self.pids().items():
            found[role] = found.get(role, 0.0) + sum(cpu_s(pid) or 0.0 for pid in pids)
        return {role: round(seconds, 2) for role, seconds in found.items()}

    def _note_cpu(self, process: subprocess.Popen[bytes]) -> None:
        role = self._roles.get(process, "")
        self._ended_cpu_s[role] = self._ended_cpu_s.get(role, 0.0) + (cpu_s(process.pid) or 0.0)

    def wait_until_done(self, crawl: str, limit_s: float) -> float:
        """Returns when nothing of the crawl is open: seconds it took."""
        begun = time.monotonic()
        while self.frontier.counts(crawl).open:
            self.pids()
            if time.monotonic() - begun > limit_s:
                counts = self.frontier.counts(crawl)
                sys.exit(f"{crawl} is not done after {limit_s:.0f} s: {counts}")
            time.sleep(LOOK_S)
        return time.monotonic() - begun


def folder_bytes(folder: Path) -> int:
    """Size of all files below a folder."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found += (Path(place) / name).stat().st_size
    return found
