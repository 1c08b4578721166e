"""Checks of `doctor` that need servers."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import product
from pathlib import Path

from storage.config import StorageConfig
from storage.live_state import ProcessRole
from storage.queue.frontier import Frontier
from tests.kit.queue_server import QueueServer
from workers.config import Settings
from workers.operations.files.folder_checks import Warned, folder_checks


def test_a_queue_server_without_a_role_is_named(tmp_path: Path) -> None:
    with ExitStack() as stack:
        urls = [stack.enter_context(QueueServer(tmp_path / name)).url for name in ("one", "two")]
        storage = StorageConfig(redis_url=",".join(urls), mongodb_url="mongodb://127.0.0.1:1/c")
        settings = replace(Settings(), storage=storage)
        check = dict(folder_checks(settings))["queue servers"]
        assert str(check()).count("0 spider, 0 worker, 0 sweeper") == 2, "nothing was started"
        for url, role in product(urls, (ProcessRole.SPIDER, ProcessRole.WORKER)):
            if (url, role) != (urls[1], ProcessRole.SPIDER):
                with closing(Frontier(url)) as queue:
                    queue.processes.beat(role)
        found = check()
        assert isinstance(found, Warned)
        one, two = storage.queue_places
        assert found.detail == (
            f"no sweeper works on {one}; no spider works on {two}; no sweeper works on {two}: "
            "its hosts wait"
        )
        assert "queue servers" not in dict(folder_checks(Settings()))
