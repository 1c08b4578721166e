"""Servers that are away for some seconds; ``make chaos ARGS=--away`` waits for a minute each."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tests.chaos.away import away
from tests.kit.disks import tiny_disk
from tests.kit.servers import require

ABSENCES = [("queue", "full"), ("mongo", "full"), ("queue", "dead")]


def test_everything_waits_for_a_server_and_goes_on(tmp_path: Path) -> None:
    if find_spec("secantus") is None:
        require("needs secantusdb, of the extra `test`")
    with tiny_disk(tmp_path / "disk", "size=16m") as disk:
        told = away(tmp_path, ABSENCES, 2.5, pages=160, latency_ms=150, queue_folder=disk)
    assert told.complaints == []
    queue_full, mongo_full, queue_dead = (str(each.lines) for each in told.absences)
    assert "queue away, waiting" in queue_dead
    assert "no space left for MongoDB" in mongo_full
    assert "MISCONF" in queue_full
