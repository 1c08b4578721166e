"""Crawls of 10^3 to 10^5 pages: what a page costs in CPU, queue, store and archive as they grow.

``make bench-growth``. A generated web (40 KB of Chinese, 100 links of a page, 200 pages a host) is
crawled to its end by one spider, one worker and one housekeeper. The queue's memory and file are
the most seen. ``docs/sizing.md`` is made from the result, with the queue at 10^4 to 10^7 URLs
(``make bench-frontier``) and real sites (``make bench-crawl``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.kit.fleet import Joined, folder_bytes
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from benchmarks.kit.results import keep
from crawlclean.storage.queue.clients import open_client

CRAWL = "growth"
SIZES = (1000, 10_000, 100_000)
PAGE_BYTES = 40_000
LOOK_S = 1.0
LIMIT_S = 3600.0


def main() -> int:
    """Measures every size and keeps the result."""
    parser = argparse.ArgumentParser(description="What a page costs as a crawl grows.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    rows = []
    for pages in sorted(parser.parse_args().sizes):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(Path(folder), pages))
        sys.stderr.write(f"{rows[-1]}\n")
    keep("growth", {"page_bytes": PAGE_BYTES, "sizes": rows})
    return 0


def measure(folder: Path, pages: int) -> dict[str, Any]:
    """Crawls a web of some pages to its end."""
    spec = WebSpec.of_pages(pages, PAGE_BYTES)
    most = {"memory": 0, "file": 0}
    with GeneratedWeb(folder / "web", spec) as web, Joined(folder) as fleet:
        fleet.open_crawl(CRAWL, web.seeds(), scope="any", delay_s="0")
        for role in ("housekeeper", "worker", "spider"):
            fleet.join(role)
        client = open_client(fleet.queue_url)
        begun = time.monotonic()
        while (counts := fleet.queue.counts(CRAWL)).open:
            most["memory"] = max(most["memory"], int(client.info("memory")["used_memory"]))
            most["file"] = max(most["file"], folder_bytes(fleet.data / "queue"))
            if (seconds := time.monotonic() - begun) > LIMIT_S:
                sys.exit(f"not done after {LIMIT_S:.0f} s: {counts}")
            sys.stderr.write(f"{counts.done} of {pages} pages, {seconds:.0f} s\r")
            time.sleep(LOOK_S)
        seconds = time.monotonic() - begun
        client.close()
        used = fleet.cpu_s()
        store = sum(path.stat().st_size for path in fleet.data.glob("records.sqlite*"))
        archive = folder_bytes(fleet.data / "raw")
    return {
        "pages": pages,
        "stored": counts.stored,
        "seconds": round(seconds, 1),
        "cpu_s": used,
        "cpu_ms_a_page": {role: round(1000 * s / pages, 2) for role, s in used.items()},
        "queue_memory_mb": round(most["memory"] / 1e6, 2),
        "queue_file_mb": round(most["file"] / 1e6, 1),
        "store_bytes_a_page": round(store / pages),
        "archive_bytes_a_page": round(archive / pages),
    }


if __name__ == "__main__":
    sys.exit(main())
