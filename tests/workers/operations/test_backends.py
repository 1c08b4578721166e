"""Opening the queue of a folder while another process ends, or stays."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import DataDirectoryInUse
from crawlclean.storage import opening
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import open_store
from crawlclean.storage.queue.embedded import DataLock
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import Backends


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings(storage=StorageConfig(data=tmp_path))
    with closing(open_store(found.storage, create=True)) as store:
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.FINISHED)
    return found


def test_a_run_that_ends_is_waited_for(settings: Settings) -> None:
    lock = DataLock(settings.storage.data)
    ending = threading.Timer(0.3, lock.release)
    ending.start()
    with Backends(settings).queue(at_rest=True) as frontier:
        assert list(frontier.crawl_ids()) == []
    ending.join()


def test_a_folder_that_stays_taken_is_said(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "TURN_S", 0.1)
    lock = DataLock(settings.storage.data)
    with (
        pytest.raises(DataDirectoryInUse, match="in use by process"),
        Backends(settings).queue(at_rest=True),
    ):
        pass
    lock.release()
