"""Every picture of a page with its kind.

The evidence in order; the first that speaks decides: no address; a few pixels; the shape of a
banner with a link to another site; a nav, footer or aside element; a place in the body; a header
element; the kind of the link around it; many pages of the host show it (paper 3, by the model).

The body's pictures stand in the part that holds all its lines, from two lines before the first to
one behind the last, in no part of sharing or comments, and are no icons by the names of their
files. Beside the body's own lines they lead to no other page.
"""

from __future__ import annotations

import re

from cleaning.extract.body import Body
from cleaning.extract.outlinks import is_asset
from cleaning.extract.parts import PartKind, kind_of_part
from cleaning.records import (
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkKind,
    LinkReason,
    PageWarning,
    WarningKind,
)
from cleaning.site_model import SiteModel
from cleaning.source.tree import Picture, Tree
from cleaning.source.urls import host_of, resolve

# Where pages that load pictures late keep the address; ``src`` then holds a placeholder.
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-original-src",
         "data-echo", "data-lazyload", "_src", "original")  # fmt: skip
_SIZE = re.compile(r"\s*+(\d{1,5})(?:\.\d*+)?\s*+(?:px\s*+)?", re.I)
MAX_IMAGES = 20_000
_ICON_WIDTH_PX = 48
_ICON_HEIGHT_PX = 32
_LEAD_LINES = 2  # between a body's first picture and its text: a caption, a time
_TAIL_LINES = 1
_ICON_NAMES = re.compile(
    r"icon|logo|avatar|qr_?code|erweima|ewm|arrow|emoji|smil(?:ey|ies)|blank\.|loading|spacer"
    r"|btn|button|1x1|pixel|share|weixin|wechat|facebook|twitter|linkedin|whatsapp|badge",
    re.I,
)
_KIND_OF_LINK = {
    LinkKind.AD: ImageKind.AD,
    LinkKind.FUNCTION: ImageKind.CHROME,
    LinkKind.LEGAL: ImageKind.CHROME,
    LinkKind.NAVIGATION: ImageKind.CHROME,
}
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
    place = BodyPlace(tree, body)
    for picture in tree.pictures[:MAX_IMAGES]:
        attributes = picture.attributes
        src = _source(attributes)
        url = (resolve(base, src, encoding) or "") if src else ""
        width, height = _size(attributes.get("width")), _size(attributes.get("height"))
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        link = around.url if around else ""
        share = model.noise.images.get(url) if model is not None else None
        if not url:
            verdict: _Verdict = ImageKind.OTHER, 0.0, ImageReason.NO_SOURCE
        elif _is_at_most(width, _ICON_WIDTH_PX) or _is_at_most(height, _ICON_HEIGHT_PX):
            verdict = ImageKind.CHROME, 0.9, ImageReason.TINY
        elif link and host_of(link) != host and _is_banner(width, height):
            verdict = ImageKind.AD, 0.7, ImageReason.BANNER
        else:
            verdict = _by_place(picture, src, around, place, share)
        kind, score, reason = verdict
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


class BodyPlace:
    """Where in a page the pictures of its body can stand."""

    def __init__(self, tree: Tree, body: Body) -> None:
        self.tree = tree
        self._noise: dict[int, bool] = {}
        kept = [line for line, keep in zip(tree.line_of, body.is_kept, strict=True) if keep]
        self.first, self.last = (kept[0], kept[-1]) if kept else (-1, -1)
        self.part = tree.line_blocks[self.first] if kept else 0
        while self.part > 0 and tree.line_end(self.part) <= self.last:
            self.part = tree.block_parents[self.part]

    def holds(self, picture: Picture, is_linked: bool) -> bool:
        """Whether a picture, perhaps with a link to another page, belongs to the body."""
        if self.first < 0:
            return False
        tree = self.tree
        lines = tree.line_of
        line = lines[picture.run] if picture.run < len(lines) else len(tree.line_starts)
        part = self.part
        if not self.first <= line <= self.last + 1:
            is_near = self.first - _LEAD_LINES <= line <= self.last + 1 + _TAIL_LINES
            if is_linked or not is_near:
                return False
            part = max(tree.block_parents[part], 0)
        if not part <= picture.block < tree.block_ends[part]:
            return False
        return not self._is_noise(picture.block)

    def _is_noise(self, block: int) -> bool:
        """Whether a part is noise by its names, or one around it that does not hold the body."""
        tree, known = self.tree, self._noise
        path = []
        is_noise = False
        while not block <= self.part < tree.block_ends[block]:
            path.append(block)
            if block in known:
                is_noise = known[block]
                break
            if kind_of_part(tree.block_tags[block], tree.block_names[block]) > PartKind.PLAIN:
                is_noise = True
                break
            block = tree.block_parents[block]
        known.update(dict.fromkeys(path, is_noise))
        return is_noise


def _is_at_most(size: int | None, most: int) -> bool:
    return size is not None and size <= most


def _is_banner(width: int | None, height: int | None) -> bool:
    return bool(width and height and width >= max(_BANNER_PX, _BANNER_RATIO * height))


def _by_place(
    picture: Picture, src: str, around: Link | None, place: BodyPlace, share: float | None
) -> _Verdict:
    """The verdict on a picture by what is around it and by how many pages of the host show it."""
    in_header = picture.region == "header"
    if picture.region and not in_header:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    to_page = around is not None and bool(around.url) and not is_asset(around.url)
    if place.holds(picture, to_page) and not _ICON_NAMES.search(src.rpartition("/")[2]):
        # A place in the body is weaker evidence than the same picture on page after page.
        if share is not None and share > 0.5:
            return ImageKind.CHROME, share, ImageReason.HOST_REPEATS
        return ImageKind.CONTENT, 0.7, ImageReason.IN_BODY
    if in_header:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    if around is not None and to_page:
        kind = ImageKind.THUMB
        if around.reason is not LinkReason.NO_EVIDENCE:
            kind = _KIND_OF_LINK.get(around.kind, kind)
        return kind, 0.6, ImageReason.LINKED_PAGE
    if share is not None:
        return ImageKind.CHROME, min(0.5 + share / 2, 1.0), ImageReason.HOST_REPEATS
    return ImageKind.OTHER, 0.0, ImageReason.NO_EVIDENCE
