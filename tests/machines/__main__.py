"""``make machines``: a crawl on three machines with a bad network, printed as JSON.

Spiders, workers and servers are in network namespaces of their own; the spiders' clock is minutes
ahead. Everything they send comes late, some of it never; each machine's cable is cut for a while.
Status 1 when anything is lost or doubled, or a host was asked too soon.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.kit.results import keep, show
from tests.machines.namespaces import hindrance
from tests.machines.story import Weather, crawl

LIBRARIES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make machines", description=__doc__)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--cut", type=float, default=60.0, metavar="S")
    parser.add_argument("--delay-ms", type=float, default=30.0, help="of each packet (30)")
    parser.add_argument("--loss", type=float, default=0.015, help="of the packets, 0..1 (0.015)")
    parser.add_argument(
        "--keep", action="store_true", help="write benchmarks/results/machines.json"
    )
    parser.add_argument("--folder", type=Path, help="leave logs and data in this empty folder")
    a = parser.parse_args(argv)
    library = faketime()
    if why := hindrance() or ("" if library else "libfaketime is not installed"):
        print(f"make machines: not here: {why}", file=sys.stderr)
        return 2
    assert library is not None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make machines: told to stop"))
    begun = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - begun:6.1f} s  {line}", file=sys.stderr, flush=True)

    weather = Weather(pages=a.pages, cut_s=a.cut, delay_ms=a.delay_ms, loss=a.loss)
    with tempfile.TemporaryDirectory() as folder:
        told = crawl(a.folder or Path(folder), weather, library, say)
    result = {"network": {k: v for k, v in asdict(weather).items() if k != "pages"}, **asdict(told)}
    if a.keep:
        keep("machines", result)
    else:
        show(result)
    return 1 if told.complaints else 0


def faketime() -> Path | None:
    """The library of libfaketime, of Debian's or Fedora's package."""
    found = [path for pattern in LIBRARIES for path in Path("/").glob(pattern[1:])]
    return found[0] if found else None


if __name__ == "__main__":
    sys.exit(main())
