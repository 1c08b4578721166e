"""The images of a page, each ``<img>`` with its kind.

The first evidence that applies decides:

1. an icon's size by attributes or URL: CHROME;
2. the shape of a banner, in a link to another site: AD;
3. a ``<nav>``, ``<footer>`` or ``<aside>``: CHROME;
4. a position in the body: CONTENT, unless the file name or alt text is an icon's or a QR code's, or
   the page shows the picture three times;
5. a ``<header>``, or a file name or alt text of an icon or QR code: CHROME;
6. a link around it to another page: by the kind of the link; CONTENT for a link of the body;
7. no evidence and no link: CHROME.

**Position** (``BodyRegion``): inside the smallest part with all lines of the body, from two lines
before the first to one behind the last (large pictures anywhere in the part). So is a picture alone
in a box before the text, below the title, or right behind the text. Never in a part of sharing,
players or comments, nor behind a line that asks to scan a code; behind the text no small square
(portraits, QR codes); before and behind the text no link to another page.

**Names** are the words in a picture's file name and folders (``data/picture_names.txt``). Sizes in
a URL count too: ``16x16``, ``w16_h16``.

The site model is applied afterwards (``apply_model_to_images``).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from msgspec.structs import replace

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.styles import hides
from crawlclean.cleaning.document.tree import Picture, Tree
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.images.captions import Captions
from crawlclean.cleaning.lexicon import word_table
from crawlclean.cleaning.links.evidence import is_home, site_of
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.site_model import SitePlaces
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import Image, ImageKind, ImageReason, Link, LinkKind, LinkReason
from crawlclean.cleaning.urls.normal_form import host_of, is_asset, resolver

# The site model applied to the kinds of images, and the images to the kinds of links.
#
# The first evidence that applies decides:
#
# 1. an image on many pages, or in a slot whose images rotate, in a link to another site: AD; every
#    image in a link to the target of an AD is an AD, too;
# 2. another image on many pages: CHROME;
# 3. an image in a body found by the site's rule: CONTENT;
# 4. an image without other evidence: the kind of its slot (the path, such as
#    ``html/body/div.side/a``, at which most images of the host's pages are of one kind).
#
# A list of links to the site of an advertising image is advertising, too.

_OFTEN_SHARE = 0.5  # m2 from which an image is of no single page, whatever the page's evidence
_SLOT_SHARE = 0.8  # share of its kind from which a slot decides
_SLOT_PAGES = 3  # fewest pages a slot was learned from
_NO_ADS = frozenset((LinkKind.LEGAL, LinkKind.FUNCTION, LinkKind.BODY))
_LISTED = frozenset((LinkKind.HOT, LinkKind.NAVIGATION))
_ICONS = frozenset((ImageReason.TINY, ImageReason.NAMES))
_Verdict = tuple[ImageKind, float, ImageReason]
# Looking up a member of an enumeration takes ten times as long as a name.
_NOTHING, _CONTENT = LinkReason.NO_EVIDENCE, ImageKind.CONTENT


def apply_model_to_images(
    tree: Tree, images: tuple[Image, ...], links: tuple[Link, ...], places: SitePlaces
) -> tuple[Image, ...]:
    """Returns the images of a page with the kinds by the site model.

    Args:
        tree: The tree of the page.
        images: The images of the page, one for each of the first pictures of the tree.
        links: The links of the page with their kinds by the site model.
        places: The site model's places on the page.
    """
    in_body = places.in_body(tree)
    verdicts: list[_Verdict | None] = []
    ad_targets: set[str] = set()
    for image, picture in zip(images, tree.pictures, strict=False):
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        verdict = _verdict_of_site(image, picture, around, places, in_body[picture.block])
        if image.kind is ImageKind.AD:
            ad_targets.add(image.link or "")
        elif around and verdict and verdict[::2] == (ImageKind.AD, ImageReason.HOST_REPEATS):
            ad_targets.add(around.url)
        verdicts.append(verdict)
    ad_targets.discard("")
    applied = []
    for image, verdict in zip(images, verdicts, strict=True):
        if verdict is None and image.link in ad_targets and image.kind is not ImageKind.AD:
            verdict = ImageKind.AD, 0.7, ImageReason.SAME_ADDRESS
        if verdict is not None:
            kind, score, reason = verdict
            image = replace(image, kind=kind, score=score, reason=reason)
        applied.append(image)
    return tuple(applied)


def _verdict_of_site(
    image: Image, picture: Picture, around: Link | None, places: SitePlaces, is_in_body: bool
) -> _Verdict | None:
    """The site model's verdict that overrules the page's, or None."""
    if image.kind is ImageKind.AD:
        return None
    share = places.model.noise.images.get(image.url, 0.0) if image.url else 0.0
    slot = places.images.get(picture.block)
    is_icon = image.reason in _ICONS
    if not is_icon and around is not None and _leads_off_site(around, places.model.host):
        repeats = share
        if slot is not None and slot.repeats >= _OFTEN_SHARE:
            repeats = max(share, slot.repeats)  # images rotate in the slot
        if repeats:
            return ImageKind.AD, min(0.5 + repeats / 2, 1.0), ImageReason.HOST_REPEATS
    if share > _OFTEN_SHARE and image.kind is _CONTENT:
        return ImageKind.CHROME, share, ImageReason.HOST_REPEATS
    if share and image.reason is ImageReason.NO_EVIDENCE:
        return ImageKind.CHROME, min(0.5 + share / 2, 1.0), ImageReason.HOST_REPEATS
    is_thumb = image.kind is ImageKind.THUMB and around and around.kind is not LinkKind.BODY
    is_seen = image.url and share <= _OFTEN_SHARE
    if is_in_body and is_seen and image.kind is not _CONTENT and not (is_icon or is_thumb):
        return _CONTENT, 0.8, ImageReason.IN_BODY
    if (
        slot is not None
        and image.reason is ImageReason.NO_EVIDENCE
        and slot.share >= _SLOT_SHARE
        and slot.on.bit_count() >= _SLOT_PAGES
    ):
        return slot.kind, slot.share, ImageReason.HOST_PLACE
    return None


def apply_images_to_links(
    tree: Tree, links: tuple[Link, ...], images: tuple[Image, ...]
) -> tuple[Link, ...]:
    """Returns the links with the kinds by their images.

    * BODY: a link without text around a content image, or to an image of the page.
    * AD: a repeated hot or navigation link to the site of an advertising image.
    """
    sellers = {
        site_of(host_of(image.link))
        for image in images
        if image.kind is ImageKind.AD and image.link and image.reason is ImageReason.HOST_REPEATS
    }
    if sellers:
        sold = {
            link.url
            for link in links
            if link.reason is LinkReason.HOST_REPEATS and site_of(host_of(link.url)) in sellers
        }
        links = tuple(
            replace(link, kind=LinkKind.AD, reason=LinkReason.SAME_ADDRESS)
            if link.url in sold and link.kind in _LISTED
            else link
            for link in links
        )
    urls = {image.url for image in images}
    urls.discard("")
    shown = {
        picture.anchor
        for picture, image in zip(tree.pictures, images, strict=False)
        if image.kind is _CONTENT and picture.anchor >= 0
    }
    if not (shown or urls):
        return links
    return tuple(
        replace(link, kind=LinkKind.BODY, score=0.7, reason=LinkReason.IN_BODY)
        if link.reason is _NOTHING
        and not link.text
        and ((link.url and i in shown) or link.url in urls)
        else link
        for i, link in enumerate(links)
    )


def _leads_off_site(around: Link, host: str) -> bool:
    """Whether a link leads to a page of another site and is no button, legal or body link."""
    if not around.url or around.kind in _NO_ADS or is_asset(around.url):
        return False
    if around.kind is LinkKind.NAVIGATION and around.reason is LinkReason.MARKER:
        return False  # a list of partner sites (友情链接)
    return site_of(host_of(around.url)) != site_of(host)


# Attributes with the URL of a lazy-loaded picture, whose ``src`` is a placeholder.
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-original-src",
         "data-echo", "data-lazyload", "_src", "original")  # fmt: skip
_LATE = frozenset(_LAZY)
_SIZE_VALUE = re.compile(r"\s*+(\d{1,5})(?:\.\d*+)?\s*+(?:px\s*+)?", re.I)
_MAX_DIGITS = 5  # of a width; more are no pixels
MAX_IMAGES = 20_000  # of a page, as of its links
_ICON_WIDTH_PX = 48  # widest icon; portraits of users in lists are no wider
_ICON_HEIGHT_PX = 32  # lower ones are icons, buttons and rules, however wide
_MAX_SHOWN = 2  # times a page shows a content picture: itself, and perhaps its thumbnail
_KIND_OF_LINK = {
    LinkKind.AD: ImageKind.AD,
    LinkKind.FUNCTION: ImageKind.CHROME,
    LinkKind.LEGAL: ImageKind.CHROME,
    LinkKind.NAVIGATION: ImageKind.CHROME,
}
_BANNER_RATIO = 3.0  # width by height: photographs are less wide
_BANNER_PX = 200  # narrower ones are buttons

_MIN_NAMED_PX = 10  # smaller numbers in a URL are aspect ratios

_TINY: _Verdict = (ImageKind.CHROME, 0.9, ImageReason.TINY)

# Position
Size = tuple[int | None, int | None]
"""Width and height in pixels, None where unknown: ``(300, None)``."""

_LEAD_LINES = 2  # lines between a body's first picture and its text: a caption, a time
_TAIL_LINES = 1  # lines between the text and a picture behind it
_PICTURE_FILE = re.compile(r"\.(?:jpe?g|png|webp|gif|avif|bmp)(?:$|\?)", re.I)
_MASTHEAD = re.compile(r"(?:^|[\s_-])(?:header|masthead|topbar|logo)(?:$|[\s_-])|Header\b", re.I)
_LARGE_PX = 300  # narrowest picture of a gallery without text
_CODE_PX = 430  # widest QR code or portrait behind a text; WeChat's codes have 430
_PAGE = frozenset(("html", "body"))
_LINES = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "pre"))
LISTED = frozenset((LinkKind.RELATED, LinkKind.HOT))
_OF_LIST = frozenset((LinkReason.MARKER, LinkReason.SAME_ADDRESS))

# File names, folders and alt texts
MAX_NAME_CHARS = 200
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])")
_SIZES = re.compile(r"(?<![\d.])(\d{1,4})[xX*](\d{1,4})(?!\d)|w_?(\d{1,4})[_,-]?h_?(\d{1,4})(?!\d)")
_TIMES = re.compile(r"\d[xX*]\d")
_WIDTH = re.compile(r"w_?\d")
# Captions name accounts as sources; only a request to scan or follow is evidence of a code.
_CALL = re.compile(
    r"二维码|二維碼|条形码|扫码|掃碼|扫一扫|掃一掃|扫描[上下左右图此]|掃描[上下左右圖此]|长按识别"
    r"|关注.{0,12}(?:公众号|微信)|關注.{0,12}(?:公眾號|微信)|qr.?code|scan (?:the|this|to)",
    re.I,
)
_SIGNS = frozenset("码碼扫掃描识关關Qq")
_ACCOUNT = re.compile("公众号|公眾號|微信号|客户端|客戶端")
_MAX_CODE_CHARS = 80  # longest line that asks to scan a code
_PLACEHOLDERS = frozenset(
    ("lazy", "lazyload", "loading", "loader", "blank", "spacer", "transparent", "placeholder")
)
_PLAYER = re.compile(r"video|shipin|[Pp]lay(?:er|[Aa]rea|[Bb]ox)")
_ALTS = frozenset(
    ("logo", "icon", "avatar", "头像", "頭像", "图标", "圖標", "表情", "loading", "加载中")
)
_EMOTICON = re.compile(r"[\[［:][^\[\]]{1,6}[\]］:]")


def read_images(
    document: Document, body: Body, links: tuple[Link, ...], places: SitePlaces | None = None
) -> tuple[tuple[Image, ...], tuple[Link, ...], tuple[PageWarning, ...]]:
    """Returns the images of a page, its links with the kinds by their images, and warnings.

    Args:
        document: The parsed page.
        body: The body of the page.
        links: The links of the page, one for each of the first anchors of the tree.
        places: The site model's places on the page; None without a model leaves the links as given.
    """
    tree = document.tree
    region = BodyRegion(tree, body)
    captions = Captions(tree)
    pictures = tree.pictures[:MAX_IMAGES]
    sources = [_source(picture.attributes) for picture in pictures]
    shown = Counter(sources)
    url_of = resolver(document.base, document.page.encoding)
    resolved = {src: url_of(src) or "" if src else "" for src in shown}
    found: list[Image] = []
    for number, (picture, src) in enumerate(zip(pictures, sources, strict=True)):
        get = picture.attributes.get
        size = _size(get("width")), _size(get("height"))
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        alt = " ".join(get("alt", "").split())
        if resolved[src]:
            verdict = _judge(
                picture, src, alt, size, shown[src], around, region, document.page.host
            )
        elif around is not None and around.kind in LISTED:  # a script fills in the address
            verdict = ImageKind.THUMB, 0.4, ImageReason.LINKED_PAGE
        else:
            verdict = ImageKind.OTHER, 0.0, ImageReason.NO_SOURCE
        kind, score, reason = verdict
        found.append(
            Image(
                src=src,
                url=resolved[src],
                alt=alt,
                caption=captions.of(number, alt) if kind is ImageKind.CONTENT else "",
                width=size[0],
                height=size[1],
                link=(around.url or None) if around else None,
                kind=kind,
                score=score,
                reason=reason,
            )
        )
    images = tuple(found)
    warnings: tuple[PageWarning, ...] = ()
    if dropped := len(tree.pictures) - len(images):
        detail = Message("kept_first", MAX_IMAGES)
        warnings = (PageWarning(kind=WarningKind.CAPPED_IMAGES, detail=detail, count=dropped),)
    if places is not None:
        images = apply_model_to_images(tree, images, links, places)
        links = apply_images_to_links(tree, links, images)
    return images, links, warnings


def _source(attributes: dict[str, str]) -> str:
    """The URL as written: of a lazy-load attribute, of ``src``, or the largest of ``srcset``."""
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
    """The URL with the greatest width or density: ``b.png`` of ``a.png 1x, b.png 2x``."""
    best, best_size = "", -1.0
    for candidate in re.split(r",\s+|,(?=https?:|//)", srcset):
        url, _, size = candidate.strip().strip(",").partition(" ")
        number = re.match(r"\d+(?:\.\d+)?", size.strip())
        value = float(number[0]) if number else 1.0
        if url and not url.startswith("data:") and value > best_size:
            best, best_size = url, value
    return best


def _size(text: str | None) -> int | None:
    """Pixels of a width or height attribute: 300 for ``300``, ``300px``, ``300.5``; else None."""
    if not text:
        return None
    if len(text) <= _MAX_DIGITS and text.isascii() and text.isdigit():
        return int(text)  # the form of most attributes
    match = _SIZE_VALUE.fullmatch(text)
    return int(match[1]) if match else None


def _judge(
    picture: Picture,
    src: str,
    alt: str,
    size: Size,
    times: int,
    around: Link | None,
    region: BodyRegion,
    host: str,
) -> _Verdict:
    """The verdict on a picture with a URL, ``src`` as written, that the page shows ``times``."""
    if size != (None, None):
        width, height = size
        if (width is not None and width <= _ICON_WIDTH_PX) or (
            height is not None and height <= _ICON_HEIGHT_PX
        ):
            return _TINY
    else:
        size = size_by_name(src) or size
        # 1x1 and 16x9 are shapes.
        if size[0] == size[1] and _MIN_NAMED_PX <= (size[0] or 0) <= _ICON_WIDTH_PX:
            return _TINY
    target = around if around is not None and around.url and not is_asset(around.url) else None
    width, height = size
    is_banner = width and height and width >= max(_BANNER_PX, _BANNER_RATIO * height)
    if is_banner and target and target.kind is not LinkKind.BODY and host_of(target.url) != host:
        return ImageKind.AD, 0.7, ImageReason.BANNER
    listed = target is not None and target.kind in LISTED
    in_header = picture.region == "header"
    if picture.region and not in_header and not listed:
        return ImageKind.CHROME, 0.7, ImageReason.SEMANTIC_TAG
    is_held = region.holds(picture, size, target)
    # Outside the body the link decides, whatever the names are.
    is_icon = (is_held or not listed) and (
        times > _MAX_SHOWN or is_icon_by_name(src) or is_icon_by_alt(alt)
    )
    if is_held and not is_icon:
        return ImageKind.CONTENT, 0.7, ImageReason.IN_BODY
    if not listed and (in_header or is_icon):
        reason = ImageReason.SEMANTIC_TAG if in_header else ImageReason.NAMES
        return ImageKind.CHROME, 0.6, reason
    if target is None:
        if region.first < 0:
            return ImageKind.OTHER, 0.0, ImageReason.NO_EVIDENCE
        return ImageKind.CHROME, 0.3, ImageReason.NO_EVIDENCE
    kind = ImageKind.CHROME if is_home(target.url) else ImageKind.THUMB
    if target.kind is LinkKind.BODY and target.reason is LinkReason.IN_BODY:
        # The cover of a book that the text is about: right for 20 of 22 pictures of five hosts.
        kind = ImageKind.CONTENT if kind is ImageKind.THUMB else kind
        return kind, 0.5, ImageReason.LINKED_PAGE
    if target.reason is not _NOTHING:
        kind = _KIND_OF_LINK.get(target.kind, kind)
    return kind, 0.6, ImageReason.LINKED_PAGE


class BodyRegion:
    """The position of the body in a page, for the pictures in it.

    Attributes:
        first: The first line of the body, -1 without a body.
        last: The last line of the body.
        part: The smallest block with all lines of the body.
        around: The smallest block around that with the title before it.
    """

    def __init__(self, tree: Tree, body: Body) -> None:
        self.tree = tree
        self._noise: dict[int, bool] = {}
        self.first, self.last = body.first, body.last
        self.part = tree.line_blocks[self.first] if self.first >= 0 else 0
        while self.part > 0 and (
            tree.line_end(self.part) <= self.last or tree.block_tags[self.part] in _LINES
        ):
            self.part = tree.block_parents[self.part]
        # A picture before a text stands in a box of its own below the title.
        self.around = max(tree.block_parents[self.part], 0)
        while 0 <= body.title_line < tree.block_lines[self.around]:
            self.around = tree.block_parents[self.around]

    def holds(self, picture: Picture, size: Size, around: Link | None) -> bool:
        """Whether a picture belongs to the body; ``around`` is a link to another page, or None."""
        if self.first < 0:
            return False
        tree, (width, height) = self.tree, size
        if around is not None and (
            around.kind is LinkKind.AD
            or (around.kind in LISTED and around.reason in _OF_LIST)
            or is_home(around.url)
        ):
            return False  # a teaser of another page
        if picture.anchor >= 0 and tree.anchors[picture.anchor].href.startswith("#", 0, -1):
            return False  # a link to a place on the page; "#" alone enlarges the picture
        lines = tree.line_of
        line = lines[picture.run] if picture.run < len(lines) else len(tree.line_starts)
        part = self.part
        box = picture.block
        is_inside = part <= box < tree.block_ends[part]
        if self.first <= line <= self.last + 1 and not is_inside:
            # In a box of its own, it belongs to the text below the title that is in one part with
            # it. Beside other words it is of a person, a button, a code.
            part = self.around if line == self.first else max(tree.block_parents[part], 0)
            has_words = tree.block_lines[box] < tree.line_end(box) and box > self.part
            if around is not None or has_words or tree.block_tags[part] in _PAGE:
                return False
        elif not self.first <= line <= self.last + 1:
            is_near = self.first - _LEAD_LINES <= line <= self.last + 1 + _TAIL_LINES
            is_large = (width or 0) >= _LARGE_PX and (height or _LARGE_PX) >= _LARGE_PX / 2
            if around is not None or not (is_near or is_large):
                return False
            if is_near:
                part = max(tree.block_parents[part], 0)
        if part != self.part and _MASTHEAD.search(tree.block_names[box]):
            return False
        if line > self.last and width is not None and width == height and width <= _CODE_PX:
            return False
        if not part <= box < tree.block_ends[part]:
            return False
        # A picture that links to its larger form is content, whatever class its box has.
        is_linked = picture.anchor >= 0 and around is None
        to_larger = is_linked and _PICTURE_FILE.search(tree.anchors[picture.anchor].href)
        before = tree.texts[picture.run - 1] if picture.run > 0 else ""
        return not (
            (self._is_noise(picture.block) and not to_larger)
            or is_about_code(before.strip())
            or hides(picture.attributes.get("style", ""), is_inline=False)
        )

    def _is_noise(self, block: int) -> bool:
        """Whether a block, or one around it up to the body's part, is noise by its tag or class."""
        tree, known = self.tree, self._noise
        path = []
        is_noise = False
        while not block <= self.part < tree.block_ends[block]:
            path.append(block)
            if block in known:
                is_noise = known[block]
                break
            names = tree.block_names[block]
            if kind_of_part(tree.block_tags[block], names) > PartKind.PLAIN or _PLAYER.search(
                names
            ):
                is_noise = True
                break
            block = tree.block_parents[block]
        known.update(dict.fromkeys(path, is_noise))
        return is_noise


