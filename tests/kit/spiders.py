"""A real spider process on a private queue, and what it hands over."""

from __future__ import annotations

from pathlib import Path

from crawlclean.storage.crawl_types import QueuedPage, UrlState
from tests.kit.crawls import command
from tests.kit.private_queue import PrivateQueue
from tests.kit.timing import LIMIT_S, wait_until


class SpiderProcess(PrivateQueue):
    """`crawlclean spider` on a private queue; the test is the worker."""

    def __init__(self, data: Path, module: str = "crawlclean.workers.cli", **settings: str) -> None:
        """Prepares the process.

        Args:
            data: The data folder.
            module: The program; another than the real one plants defects or names.
            settings: Settings by their names, as ``timeout_s="60"``.
        """
        super().__init__(data, decode_responses=True)
        self.pages: dict[tuple[str, str], QueuedPage] = {}
        self._module = module
        self._settings = {f"CRAWLCLEAN_{name.upper()}": value for name, value in settings.items()}

    def start(self) -> None:
        """Starts the queue's server and the spider."""
        super().start()
        python, option, _, *arguments = command("spider", "--data", str(self.data))
        self.start_program("spider", [python, option, self._module, *arguments], **self._settings)

    def collect(self) -> None:
        """Claims and acknowledges every waiting job, as a worker would."""
        for job in self.client.zrange("cc:jobs", 0, -1):
            pages = self.frontier.claim(job, "test")
            self.pages |= {(page.crawl_id, page.url): page for page in pages}
            self.frontier.ack(job, [(page, UrlState.RECORD) for page in pages])

    def collect_all(self, limit_s: float = LIMIT_S) -> None:
        """Collects until no crawl has anything left.

        Raises:
            AssertionError: The limit is over, or the spider has ended.
        """

        def at_rest() -> bool:
            self.assert_alive()
            self.collect()
            return all(not self.frontier.counts(c).open for c in self.frontier.crawl_ids())

        try:
            wait_until(at_rest, limit_s)
        except AssertionError as error:
            left = {c: str(self.frontier.counts(c)) for c in self.frontier.crawl_ids()}
            raise AssertionError(f"{error}: {left}\n{self.log}") from error

    def terminate(self, limit_s: float = LIMIT_S) -> int:
        """Exit status after SIGTERM."""
        self.process.terminate()
        return self.process.wait(limit_s)
