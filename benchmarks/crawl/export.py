"""Exports of a large data folder: seconds, processor time and peak memory of each format.

``make bench-export`` builds a folder of 100,000 records of about 53 KB of JSON, a tenth of it text,
the rest links, as the crawls of ten real sites had. Each export is a process of the real command.
The second run of the chunks goes on after a ``kill -9`` in the middle of the first.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.kit.generated_site import sentences
from benchmarks.kit.results import keep
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.outcomes import HOST, make_outcome

RECORDS = 100_000
LINKS = 150
SENTENCES = 50  # of a body
BATCH = 500
LOOK_S = 0.02
PEAK_LINE = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
EXPORTS = {
    "jsonl": ("--format", "jsonl"),
    "jsonl without links": ("--format", "jsonl", "--no-links"),
    "jsonl.gz": ("--format", "jsonl", "--gzip"),
    "csv": ("--format", "csv"),
    "parquet": ("--format", "parquet"),
    "markdown": ("--format", "markdown"),
    "text": ("--format", "text"),
}


def main() -> int:
    """Measures and keeps the result; 1 when an export does not hold all records."""
    parser = argparse.ArgumentParser(description="Exports of a large data folder.")
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--data", type=Path, help="where the folder is built once, and kept")
    parser.add_argument("--only", choices=EXPORTS, help="one format, without a kept result")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = given.data or Path(temporary) / "data"
        built = build(data, given.records)
        wanted = [given.only] if given.only else list(EXPORTS)
        result: dict[str, Any] = {"records": given.records, "store_mb": built}
        target = Path(temporary) / "out"
        result["formats"] = {name: measure(data, EXPORTS[name], target) for name in wanted}
        if given.only:
            sys.stdout.write(f"{result}\n")
            return 0
        result["chunks"] = resume(data, Path(temporary) / "chunks", given.records)
    keep("export", result)
    return 0 if result["chunks"]["distinct"] == result["chunks"]["lines"] == given.records else 1


def build(data: Path, records: int) -> int:
    """Fills a data folder unless it is there; returns its size, MB."""
    file = data / "records.sqlite"
    if not file.exists():
        data.mkdir(parents=True)
        store = SqliteStore(file)
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",)), CrawlState.FINISHED)
        material, chance = sentences(), random.Random(2)  # noqa: S311 - the same folder every time
        for start in range(0, records, BATCH):
            numbers = range(start, min(records, start + BATCH))
            store.save([outcome(number, material, chance) for number in numbers])
        store.close()
    return sum(path.stat().st_size for path in data.iterdir()) // 1_000_000


def outcome(number: int, material: Sequence[str], chance: random.Random) -> Outcome:
    """Returns a saved page with a body of its own."""
    made = make_outcome(f"/t/{number}", links=LINKS)
    lines = [chance.choice(material) for _ in range(SENTENCES)]
    record = made.record and replace(
        made.record, body="\n".join(lines), markdown="\n\n".join(lines)
    )
    return replace(made, record=record)


def command(data: Path, options: Sequence[str], target: Path) -> list[str]:
    """Returns the command line of an export."""
    program = [sys.executable, "-m", "crawlclean.workers.cli", "export", "--data", str(data)]
    return [*program, *options, "--output", str(target)]


def start(line: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts a command without its progress."""
    return subprocess.Popen(line, stderr=subprocess.DEVNULL)  # noqa: S603 - our own command


def measure(data: Path, options: Sequence[str], target: Path) -> dict[str, float]:
    """Exports into one file, which is deleted."""
    begun = time.monotonic()
    process = start(command(data, options, target))
    peak_kb = 0
    while True:
        # Not of rusage, where the peak of a child is at least the memory of its parent.
        peak_kb = max(peak_kb, peak_of(process.pid))
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        time.sleep(LOOK_S)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begun
    if process.returncode:
        sys.exit(f"export {' '.join(options)} failed")
    size = target.stat().st_size
    target.unlink()
    found = {
        "seconds": round(seconds, 1),
        "processor_s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(peak_kb / 1024, 1),
        "output_mb": round(size / 1e6, 1),
    }
    sys.stderr.write(f"{' '.join(options)}: {found}\n")
    return found


def peak_of(pid: int) -> int:
    """Returns the largest resident size of a process so far, KB; 0 when it has ended."""
    with suppress(OSError):
        found = PEAK_LINE.search(Path(f"/proc/{pid}/status").read_text("ascii"))
        return int(found[1]) if found else 0
    return 0


def resume(data: Path, target: Path, records: int) -> dict[str, float]:
    """Kills an export into chunks at its middle, and lets the same command complete it."""
    options = ("--chunk-size", str(max(1, records // 20)), "--fields", "url")
    line = command(data, options, target)
    process = start(line)
    while len(list(target.glob("records-*"))) < 10:
        if process.poll() is not None:
            sys.exit("the export ended before it was killed")
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    begun = time.monotonic()
    if start(line).wait():
        sys.exit("the export did not go on")
    seconds = time.monotonic() - begun
    lines = [each for path in target.iterdir() for each in path.read_bytes().splitlines()]
    shutil.rmtree(target)
    return {
        "seconds_after_kill": round(seconds, 1),
        "lines": len(lines),
        "distinct": len(set(lines)),
    }


if __name__ == "__main__":
    sys.exit(main())
