"""A short bout of kills; ``make chaos`` runs a long one."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.kills import bout


def test_nothing_is_lost_or_doubled_when_everything_is_killed_twice(tmp_path: Path) -> None:
    report = bout(tmp_path, pages=250, latency_ms=10, trees=2, singles=0, seed=7)
    assert report.kills == {"tree": 2}
    assert report.is_clean, report


def test_nothing_is_lost_or_doubled_when_single_processes_are_killed(tmp_path: Path) -> None:
    report = bout(tmp_path, pages=250, latency_ms=10, trees=0, singles=5, seed=3)
    assert sum(report.kills.values()) >= 4
    assert report.is_clean, report
