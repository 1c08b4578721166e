"""Every picture of a page with its kind.

The evidence in order; the first that speaks decides: a few pixels, by attributes or address; the
shape of a banner with a link to another site; a nav, footer or aside element; a place in the body;
a header element; its names and alt text; the kind of the link around it. What is none of the
body's and leads nowhere is chrome. What its host says comes later (``site_links``).

The body's pictures stand in the part that holds all its lines, from two lines before the first to
one behind the last, in no part of sharing, players or comments. They are no icons and codes by
their names, alt text or the line before them, not shown three times, and no small squares behind
the text, as portraits and codes are. Beside the body's own lines they lead to no other page.
"""

from __future__ import annotations

import re
from collections import Counter

from cleaning.extract.body import Body
from cleaning.extract.captions import Captions
from cleaning.extract.link_lists import is_home
from cleaning.extract.outlinks import is_asset
from cleaning.extract.parts import PartKind, kind_of_part
from cleaning.extract.picture_names import (
    is_about_code,
    is_icon_by_alt,
    is_icon_by_name,
    is_placeholder,
    is_player,
    size_by_name,
)
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
_PICTURE_FILE = re.compile(r"\.(?:jpe?g|png|webp|gif|avif|bmp)(?:$|\?)", re.I)
_MASTHEAD = re.compile(r"(?:^|[\s_-])(?:header|masthead|topbar|logo)(?:$|[\s_-])|Header\b", re.I)
_HIDING = re.compile(r"display\s*+:\s*+none", re.I)
_MAX_SHOWN = 2  # a picture of the body, and perhaps its small form
_LARGE_PX = 300  # narrowest picture of a gallery without text
_CODE_PX = 430  # widest code to scan and portrait behind a text; 430 is what WeChat makes
_KIND_OF_LINK = {
    LinkKind.AD: ImageKind.AD,
    LinkKind.FUNCTION: ImageKind.CHROME,
    LinkKind.LEGAL: ImageKind.CHROME,
    LinkKind.NAVIGATION: ImageKind.CHROME,
}
_BANNER_RATIO = 3.0
_BANNER_PX = 200

_LINES = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "pre"))
_OF_LIST = frozenset((LinkReason.MARKER, LinkReason.SAME_ADDRESS))
_LISTED = frozenset((LinkKind.RELATED, LinkKind.HOT))
_NOTHING = LinkReason.NO_EVIDENCE
_MIN_NAMED_PX = 10  # smallest size in an address that is one

_Verdict = tuple[ImageKind, float, ImageReason]
_Size = tuple[int | None, int | None]


