"""Hostile requests to the console of a running crawl: does the crawl feel them?

In turns, the same attack (``attack.py``) goes to a server that does nothing with it, and to the
console; so the attacker's own part of this machine is in both. Compared are pages a second and
processor time a page. While the console is attacked, somebody who is logged in looks at Now. A
part of ``make bench-console``, with ``--hostile``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.console.beside_crawl import (
    BesideCrawl,
    Stage,
    User,
    ask,
    crawl_beside_console,
)
from tests.kit.crawls import environment
from tests.kit.processes import cpu_s
from tests.kit.server_process import ServerProcess

GOAL = 0.05
SETTLE_S = 3.0
LOOK_S = 0.5
PROGRAM = (sys.executable, "-m", "benchmarks.console.attack")


def measure_under_attack(
    folder: Path, hosts: int, rounds: int, seconds: float, rate: float
) -> dict[str, Any]:
    """Measures rounds of both; the console is attacked for ``rounds * seconds``.

    Args:
        folder: For everything.
        hosts: Hosts of the crawl, which waits for none of them.
        rounds: Turns of both.
        seconds: Length of a turn.
        rate: Requests a second, beside 2,000 connections that are opened every ten seconds.
    """
    pages = round(2 * (60 + rounds * (seconds + SETTLE_S)) * 150 / hosts) + 50
    load = os.getloadavg()[0]
    turns: dict[str, list[Stage]] = {"elsewhere": [], "console": []}
    told: Counter[str] = Counter()
    attacker_s = {"elsewhere": 0.0, "console": 0.0}
    looks: list[tuple[int, float]] = []
    with (
        crawl_beside_console(folder, hosts, pages, 0.0) as (fleet, port),
        ServerProcess([*PROGRAM, "--sink"]) as sink,
    ):
        user = User(port)
        targets = {"elsewhere": sink.port, "console": port}
        for turn in range(rounds):
            for name in ("elsewhere", "console") if turn % 2 else ("console", "elsewhere"):
                looking = (lambda: looks.append(_look(user))) if name == "console" else _nothing
                found, counts, used_s = _turn(fleet, targets[name], seconds, rate, looking)
                turns[name].append(found)
                attacker_s[name] += used_s
                if name == "console":
                    told.update(counts)
                sys.stderr.write(f"{name}: {_figures([found])}\n")
        user.reconnect()
        after = [user.look("/")[1] for _ in range(20)]
        is_alive = ask(port, "/healthz") == 200
    return {
        "hosts": hosts,
        "attacked_s": rounds * seconds,
        "requests_per_s": rate,
        "load_before": round(load, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "elsewhere": _figures(turns["elsewhere"]),
        "console": _figures(turns["console"]),
        **_slower(turns),
        "attacker_cpu_s": {name: round(used, 1) for name, used in attacker_s.items()},
        "user": _user(looks),
        "user_after_ms": round(median(after), 1),
        "alive_after": is_alive,
        "attack": dict(told.most_common()),
    }


def missed(result: dict[str, Any]) -> list[str]:
    """Goals that a result misses, in words."""
    found = []
    if result["slower"] > GOAL:
        found.append(f"the crawl is {result['slower']:.1%} slower under attack")
    if result["dearer"] > GOAL:
        found.append(f"a page costs {result['dearer']:.1%} more under attack")
    if not result["alive_after"] or result["user"]["answered"] < result["user"]["looks"]:
        found.append("the console did not answer its user")
    return found


def _turn(
    fleet: BesideCrawl, port: int, seconds: float, rate: float, look: Callable[[], object]
) -> tuple[Stage, Counter[str], float]:
    """One turn: what the crawl did, what the attack counted, and its processor seconds."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [*PROGRAM, str(port), "--rate", str(rate)], stdout=subprocess.PIPE, env=environment()
    ) as attack:
        time.sleep(SETTLE_S)
        begun = fleet.read()
        used_s = cpu_s(attack.pid)
        while time.monotonic() - begun.at_s < seconds:
            look()
            time.sleep(LOOK_S)
        stage = fleet.stage(begun)
        used_s = cpu_s(attack.pid) - used_s
        attack.terminate()
        printed = json.loads(attack.communicate()[0])
    counts = Counter({f"sent: {name}": n for name, n in printed["sent"].items()})
    counts.update({f"answered: {name}": n for name, n in printed["answers"].items()})
    return stage, counts, used_s


def _look(user: User) -> tuple[int, float]:
    """A look at Now over a new connection; status 0 without an answer."""
    user.reconnect()
    begun = time.perf_counter()
    try:
        return user.look("/")
    except (OSError, ValueError):
        return 0, 1000 * (time.perf_counter() - begun)


def _nothing() -> None:
    """Nobody looks."""


def _figures(stages: Sequence[Stage]) -> dict[str, float]:
    whole = Stage(
        sum(each.seconds for each in stages),
        sum(each.pages for each in stages),
        sum(each.crawl_cpu_s for each in stages),
        sum(each.console_cpu_s for each in stages),
    )
    return {
        "pages_per_s": round(whole.pages_per_s, 1),
        "crawl_cpu_ms_a_page": round(whole.cpu_ms_a_page, 2),
        "crawl_cores": round(whole.crawl_cpu_s / whole.seconds, 2),
        "console_cores": round(whole.console_cores, 3),
    }


def _slower(turns: dict[str, list[Stage]]) -> dict[str, Any]:
    """By how much the crawl is slower under attack, and a page dearer: medians of the rounds."""
    pairs = list(zip(turns["console"], turns["elsewhere"], strict=True))
    slower = [1 - ours.pages_per_s / other.pages_per_s for ours, other in pairs]
    dearer = [ours.cpu_ms_a_page / other.cpu_ms_a_page - 1 for ours, other in pairs]
    return {
        "slower": round(median(slower), 4),
        "dearer": round(median(dearer), 4),
        "slower_by_round": [round(each, 3) for each in slower],
    }


def _user(looks: Sequence[tuple[int, float]]) -> dict[str, Any]:
    taken = [ms for status, ms in looks if status == 200]
    return {
        "looks": len(looks),
        "answered": len(taken),
        "wall_ms": round(median(taken), 1) if taken else None,
        "wall_p95_ms": round(quantiles(taken, n=20)[-1], 1) if len(taken) > 1 else None,
        "wall_most_ms": round(max(taken), 1) if taken else None,
    }
