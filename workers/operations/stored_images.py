"""The images of a record that are stored, and their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cleaning.errors import InvalidUrl
from cleaning.records import CleanRecord, ImageKind
from cleaning.urls.normal_form import normalize
from storage.crawl_types import UrlRow, UrlState
from storage.store.images import image_id
from storage.store.protocol import Store

SUFFIXES = {
    "image/jpeg": ".jpg",
    "image/svg+xml": ".svg",
    "image/x-icon": ".ico",
}
MOST_SHOWN = 20
MOST_REDIRECTS = 10  # in a row; a crawl follows no more


def suffix_of(media_type: str) -> str:
    """The suffix of a file of a media type: ``.jpg`` for ``image/jpeg``."""
    return SUFFIXES.get(media_type) or "." + media_type.partition("/")[2]


def content_images(record: CleanRecord) -> list[str]:
    """Returns the addresses of a record's content images, each once."""
    urls = (image.url for image in record.images if image.kind is ImageKind.CONTENT)
    return list(dict.fromkeys(url for url in urls if url))


def stored_images(store: Store, record: CleanRecord) -> Iterator[tuple[str, UrlRow]]:
    """Yields (address, row) of those of a record's first 20 content images that are stored."""
    for url in content_images(record)[:MOST_SHOWN]:
        row = find_image(store, url)
        if row:
            yield url, row


def find_image(store: Store, url: str, crawl_id: str | None = None) -> UrlRow | None:
    """Returns the row of the stored image that an address leads to, over redirects.

    Args:
        store: Where it is.
        url: Address of the image, as on the page.
        crawl_id: Only of this crawl; None: the newest of all crawls.

    Returns:
        None when no image is stored, and for what is no http(s) address.
    """
    for _ in range(MOST_REDIRECTS + 1):
        try:
            address = normalize(url)
        except InvalidUrl:
            return None
        known = [
            row for row in store.urls.rows(image_id(address)) if crawl_id in (None, row.crawl_id)
        ]
        stored = next((row for row in known if row.state is UrlState.IMAGE), None)
        if stored or not known or known[0].state is not UrlState.REDIRECT:
            return stored
        url = next((s.detail for s in reversed(known[0].log) if s.step == "redirects to"), "")
    return None


def save_images(store: Store, record: CleanRecord, crawl: str, folder: Path) -> dict[str, str]:
    """Writes a record's stored images into a folder; returns the file of each address.

    A file is named by the digest of its bytes (``3f/3fa8....jpg``), so one picture is written
    once, however many pages show it.
    """
    files: dict[str, str] = {}
    for url in content_images(record):
        row = find_image(store, url, crawl or None)
        if row is None:
            continue
        name = f"{row.sha256[:2]}/{row.sha256}{suffix_of(row.media_type)}"
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