def extract_images(
    tree: Tree,
    body: Body,
    links: tuple[Link, ...],
    host: str,
    base: str,
    encoding: str,
) -> tuple[tuple[Image, ...], tuple[PageWarning, ...]]:
    """The first 20,000 ``<img>`` in document order, and what was capped.

    Args:
        tree: The parsed page.
        body: What ``extract_body`` found in it.
        links: Its links, one for each of the first anchors of the tree.
        host: The page's own host.
        base: Absolute URL its addresses are relative to.
        encoding: Python's name of the page's charset.
    """
    images: list[Image] = []
    place = BodyPlace(tree, body)
    captions: Captions | None = None
    sources = [_source(picture.attributes) for picture in tree.pictures[:MAX_IMAGES]]
    shown = Counter(sources)
    for number, (picture, src) in enumerate(zip(tree.pictures, sources, strict=False)):
        attributes = picture.attributes
        url = (resolve(base, src, encoding) or "") if src else ""
        width, height = _size(attributes.get("width")), _size(attributes.get("height"))
        size = (width, height) if width or height else size_by_name(src) or (None, None)
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        link = around.url if around else ""
        alt = " ".join(attributes.get("alt", "").split())
        if not url:
            verdict = _without_source(around)
        elif _is_tiny(width, height, size):
            verdict = ImageKind.CHROME, 0.9, ImageReason.TINY
        elif around is not None and _is_banner(*size) and _leads_off(around, host):
            verdict = ImageKind.AD, 0.7, ImageReason.BANNER
        else:
            is_icon = shown[src] > _MAX_SHOWN or is_icon_by_name(src) or is_icon_by_alt(alt)
            verdict = _by_place(picture, is_icon, size, around, place)
        kind, score, reason = verdict
        caption = ""
        if kind is ImageKind.CONTENT:
            captions = captions or Captions(tree)
            caption = captions.of(number, alt)
        images.append(
            Image(
                src=src,
                url=url,
                alt=alt,
                caption=caption,
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
        while self.part > 0 and (
            tree.line_end(self.part) <= self.last or tree.block_tags[self.part] in _LINES
        ):
            self.part = tree.block_parents[self.part]

    def holds(self, picture: Picture, size: _Size, around: Link | None) -> bool:
        """Whether a picture, perhaps in a link to another page, belongs to the body."""
        if self.first < 0:
            return False
        tree = self.tree
        if around is not None and _is_teaser(around):
            return False
        if picture.anchor >= 0 and tree.anchors[picture.anchor].href.startswith("#", 0, -1):
            return False  # a button to a place on the page; # alone enlarges
        lines = tree.line_of
        line = lines[picture.run] if picture.run < len(lines) else len(tree.line_starts)
        part = self.part
        if not self.first <= line <= self.last + 1:
            is_near = self.first - _LEAD_LINES <= line <= self.last + 1 + _TAIL_LINES
            if around is not None or not (is_near or _is_large(size)):
                return False
            if is_near:
                part = max(tree.block_parents[part], 0)
            if _is_masthead(tree.block_names[picture.block]):
                return False
        if line > self.last and _is_code(size):
            return False
        if not part <= picture.block < tree.block_ends[part]:
            return False
        # What leads to its own larger form is a picture, whatever the box is called.
        to_larger = picture.anchor >= 0 and around is None and self._is_enlarged(picture)
        return not (
            (self._is_noise(picture.block) and not to_larger)
            or self._follows_call(picture.run)
            or _HIDING.search(picture.attributes.get("style", ""))
        )

    def _is_enlarged(self, picture: Picture) -> bool:
        return _PICTURE_FILE.search(self.tree.anchors[picture.anchor].href) is not None

    def _follows_call(self, run: int) -> bool:
        """Whether the line before a picture, or beside it, asks to scan a code."""
        tree = self.tree
        if not 0 < run <= len(tree.texts):
            return False
        return is_about_code(tree.texts[run - 1].strip())

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
            names = tree.block_names[block]
            if kind_of_part(tree.block_tags[block], names) > PartKind.PLAIN or is_player(names):
                is_noise = True
                break
            block = tree.block_parents[block]
        known.update(dict.fromkeys(path, is_noise))
        return is_noise


def _is_large(size: _Size) -> bool:
    """Whether a picture is declared as large as those of a gallery."""
    return (size[0] or 0) >= _LARGE_PX and (size[1] or _LARGE_PX) >= _LARGE_PX / 2


def _is_masthead(names: str) -> bool:
    return bool(names) and _MASTHEAD.search(names) is not None


def _is_tiny(width: int | None, height: int | None, size: _Size) -> bool:
    """Whether a picture is declared an icon's width or height, or named with an icon's size."""
    if width is not None or height is not None:
        return (width is not None and width <= _ICON_WIDTH_PX) or (
            height is not None and height <= _ICON_HEIGHT_PX
        )
    # 1x1 and 16x9 are shapes.
    return size[0] == size[1] and size[0] is not None and _MIN_NAMED_PX <= size[0] <= _ICON_WIDTH_PX


def _is_banner(width: int | None, height: int | None) -> bool:
    return bool(width and height and width >= max(_BANNER_PX, _BANNER_RATIO * height))


def _leads_off(around: Link, host: str) -> bool:
    """Whether a link that is none of the body's leads to a page of another site."""
    url = around.url
    off = bool(url) and host_of(url) != host
    return off and around.kind is not LinkKind.BODY and not is_asset(url)


def _is_code(size: _Size) -> bool:
    """Whether a picture has the shape of a portrait or of a code to scan."""
    width, height = size
    return width is not None and width == height and width <= _CODE_PX


def _is_teaser(around: Link) -> bool:
    """Whether a link among a text stands for its page, and not for a picture of the text."""
    return (
        around.kind is LinkKind.AD
        or (around.kind in _LISTED and around.reason in _OF_LIST)
        or is_home(around.url)
    )


def _without_source(around: Link | None) -> _Verdict:
    """The verdict on a picture whose address scripts put in: what its link is, if it has one."""
    if around is not None and around.kind in _LISTED and around.reason is not _NOTHING:
        return ImageKind.THUMB, 0.4, ImageReason.LINKED_PAGE
    return ImageKind.OTHER, 0.0, ImageReason.NO_SOURCE


def _by_place(
    picture: Picture,
    is_icon: bool,
    size: _Size,
    around: Link | None,
    place: BodyPlace,
) -> _Verdict:
    """The verdict on a picture by what is around it."""
    to_page = around is not None and bool(around.url) and not is_asset(around.url)
    listed = to_page and around is not None and around.kind in _LISTED
    listed = listed and around is not None and around.reason is not _NOTHING
    in_header = picture.region == "header"
    if picture.region and not in_header and not listed:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    if not is_icon and place.holds(picture, size, around if to_page else None):
        return ImageKind.CONTENT, 0.7, ImageReason.IN_BODY
    if in_header and not listed:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    if is_icon and not listed:
        return ImageKind.CHROME, 0.6, ImageReason.NAMES
    if around is not None and to_page:
        kind = ImageKind.CHROME if is_home(around.url) else ImageKind.THUMB
        if around.reason is not _NOTHING:
            kind = _KIND_OF_LINK.get(around.kind, kind)
        return kind, 0.6, ImageReason.LINKED_PAGE
    if place.first < 0:
        return ImageKind.OTHER, 0.0, ImageReason.NO_EVIDENCE
    return ImageKind.CHROME, 0.3, ImageReason.NO_EVIDENCE
