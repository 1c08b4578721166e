"""CPU time of every tool, in bare lxml parses, and its memory: a part of ``page.py``.

All tools read all pages of the body data in one process, in turn within each page; memory is
measured in a separate process for each tool.
"""

from __future__ import annotations

from typing import Any

from benchmarks.page import peers as page_peers
from benchmarks.page.body import labelled_pages
from benchmarks.page.peer_answers import BARE, TOOLS


def measure(only_ours: bool = False) -> dict[str, Any]:
    """Returns CPU time and peak memory of each tool.

    Args:
        only_ours: Measure nothing; ratios need all tools in one run.
    """
    if only_ours:
        return {}
    pages = list(labelled_pages())
    with page_peers.written(pages) as folder:
        spent_s = page_peers.run("cost", str(folder), pages=len(pages))
        memory = {name: round(page_peers.run("memory", str(folder), name), 1) for name in TOOLS}
    source_bytes = sum(len(page["html"].encode("utf-8", "replace")) for page in pages)
    return {
        "cost": {
            "pages": len(pages),
            "mean_source_kb": round(source_bytes / 1024 / len(pages)),
            "bare_parse_ms": round(1000 * spent_s[BARE] / len(pages), 2),
            "cpu_in_bare_parses": {
                name: round(spent / spent_s[BARE], 2) for name, spent in spent_s.items()
            },
            "peak_memory_mb_above_import": memory,
        }
    }
