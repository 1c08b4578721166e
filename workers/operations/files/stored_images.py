"""The images of records: which are stored, their files, and a report for a host."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from itertools import islice
from pathlib import Path

from crawlclean.cleaning.records import CleanRecord, Image, ImageKind, ImageReason
from crawlclean.cleaning.urls.normal_form import normal_form, page_id
from crawlclean.storage.crawl_types import UrlRow, UrlState
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.hosts import ImageRequests
from crawlclean.workers.operations.files.whole_files import write_whole

SUFFIXES = {
    "image/jpeg": ".jpg",
    "image/svg+xml": ".svg",
    "image/x-icon": ".ico",
}
MAX_REDIRECTS = 10  # in a row; a crawl follows no more
READ_PAGES = 100  # whose relevance is asked for at once
REQUESTED = frozenset({UrlState.IMAGE, UrlState.REDIRECT, UrlState.FAILED})


def suffix_of(media_type: str) -> str:
    """Returns the file suffix of a media type: ``.jpg`` for ``image/jpeg``."""
    return SUFFIXES.get(media_type) or "." + media_type.partition("/")[2]


def content_images(record: CleanRecord) -> list[str]:
    """Returns the URLs of a record's content images, each once."""
    urls = (image.url for image in record.images if image.kind is ImageKind.CONTENT)
    return list(dict.fromkeys(url for url in urls if url))


def stored_images(store: Store, record: CleanRecord) -> Iterator[tuple[str, UrlRow]]:
    """Yields (image URL, row) for those of a record's content images that are stored."""
    for url in content_images(record):
        row = find_image(store, url)
        if row:
            yield url, row


def find_image(store: Store, url: str, crawl_id: str | None = None) -> UrlRow | None:
    """Returns the row of the stored image that a URL leads to, over redirects.

    Args:
        store: Holds the images.
        url: URL of the image, as on the page.
        crawl_id: Only of this crawl; None: the newest of all crawls.

    Returns:
        None when no image is stored, or the text is not an http(s) URL.
    """
    for _ in range(MAX_REDIRECTS + 1):
        if not (wanted := normal_form(url)):
            return None
        known = [
            row for row in store.urls.rows(image_id(wanted)) if crawl_id in (None, row.crawl_id)
        ]
        stored = next((row for row in known if row.state is UrlState.IMAGE), None)
        if stored or not known or known[0].state is not UrlState.REDIRECT:
            return stored
        url = next((s.detail for s in reversed(known[0].log) if s.step == "redirects to"), "")
    return None


def save_images(
    store: Store, record: CleanRecord, crawl: str, folder: Path, *, largest: bool = False
) -> dict[str, str]:
    """Writes a record's stored images into a folder; returns the file of each image URL.

    A file is named by the digest of its bytes (``3f/3fa8....jpg``), so one picture is written
    once, however many pages show it.

    Args:
        store: Holds the images.
        record: The page.
        crawl: Only images of this crawl; ``""``: of all.
        folder: Made if absent.
        largest: Whether the largest of its copies stands for an image of a topic's crawl.
    """
    files: dict[str, str] = {}
    for url in content_images(record):
        row = find_image(store, url, crawl or None)
        if row is None:
            continue
        if largest:
            row = _largest_copy(store, row)
        name = f"{row.sha256[:2]}/{row.sha256}{suffix_of(row.media_type)}"
        path = folder / name
        if not path.exists():
            body = store.answers.body(row.page_id, row.crawl_id)
            if body is None:
                continue
            write_whole(path, body)
        files[url] = name
    return files


def _largest_copy(store: Store, row: UrlRow) -> UrlRow:
    picture = store.pictures.of_image(row.page_id, row.crawl_id)
    copies = store.pictures.copies(row.crawl_id, picture.group) if picture else []
    rows = store.urls.rows(copies[0].page_id) if copies else []
    return next((each for each in rows if each.crawl_id == row.crawl_id), row)


def report_host(store: Store, host: str) -> ImageRequests | None:
    """Reports on the images of a host's pages; None when no crawl of the host fetches images."""
    crawls = [row.spec.crawl_id for row in store.crawls.all() if row.spec.images]
    report = report_images(store, host, crawls)
    is_empty = not (report.content or report.requests_saved or report.too_early)
    return None if is_empty else report


def report_images(store: Store, host: str, crawl_ids: Iterable[str]) -> ImageRequests:
    """Reports on the images of a host's pages in the given crawls, from the present records."""
    report = ImageRequests()
    held_back: Tally[ImageKind] = Tally()
    reasons: Tally[ImageReason] = Tally()
    topics = {row.spec.crawl_id: row.spec.topic for row in store.crawls.all()}
    for crawl_id in crawl_ids:
        content, others, irrelevant = _images_of(store, host, crawl_id, topics.get(crawl_id, ""))
        report.content += len(content)
        for url in content:
            row = find_image(store, url, crawl_id)
            report.stored += row is not None
            report.stored_bytes += row.fetched_bytes if row else 0
        for url in irrelevant | others.keys():
            rows = store.urls.rows(image_id(url))
            if any(row.crawl_id == crawl_id and row.state in REQUESTED for row in rows):
                report.too_early += 1
                continue
            if url in irrelevant:
                report.irrelevant += 1
            else:
                held_back[others[url].kind] += 1
                reasons[others[url].reason] += 1
            size = _known_bytes(store, url)
            report.sizes_known += size is not None
            report.known_bytes += size or 0
    report.held_back, report.reasons = dict(held_back.most_common()), dict(reasons.most_common())
    report.requests_saved = held_back.total() + report.irrelevant
    return report


def _images_of(
    store: Store, host: str, crawl_id: str, topic: str
) -> tuple[set[str], dict[str, Image], set[str]]:
    """Reads the images of a host's pages in a crawl, each URL once.

    Returns:
        URLs of content images, in a topic's crawl of relevant pages; the last image of URLs that
        are content on no page; URLs of content images of irrelevant pages alone.
    """
    content: set[str] = set()
    others: dict[str, Image] = {}
    irrelevant: set[str] = set()
    found = store.images.of_pages(crawl_id, host)
    while pages := list(islice(found, READ_PAGES)):
        known = store.topics.known(topic, {page.page_id for page in pages}) if topic else {}
        for page in pages:
            shown, rest = split_by_kind(page.images)
            others.update(rest)
            is_wanted = not topic or known.get(page.page_id, False)
            (content if is_wanted else irrelevant).update(shown)
    irrelevant -= content
    taken = content | irrelevant
    others = {url: image for url, image in others.items() if url not in taken}
    return content, others, irrelevant


def _known_bytes(store: Store, url: str) -> int | None:
    """Returns the bytes of an earlier response of a URL, as image or page; None without one."""
    image = find_image(store, url)
    if image:
        return image.fetched_bytes
    pages = (
        row.fetched_bytes for row in store.urls.rows(page_id(url)) if row.status == HTTPStatus.OK
    )
    return next((size for size in pages if size), None)


def split_by_kind(images: Iterable[Image]) -> tuple[set[str], dict[str, Image]]:
    """Returns (URLs of content images, last image of each other URL); URLs are normalized."""
    content: set[str] = set()
    others: dict[str, Image] = {}
    for image in images:
        if not (url := normal_form(image.url)):
            continue  # it could not be requested
        if image.kind is ImageKind.CONTENT:
            content.add(url)
        else:
            others[url] = image
    return content, {url: image for url, image in others.items() if url not in content}
