"""The end of a run, without the processes that it would start."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import DatabaseDamaged
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlCounts, CrawlState
from crawlclean.storage.queue.embedded import socket_url
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.crawling.lifecycle import VisitWait
from crawlclean.workers.operations.crawling.one_crawl import run_crawl
from crawlclean.workers.operations.crawling.specs import crawl_spec
from crawlclean.workers.processes.fleet import Fleet


class Operator:
    """Stops the crawl; the moment before the run ends, a worker reports a damaged database."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def show(
        self,
        counts: CrawlCounts,
        note: str = "",
        *,
        visits: VisitWait | None = None,  # noqa: ARG002 - of the protocol
        last: bool = False,
    ) -> None:
        with closing(Frontier(socket_url(self._data))) as frontier:
            if counts.state is CrawlState.RUNNING:
                frontier.set_state("c", CrawlState.STOPPED)
            elif note.startswith("stopped by an operator"):
                frontier.report_damage("records.sqlite is damaged (by a test)")
        assert not last, "the run has an end as if all were well"

    def show_step(self, step: str) -> None:
        pass

    def print_line(self, line: str) -> None:
        pass


def test_damage_that_a_worker_meets_last_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fleet, "start", lambda _, **__: None)
    settings = Settings(storage=StorageConfig(data=tmp_path / "data"))
    spec = crawl_spec(settings, ["https://a.example/"], "c")
    with pytest.raises(DatabaseDamaged, match="by a test"):
        run_crawl(settings, spec, Operator(tmp_path / "data"), fresh=False)
