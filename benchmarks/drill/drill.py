"""A drill for operators: something goes wrong with a crawl, and the console has to mend it.

A site of 12 hosts on loopback addresses, a crawl of it with three workers, a console with
`--allow-actions`. After a minute of normal work comes one of six troubles, by its number or drawn
by lot; the program waits until queue and store show that it is mended. It prints how long that
took, the clicks and the actions. Nobody needs more than `/help` of the console to mend it.

``make drill ARGS="--trouble 4"``; ``make bench-drill ARGS="--auto --all --keep"`` lets a script
mend all six.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.drill.scripted_operator import STEPS, Operator, sign_of
from benchmarks.drill.troubles import TROUBLES, Patient, Trouble, is_ready, let_go, patient_of
from benchmarks.drill.world import World
from benchmarks.kit.results import commit, keep, kept, show

NORMAL_S = 60.0
LIMIT_S = 600.0
AUTO_LIMIT_S = 240.0
GOAL_FOUND_S, GOAL_MENDED_S, GOAL_CLICKS = 120, 300, 8


def main() -> int:
    """Runs one drill, or all by script; 1 when one was not mended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trouble", type=int, choices=TROUBLES, help="default: drawn by lot")
    parser.add_argument("--seed", type=int, help="of the lot; printed")
    parser.add_argument("--auto", action="store_true", help="a script mends it")
    parser.add_argument("--all", action="store_true", help="with --auto: one drill after another")
    parser.add_argument("--normal", type=float, default=NORMAL_S, help="seconds before the trouble")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/drill.json")
    asked = parser.parse_args()
    seed = time.time_ns() % 1_000_000 if asked.seed is None else asked.seed
    _tell(f"seed {seed}")
    lot = random.Random(seed)  # noqa: S311 - a lot, which may be drawn again
    numbers = list(TROUBLES) if asked.all else [asked.trouble or lot.choice(list(TROUBLES))]
    found = {}
    for number in numbers:
        host = lot.randrange(12)
        result = drill(number, host, asked.normal, is_auto=asked.auto)
        # Which trouble it was is no secret any more.
        _tell(f"{number} {TROUBLES[number].name}: {result}")
        name = TROUBLES[number].name
        found[str(number)] = {"trouble": name, "commit": commit(), **result}
    goals = {"found_s": GOAL_FOUND_S, "mended_s": GOAL_MENDED_S, "clicks": GOAL_CLICKS}
    summary = {"seed": seed, "normal_s": asked.normal, "is_auto": asked.auto, "goals": goals}
    if asked.keep:
        before = {} if asked.all else kept("drill").get("drills", {})
        keep("drill", {**summary, "drills": {**before, **found}})
    else:
        show({**summary, "drills": found})
    return 0 if all(each["mended_s"] is not None for each in found.values()) else 1


def drill(number: int, host: int, normal_s: float, *, is_auto: bool) -> dict[str, Any]:
    """Runs one drill; returns its figures.

    Args:
        number: Of the trouble.
        host: Number of the host that it befalls.
        normal_s: Seconds of normal work before.
        is_auto: Whether a script mends it.
    """
    trouble = TROUBLES[number]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        World(
            Path(folder),
            has_old_crawl=trouble.has_old_crawl,
            short_host=host if trouble.is_host_short else None,
        ) as world,
    ):
        patient = patient_of(world, host)
        _tell(f"console at {world.address}  password: {world.password}")
        _tell(f"normal work for {normal_s:.0f} s")
        time.sleep(normal_s)
        world.wait_until(lambda: is_ready(world, trouble, patient), LIMIT_S)
        world.forget_clicks()
        trouble.inject(world, patient)
        begun = time.monotonic()
        _tell("something is wrong now; mend it")
        try:
            return _watch(world, trouble, patient, (number, begun), is_auto=is_auto)
        finally:
            let_go(patient)


def _watch(
    world: World, trouble: Trouble, patient: Patient, told: tuple[int, float], *, is_auto: bool
) -> dict[str, Any]:
    """Waits until a trouble is mended; with ``is_auto`` a script mends it."""
    number, begun = told
    result: dict[str, Any] = {"found_s": None, "mended_s": None}

    def mend() -> None:
        try:
            operator = Operator(world.address)
            operator.log_in(world.password)
            world.forget_clicks()
            operator.wait_for("/now/live", sign_of(trouble.sign), AUTO_LIMIT_S)
            result["found_s"] = round(time.monotonic() - begun, 1)
            STEPS[number](operator, patient.host)
            result["acted_s"] = round(time.monotonic() - begun, 1)
        except (AssertionError, LookupError, OSError) as error:
            result["why_not"] = str(error)

    script = threading.Thread(target=mend)
    if is_auto:
        script.start()
    try:
        limit_s = AUTO_LIMIT_S if is_auto else LIMIT_S
        world.wait_until(lambda: trouble.is_mended(world, patient), limit_s)
        result["mended_s"] = round(time.monotonic() - begun, 1)
    except TimeoutError as error:
        result.setdefault("why_not", str(error))
    if is_auto:
        script.join()
    with closing(world.store()) as store:
        rows = store.audit.read(limit=50)
        result["actions"] = [f"{row.action}: {row.did}" for row in reversed(rows)]
    if result["found_s"] is None:  # a person found it with the first page that is about it
        trail = (patient.host, *trouble.trail)
        at = first_about(trail, world.clicks, world.clicked_at)
        result["found_s"] = None if at is None else round(at - begun, 1)
    result["clicks"] = len([each for each in world.clicks if each != "GET /"])
    result["pages"] = list(world.clicks)
    return result


def first_about(
    trail: Sequence[str], clicks: Sequence[str], clicked_at: Sequence[float]
) -> float | None:
    """When a page about a trouble was opened first; None: never.

    Args:
        trail: Parts of the addresses of such pages.
        clicks: What was asked for.
        clicked_at: When, of each.
    """
    about = (
        at
        for click, at in zip(clicks, clicked_at, strict=False)
        if any(each in click for each in trail)
    )
    return next(about, None)


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
