"""A real spider process on a private queue, and what it hands over."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis

from storage.crawl_types import QueuedPage, UrlState
from storage.queue.embedded import EmbeddedServer
from storage.queue.frontier import Frontier
from tests.kit.crawls import ROOT, command, environment
from tests.kit.queues import wait_until


class SpiderProcess:
    """`crawlclean spider` and its queue; we are the worker."""

    def __init__(self, data: Path, module: str = "workers.cli", **settings: str) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.server = EmbeddedServer(data)
        self.server.start()
        self.frontier = Frontier(self.server.url)
        self.client: Any = Redis.from_url(self.server.url, decode_responses=True)
        self.pages: dict[tuple[str, str], QueuedPage] = {}
        env = environment(**{f"CRAWLCLEAN_{k.upper()}": v for k, v in settings.items()})
        self._log = data / "spider.log"
        with self._log.open("wb") as log:
            python, option, _, *arguments = command("spider", "--data", str(data))
            self.process = subprocess.Popen(
                [python, option, module, *arguments], stdout=log, stderr=log, env=env, cwd=ROOT
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.frontier.close()
        self.client.close()
        self.server.stop()

    @property
    def log(self) -> str:
        """What the process said."""
        return self._log.read_text("utf-8")

    def collect(self) -> None:
        """Takes every job there is, as a worker would."""
        for job in self.client.zrange("cc:jobs", 0, -1):
            pages = self.frontier.claim(job, "test")
            self.pages |= {(page.crawl_id, page.url): page for page in pages}
            self.frontier.ack(job, [(page, UrlState.RECORD) for page in pages])

    def collect_all(self, limit_s: float = 60.0) -> None:
        """Until no crawl has anything left.

        Raises:
            AssertionError: It does not end.
        """

        def at_rest() -> bool:
            assert self.process.poll() is None, self.log
            self.collect()
            return all(not self.frontier.counts(c).open for c in self.frontier.crawl_ids())

        wait_until(at_rest, limit_s)

    def terminate(self, limit_s: float = 30.0) -> int:
        """SIGTERM; the exit status."""
        self.process.terminate()
        return self.process.wait(limit_s)
