"""Images as text and JSON values, for `show`, `hosts HOST` and `export`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawlclean.cleaning.json_values import json_object
from crawlclean.cleaning.lexicon import second
from crawlclean.cleaning.records import CleanRecord, ImageKind
from crawlclean.storage.crawl_types import UrlRow
from crawlclean.workers.answers.hosts import ImageRequests, StoredImage
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.printing import Row, listed

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
    return "".join(f"{name:<10} {readable_line(value)}\n" for name, value in about if value)


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
        ("stored", f"{url} {row.media_type}, {row.fetched_bytes:,} bytes, sha256 {row.sha256}")
        for url, row in images[:MOST_SHOWN]
    ]
    rest = len(images) - MOST_SHOWN
    return [*rows, ("stored", f"and {rest:,} more")] if rest > 0 else rows


def report_rows(report: ImageRequests | None) -> list[Row]:
    """The image requests of a host as rows; no row without a report."""
    if report is None:
        return []
    fetched = f"{report.stored:,} of {report.content:,} content images"
    early = (
        f"{report.too_early:,} fetched that are not content any more" if report.too_early else ""
    )
    saved = f"{report.requests_saved:,} requests saved"
    if report.sizes_known:
        saved += f" (size known of {report.sizes_known:,}: {report.known_bytes:,} bytes)"
    elif report.requests_saved:
        saved += " (no size known)"
    rows = [("fetched", f"{fetched}, {report.stored_bytes:,} bytes")]
    irrelevant = f"{report.irrelevant:,} of irrelevant pages" if report.irrelevant else ""
    rows += [("too early", early), ("held back", saved), ("", irrelevant)]
    if report.held_back:
        rows.append(("", f"{listed(report.held_back)}; by {listed(report.reasons)}"))
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
