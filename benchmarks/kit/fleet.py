"""A crawl's processes started one by one: any number of each role, joined to one queue.

Measurements need more than ``run`` offers: several spiders, killed processes, several crawls with
different politeness policies in one queue.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.opening import open_store
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.config import load_settings
from crawlclean.workers.operations.crawling.specs import crawl_spec
from tests.chaos.fleets import Fleet
from tests.chaos.members import Member
from tests.kit.crawls import command, environment
from tests.kit.processes import cpu_s

SERVER = "queue server"
LOOK_S = 0.2
STOP_LIMIT_S = 30.0


class Joined(Fleet):
    """A queue server and the processes that join it, for a ``with`` block."""

    roles: tuple[str, ...] = ("spider", "worker", "housekeeper")  # in the order of stopping

    def __init__(self, folder: Path, **environ: str) -> None:
        """Prepares a fleet in a folder; ``environ`` holds settings of its processes."""
        super().__init__(folder, (), hurry=False)
        self._environ = environment(
            CRAWLCLEAN_DATA=str(self.data), CRAWLCLEAN_ALLOW_PRIVATE="1", **environ
        )
        self._ended_cpu_s: dict[str, float] = defaultdict(float)

    def start(self) -> None:
        """Starts the queue server alone."""
        self.data.mkdir(parents=True, exist_ok=True)
        self._server = EmbeddedServer(self.data)
        self._server.start()
        self.queue_url = self._server.url
        self.queue = Frontier(self.queue_url)

    def stop(self) -> None:
        """Stops the processes, role by role, then the server."""
        for role in self.roles:
            self.end(*self.of_role(role))
        super().stop()
        self.queue.close()
        self._server.stop()

    def open_crawl(self, name: str, seeds: Sequence[str], **flags: str) -> None:
        """Opens a crawl as ``run SEEDS --name NAME --flag VALUE`` does."""
        settings = load_settings({}, {"allow_private": True, **flags})
        spec = crawl_spec(settings, seeds, name)
        store = open_store(StorageConfig(data=self.data), create=True)
        store.crawls.put(spec, CrawlState.RUNNING)
        store.close()
        self.queue.open_crawl(spec)

    def join(self, role: str, program: Sequence[str] = ()) -> Member:
        """Starts a process of a role: our command, or another program in its place."""
        words = [sys.executable, *program] if program else command(role)
        member = Member(role, words, self.logs / f"{role}.log", self._environ)
        member.start()
        self.members.append(member)
        return member

    def kill(self, member: Member) -> None:
        """Kills a process by SIGKILL."""
        self._note_cpu(member)
        self.members.remove(member)
        member.kill()

    def end(self, *members: Member) -> None:
        """Stops processes by SIGTERM and waits for them."""
        for member in members:
            self._note_cpu(member)
            with suppress(subprocess.TimeoutExpired):
                member.terminate(STOP_LIMIT_S)
                self.members.remove(member)

    def of_role(self, role: str) -> list[Member]:
        """Returns the processes of a role."""
        return [member for member in self.members if member.role == role]

    def victims(self) -> dict[str, list[int]]:
        """Returns the process ids by role, with the queue server; all must be running."""
        found: dict[str, list[int]] = {SERVER: [self._server.pid or 0]}
        for member in self.members:
            if not member.is_running():
                sys.exit(f"a {member.role} ended: see {member.log}")
            found.setdefault(member.role, []).append(member.pid)
        return found

    def cpu_s(self) -> dict[str, float]:
        """Returns CPU seconds by role so far, with ended processes and the jobs of workers."""
        found = dict(self._ended_cpu_s)
        for role, pids in self.victims().items():
            found[role] = found.get(role, 0.0) + sum(cpu_s(pid, with_children=True) for pid in pids)
        return {role: round(seconds, 2) for role, seconds in found.items()}

    def _note_cpu(self, member: Member) -> None:
        self._ended_cpu_s[member.role] += cpu_s(member.pid, with_children=True)

    def wait_until_done(self, crawl: str, limit_s: float) -> float:
        """Waits until no URL of the crawl is open; returns the seconds."""
        begun = time.monotonic()
        while self.queue.counts(crawl).open:
            self.victims()
            if time.monotonic() - begun > limit_s:
                counts = self.queue.counts(crawl)
                sys.exit(f"{crawl} is not done after {limit_s:.0f} s: {counts}")
            time.sleep(LOOK_S)
        return time.monotonic() - begun


def folder_bytes(folder: Path) -> int:
    """Returns the size of all files below a folder."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found += (Path(place) / name).stat().st_size
    return found
