"""Whole real sites, crawled by the real command: is every page stored, once, and readable?

Serves the labelled sites on loopback with their own server, crawls each, and compares: the pages
that a complete crawl reaches, the requests the server saw, and the text of every record's raw page
with a decoding by another hand (the data's own). ``make bench-sites``.
"""

from __future__ import annotations

import argparse
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
from benchmarks.kit.serving import labelled_sites, served_sites, statistics
from storage.sqlite.store import SqliteStore
from tests.kit.crawls import counted, run_crawl

PORT = 8800
WORDS = re.compile(r"\w+")


def main() -> int:
    """Measures every site that is named, or all; 1 when a page is missing or unreadable."""
    parser = argparse.ArgumentParser(description="Completeness and readability of whole sites.")
    parser.add_argument("sites", nargs="*", help="names as in sites.json (default all)")
    parser.add_argument("--port", type=int, default=PORT)
    a = parser.parse_args()
    sites = labelled_sites()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served_sites(folder, a.port) as siteroot:
            for site in a.sites or sites:
                results[site] = measure(sites[site], folder / site, a.port, site, siteroot)
                sys.stderr.write(f"{site}: {results[site]}\n")
    keep("sites", {"sites": results})
    good = all(r["missing"] == r["stored_twice"] == r["mojibake"] == 0 for r in results.values())
    return 0 if good else 1


def measure(
    site: dict[str, Any], data: Path, port: int, name: str, siteroot: Any
) -> dict[str, Any]:
    """One site: crawled from its home page to the end, and compared."""
    root = siteroot.Site(name, os.environ["SITES_WWW"])
    authority = f"{site['address']}:{port}"
    begun = time.monotonic()
    summary = run_crawl(data, f"http://{authority}{site['home']}", limit_s=1800)
    took = time.monotonic() - begun
    store = SqliteStore(data / "records.sqlite")
    paths: Counter[str] = Counter()
    mojibake = []
    for record in store.records.scan():
        parts = urlsplit(record.url)
        if parts.netloc == authority:
            query = f"?{parts.query}" if parts.query else ""
            paths[unquote(parts.path + query)] += 1
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
    """The page's file, decoded by the data's own reader; None when no file answers the URL."""
    parts = urlsplit(url)
    found = root.resolve(parts.path, parts.query)
    if not found or found[0] != "file":
        return None
    text, _encoding, _declared = decode((Path(root.root) / found[1]).read_bytes())
    return str(text)


def _same_text(ours: str, theirs: str | None) -> bool:
    """Whether two decodings read the same words (byte order marks and newlines aside)."""
    if theirs is None:
        return False
    return WORDS.findall(unicodedata.normalize("NFC", ours)) == WORDS.findall(
        unicodedata.normalize("NFC", theirs)
    )


def _other_failures(data: Path) -> dict[str, int]:
    store = SqliteStore(data / "records.sqlite")
    try:
        rows = store.urls.failures(limit=100_000)
    finally:
        store.close()
    return dict(Counter(f"{r.reason}: {r.detail}" for r in rows if r.status != 404))


if __name__ == "__main__":
    sys.exit(main())
