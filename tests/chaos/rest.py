"""Checks of a crawl at rest: every page stored once and right, nothing left in the queue."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from crawlclean import CleanRecord
from crawlclean.cleaning.records import HostStats
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.store.protocol import Store
from tests.chaos.sites import Sites
from tests.kit.recount import counted

# A URL's log: found, fetched by leases of which the last was not lost, then claimed, the same way.
LOG = re.compile(
    r"discovered(,leased,lease_lost)*,leased,fetched(,claimed,claim_lost)*,claimed,cleaned,stored"
)
EMPTY = ("cc:p:*", "cc:q:*", "cc:r:*", "cc:l:*", "cc:b:*", "cc:bt", "cc:bb", "cc:j:*")
AS_WANTED = ("title", "body", "kind", "links", "images", "outlinks", "signature", "encoding")


def complaints(
    client: Any, crawl_id: str, store: Store, sites: Sites, *, one_clock: bool = True
) -> list[str]:
    """Everything that is wrong in queue, records, URLs and statistics, a line each.

    With ``one_clock=False``, queue and workers had clocks apart: a URL's steps may go back in time.
    """
    wanted = sites.records()
    return [
        *_of_queue(client, crawl_id, len(wanted)),
        *_of_records(store, crawl_id, wanted),
        *_of_urls(store, crawl_id, sites, one_clock=one_clock),
        *_of_statistics(store, crawl_id, sites),
    ]


def _of_queue(client: Any, crawl_id: str, pages: int) -> Iterator[str]:
    yield from left_in_queue(client)
    crawl = client.hgetall(f"cc:c:{crawl_id}")
    counts = {name: int(crawl.get(name, 0)) for name in ("pending", "leased", "queued", "failed")}
    if any(counts.values()):
        yield f"counted as open or failed: {counts}"
    ended = {name: int(crawl.get(name, 0)) for name in ("done", "stored")}
    if set(ended.values()) != {pages}:
        yield f"counted as ended: {ended} of {pages}"
    if crawl["state"] != "finished":
        yield f"the crawl is {crawl['state']}"


def left_in_queue(client: Any) -> Iterator[str]:
    """Keys and counters of a queue at rest that should be empty, a line each."""
    for pattern in EMPTY:
        left = list(client.scan_iter(pattern, count=1000))
        if left:
            yield f"left in the queue: {left[:3]} ({len(left)})"
    for name in ("cc:jobs", "cc:claims", "cc:spiders", "cc:learn"):
        if left := client.zrange(name, 0, -1):
            yield f"left in {name}: {left[:3]} ({len(left)})"
    for name in ("pages", "learning"):
        if waiting := client.llen(f"rq:queue:{name}"):
            yield f"RQ still has {waiting} jobs of {name}"
    for name in ("cc:learn:jobs", "cc:learn:tasks", "cc:learn:tries", "cc:learn:aside"):
        if hosts := client.hkeys(name):
            yield f"left in {name}: {hosts}"
    flight = client.hgetall("cc:flight")
    if any(int(n) for n in flight.values()):
        yield f"counted as in flight: {flight}"
    for key in client.scan_iter("cc:g:*", _type="HASH"):
        if held := int(client.hget(key, "held") or 0):
            yield f"{key} has {held} slots held"


def _of_records(store: Store, crawl_id: str, wanted: dict[str, CleanRecord]) -> Iterator[str]:
    stored: Counter[str] = Counter()
    for record in store.records.scan(crawl_id):
        stored[record.url] += 1
        right = wanted.get(record.url)
        wrong = [n for n in AS_WANTED if right and getattr(record, n) != getattr(right, n)]
        if wrong:
            yield f"{record.url} has another {', '.join(wrong)} than its page"
    if lost := set(wanted) - set(stored):
        yield f"{len(lost)} lost: {sorted(lost)[:3]}"
    if invented := set(stored) - set(wanted):
        yield f"{len(invented)} invented: {sorted(invented)[:3]}"
    if twice := [url for url, n in stored.items() if n > 1]:
        yield f"{len(twice)} stored twice: {twice[:3]}"
    if (counted := store.records.count(crawl_id)) != len(stored):
        yield f"the store counts {counted} records of {len(stored)}"


def _of_urls(store: Store, crawl_id: str, sites: Sites, *, one_clock: bool) -> Iterator[str]:
    if failures := list(store.urls.failures(crawl_id)):
        yield f"{len(failures)} failures: {failures[0]}"
    for url, body in sites.pages():
        rows = [row for row in store.urls.rows(page_id(url)) if row.crawl_id == crawl_id]
        if [row.state for row in rows] != [UrlState.RECORD]:
            yield f"{url} has rows {[row.state for row in rows]}"
            continue
        steps = ",".join(step.step for step in rows[0].log)
        times = [step.at for step in rows[0].log]
        if not LOG.fullmatch(steps) or (one_clock and times != sorted(times)):
            yield f"{url} has the log {steps}"
        raw = store.answers.page(page_id(url), crawl_id)
        if raw is None or raw.html.encode() != body:
            yield f"{url} has no raw page, or another's"


def _of_statistics(store: Store, crawl_id: str, sites: Sites) -> Iterator[str]:
    kept = {stats.host: stats for stats in counted(store).all(crawl_id)}
    total = sum(stats.pages_by_state.get("record", 0) for stats in kept.values())
    if total != store.records.count(crawl_id):
        yield f"the hosts' statistics say {total} records"
    fetched: Counter[str] = Counter()
    chars: Counter[str] = Counter()
    for url, body in sites.pages():
        host = url.split("/")[2]
        fetched[host] += len(body)
        chars[host] += len(body.decode())
    records: dict[str, list[CleanRecord]] = {}
    for record in store.records.scan(crawl_id):
        records.setdefault(record.host, []).append(record)
    if set(kept) != set(fetched):
        yield f"statistics of {sorted(kept)} instead of {sorted(fetched)}"
    for host, stats in kept.items():
        again = _recomputed(records.get(host, []), fetched[host], chars[host])
        said = {name: getattr(stats, name) for name in again}
        if said != again:
            yield f"statistics of {host}: {said} instead of {again}"


def _recomputed(records: list[CleanRecord], fetched_bytes: int, chars: int) -> dict[str, Any]:
    """The counted fields of ``HostStats``, by name, added up from the records."""
    links = Counter(link.kind for record in records for link in record.links)
    images = Counter(image.kind for record in records for image in record.images)
    again = HostStats(
        host="",
        pages_by_state={"record": len(records)},
        pages_by_kind=dict(Counter(record.kind for record in records)),
        links_by_kind=dict(links),
        images_by_kind=dict(images),
        errors_by_reason={},
        fetched_bytes=fetched_bytes,
        html_chars=chars,
        body_chars=sum(len(record.body) for record in records),
    )
    names = "pages_by_state pages_by_kind links_by_kind images_by_kind errors_by_reason"
    names += " fetched_bytes html_chars body_chars"
    return {name: getattr(again, name) for name in names.split()}


def archived(data: Path) -> Counter[str]:
    """How often every URL is in the WARC archive of a data folder; reads all of it.

    Raises:
        ArchiveLoadFailed: A segment is damaged.
    """
    found: Counter[str] = Counter()
    for segment in sorted((data / "raw").glob("*.warc.gz")):
        with segment.open("rb") as opened:
            for record in ArchiveIterator(opened):
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found
