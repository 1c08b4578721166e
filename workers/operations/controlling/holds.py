"""What holds every host back, in words: for `crawls`, `hosts HOST` and `doctor`."""

from __future__ import annotations

from crawlclean.storage.live_state import Hold, Waits

_HOLDS = {
    Hold.PAGES: "{pages:,} URLs wait for workers",
    Hold.BYTES: "{mib:,} MiB of fetched pages wait for workers",
    Hold.MEMORY: "the memory of the queue is full",
    Hold.DISK: "the disk or the quota of the data folder is full",
}


def hold_lines(waits: Waits) -> list[str]:
    """Describes what holds every host back; empty when nothing does."""
    size = waits.bytes_in_flight >> 20
    lines = [
        f"nothing is fetched: {_HOLDS[hold].format(pages=waits.pages_in_flight, mib=size)}"
        for hold in waits.holds
    ]
    if not waits.spiders:
        lines.append("nothing is fetched: no spider is running")
    return lines