@lru_cache(maxsize=4096)
def is_icon_by_name(src: str) -> bool:
    """Whether a file name or folder is page chrome's: ``/img/icons/arrow.gif``, ``logo.png``."""
    path = src[-MAX_NAME_CHARS:] if src.startswith("data:") else src.partition("?")[0]
    folders, _, file = path[-MAX_NAME_CHARS:].rpartition("/")
    table = word_table("picture_names")
    kinds = [table.get(word.lower(), "") for word in _WORD.findall(file.rpartition(".")[0] or file)]
    return "chrome" in kinds or ("brand" in kinds and "" not in kinds) or _is_icon_folder(folders)


@lru_cache(maxsize=1024)
def _is_icon_folder(folders: str) -> bool:
    table = word_table("picture_names")
    return any(
        table.get(word.lower()) == "chrome"
        for folder in folders.split("/")[-3:]
        if "." not in folder  # no host
        for word in _WORD.findall(folder)
    )


@lru_cache(maxsize=4096)
def is_placeholder(src: str) -> bool:
    """Whether a file name is that of a lazy-loading placeholder: ``blank.gif``."""
    file = src.partition("?")[0][-MAX_NAME_CHARS:].rpartition("/")[2]
    return any(word.lower() in _PLACEHOLDERS for word in _WORD.findall(file))


def size_by_name(src: str) -> tuple[int, int] | None:
    """Returns width and height in a URL: (16, 16) for ``a_16x16.png``; None without."""
    names = src[-MAX_NAME_CHARS:]
    if not (_TIMES.search(names) or _WIDTH.search(names)):
        return None  # most URLs hold no size
    found = _SIZES.findall(names)
    if not found:
        return None
    one, two, width, height = found[-1]
    return int(one or width), int(two or height)


def is_icon_by_alt(alt: str) -> bool:
    """Whether an alt text is that of a QR code, a portrait, a logo or an emoticon."""
    if not alt or len(alt) > _MAX_CODE_CHARS:
        return False
    is_sign = _EMOTICON.fullmatch(alt) or _ACCOUNT.search(alt)
    return alt.lower() in _ALTS or is_sign is not None or is_about_code(alt)


def is_about_code(line: str) -> bool:
    """Whether a line asks to scan a code."""
    if len(line) > _MAX_CODE_CHARS or (not line.isascii() and _SIGNS.isdisjoint(line)):
        return False
    return _CALL.search(line) is not None
