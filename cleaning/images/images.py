"""Every picture of a page with its kind.

The evidence in order; the first that speaks decides: a few pixels, by attributes or address; the
shape of a banner with a link to another site; a nav, footer or aside element; a place in the body;
a header element; its names and alt text; the kind of the link around it. What is none of the
body's and leads nowhere is chrome. What its host says comes later (``site_links``).

The body's pictures stand at its place (``body_place``), and are no icons and codes by their names
or alt text, and not shown three times.
"""

from __future__ import annotations

import re
from collections import Counter

from cleaning.body.page_body import Body
from cleaning.building import build_all
from cleaning.document.document import Document
from cleaning.document.tree import Picture
from cleaning.images.body_place import LISTED, BodyPlace, Size
from cleaning.images.captions import Captions
from cleaning.images.picture_names import (
    is_icon_by_alt,
    is_icon_by_name,
    is_placeholder,
    size_by_name,
)
from cleaning.images.with_model import settle_images, settle_picture_links
from cleaning.links.evidence import is_home
from cleaning.model.places import SitePlaces
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.records import Image, ImageKind, ImageReason, Link, LinkKind, LinkReason
from cleaning.urls.assets import is_asset
from cleaning.urls.normal_form import host_of, resolver

# Where pages that load pictures late keep the address; ``src`` then holds a placeholder.
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-original-src",
         "data-echo", "data-lazyload", "_src", "original")  # fmt: skip
_LATE = frozenset(_LAZY)
_SIZE = re.compile(r"\s*+(\d{1,5})(?:\.\d*+)?\s*+(?:px\s*+)?", re.I)
_MAX_DIGITS = 5
MAX_IMAGES = 20_000
_ICON_WIDTH_PX = 48
_ICON_HEIGHT_PX = 32
_MAX_SHOWN = 2  # a picture of the body, and perhaps its small form
_KIND_OF_LINK = {
    LinkKind.AD: ImageKind.AD,
    LinkKind.FUNCTION: ImageKind.CHROME,
    LinkKind.LEGAL: ImageKind.CHROME,
    LinkKind.NAVIGATION: ImageKind.CHROME,
}
_BANNER_RATIO = 3.0
_BANNER_PX = 200

_NOTHING = LinkReason.NO_EVIDENCE
_MIN_NAMED_PX = 10  # smallest size in an address that is one

_Verdict = tuple[ImageKind, float, ImageReason]


def read_images(
    document: Document, body: Body, links: tuple[Link, ...], places: SitePlaces | None = None
) -> tuple[tuple[Image, ...], tuple[Link, ...], tuple[PageWarning, ...]]:
    """The images of a page, its links with what the images make of them, and what was capped.

    Args:
        document: The parsed page.
        body: Its body.
        links: Its links, one for each of the first anchors of the tree.
        places: What its host taught, None without a model: then no link changes.
    """
    images, warnings = _images_alone(document, body, links)
    if places is not None:
        images = settle_images(document.tree, images, links, places)
        links = settle_picture_links(document.tree, links, images)
    return images, links, warnings


def _images_alone(
    document: Document, body: Body, links: tuple[Link, ...]
) -> tuple[tuple[Image, ...], tuple[PageWarning, ...]]:
    """The first 20,000 ``<img>`` in document order, and what was capped."""
    tree, host = document.tree, document.page.host
    place = BodyPlace(tree, body)
    captions: Captions | None = None
    pictures = tree.pictures[:MAX_IMAGES]
    sources = [_source(picture.attributes) for picture in pictures]
    shown = Counter(sources)
    url_of = resolver(document.base, document.page.encoding)
    resolved = {src: url_of(src) or "" if src else "" for src in shown}
    alts: list[str] = []
    texts: list[str] = []
    widths: list[int | None] = []
    heights: list[int | None] = []
    targets: list[str | None] = []
    verdicts: list[_Verdict] = []
    for number, (picture, src) in enumerate(zip(pictures, sources, strict=True)):
        get = picture.attributes.get
        width = _size(get("width")) if "width" in picture.attributes else None
        height = _size(get("height")) if "height" in picture.attributes else None
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        alt = get("alt", "")
        if alt:
            alt = " ".join(alt.split())
        if resolved[src]:
            verdict = _judge(picture, src, alt, (width, height), shown[src], around, host, place)
        else:
            verdict = _without_source(around)
        caption = ""
        if verdict[0] is ImageKind.CONTENT:
            captions = captions or Captions(tree)
            caption = captions.of(number, alt)
        alts.append(alt)
        texts.append(caption)
        widths.append(width)
        heights.append(height)
        targets.append((around.url or None) if around else None)
        verdicts.append(verdict)
    columns = zip(*verdicts, strict=True) if verdicts else ((), (), ())
    urls = (resolved[src] for src in sources)
    images = build_all(Image, sources, urls, alts, texts, widths, heights, targets, *columns)
    dropped = len(tree.pictures) - len(images)
    if not dropped:
        return images, ()
    detail = f"kept the first {MAX_IMAGES}"
    warning = PageWarning(kind=WarningKind.CAPPED_IMAGES, detail=detail, count=dropped)
    return images, (warning,)


