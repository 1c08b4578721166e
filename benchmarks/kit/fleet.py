"""The processes of a crawl, started one by one: any number of each role, joined to one queue.

What ``run`` does for a user, opened up for measurements: several spiders, processes that are
killed, several crawls with politeness policies of their own in one queue.
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

from storage.config import StorageConfig
from storage.crawl_types import CrawlState
from storage.opening import open_store
from storage.queue.embedded import EmbeddedServer
from storage.queue.frontier import Frontier
from tests.chaos.fleets import Fleet
from tests.chaos.members import Member
from tests.kit.crawls import command, environment
from tests.kit.processes import cpu_s
from workers.config import load_settings
from workers.operations.crawling.specs import crawl_spec

SERVER = "queue server"
LOOK_S = 0.2
STOP_LIMIT_S = 30.0


class Joined(Fleet):
    """A queue's server and the processes that join it, for a ``with`` block."""

    roles = ("spider", "worker", "sweeper")  # in the order in which they are stopped

    def __init__(self, folder: Path, **environ: str) -> None:
        """A fleet on a folder; ``environ`` holds settings of its processes."""
        super().__init__(folder, (), hurry=False)
        self._environ = environment(
            CRAWLCLEAN_DATA=str(self.data), CRAWLCLEAN_ALLOW_PRIVATE="1", **environ
        )
        self._ended_cpu_s: dict[str, float] = defaultdict(float)

    def start(self) -> None:
        """Starts the server; no process joins yet."""
        self.data.mkdir(parents=True, exist_ok=True)
        self._server = EmbeddedServer(self.data)
        self._server.start()
        self.queue_url = self._server.url
        self.queue = Frontier(self.queue_url)

    def stop(self) -> None:
        """Asks the processes to end, role by role, and ends the server."""
        for role in self.roles:
            self.end(*self.of_role(role))
        super().stop()
        self.queue.close()
        self._server.stop()

    def open_crawl(self, name: str, seeds: Sequence[str], **flags: str) -> None:
        """A crawl as ``run SEEDS --name NAME --flag VALUE`` would open it."""
        settings = load_settings({}, {"allow_private": True, **flags})
        spec = crawl_spec(settings, seeds, name)
        store = open_store(StorageConfig(data=self.data), create=True)
        store.crawls.put(spec, CrawlState.RUNNING)
        store.close()
        self.queue.open_crawl(spec)

    def join(self, role: str, program: Sequence[str] = ()) -> Member:
        """Starts a process of a role: our own command, or another program in its place."""
        words = [sys.executable, *program] if program else command(role)
        member = Member(role, words, self.logs / f"{role}.log", self._environ)
        member.start()
        self.members.append(member)
        return member

    def kill(self, member: Member) -> None:
        """Kill -9."""
        self._note_cpu(member)
        self.members.remove(member)
        member.kill()

    def end(self, *members: Member) -> None:
        """Asks processes to end, and waits."""
        for member in members:
            self._note_cpu(member)
            with suppress(subprocess.TimeoutExpired):
                member.terminate(STOP_LIMIT_S)
                self.members.remove(member)

    def of_role(self, role: str) -> list[Member]:
        """The processes of a role."""
        return [member for member in self.members if member.role == role]

    def victims(self) -> dict[str, list[int]]:
        """The processes that live, by role; the queue's server among them."""
        found: dict[str, list[int]] = {SERVER: [self._server.pid or 0]}
        for member in self.members:
            if not member.is_running():
                sys.exit(f"a {member.role} ended: see {member.log}")
            found.setdefault(member.role, []).append(member.pid)
        return found

    def cpu_s(self) -> dict[str, float]:
        """Processor seconds by role so far, those of ended processes and of workers' jobs too."""
        found = dict(self._ended_cpu_s)
        for role, pids in self.victims().items():
            found[role] = found.get(role, 0.0) + sum(cpu_s(pid, with_children=True) for pid in pids)
        return {role: round(seconds, 2) for role, seconds in found.items()}

    def _note_cpu(self, member: Member) -> None:
        self._ended_cpu_s[member.role] += cpu_s(member.pid, with_children=True)

    def wait_until_done(self, crawl: str, limit_s: float) -> float:
        """Returns when nothing of the crawl is open: seconds it took."""
        begun = time.monotonic()
        while self.queue.counts(crawl).open:
            self.victims()
            if time.monotonic() - begun > limit_s:
                counts = self.queue.counts(crawl)
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
