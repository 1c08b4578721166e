"""The structure of the code: its sizes and ways, beside those of other programs.

``make bench-structure`` measures this checkout, keeps the figures and draws the rooms;
``ARGS=--peers`` also measures programs of the field and of good repute. Figures are of the product
unless they name tests or benchmarks. ``tests/house/test_size.py`` holds them as ceilings.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.kit.environments import interpreter
from benchmarks.kit.results import ROOT, keep, kept
from benchmarks.structure.drawing import draw_house
from benchmarks.structure.imports import read_graph
from benchmarks.structure.sizes import (
    PACKAGES,
    bare_numbers,
    data_types,
    files_of,
    lines_of,
    lua_lines,
    rooms_of,
    tree_of,
)
from benchmarks.structure.ways import ways_of

PEERS = ("trafilatura", "scrapy", "dramatiq", "datasette", "web-poet")

# Runs in the peers' environment: where a peer lies, and what trafilatura enters for a page.
PEER = """
import importlib, sys
from pathlib import Path
peer = importlib.import_module(sys.argv[1].replace("-", "_"))
print(Path(peer.__file__).parent)
if sys.argv[1] == "trafilatura":
    counts = []
    for page in sorted(Path(sys.argv[2]).glob("*/page.html")):
        body = page.read_bytes()
        peer.bare_extraction(body)
        files, functions = set(), set()
        def note(frame, event, argument):
            if event == "call" and "/trafilatura/" in frame.f_code.co_filename:
                files.add(frame.f_code.co_filename)
                functions.add(frame.f_code)
        sys.setprofile(note)
        peer.bare_extraction(body)
        sys.setprofile(None)
        counts.append((len(functions), len(files)))
    print(*sorted(counts)[len(counts) // 2])
"""


def main() -> int:
    """Measures, keeps the figures and draws the rooms."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--peers", action="store_true", help="also measure other programs")
    peers = peers_of(ROOT) if parser.parse_args().peers else kept("structure").get("peers", {})
    keep("structure", {**measure(ROOT), "peers": peers})
    (ROOT / "docs" / "plots" / "house.svg").write_text(draw_house(read_graph(ROOT)), "utf-8")
    return 0


def measure(root: Path) -> dict[str, Any]:
    """Returns the figures of this checkout."""
    rooms = rooms_of(root)
    with tempfile.TemporaryDirectory() as folder:
        ways = ways_of(root / "tests" / "pages", Path(folder))
    figures = {
        "code lines": sum(lines for _, lines in rooms.values()),
        "lua": sum(
            lua_lines(p.read_text("utf-8")) for p in files_of(root, "storage", ending=".lua")
        ),
        "tests": lines_of(root, "tests"),
        "benchmarks": lines_of(root, "benchmarks"),
        "files": sum(files for files, _ in rooms.values()),
        "largest folder": max(files for files, _ in rooms.values()),
        "data types": len(data_types(root)),
        "numbers without a reason": len(bare_numbers(root, *PACKAGES)),
        "ways": {
            name: {"files": len(way.files), "functions": len(way.functions)}
            for name, way in ways.items()
        },
        "circles": read_graph(root).circles(),
        "rooms": {room: lines for room, (_, lines) in rooms.items()},
    }
    tree_of.cache_clear()
    return figures


def peers_of(root: Path) -> dict[str, Any]:
    """Returns files and code lines of other programs, and the way of a page where one has it."""
    python = str(interpreter("structure", PEERS))
    found: dict[str, Any] = {}
    for peer in PEERS:
        done = subprocess.run(  # noqa: S603 - our own environment
            [python, "-c", PEER, peer, str(root / "tests" / "pages")],
            capture_output=True,
            text=True,
            check=True,
        )
        place, *page = done.stdout.splitlines()
        files = list(files_of(Path(place), "."))
        found[peer] = {"files": len(files), "code lines": lines_of(Path(place), ".")}
        if page:
            functions, entered = map(int, page[0].split())
            found[peer]["page"] = [entered, functions]
    return found


if __name__ == "__main__":
    sys.exit(main())