def _source(attributes: dict[str, str]) -> str:
    """The attribute that names the picture, a late-loading one before ``src``."""
    for name in _LAZY if not _LATE.isdisjoint(attributes) else ():
        value: str = attributes.get(name, "").strip()
        if not value or value.startswith(("data:", "{")) or is_placeholder(value):
            continue
        if "/" in value or "." in value:
            return value
    src: str = attributes.get("src", "").strip()
    if not src or src.startswith("data:"):
        return _largest(attributes.get("srcset") or attributes.get("data-srcset") or "") or src
    return src


def _largest(srcset: str) -> str:
    """The address with the greatest width or density of a ``srcset``."""
    best, best_size = "", -1.0
    for candidate in re.split(r",\s+|,(?=https?:|//)", srcset):
        url, _, size = candidate.strip().strip(",").partition(" ")
        number = re.match(r"\d+(?:\.\d+)?", size.strip())
        value = float(number[0]) if number else 1.0
        if url and not url.startswith("data:") and value > best_size:
            best, best_size = url, value
    return best


def _size(text: str | None) -> int | None:
    if not text:
        return None
    if len(text) <= _MAX_DIGITS and text.isascii() and text.isdigit():
        return int(text)  # as most are written
    match = _SIZE.fullmatch(text)
    return int(match[1]) if match else None


def _judge(
    picture: Picture,
    src: str,
    alt: str,
    size: Size,
    times: int,
    around: Link | None,
    host: str,
    place: BodyPlace,
) -> _Verdict:
    """The verdict on a picture with an address that stands so many times on its page."""
    if size != (None, None):
        if _is_tiny(*size):
            return ImageKind.CHROME, 0.9, ImageReason.TINY
    else:
        size = size_by_name(src) or size
        # 1x1 and 16x9 are shapes.
        if size[0] == size[1] and _MIN_NAMED_PX <= (size[0] or 0) <= _ICON_WIDTH_PX:
            return ImageKind.CHROME, 0.9, ImageReason.TINY
    if around is not None and _is_banner(*size) and _leads_off(around, host):
        return ImageKind.AD, 0.7, ImageReason.BANNER
    to_page = around is not None and bool(around.url) and not is_asset(around.url)
    target = around if to_page else None
    listed = target is not None and target.kind in LISTED and target.reason is not _NOTHING
    in_header = picture.region == "header"
    if picture.region and not in_header and not listed:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    is_held = place.holds(picture, size, target)
    # What its link says of a picture beside the body needs no names.
    is_icon = (is_held or not listed) and (
        times > _MAX_SHOWN or is_icon_by_name(src) or is_icon_by_alt(alt)
    )
    if is_held and not is_icon:
        return ImageKind.CONTENT, 0.7, ImageReason.IN_BODY
    if not listed and (in_header or is_icon):
        reason = ImageReason.SEMANTIC_TAG if in_header else ImageReason.NAMES
        return ImageKind.CHROME, 0.6, reason
    if target is not None:
        kind = ImageKind.CHROME if is_home(target.url) else ImageKind.THUMB
        if target.reason is not _NOTHING:
            kind = _KIND_OF_LINK.get(target.kind, kind)
        return kind, 0.6, ImageReason.LINKED_PAGE
    if place.first < 0:
        return ImageKind.OTHER, 0.0, ImageReason.NO_EVIDENCE
    return ImageKind.CHROME, 0.3, ImageReason.NO_EVIDENCE


def _is_tiny(width: int | None, height: int | None) -> bool:
    """Whether a picture is declared an icon's width or height."""
    return (width is not None and width <= _ICON_WIDTH_PX) or (
        height is not None and height <= _ICON_HEIGHT_PX
    )


def _is_banner(width: int | None, height: int | None) -> bool:
    return bool(width and height and width >= max(_BANNER_PX, _BANNER_RATIO * height))


def _leads_off(around: Link, host: str) -> bool:
    """Whether a link that is none of the body's leads to a page of another site."""
    url = around.url
    off = bool(url) and host_of(url) != host
    return off and around.kind is not LinkKind.BODY and not is_asset(url)


def _without_source(around: Link | None) -> _Verdict:
    """The verdict on a picture whose address scripts put in: what its link is, if it has one."""
    if around is not None and around.kind in LISTED and around.reason is not _NOTHING:
        return ImageKind.THUMB, 0.4, ImageReason.LINKED_PAGE
    return ImageKind.OTHER, 0.0, ImageReason.NO_SOURCE
