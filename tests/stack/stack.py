"""The machines, projects and crawls of the stack's story, and what an operator sees of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.chaos.sites import Sites
from tests.kit.server_process import Running
from tests.kit.timing import wait_until
from tests.machines.namespaces import Network
from tests.stack.machines import FIRST, HOSTS, NETWORK, NumberedWeb, news_sites
from tests.stack.podman import Podman
from tests.stack.project import NAME, Project

MORE = 15  # records, which tell that work goes on
SMALLER = 5  # times the later crawls are
CRAWL_LIMIT_S = 900.0
LOOK_S = 1.0
SEED = f"{NAME}-seed"


@dataclass
class Crawl:
    """A crawl of three sites, and its name in the queue."""

    sites: Sites
    pages: int
    name: str = ""


@dataclass
class Stack(Running):
    """All that the story uses, for a ``with`` block.

    Attributes:
        folder: For everything; images in it are used again.
        tools: The virtual environment with podman-compose.
        pages: Of the first crawl; the others have a fifth of them.
        say: Gets lines of progress.
    """

    folder: Path
    tools: Path
    pages: int
    say: Callable[[str], None]
    facts: dict[str, Any] = field(default_factory=dict)
    kills: int = 0

    def start(self) -> None:
        """Makes the network, the sites and the projects; starts no container."""
        self.network = Network(self.folder / "network", NETWORK)
        self.network.start()
        self.first = Project(self._podman("first"), self.tools, {"CRAWLCLEAN_CONTACT": "a@b.test"})
        self.first.podman.remove_all()  # what a killed one left
        shared = self.first.podman.images
        self.second = Project(
            self._podman("second", shared), self.tools, {"SERVERS_ADDRESS": FIRST}
        )
        self.crawls = []
        for n, pages in enumerate((self.pages, *[self.pages // SMALLER] * 2)):
            web = self.folder / "web" / f"{os.getpid()}-{n}"
            sites = news_sites(pages, n + 1, HOSTS)
            served = Sites(web, sites, partial(NumberedWeb, self.network, n * HOSTS))
            crawl = Crawl(served, pages)
            self.crawls.append(crawl)
            crawl.sites.start()

    def _podman(self, machine: str, shared: Path | None = None) -> Podman:
        return Podman(self.folder / machine, self.network, machine, shared)

    def stop(self) -> None:
        """Removes all containers, volumes and networks; images stay."""
        for crawl in getattr(self, "crawls", ()):
            crawl.sites.stop()
        for project in (getattr(self, name, None) for name in ("second", "first")):
            if project is not None:
                with suppress(RuntimeError):
                    project.podman.remove_all()
        self.network.stop()

    # What an operator sees

    def stored(self, crawl: Crawl) -> int:
        """Records of a crawl so far; -1 while the queue cannot be asked."""
        try:
            return int(self._field(crawl, "stored") or 0)
        except RuntimeError:
            return -1

    def is_finished(self, crawl: Crawl) -> bool:
        """Whether a crawl is finished."""
        with suppress(RuntimeError):
            return self._field(crawl, "state") == "finished"
        return False

    def _field(self, crawl: Crawl, name: str) -> str:
        """A field of a crawl in the queue; ``""`` where it is not."""
        return "".join(self.first.queue("hget", f"cc:c:{crawl.name}", name))

    def await_more(self, crawl: Crawl) -> int:
        """Records of a crawl, some more than at the call.

        Raises:
            RuntimeError: It is finished: what was to happen while it crawls came too late.
        """
        wait_until(lambda: self.stored(crawl) >= 0, CRAWL_LIMIT_S, LOOK_S)
        goal = self.stored(crawl) + MORE
        if goal > crawl.pages:
            raise RuntimeError(f"{crawl.name} is over too soon: it needs more --pages")
        wait_until(lambda: self.stored(crawl) >= goal, CRAWL_LIMIT_S, LOOK_S)
        return self.stored(crawl)

    def seed(self, crawl: Crawl) -> None:
        """Starts or resumes a crawl by a container of ``cli``, as docs/operate.md does."""
        before = {*self.first.queue("smembers", "cc:crawls")}
        self.first.podman("rm", "--force", "--ignore", SEED)  # podman-compose leaves it there
        self.first.compose(
            *("run", "-T", "--rm", "--detach", "--no-deps", "--name", SEED),
            *("cli", "run", *crawl.sites.seeds, "--workers", "1", "--allow-private"),
        )

        def is_named() -> bool:
            new = {*self.first.queue("smembers", "cc:crawls")} - before - {""}
            crawl.name = crawl.name or "".join(sorted(new)[:1])
            return bool(crawl.name)

        wait_until(is_named, look_s=LOOK_S)

    def stop_seed(self) -> None:
        """Stops the container that runs the crawl."""
        self.first.podman("stop", "--time", "200", SEED, limit_s=240)

    def await_end(self) -> None:
        """Returns when the container that runs a crawl is gone."""
        seed = ("ps", "--quiet", "--filter", f"name={SEED}")
        wait_until(lambda: not self.first.podman(*seed).strip(), CRAWL_LIMIT_S, LOOK_S)

    def empty_folder(self, name: str) -> Path:
        """A folder for copies, without those of an earlier call."""
        folder = self.folder / name
        for old in folder.glob("*"):
            old.unlink()
        return folder
