"""Tables of ``docs/sizing.md``: measured slopes, the model made of them, and the model's check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.documents.cells import Rows
from benchmarks.kit.results import kept

ROLES = ("worker", "spider", "queue server", "housekeeper")
PARTS = {  # of the processor time of a whole crawl
    "worker": "worker", "spider": "spider", "queue": "queue server",
    "housekeeper": "housekeeper", "run": "`run`",
}  # fmt: skip
PLANS = (10**6, 10**7, 10**8, 10**9)  # records
DAYS = 30
FULL = 0.9  # share of all cores from which nothing else bounds
BUSY = 0.6  # share of a core that is planned for
GB, TB = 1e9, 1e12


def breadth() -> Rows:
    """What a record costs by the number of hosts, and which processes need it."""
    webs = kept("breadth")["webs"]
    roles = [role for role in next(iter(webs.values()))["ours"]["cpu_s"] if role != "all"]
    yield [
        "web", "CPU a record, ms", "times Scrapy + trafilatura", *(f"{role}, ms" for role in roles),
        "seconds", "memory, MB", "disk a record, KB", "load",
    ]  # fmt: skip
    for name, row in webs.items():
        ours = row["ours"]
        low, high = min(row["ratios"]), max(row["ratios"])
        yield [
            name, f"{ours['cpu_ms_a_text']:.1f}", f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})",
            *(f"{1000 * ours['cpu_s'][role] / ours['texts']:.1f}" for role in roles),
            ours["seconds"], ours["peak_mb"], ours["disk_kb_a_text"], ours["load"],
        ]  # fmt: skip


def speeds() -> Rows:
    """Speed by the number of processes, and what bounds it."""
    yield ["run", "pages/s", "least and most", "CPU a page, ms", "cores busy", "bound by"]
    for name, row in kept("scaling")["runs"].items():
        cpu = sum(ms for role, ms in row["cpu_ms_a_page"].items() if role != "web")
        low, high = row["least_and_most"]
        yield [
            name, row["pages_per_s"], f"{low} to {high}", f"{cpu:.1f}",
            f"{row['share_of_all_cores']:.0%}", _busiest(row),
        ]  # fmt: skip


def _busiest(row: dict[str, Any]) -> str:
    """Names what bounds a run: the cores when they are busy, else the busiest role."""
    if row["share_of_all_cores"] >= FULL:
        return "the cores"
    role, share = max(row["share_of_a_core"].items(), key=lambda item: item[1])
    return f"{role}, {share:.0%} of a core each"


def growth() -> Rows:
    """CPU by role, queue, store and archive of crawls of different sizes."""
    yield [
        "pages", *(f"{role}, ms a page" for role in ROLES), "queue's memory, MB",
        "queue's file, MB", "store, KB a page", "archive, KB a page",
    ]  # fmt: skip
    for row in kept("growth")["sizes"]:
        yield [
            f"{row['pages']:,}",
            *(row["cpu_ms_a_page"][role] for role in ROLES),
            row["queue_memory_mb"],
            row["queue_file_mb"],
            f"{row['store_bytes_a_page'] / 1000:.1f}",
            f"{row['archive_bytes_a_page'] / 1000:.1f}",
        ]


def growth_check() -> Rows:
    """The line through the smallest and the largest crawl, at the sizes between."""
    sizes = kept("growth")["sizes"]
    first, last = sizes[0], sizes[-1]
    span = last["pages"] - first["pages"]
    yield ["role", "CPU of a start, s", "CPU a page, ms", *_between(sizes)]
    for role in ROLES:
        slope = (last["cpu_s"][role] - first["cpu_s"][role]) / span
        start = first["cpu_s"][role] - slope * first["pages"]
        cells = [
            f"{start + slope * row['pages']:.1f} / {row['cpu_s'][role]:.1f} s"
            for row in sizes[1:-1]
        ]
        yield [role, f"{start:.1f}", f"{1000 * slope:.2f}", *cells]


def _between(sizes: list[dict[str, Any]]) -> list[str]:
    return [f"model / measured at {row['pages']:,} pages" for row in sizes[1:-1]]


def _queue_line() -> tuple[float, float]:
    """Memory of the queue as a line: (bytes of an empty one, bytes a URL)."""
    sizes = kept("frontier")["sizes"]
    (few, least), (many, most) = (
        (row["urls"], row["urls"] * row["resident_bytes_a_url"]) for row in (sizes[0], sizes[-1])
    )
    slope = (most - least) / (many - few)
    return least - slope * few, slope


def queue() -> Rows:
    """Memory, file and restart of the queue at 10^4 to 10^7 URLs, and the model's check."""
    start, slope = _queue_line()
    yield [
        "URLs that wait", "memory, MB", "model, MB", "seen URL, bytes", "waiting URL, bytes",
        "file, MB", "restart, s",
    ]  # fmt: skip
    for row in kept("frontier")["sizes"]:
        urls = row["urls"]
        yield [
            f"{urls:,}", f"{urls * row['resident_bytes_a_url'] / 1e6:.1f}",
            f"{(start + slope * urls) / 1e6:.1f}", row["seen_bytes"], row["pending_bytes"],
            row["file_mb"], row["restart_s"],
        ]  # fmt: skip


def moves() -> Rows:
    """CPU of the queue server for each move, by size."""
    sizes = kept("frontier")["sizes"]
    yield ["move, CPU of the server in us", *(f"{row['urls']:,} URLs" for row in sizes)]
    for move in sizes[0]["times_us"]:
        yield [move, *(row["times_us"][move]["cpu"] for row in sizes)]


def costs() -> Rows:
    """What a record of the labelled sites costs, all of its requests with it."""
    found = kept("crawl")["all_sites"]
    records = found["records"]
    yield ["of a record", "value"]
    yield ["requests (pages, redirects, errors)", f"{found['requests'] / records:.1f}"]
    for part, name in PARTS.items():
        yield [f"CPU of {name}, ms", f"{1000 * found['ours_cpu_s'][part] / records:.1f}"]
    yield ["archive, KB", f"{found['archive_bytes'] / records / 1000:.1f}"]
    yield ["store (SQLite), KB", f"{found['store_bytes'] / records / 1000:.1f}"]


def plans() -> Rows:
    """Crawls of 10^6 to 10^9 records in thirty days, by the costs of a record."""
    found = kept("crawl")["all_sites"]
    records = found["records"]
    requests = found["requests"] / records
    cpu = {part: found["ours_cpu_s"][part] / records for part in ("worker", "spider", "queue")}
    seen = kept("frontier")["sizes"][-1]["seen_bytes"]
    yield [
        f"records in {DAYS} days", "records/s", "requests/s: hosts at a time",
        *(f"{PARTS[part]}: cores" for part in cpu), "seen URLs in the queue, GB", "archive, TB",
        "store, TB",
    ]  # fmt: skip
    for wanted in PLANS:
        rate = wanted / (DAYS * 86400)
        yield [
            f"{wanted:,}",
            f"{rate:.1f}",
            f"{rate * requests:,.1f}",
            *(f"{rate * seconds / BUSY:.2f}" for seconds in cpu.values()),
            f"{wanted * requests * seen / GB:.2f}",
            f"{wanted * found['archive_bytes'] / records / TB:.3f}",
            f"{wanted * found['store_bytes'] / records / TB:.3f}",
        ]


SIZING_TABLES: dict[str, Callable[[], Rows]] = {
    "breadth": breadth,
    "speeds": speeds,
    "growth": growth,
    "growth-check": growth_check,
    "queue": queue,
    "moves": moves,
    "costs": costs,
    "plans": plans,
}
