"""Every picture of a page with its kind, a first simple reading.

The evidence in order; the first that speaks decides: no address; a few pixels; the shape of a
banner with a link to another site; a nav, header, footer or aside element; body text around it; a
link to another page; many pages of the host show it (paper 3, by the site model).
"""

from __future__ import annotations

import re

from cleaning.extract.body import Body
from cleaning.extract.outlinks import is_asset
from cleaning.records import Image, ImageKind, ImageReason, Link, PageWarning, WarningKind
from cleaning.site_model import SiteModel
from cleaning.source.tree import Picture, Tree
from cleaning.source.urls import host_of, resolve

# Where pages that load pictures late keep the address; ``src`` then holds a placeholder.
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-original-src",
         "data-echo", "data-lazyload", "_src", "original")  # fmt: skip
_SIZE = re.compile(r"\s*+(\d{1,5})(?:\.\d*+)?\s*+(?:px\s*+)?", re.I)
MAX_IMAGES = 20_000
_TINY_PX = 8
_BANNER_RATIO = 3.0
_BANNER_PX = 200

_Verdict = tuple[ImageKind, float, ImageReason]


def extract_images(
    tree: Tree,
    body: Body,
    links: tuple[Link, ...],
    host: str,
    base: str,
    encoding: str,
    model: SiteModel | None = None,
) -> tuple[tuple[Image, ...], tuple[PageWarning, ...]]:
    """The first 20,000 ``<img>`` in document order, and what was capped.

    Args:
        tree: The parsed page.
        body: What ``extract_body`` found in it.
        links: Its links, one for each of the first anchors of the tree.
        host: The page's own host.
        base: Absolute URL its addresses are relative to.
        encoding: Python's name of the page's charset.
        model: What the host taught, or None.
    """
    images: list[Image] = []
    for picture in tree.pictures[:MAX_IMAGES]:
        attributes = picture.attributes
        src = _source(attributes)
        url = (resolve(base, src, encoding) or "") if src else ""
        width, height = _size(attributes.get("width")), _size(attributes.get("height"))
        link = links[picture.anchor].url if 0 <= picture.anchor < len(links) else ""
        kind, score, reason = _verdict(picture, url, (width, height), link, host, body, model)
        images.append(
            Image(
                src=src,
                url=url,
                alt=" ".join(attributes.get("alt", "").split()),
                width=width,
                height=height,
                link=link or None,
                kind=kind,
                score=score,
                reason=reason,
            )
        )
    dropped = len(tree.pictures) - len(images)
    if not dropped:
        return tuple(images), ()
    detail = f"kept the first {MAX_IMAGES}"
    warning = PageWarning(kind=WarningKind.CAPPED_IMAGES, detail=detail, count=dropped)
    return tuple(images), (warning,)


def _source(attributes: dict[str, str]) -> str:
    """The attribute that names the picture, a late-loading one before ``src``."""
    for name in _LAZY:
        value: str = attributes.get(name, "").strip()
        if value and not value.startswith(("data:", "{")) and ("/" in value or "." in value):
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
    match = _SIZE.fullmatch(text) if text else None
    return int(match[1]) if match else None


def _verdict(
    picture: Picture,
    url: str,
    size: tuple[int | None, int | None],
    link: str,
    host: str,
    body: Body,
    model: SiteModel | None,
) -> _Verdict:
    width, height = size
    if not url:
        return ImageKind.OTHER, 0.0, ImageReason.NO_SOURCE
    if (width is not None and width <= _TINY_PX) or (height is not None and height <= _TINY_PX):
        return ImageKind.CHROME, 0.9, ImageReason.TINY
    is_foreign = bool(link) and host_of(link) != host
    if is_foreign and width and height and width >= max(_BANNER_PX, _BANNER_RATIO * height):
        return ImageKind.AD, 0.7, ImageReason.BANNER
    if picture.region:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    share = model.noise.images.get(url) if model is not None else None
    if _is_in_body(picture, body):
        # Body text on both sides is weaker evidence than the same picture on page after page.
        if share is not None and share > 0.5:
            return ImageKind.CHROME, share, ImageReason.HOST_REPEATS
        return ImageKind.CONTENT, 0.7, ImageReason.IN_BODY
    if link and not is_asset(link):
        return ImageKind.THUMB, 0.6, ImageReason.LINKED_PAGE
    if share is not None:
        return ImageKind.CHROME, min(0.5 + share / 2, 1.0), ImageReason.HOST_REPEATS
    return ImageKind.OTHER, 0.0, ImageReason.NO_EVIDENCE


def _is_in_body(picture: Picture, body: Body) -> bool:
    """Whether the runs on both sides are body text."""
    i = picture.run
    return 0 < i < len(body.is_kept) and body.is_kept[i - 1] and body.is_kept[i]
