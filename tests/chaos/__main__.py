"""``make chaos``: long crawls under kills, printed as JSON; status 1 after any complaint."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.kit.results import RESULTS, commit, keep
from tests.chaos.away import away
from tests.chaos.hangs import hangs
from tests.chaos.images import picture_bout
from tests.chaos.kills import bout
from tests.chaos.topics import topic_bout
from tests.kit.wide_web import WideSpec

STORES = ("sqlite", "mongo")
PICTURES = tuple(f"{store}_images" for store in STORES)
TOPICS = tuple(f"{store}_topic" for store in STORES)
PARTS = (*STORES, *PICTURES, *TOPICS, "away", "hangs")
TOPIC_WEB = WideSpec(news=80, slow=10, plain=90, farm=20, dead=10, articles=80)
ABSENCES = [("queue", "dead"), ("mongo", "dead"), ("queue", "frozen"), ("mongo", "frozen")]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "mongo", "both"], default="both")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--away", nargs="?", type=float, const=60.0, metavar="S", help="instead: servers away"
    )
    parser.add_argument(
        "--hangs", nargs="?", type=int, const=10, metavar="N", help="instead: jobs that hang"
    )
    parser.add_argument(
        "--images", nargs="?", type=int, const=300, metavar="N", help="instead: N pictures"
    )
    parser.add_argument(
        "--topic",
        nargs="?",
        type=float,
        const=1200.0,
        metavar="S",
        help="instead: a topic crawl over 200 hosts",
    )
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/chaos.json")
    a = parser.parse_args(argv)
    result: dict[str, Any] = {}
    is_clean = True
    if a.away:
        with tempfile.TemporaryDirectory() as folder:
            told = away(Path(folder), ABSENCES, a.away, seed=a.seed)
        result["away"] = {**asdict(told), "complaints": told.complaints}
        is_clean = not told.complaints
    if a.hangs:
        with tempfile.TemporaryDirectory() as folder:
            hung = hangs(Path(folder), a.hangs)
        result["hangs"] = asdict(hung)
        is_clean &= not hung.complaints
    stores = STORES if a.store == "both" else [a.store]
    for store in stores if a.images else []:
        with tempfile.TemporaryDirectory() as folder:
            report = picture_bout(
                Path(folder), store, a.images, a.kills, a.seed, latency_ms=a.latency_ms
            )
        result[f"{store}_images"] = asdict(report)
        is_clean &= report.is_clean
    for store in stores if a.topic else []:
        with tempfile.TemporaryDirectory() as folder:
            followed = topic_bout(Path(folder), store, TOPIC_WEB, a.topic, a.kills)
        result[f"{store}_topic"] = asdict(followed)
        is_clean &= followed.is_clean
    for store in [] if a.away or a.hangs or a.images or a.topic else stores:
        with tempfile.TemporaryDirectory() as folder:
            report = bout(Path(folder), store, a.pages, a.kills, a.seed, latency_ms=a.latency_ms)
        result[store] = asdict(report)
        is_clean &= report.is_clean
    if a.keep:
        keep(
            "chaos", {**_kept(), **{part: {"commit": commit(), **result[part]} for part in result}}
        )
    else:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    return 0 if is_clean else 1


def _kept() -> dict[str, Any]:
    """The parts that are measured by other calls."""
    old = RESULTS / "chaos.json"
    kept = json.loads(old.read_text("utf-8")) if old.exists() else {}
    return {part: kept[part] for part in PARTS if part in kept}


if __name__ == "__main__":
    sys.exit(main())
