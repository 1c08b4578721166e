"""Kill -9 in the middle of a crawl, again and again: what was lost, what was done twice.

``python -m tests.chaos.kills --pages 3000 --tree-kills 3 --single-kills 20`` prints what it found
as JSON and fails when a page is missing or stored twice, or when the server was asked more often
than the kills explain: a URL may be asked for again once for each kill that found it in flight.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.keeping import keep
from cleaning.errors import ServiceError
from storage.embedded import socket_url
from storage.frontier import Frontier
from tests.crawls import counted, run_crawl, start, stored_urls
from tests.web import Page, Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
LIMIT_S = 600.0
ROLES = ("spider", "worker", "sweeper", "valkey-server")


@dataclass
class Report:
    """What a bout of kills came to."""

    pages: int
    kills: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    stored_twice: int = 0
    requests: int = 0
    repeats: int = 0
    in_flight_at_kills: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Nothing lost, nothing doubled, no repeat that no kill explains."""
        return (
            self.missing == 0
            and self.stored_twice == 0
            and self.failed == 0
            and self.repeats <= self.in_flight_at_kills
        )


def site(pages: int, latency_ms: int, seed: int) -> dict[str, Page]:
    """A site of ``pages`` pages: every page is reached from an earlier one."""
    chance = random.Random(seed)
    links: dict[int, list[int]] = {i: [] for i in range(pages)}
    for i in range(1, pages):
        links[chance.randrange(max(0, i - 60), i)].append(i)
        links[chance.randrange(pages)].append(i)
    return {
        f"/{i}" if i else "/": {
            "body": html(f"第{i}页", TEXT * 3, links={f"/{n}": f"第{n}页" for n in links[i]}),
            "latency_ms": latency_ms,
        }
        for i in range(pages)
    }


def children_of(pid: int) -> list[int]:
    """The children of a process, as the kernel tells."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def family_of(pid: int) -> list[int]:
    """Every descendant of a process."""
    below = children_of(pid)
    return below + [each for child in below for each in family_of(child)]


def role_of(pid: int) -> str:
    """``spider``, ``worker``, ``sweeper``, ``valkey-server`` or ``""``."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return ""
    program = Path(words[0].split(" ")[0]).name  # a server rewrites its title
    if program.startswith("valkey-server"):
        return "valkey-server"
    return next((w for w in words if w in ROLES), "")


def leased_now(data: Path) -> int | None:
    """URLs that spiders are fetching, or None when the queue does not answer."""
    try:
        frontier = Frontier(socket_url(data))
        try:
            return sum(frontier.counts(crawl).leased for crawl in frontier.crawl_ids())
        finally:
            frontier.close()
    except ServiceError:
        return None


def kill_trees(web: Web, data: Path, kills: int, chance: random.Random, report: Report) -> None:
    """Kills the whole process tree ``kills`` times, each time at another share of the crawl."""
    for kill in range(kills):
        crawl = start("run", web.url(), "--allow-private", "--data", str(data))
        # The last third is left to the single kills, or to the last, undisturbed run.
        goal = report.pages * 0.7 * (kill + 0.3 + 0.6 * chance.random()) / kills
        _progress(web, crawl, goal)
        family = [crawl.pid, *family_of(crawl.pid)]
        if crawl.poll() is None:
            with _frozen(p for p in family if role_of(p) != "valkey-server"):
                report.in_flight_at_kills += _leased(data)
                for pid in chance.sample(family, len(family)):
                    _kill(pid)
            report.kills["tree"] = report.kills.get("tree", 0) + 1
        crawl.communicate()
        _gone(family)


def kill_singles(web: Web, data: Path, kills: int, chance: random.Random, report: Report) -> None:
    """Kills one process of a running crawl at random, ``kills`` times."""
    crawl = start("run", web.url(), "--allow-private", "--data", str(data))
    begun = len(web.log())
    left = report.pages - len(web.requests())
    for kill in range(kills):
        goal = begun + left * (kill + chance.random()) / (kills + 1)
        _progress(web, crawl, goal)
        if crawl.poll() is not None:
            break
        candidates = [(pid, role) for pid in family_of(crawl.pid) if (role := role_of(pid))]
        if not candidates:
            continue
        pid, role = chance.choice(candidates)
        if role in ("spider", "valkey-server"):  # only these can make a page be fetched again
            with _frozen(p for p, r in candidates if r == "spider"):
                report.in_flight_at_kills += _leased(data)
                _kill(pid)
        else:
            _kill(pid)
        report.kills[role] = report.kills.get(role, 0) + 1
    out, err = crawl.communicate(timeout=LIMIT_S)
    if crawl.returncode:
        raise AssertionError(f"run ended with {crawl.returncode}\n{out}\n{err}")


def _progress(web: Web, crawl: subprocess.Popen[str], goal: float) -> None:
    _until(lambda: len(web.log()) >= goal or _ended(crawl))


def _gone(family: Sequence[int]) -> None:
    _until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))


def _leased(data: Path) -> int:
    seen = 0

    def asked() -> bool:
        nonlocal seen
        seen = leased_now(data) or 0
        return leased_now(data) is not None

    _until(asked)
    return seen


def bout(folder: Path, pages: int, latency_ms: int, trees: int, singles: int, seed: int) -> Report:
    """One crawl with all its kills, resumed to its end, and what came of it."""
    report = Report(pages=pages)
    chance = random.Random(seed)
    data = folder / "data"
    begun = time.monotonic()
    with Web(folder / "web", site(pages, latency_ms, seed)) as web:
        if trees:
            kill_trees(web, data, trees, chance, report)
        if singles:
            kill_singles(web, data, singles, chance, report)
        run_crawl(data, web.url())
        stored = stored_urls(data)
        wanted = {web.url(path) for path in site(pages, 0, seed)}
        asked = web.requests()
        report.missing = len(wanted - set(stored))
        report.stored_twice = len(stored) - len(set(stored))
        report.failed = sum(n for state, n in counted(data).items() if str(state) == "failed")
        asked.pop("/robots.txt", None)
        report.requests = sum(asked.values())
        report.repeats = report.requests - len(asked)
    report.seconds = round(time.monotonic() - begun, 1)
    return report


@contextmanager
def _frozen(pids: Iterable[int]) -> Iterator[None]:
    """Stops processes for a moment, so that what they hold can be counted exactly."""
    stopped = list(pids)
    for pid in stopped:
        _signal(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            _signal(pid, signal.SIGCONT)


def _kill(pid: int) -> None:
    _signal(pid, signal.SIGKILL)


def _signal(pid: int, signum: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signum)


def _ended(crawl: subprocess.Popen[str]) -> bool:
    return crawl.poll() is not None


def _until(condition: Callable[[], bool]) -> None:
    """Returns when a condition holds that only looking can tell."""
    deadline = time.monotonic() + LIMIT_S
    between_looks = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("the crawl did not get on")
        between_looks.wait(0.01)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; 1 when something was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--tree-kills", type=int, default=3)
    parser.add_argument("--single-kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/chaos.json")
    a = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        report = bout(Path(folder), a.pages, a.latency_ms, a.tree_kills, a.single_kills, a.seed)
    if a.keep:
        keep("chaos", asdict(report))
    else:
        sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 0 if report.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
