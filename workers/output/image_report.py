"""Images as text and JSON values, for `show`, `hosts HOST` and `export`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from crawlclean.cleaning.json_values import json_object
from crawlclean.cleaning.lexicon import second
from crawlclean.cleaning.records import CleanRecord, ImageKind
from crawlclean.storage.crawl_types import UrlRow
from crawlclean.workers.answers.hosts import ImageRequests, StoredImage
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.printing import Row, listed, padded
from crawlclean.workers.spoken import say

FIELD_CHARS = 10  # the widest name and a space
MOST_SHOWN = 20  # stored images of a record: a screen


def image_text(row: UrlRow) -> str:
    """Formats a stored image, a line for each field with a value."""
    about = [
        ("url", row.url),
        ("id", row.page_id),
        ("type", row.media_type),
        ("bytes", f"{row.fetched_bytes:,}"),
        ("sha256", row.sha256),
        ("status", str(row.status)),
        ("fetched", f"{second(row.finished_at)}"),
        ("found on", row.referrer or ""),
        ("crawl", row.crawl_id),
    ]
    return fields_text(about)


def fields_text(about: Iterable[Row]) -> str:
    """A line for each field with a value, behind its name."""
    return "".join(
        f"{padded(say(name), FIELD_CHARS)} {readable_line(value)}\n"
        for name, value in about
        if value
    )


def image_answer(row: UrlRow) -> StoredImage:
    """A stored image as the JSON of `show`."""
    return answer_of(
        StoredImage, row, bytes=row.fetched_bytes, fetched_at=row.finished_at, crawl=row.crawl_id
    )


def stored_rows(images: Sequence[tuple[str, UrlRow]]) -> list[Row]:
    """A row for each of the first 20 stored images of a record; one more counts the rest.

    Args:
        images: (URL on the page, row in the store).
    """
    rows = [
        (
            "stored",
            say(
                "{url} {type}, {size:,} bytes, sha256 {hash}",
                url=url,
                type=row.media_type,
                size=row.fetched_bytes,
                hash=row.sha256,
            ),
        )
        for url, row in images[:MOST_SHOWN]
    ]
    rest = len(images) - MOST_SHOWN
    return [*rows, ("stored", say("and {n:,} more", n=rest))] if rest > 0 else rows


def report_rows(report: ImageRequests | None) -> list[Row]:
    """The image requests of a host as rows; no row without a report."""
    if report is None:
        return []
    saved = say("{n:,} requests saved", n=report.requests_saved)
    if report.sizes_known:
        known = " (size known of {n:,}: {size:,} bytes)"
        saved += say(known, n=report.sizes_known, size=report.known_bytes)
    elif report.requests_saved:
        saved += say(" (no size known)")
    fetched = "{r.stored:,} of {r.content:,} content images, {r.stored_bytes:,} bytes"
    rows = [("fetched", say(fetched, r=report))]
    if report.too_early:
        early = "{n:,} fetched that are not content any more"
        rows.append(("too early", say(early, n=report.too_early)))
    rows.append(("held back", saved))
    if report.irrelevant:
        rows.append(("", say("{n:,} of irrelevant pages", n=report.irrelevant)))
    if report.held_back:
        kinds = listed(report.held_back, "image_kind")
        reasons = listed(report.reasons, "image_reason")
        rows.append(("", say("{kinds}; by {reasons}", kinds=kinds, reasons=reasons)))
    return rows


def record_with_files(record: CleanRecord, files: dict[str, str]) -> dict[str, Any]:
    """A record as JSON values; each content image in ``files`` gets a ``file``.

    Args:
        record: The record.
        files: Image URL -> path below the image folder: ``"92/92d8315b.png"``.
    """
    values = json_object(record.in_utc())
    for image in values["images"]:
        if image["kind"] == ImageKind.CONTENT and image["url"] in files:
            image["file"] = files[image["url"]]
    return values
