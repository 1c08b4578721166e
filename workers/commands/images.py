"""Images as `show`, `hosts` and `export` tell of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cleaning.records import CleanRecord, ImageKind
from storage.crawl_types import UrlRow
from storage.store.codec import record_to_json
from storage.store.protocol import Store
from workers.jobs.images import ImageReport, find_image, report_images
from workers.output.charts import Row, listed
from workers.output.printing import printable

ENDINGS = {
    "image/jpeg": ".jpg",
    "image/svg+xml": ".svg",
    "image/x-icon": ".ico",
}
MOST_SHOWN = 20


def ending_of(media_type: str) -> str:
    """What a file of a media type is called at its end."""
    return ENDINGS.get(media_type) or "." + media_type.partition("/")[2]


def image_text(row: UrlRow) -> str:
    """One stored image, for `show`."""
    about = [
        ("url", row.url),
        ("id", row.page_id),
        ("type", row.media_type),
        ("bytes", f"{row.fetched_bytes:,}"),
        ("sha256", row.sha256),
        ("status", str(row.status)),
        ("fetched", f"{row.finished_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("found on", row.referrer or ""),
        ("crawl", row.crawl_id),
    ]
    return "".join(f"{name:<10} {printable(value)}\n" for name, value in about if value)


def image_json(row: UrlRow) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "url": row.url,
        "page_id": row.page_id,
        "media_type": row.media_type,
        "bytes": row.fetched_bytes,
        "sha256": row.sha256,
        "status": row.status,
        "fetched_at": row.finished_at.isoformat(),
        "referrer": row.referrer,
        "crawl": row.crawl_id,
    }


def content_images(record: CleanRecord) -> list[str]:
    """The addresses of a record's content images, each once."""
    urls = (image.url for image in record.images if image.kind is ImageKind.CONTENT)
    return list(dict.fromkeys(url for url in urls if url))


def stored_lines(store: Store, record: CleanRecord) -> list[tuple[str, str]]:
    """A line for each of a record's first images that is stored, for `show`."""
    lines = []
    for url in content_images(record)[:MOST_SHOWN]:
        row = find_image(store, url)
        if row:
            size = f"{row.fetched_bytes:,} bytes"
            lines.append(("stored", f"{url} {row.media_type}, {size}, sha256 {row.sha256}"))
    return lines


def host_images(store: Store, host: str) -> ImageReport | None:
    """What became of the images of a host's pages; None when no crawl of it fetches images."""
    crawls = [row.spec.crawl_id for row in store.crawls.all() if row.spec.images]
    report = report_images(store, host, crawls)
    return report if report.content or report.held_back or report.too_early else None


def report_rows(report: ImageReport | None) -> list[Row]:
    """A report, for `hosts HOST`; nothing without one."""
    if report is None:
        return []
    fetched = f"{report.stored:,} of {report.content:,} content images"
    early = f"{report.too_early:,} asked for that are content no more" if report.too_early else ""
    saved = f"requests saved {report.requests_saved:,}"
    if report.known:
        saved += f" (bytes known of {report.known:,}: {report.known_bytes:,})"
    elif report.requests_saved:
        saved += " (bytes known of none)"
    rows = [("fetched", f"{fetched}, {report.stored_bytes:,} bytes")]
    rows += [("too early", early), ("held back", saved)]
    if report.held_back:
        rows.append(("", f"{listed(report.held_back)}; by {listed(report.reasons)}"))
    return rows


def report_json(report: ImageReport | None) -> dict[str, Any]:
    """The same as JSON values, under ``image_requests``; nothing without a report."""
    if report is None:
        return {}
    told = {
        "content": report.content,
        "stored": report.stored,
        "stored_bytes": report.stored_bytes,
        "too_early": report.too_early,
        "held_back": {str(kind): n for kind, n in report.held_back.most_common()},
        "reasons": {str(reason): n for reason, n in report.reasons.most_common()},
        "requests_saved": report.requests_saved,
        "sizes_known": report.known,
        "known_bytes": report.known_bytes,
    }
    return {"image_requests": told}


def save_images(store: Store, record: CleanRecord, crawl: str, folder: Path) -> dict[str, str]:
    """Writes a record's stored images into a folder; the file of each address, relative to it.

    A file is named by what it holds, so the same picture is written once, however often.
    """
    files: dict[str, str] = {}
    for url in content_images(record):
        row = find_image(store, url, crawl or None)
        if row is None:
            continue
        name = f"{row.sha256[:2]}/{row.sha256}{ending_of(row.media_type)}"
        path = folder / name
        if not path.exists():
            body = store.answers.body(row.page_id, row.crawl_id)
            if body is None:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_name(path.name + ".part")
            whole.write_bytes(body)
            whole.replace(path)
        files[url] = name
    return files


def record_with_files(record: CleanRecord, files: dict[str, str]) -> dict[str, Any]:
    """A record as JSON values, each stored image with its ``file``."""
    values = record_to_json(record)
    for image in values["images"]:
        if image["kind"] == ImageKind.CONTENT and image["url"] in files:
            image["file"] = files[image["url"]]
    return values
