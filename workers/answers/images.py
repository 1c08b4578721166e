"""JSON lines about the images of topics: `images`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from msgspec import UNSET, UnsetType


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicImage:
    """A stored image, as one page shows it.

    Attributes:
        url: Its URL.
        page: URL of the page it was found on.
        caption: Its caption on the page; may be empty.
        alt: Its alt text; may be empty.
        media_type: ``image/jpeg``.
        width: In points; null when unknown.
        height: In points; null when unknown.
        bytes: Length of the file.
        sha256: Of the file.
        fetched_at: End of the response.
    """

    url: str
    page: str
    caption: str
    alt: str
    media_type: str
    width: int | None
    height: int | None
    bytes: int
    sha256: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPicture:
    """A line of `images`: one picture of a topic, with its copies.

    Copies have equal bytes, or look the same: resized, recompressed, stamped, cut by some percent.

    Attributes:
        topic: Name of the topic.
        picture: Id of the picture, 15 hex digits; the least of its copies' ids.
        copies: How many stored images show it.
        largest: The image with the most points.
        others: The other images, larger ones first; only with `--copies`.
    """

    topic: str
    picture: str
    copies: int
    largest: TopicImage
    others: tuple[TopicImage, ...] | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicImages:
    """The images of a topic, in the line of `topic NAME --report`.

    Attributes:
        shown: URLs of images on its relevant pages.
        content: Those that a page shows as content; only these are requested.
        refused: The others by their kind on the last page that shows them: ``{"chrome": 120}``.
        stored: Stored images.
        pictures: Stored images without copies: pictures that look different.
    """

    shown: int
    content: int
    refused: dict[str, int]
    stored: int
    pictures: int
