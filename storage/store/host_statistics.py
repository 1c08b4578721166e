"""A host's statistics, added up from groups of its rows.

Each database groups the rows of a host in a crawl (``sqlite/host_statistics.py``,
``mongo/host_statistics.py``). A group of URLs has the columns ``state``, ``reason``, ``status``,
``certificate``, ``n``, ``fetched_bytes``, ``html_chars``, ``wait_ms``, ``first_at``, ``newest_at``
and ``sample``, its least page id. A group of records, those that are the newest outcomes of their
URLs, has ``kind``, ``warnings``, ``is_empty``, ``n``, ``body_chars``, ``model_version`` and a sum
for each kind of links and images: ``links_body``, ``images_ad``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Final

from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.store.rows import from_microseconds

Group = Mapping[str, Any]
"""Column -> value, of rows that have the first columns in common."""

FailureGroups = Sequence[tuple[Any, ...]]
"""(reason, status, count, first and newest time in microseconds since 1970 UTC, sample) each."""

LINK_SUMS: Final = tuple(f"links_{kind.value}" for kind in LinkKind)
IMAGE_SUMS: Final = tuple(f"images_{kind.value}" for kind in ImageKind)

_COUNTS = tuple(each.name for each in fields(HostStats) if each.default_factory is not MISSING)
_SUMS = tuple(each.name for each in fields(HostStats) if each.default == 0)


def stats_of(
    host: str,
    urls: Iterable[Group],
    records: Iterable[Group],
    *,
    near_duplicates: int,
    kept_records: int,
) -> HostStats:
    """The statistics of a host of a crawl; ``exact`` is True: a store knows of no queue.

    Args:
        host: Lower-case authority.
        urls: Groups of all its URLs.
        records: Groups of its records that are the newest outcomes of their URLs.
        near_duplicates: Its pages whose story has an earlier page.
        kept_records: Its records that are not the newest outcomes of their URLs.
    """
    others = HostStats(host=host, near_duplicates=near_duplicates, kept_records=kept_records)
    parts = [*(_of_urls(host, each) for each in urls), *(_of_records(host, r) for r in records)]
    return merge_stats([others, *parts])


def _of_urls(host: str, group: Group) -> HostStats:
    n = group["n"]
    reason = group["reason"] if group["state"] == UrlState.FAILED else None
    return HostStats(
        host=host,
        pages_by_state={group["state"]: n},
        errors_by_reason={reason: n} if reason else {},
        errors_by_status={str(group["status"]): n} if reason == FailureReason.HTTP_STATUS else {},
        certificate_faults={group["certificate"]: n} if group["certificate"] else {},
        fetched_bytes=int(group["fetched_bytes"]),  # MongoDB gives a sum above 64 bits as a float
        html_chars=int(group["html_chars"]),
        wait_ms=int(group["wait_ms"]),
        first_seen=from_microseconds(group["first_at"]),
        last_seen=from_microseconds(group["newest_at"]),
    )


def _of_records(host: str, group: Group) -> HostStats:
    n, kind = group["n"], PageKind(group["kind"])
    links = {each: int(group[name]) for each, name in zip(LinkKind, LINK_SUMS, strict=True)}
    images = {each: int(group[name]) for each, name in zip(ImageKind, IMAGE_SUMS, strict=True)}
    return HostStats(
        host=host,
        pages_by_kind={kind: n},
        links_by_kind={each: count for each, count in links.items() if count},
        images_by_kind={each: count for each, count in images.items() if count},
        pages_by_warning={WarningKind(each): n for each in group["warnings"].split(",") if each},
        empty_bodies=n if group["is_empty"] and kind is not PageKind.INDEX else 0,
        body_chars=int(group["body_chars"]),
        model_version=group["model_version"],
    )


def merge_stats(parts: Sequence[HostStats]) -> HostStats:
    """Adds up one host's statistics of several crawls; a page of two crawls counts twice.

    Args:
        parts: At least one, all of the same host.
    """
    if len(parts) == 1:
        return parts[0]
    merged: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in _SUMS}
    for name in _COUNTS:
        counts: Counter[Any] = Counter()
        for part in parts:
            counts.update(getattr(part, name))
        merged[name] = dict(counts)
    merged |= {
        "first_seen": min((p.first_seen for p in parts if p.first_seen), default=None),
        "last_seen": max((p.last_seen for p in parts if p.last_seen), default=None),
        "model_version": max(part.model_version for part in parts),
        "exact": all(part.exact for part in parts),
    }
    return HostStats(host=parts[0].host, **merged)


def failures_of(urls: Iterable[Group]) -> FailureGroups:
    """The failures of groups of URLs by their cause."""
    causes: dict[tuple[str, int], list[Group]] = {}
    for each in urls:
        if each["state"] == UrlState.FAILED:
            causes.setdefault((each["reason"], each["status"]), []).append(each)
    return [
        (
            *cause,
            sum(each["n"] for each in groups),
            min(each["first_at"] for each in groups),
            max(each["newest_at"] for each in groups),
            min(each["sample"] for each in groups),
        )
        for cause, groups in causes.items()
    ]
