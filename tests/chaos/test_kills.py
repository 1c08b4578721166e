"""Short bouts of kills, in both modes; ``make chaos`` runs long ones."""

from __future__ import annotations

import random
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.chaos.fleets import Embedded, Servers
from tests.chaos.images import picture_bout
from tests.chaos.kills import WORST_PAIRS, Kill, bout, plan
from tests.kit.servers import require

SHORT: dict[str, list[Kill]] = {
    "sqlite": [("spider", "worker"), ("tree",), ("stop",)],
    "mongo": [("spider", "worker", "housekeeper"), ("stop",), ("queue", "mongo")],
}


@pytest.mark.parametrize("store", SHORT)
def test_nothing_is_lost_or_doubled_when_anything_is_killed(tmp_path: Path, store: str) -> None:
    if store == "mongo" and find_spec("secantus") is None:
        require("needs secantusdb, of the extra `test`")
    kills = SHORT[store]
    # Slow answers, so that a loaded machine sees each time for a kill before the crawl is over.
    report = bout(tmp_path, store, 110, kills, seed=7, latency_ms=60, hosts=2, hurry=True)
    assert report.complaints == []
    assert report.is_clean, report
    assert report.kills == Counter("+".join(kill) for kill in kills)
    assert report.tracebacks == 0


def test_images_outlive_kills(tmp_path: Path) -> None:
    kills: list[Kill] = [("tree",)]
    report = picture_bout(tmp_path, "sqlite", 12, kills, seed=3, latency_ms=20, hurry=True)
    assert report.complaints == []
    assert report.is_clean, report
    assert report.kills == {"tree": 1}


def test_a_long_bout_kills_everything_alone_in_pairs_and_at_once() -> None:
    for fleet in (Embedded, Servers):
        kills = plan(30, fleet.roles, random.Random(3))
        count = Counter(kills)
        assert len(kills) == 30 + count["stop",]
        assert count["tree",] == 3
        assert all(count[role,] >= 3 for role in fleet.roles)
        assert all(count[pair] for pair in WORST_PAIRS if set(pair) <= set(fleet.roles))
