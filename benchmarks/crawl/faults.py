"""Every fault and trap of the labelled sites' server, crawled by ``crawlclean run``.

A site is served with a robots.txt that allows all, and crawled from its home page and from the page
with links to every fault. Required (``make bench-faults``):

- The crawl ends by itself, and every fault ends as in ``EXPECTED``.
- Every page of the site is stored.
- No URL is requested more often than its attempts allow.
- No process grows above ``MAX_RSS_MIB``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
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
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.crawler.transfer.responses import PATIENT_ATTEMPTS
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.crawls import start
from tests.kit.processes import family_of, role_of

PORT = 8810
SITES = ("stzikao.test",)  # relative links of other sites would mirror the site in each fault
ROBOTS = {"robots": {"*": "User-agent: *\nAllow: /\n"}}
LIMIT_S = 900.0
TIMEOUT_S = 10  # of a request; the default would make hanging URLs the longest part
ATTEMPTS = 3
MAX_RSS_MIB = 700
LOOK_S = 0.5
TRAPS = ("cal", "sid", "deep", "soft404")
# The allowed endings of a fault's URL, by its path below /__f/.
EXPECTED: dict[str, tuple[str, ...]] = {
    "index": ("record",),
    "delay/500/": ("record",),
    "status/404": ("failed http_status",),
    "status/500": ("failed http_status",),
    "status/503/2": ("failed http_status",),
    "status/429/1": ("failed http_status",),
    "loop/3": ("redirect",),
    "chain/5": ("redirect",),
    "charset/iso-8859-1/": ("record",),
    "charset/gbk/": ("record",),
    "ctype/text/plain/": ("record", "failed not_html"),
    "slow/20000/": ("record",),
    "trunc/50/": ("failed broken_answer",),
    "gzip/": ("record",),
    "deflate/": ("record",),
    "badgzip/": ("failed broken_answer", "record"),
    "reset": ("failed connect", "failed broken_answer"),
    "hang": ("failed timeout",),
    "huge/20": ("record",),
    "bomb/50": ("record", "failed too_large"),
    "cal/2026/1": ("record",),
    "sid/x/": ("record",),
    "soft404/1": ("record",),
    "deep/a": ("record",),
    "meta/": ("record",),
}


def main() -> int:
    """Crawls every named site; 1 when a requirement is not met."""
    chosen, port = choose_sites("Faults and traps, crawled whole.", SITES, PORT)
    sites = labelled_sites()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faults = folder / "faults.json"
        faults.write_text(json.dumps(ROBOTS), "utf-8")
        with served_sites(folder, port, "--faults", str(faults)):
            for site in chosen:
                results[site] = measure(sites[site], folder / site, port, site)
                sys.stderr.write(f"{site}: {results[site]['wrong'] or 'all requirements met'}\n")
    keep("faults", {"sites": results})
    return 1 if any(result["wrong"] for result in results.values()) else 0


def measure(site: dict[str, Any], data: Path, port: int, name: str) -> dict[str, Any]:
    """Crawls a site with its faults; returns the endings and, in ``wrong``, what is not met."""
    authority = authority_of(site, port)
    base = f"http://{authority}"
    begun = time.monotonic()
    summary, peaks = _crawl(data, home_of(site, port), f"{base}/__f/index")
    took = time.monotonic() - begun
    asked = statistics(port)[name]
    store = SqliteStore(data / "records.sqlite")
    try:
        stored = [record.url for record in store.records.scan()]
        failures = list(store.urls.failures())
        table = {fault: _ending(store, f"{base}/__f/{fault}") for fault in EXPECTED}
        attempts = [_attempts(store, url) for url in (*stored, *(f.url for f in failures))]
    finally:
        store.close()
    paths = {path_of(url) for url in stored if urlsplit(url).netloc == authority}
    missing = {unquote(path) for path in site["urls"]} - paths
    wrong = [
        f"/__f/{fault} ended as {got}, not {' or '.join(EXPECTED[fault])}"
        for fault, got in table.items()
        if got not in EXPECTED[fault]
    ]
    wrong += [f"{len(missing)} pages are missing"] if missing else []
    wrong += [] if summary.get("state") == "finished" else ["the crawl did not end by itself"]
    # Twisted repeats a request once when its reused connection is reset.
    resets = sum(f.reason is FailureReason.CONNECT for f in failures) * ATTEMPTS
    repeats, again = asked["repeats"], sum(attempts) - len(attempts) + resets
    most = ATTEMPTS + PATIENT_ATTEMPTS
    wrong += [f"{max(attempts)} attempts of a URL"] if max(attempts) > most else []
    wrong += [f"{repeats} repeated requests, {again} allowed"] if repeats > again else []
    wrong += [f"{r} took {m} MiB" for r, m in peaks.items() if m > MAX_RSS_MIB and r != "run"]
    return {
        "wrong": wrong,
        "seconds": round(took, 1),
        "requests": asked["requests"],
        "repeated_requests": repeats,
        "repeats_allowed": again,
        "wanted": len(site["urls"]),
        "missing": len(missing),
        "records": len(stored),
        "records_of_traps": {
            trap: sum(path.startswith(f"/__f/{trap}/") for path in paths) for trap in TRAPS
        },
        "endings": table,
        "failures": dict(Counter(str(f.reason) for f in failures)),
        "stopped": dict(Counter(f.detail for f in failures if f.reason is FailureReason.TRAP)),
        "peak_rss_mib": peaks,
    }


def _crawl(data: Path, *urls: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Crawls to the end; returns (summary or {}, highest RSS by role)."""
    limits = ("--allow-private", "--json", "--data", str(data))
    run = start("run", *urls, *limits, CRAWLCLEAN_TIMEOUT_S=str(TIMEOUT_S))
    peaks: dict[str, int] = {}
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(run.pid, peaks, ended), daemon=True)
    watch.start()
    try:
        out, errors = run.communicate(timeout=LIMIT_S)
    finally:
        if run.poll() is None:
            run.terminate()
        ended.set()
        watch.join()
    if run.returncode:
        sys.stderr.write(errors)
    return (json.loads(out) if out else {}), peaks


def _watch(run: int, peaks: dict[str, int], ended: threading.Event) -> None:
    while not ended.wait(LOOK_S):
        for pid in (run, *family_of(run)):
            with suppress(OSError):  # it has ended meanwhile
                mib = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20
                if role := role_of(pid):
                    peaks[role] = max(peaks.get(role, 0), mib)


def _ending(store: SqliteStore, url: str) -> str:
    rows = store.urls.rows(page_id(url))
    if not rows:
        return "unknown"
    if rows[0].state is UrlState.RECORD or rows[0].state is UrlState.REDIRECT:
        return str(rows[0].state)
    reason = next((f.reason for f in store.urls.failures() if f.url == url), "")
    return f"{rows[0].state} {reason}"


def _attempts(store: SqliteStore, url: str) -> int:
    """Returns how often a URL was leased, by its decision log."""
    rows = store.urls.rows(page_id(url))
    return max(1, sum(step.step == "leased" for step in rows[0].log)) if rows else 1


if __name__ == "__main__":
    sys.exit(main())
