"""``make fuzz``: mutated pages until the time is over; status 1 when something did not hold.

A process of its own cleans the pages, within 2 GB, so that a crash, a hang and a page that fills
the memory are found like any other error. The page that failed is made small and written to
``build/fuzz``, with the command that reads it again. Real pages to mutate are taken from
``.jsonl.gz`` rows with ``html_base64`` by ``--pages``.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import multiprocessing
import multiprocessing.connection
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from crawlclean import RawPage
from tests.fuzz.checks import URL, check_page
from tests.fuzz.mutations import mutated
from tests.fuzz.shapes import shaped_page

FOUND = Path("build/fuzz")
MEMORY_BYTES = 2 << 30
HANG_CPU_S = 60  # then SIGPROF ends the process that cleans
ASLEEP_S = 1800  # no answer for so long on a busy machine: the process waits for something
CHARSETS = ("utf-8", "utf-8", "gb18030", "big5hkscs", "utf-16-le")
REDUCTION_S = 30.0  # spent on making a failing page smaller


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first page; the rest count on")
    parser.add_argument("--pages", type=Path, nargs="*", default=[], help="rows of real pages")
    parser.add_argument("--page", type=Path, help="check this one page alone")
    a = parser.parse_args(argv)
    if a.page:
        check_page(a.page.read_bytes())
        return 0
    real = list(_real_pages(a.pages))
    seed, found = a.seed, 0
    begun = time.monotonic()
    while (left := 60 * a.minutes - (time.monotonic() - begun)) > 0:
        seed, why = _round(seed, real, left)
        if why:
            found += 1
            _report(seed - 1, real, why)
        spent = time.monotonic() - begun
        sys.stderr.write(f"{seed - a.seed} pages, {found} found, {spent:.0f} s\n")
    return 1 if found else 0


def made_page(seed: int, real: Sequence[str]) -> bytes:
    """The page of a seed; the same for the same real pages."""
    rng = random.Random(seed)
    source, other = (
        rng.choice(real) if real and rng.random() < 0.5 else shaped_page(rng) for _ in range(2)
    )
    body = mutated(rng, source, other).encode(rng.choice(CHARSETS), "replace")
    return body[: rng.randrange(len(body) + 1)] if rng.random() < 0.05 else body


def _real_pages(files: Sequence[Path]) -> Iterator[str]:
    for file in files:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as rows:
            for row in rows:
                body = base64.b64decode(json.loads(row)["html_base64"])
                yield RawPage.from_bytes(URL, body).html


def _round(seed: int, real: Sequence[str], room_s: float) -> tuple[int, str]:
    """(next seed, why it stopped): pages until one fails, the time is over or 2,000 are done."""
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.Process(target=_clean_pages, args=(seed, real, theirs))
    child.start()
    theirs.close()
    until = time.monotonic() + min(room_s, 600)
    why = ""
    try:
        while True:
            if not ours.poll(ASLEEP_S):
                why = f"no answer for {ASLEEP_S} s"
                break
            done, why = ours.recv()
            seed += done
            if why or done == 0 or time.monotonic() > until:
                break
    except EOFError:
        child.join()
        seed += 1
        why = f"the process ended with {child.exitcode}"
        if child.exitcode == -signal.SIGPROF:
            why = f"more than {HANG_CPU_S} s of CPU"
    else:
        seed += why.startswith("no answer")
    child.kill()
    child.join()
    return seed, why


def _clean_pages(
    seed: int, real: Sequence[str], told: multiprocessing.connection.Connection
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for one in range(seed, seed + 2000):
        signal.setitimer(signal.ITIMER_PROF, HANG_CPU_S)
        told.send((1, _why(made_page(one, real))))
    told.send((0, ""))


def _why(body: bytes) -> str:
    """Why a page does not pass; ``""`` when it does."""
    try:
        check_page(body)
    except Exception:
        return traceback.format_exc()
    return ""


def _report(seed: int, real: Sequence[str], why: str) -> None:
    body = made_page(seed, real)
    last = why.strip().rsplit("\n", 1)[-1]
    if "Traceback" in why:
        kind = last.partition(":")[0]
        body = _smaller(body, lambda piece: kind in _why(piece).rsplit("\n", 2)[-2:][0])
    FOUND.mkdir(parents=True, exist_ok=True)
    file = FOUND / f"{seed}.html"
    file.write_bytes(body)
    sys.stderr.write(f"{why}\nseed {seed}: {len(body)} bytes in {file}\n")
    sys.stderr.write(f'  again: make fuzz ARGS="--page {file}"\n')


def _smaller(body: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """The page without the stretches it fails without, halving their length."""
    size = len(body) // 2
    until = time.monotonic() + REDUCTION_S
    while size and time.monotonic() < until:
        start = 0
        while start < len(body) and time.monotonic() < until:
            rest = body[:start] + body[start + size :]
            if fails(rest):
                body = rest
            else:
                start += size
        size //= 2
    return body


if __name__ == "__main__":
    sys.exit(main())
