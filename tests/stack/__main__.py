"""``make stack``: the containers of docker-compose.yml, built, crawled with, and moved, by podman.

Prints what each step found as JSON; status 1 when a step fails. All is removed at the end, images
excepted, which the next call uses again (``--remove`` removes them).
"""

from __future__ import annotations

import argparse
import fcntl
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.kit.results import keep, show
from tests.kit.crawls import ROOT
from tests.stack.podman import missing
from tests.stack.stack import Stack
from tests.stack.story import STEPS

FOLDER, TOOLS = ROOT / "build" / "stack", ROOT / "build" / "stack-tools"


class TimeIsOverError(Exception):
    """The story has taken longer than it may; no step takes this for an error of a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make stack", description=__doc__)
    parser.add_argument("--pages", type=int, default=1200, help="of the first crawl (1200)")
    parser.add_argument("--minutes", type=int, default=90, help="that it may take (90)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for images and logs")
    parser.add_argument("--tools", type=Path, default=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--remove", action="store_true", help="remove the images, too")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/stack.json")
    a = parser.parse_args(argv)
    if why := missing():
        print(f"make stack: not here: {why}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make stack: told to stop"))
    signal.signal(signal.SIGALRM, partial(_time_is_over, a.minutes))
    signal.alarm(60 * a.minutes)
    begun = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - begun:7.1f} s  {line}", file=sys.stderr, flush=True)

    a.folder.mkdir(parents=True, exist_ok=True)
    lock = (a.folder / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"make stack: another one uses {a.folder}", file=sys.stderr)
        return 2
    stack = Stack(a.folder.resolve(), a.tools.resolve(), a.pages, say)
    steps, error = tell(stack, say)
    signal.alarm(0)
    result = {"pages": a.pages, "seconds": round(time.monotonic() - begun, 1), "steps": steps}
    result["error"] = error
    if a.remove:
        shutil.rmtree(a.folder)
    keep("stack", result) if a.keep and not error else show(result)
    return 1 if error else 0


def _time_is_over(minutes: int, *_: object) -> None:
    raise TimeIsOverError(f"not done in {minutes} minutes")


def tell(stack: Stack, say: Any) -> tuple[dict[str, Any], str]:
    """Facts of every step by its name, and the error that ended the story or ``""``."""
    told: dict[str, Any] = {}
    try:
        with stack:
            for step in STEPS:
                name, begun = step.__name__, time.monotonic()
                say(f"{name}: {(step.__doc__ or '').splitlines()[0]}")
                facts = told[name] = {}
                for fact, value in step(stack):
                    facts[fact] = value
                    say(f"  {fact}: {value}")
                facts["seconds"] = round(time.monotonic() - begun, 1)
    except (RuntimeError, AssertionError, TimeIsOverError) as error:
        say(f"FAILED: {error}")
        return told, str(error)
    return told, ""


if __name__ == "__main__":
    sys.exit(main())
