"""Hostile pages of 64 MB: CPU time and memory of a worker.

Each page is cleaned in a separate process, so that the memory is of this page alone.
``make bench-hostile``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

from benchmarks.kit.results import keep
from crawlclean import RawPage, clean

SIZE_BYTES = 64 << 20
URL = "http://a.example/"
PAGES = {
    "tags": b"<b>",
    "short links": b"<a href=a>b</a>",
    "images": b"<img src=a>",
    "paragraphs": b"<p>x",
    "words": b"ab ",
    "letters": "汉".encode(),
    "gbk": "汉字".encode("gb18030"),
    "bad bytes": b"\xff\xfea",
    "entities": b"&amp;",
    "blanks": b" ",
}


def measure(name: str) -> dict[str, Any]:
    """Cleans one page in this process; returns its cost and warnings."""
    clean(RawPage.from_bytes(URL, b"<p>x"))
    body = b"<p>" + PAGES[name] * ((SIZE_BYTES - 16) // len(PAGES[name]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    record = clean(RawPage.from_bytes(URL, body))
    seconds = time.process_time() - begun
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "cpu_s": round(seconds, 2),
        "grown_mb": grown * unit >> 20,
        "warnings": sorted({str(warning.kind) for warning in record.warnings}),
    }


def main() -> None:
    """Measures every page, each by a process of this program with the page's name."""
    parser = argparse.ArgumentParser(description="CPU time and memory of hostile pages.")
    parser.add_argument(
        "page",
        nargs="?",
        choices=list(PAGES),
        help="measure only this page; not kept",
    )
    if page := parser.parse_args().page:
        sys.stdout.write(json.dumps(measure(page)))
        return
    pages = {}
    for name in PAGES:
        done = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", "benchmarks.page.hostile", name],
            capture_output=True,
            text=True,
            check=True,
        )
        pages[name] = json.loads(done.stdout)
    keep("hostile", {"size_bytes": SIZE_BYTES, "pages": pages})


if __name__ == "__main__":
    main()
