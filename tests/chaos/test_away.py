"""Servers that are away for some seconds; ``make chaos ARGS=--away`` waits for a minute each."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tests.chaos.away import away
from tests.servers import require


def test_everything_waits_for_a_server_and_goes_on(tmp_path: Path) -> None:
    if find_spec("secantus") is None:
        require("needs secantusdb, of the extra `test`")
    told = away(tmp_path, [("queue", "dead"), ("mongo", "dead")], 2.0, pages=120, latency_ms=40)
    assert told.complaints == []
    for absence, who in zip(told.absences, ("spider-0", "worker-2"), strict=True):
        assert len(absence.lines.get(who, ["away"])) <= 2
