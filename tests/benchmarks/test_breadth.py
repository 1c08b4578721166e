"""What a command costs with its processes, and the rounds of a benchmark as one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.crawl.breadth import middle, ours
from benchmarks.kit.crawls import cost_of
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec

BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
IN_A_CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN!r}])\nprint(7)"


def test_the_children_of_a_command_are_part_of_its_cost() -> None:
    cost, printed = cost_of([sys.executable, "-c", IN_A_CHILD], os.environ)
    assert printed == "7\n"
    assert cost.cpu_s["all"] >= 0.3
    assert cost.seconds >= 0.3
    assert cost.peak_mb > 1


def test_a_crawl_shows_the_cost_of_each_process(tmp_path: Path) -> None:
    spec = WebSpec(hosts=2, pages=2, chains=2)
    with GeneratedWeb(tmp_path / "web", spec) as web:
        cost, records = ours(web, tmp_path / "data")
        assert sorted(records) == spec.all_pages(web.port)
    roles = {"run", "fork server", "queue", "housekeeper", "worker", "jobs", "spider", "rest"}
    assert {"run", "all"} < cost.cpu_s.keys() <= {*roles, "all"}  # some live between two looks
    assert sum(cost.cpu_s.get(role, 0) for role in roles) == pytest.approx(
        cost.cpu_s["all"], abs=0.05
    )


def test_the_rounds_are_one_by_their_medians() -> None:
    rows = [
        {"ours": {"cpu_s": {"all": all_s, "jobs": 1.0}, "load": load}, "ratio": ratio}
        for all_s, load, ratio in ((9.0, 0.5, 3.0), (4.0, 7.5, 1.0), (5.0, 1.5, 2.0))
    ]
    assert middle(rows) == {
        "ours": {"cpu_s": {"all": 5.0, "jobs": 1.0}, "load": 1.5, "loads": [0.5, 7.5, 1.5]},
        "ratio": 2.0,
        "ratios": [3.0, 1.0, 2.0],
    }
