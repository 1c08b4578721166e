"""The images of topics: which were refused, which are stored, which are copies of each other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import UNSET

from crawlclean.cleaning.errors import ConfigError, InvalidUrl
from crawlclean.cleaning.records import CleanRecord, Image
from crawlclean.cleaning.urls.normal_form import normal_form, page_id
from crawlclean.storage.crawl_types import CrawlSpec, UrlRow
from crawlclean.storage.store.pictures import PictureGroup, PictureRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import TopicRow
from crawlclean.workers.answers.images import TopicImage, TopicImages, TopicPicture
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.images import wanted_pages
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.files.stored_images import split_by_kind
from crawlclean.workers.operations.topics.topics import find_topic

CACHED_RECORDS = 64  # pages of images that follow each other in a listing


def list_pictures(
    settings: Settings, name: str, limit: int | None, *, copies: bool
) -> list[TopicPicture]:
    """Returns the pictures of a topic, those with the newest image first.

    Args:
        settings: Where the store is.
        name: Of the topic.
        limit: At most this many; None: all.
        copies: Whether each comes with its copies.

    Raises:
        NotFound: There is no such topic.
        ConfigError: The topic fetches no images.
    """
    with existing_store(settings) as store:
        row = find_topic(store, name)
        if _spec_with_images(store, row) is None:
            raise ConfigError(f"topic {name} fetches no images: `topic {name} --images` does")
        groups = store.pictures.groups(row.crawl_id)[:limit]
        reader = _Reader(store, row.crawl_id)
        return [reader.picture(name, group, copies=copies) for group in groups]


def count_images(store: Store, row: TopicRow) -> TopicImages | None:
    """Returns the numbers of a topic's images; None when its crawl fetches none."""
    spec = _spec_with_images(store, row)
    if spec is None:
        return None
    content, others = split_by_kind(
        image for page in wanted_pages(store, spec) for image in page.images
    )
    refused: dict[str, int] = {}
    for image in others.values():
        refused[image.kind.value] = refused.get(image.kind.value, 0) + 1
    groups = store.pictures.groups(row.crawl_id)
    return TopicImages(
        shown=len(content) + len(others),
        content=len(content),
        refused=dict(sorted(refused.items(), key=lambda each: -each[1])),
        stored=sum(group.images for group in groups),
        pictures=len(groups),
    )


def _spec_with_images(store: Store, row: TopicRow) -> CrawlSpec | None:
    crawl = store.crawls.get(row.name)
    return crawl.spec if crawl is not None and crawl.spec.images else None


class _Reader:
    """Reads images with what their pages say of them."""

    def __init__(self, store: Store, crawl_id: str) -> None:
        self._store = store
        self._crawl_id = crawl_id
        self._record = lru_cache(maxsize=CACHED_RECORDS)(self._read_record)

    def picture(self, topic: str, group: PictureGroup, *, copies: bool) -> TopicPicture:
        rows = self._store.pictures.copies(self._crawl_id, group.group)
        found = list(self._images(rows if copies else rows[:1]))
        return TopicPicture(
            topic=topic,
            picture=f"{group.group:015x}",
            copies=group.images,
            largest=found[0],
            others=tuple(found[1:]) if copies else UNSET,
        )

    def _images(self, rows: list[PictureRow]) -> Iterator[TopicImage]:
        for row in rows:
            for url in self._store.urls.rows(row.page_id):
                if url.crawl_id == self._crawl_id:
                    yield self._image(row, url)

    def _image(self, row: PictureRow, url: UrlRow) -> TopicImage:
        shown = self._shown(url)
        return TopicImage(
            url=url.url,
            page=url.referrer or "",
            # Of a redirected image, the page names another URL: the offer's text is left.
            caption=shown.caption if shown else url.link_text,
            alt=shown.alt if shown else "",
            media_type=url.media_type,
            width=row.width or None,
            height=row.height or None,
            bytes=row.file_bytes,
            sha256=row.sha256,
            fetched_at=url.finished_at,
        )

    def _shown(self, url: UrlRow) -> Image | None:
        record = self._record(url.referrer or "")
        images = record.images if record else ()
        return next((image for image in images if normal_form(image.url) == url.url), None)

    def _read_record(self, page: str) -> CleanRecord | None:
        try:
            return self._store.records.get(page_id(page)) if page else None
        except InvalidUrl:
            return None
