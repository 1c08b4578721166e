"""Whole real sites, crawled by ``crawlclean run``: is every page stored, once, and readable?

Serves the labelled sites on loopback with the data's server, crawls each, and compares: the stored
pages with those of a complete crawl, the requests with the server's counts, and the text of every
raw page with the data's own decoder. ``make bench-sites``.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.kit.results import keep
from benchmarks.kit.serving import (
    authority_of,
    choose_sites,
    home_of,
    labelled_sites,
    path_of,
    served_sites,
    statistics,
)
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.crawls import counted, run_crawl

PORT = 8800
WORDS = re.compile(r"\w+")


def main() -> int:
    """Measures every named site, or all; 1 when a page is missing, doubled or unreadable."""
    sites = labelled_sites()
    chosen, port = choose_sites("Completeness and readability of whole sites.", sites, PORT)
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served_sites(folder, port) as siteroot:
            for site in chosen:
                results[site] = measure(sites[site], folder / site, port, site, siteroot)
                sys.stderr.write(f"{site}: {results[site]}\n")
    keep("sites", {"sites": results})
    good = all(r["missing"] == r["stored_twice"] == r["mojibake"] == 0 for r in results.values())
    return 0 if good else 1


def measure(
    site: dict[str, Any], data: Path, port: int, name: str, siteroot: Any
) -> dict[str, Any]:
    """Crawls a site from its home page to the end; returns the comparison."""
    root = siteroot.Site(name, os.environ["SITES_WWW"])
    authority = authority_of(site, port)
    begun = time.monotonic()
    summary = run_crawl(data, home_of(site, port), limit_s=1800)
    took = time.monotonic() - begun
    store = SqliteStore(data / "records.sqlite")
    paths: Counter[str] = Counter()
    mojibake = []
    for record in store.records.scan():
        if urlsplit(record.url).netloc == authority:
            paths[path_of(record.url)] += 1
        raw = store.answers.page(record.page_id)
        if raw is None or not _same_text(raw.html, _source(root, record.url, siteroot.decode)):
            mojibake.append(record.url)
    store.close()
    wanted = {unquote(path) for path in site["urls"]}
    asked = statistics(port)[name]
    return {
        "wanted": len(wanted),
        "missing": len(wanted - set(paths)),
        "stored_twice": sum(n > 1 for n in paths.values()),
        "records": summary["records"],
        "extra_records": len(set(paths) - wanted),
        "requests": asked["requests"],
        "repeated_requests": asked["repeats"],
        "statuses": asked["status"],
        "ended": {str(state): n for state, n in counted(data).items() if n},
        "failures_other_than_404": _other_failures(data),
        "mojibake": len(mojibake),
        "mojibake_urls": mojibake[:5],
        "seconds": round(took, 1),
    }


def _source(root: Any, url: str, decode: Callable[[bytes], Any]) -> str | None:
    """Decodes the file of a page with the data's decoder; None when the URL has no file."""
    parts = urlsplit(url)
    found = root.resolve(parts.path, parts.query)
    if not found or found[0] != "file":
        return None
    text, _encoding, _declared = decode((Path(root.root) / found[1]).read_bytes())
    return str(text)


def _same_text(ours: str, theirs: str | None) -> bool:
    """Whether two decodings have equal words, ignoring byte order marks and newlines."""
    if theirs is None:
        return False
    return WORDS.findall(unicodedata.normalize("NFC", ours)) == WORDS.findall(
        unicodedata.normalize("NFC", theirs)
    )


def _other_failures(data: Path) -> dict[str, int]:
    store = SqliteStore(data / "records.sqlite")
    try:
        rows = list(store.urls.failures())
    finally:
        store.close()
    return dict(Counter(f"{r.reason}: {r.detail}" for r in rows if r.status != 404))


if __name__ == "__main__":
    sys.exit(main())
