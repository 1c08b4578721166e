"""The site model applied to the kinds of images, and the images to the kinds of links.

The first evidence that applies decides:

1. an image on many pages, or in a slot whose images rotate, in a link to another site: AD; every
   image in a link to the target of an AD is an AD, too;
2. another image on many pages: CHROME;
3. an image in a body found by the site's rule: CONTENT;
4. an image without other evidence: the kind of its slot (the path, such as
   ``html/body/div.side/a``, at which most images of the host's pages are of one kind).

A list of links to the site of an advertising image is advertising, too.
"""

from __future__ import annotations

from msgspec.structs import replace

from crawlclean.cleaning.document.tree import Picture, Tree
from crawlclean.cleaning.links.evidence import site_of
from crawlclean.cleaning.model.places import SitePlaces
from crawlclean.cleaning.model.rules import ImagePlace
from crawlclean.cleaning.records import Image, ImageKind, ImageReason, Link, LinkKind, LinkReason
from crawlclean.cleaning.urls.normal_form import host_of, is_asset

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
    judge = _Judge(tree, places)
    verdicts: list[_Verdict | None] = []
    ad_targets: set[str] = set()
    for image, picture in zip(images, tree.pictures, strict=False):
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        verdict = judge.verdict(image, picture, around)
        if image.kind is ImageKind.AD:
            ad_targets.add(image.link or "")
        elif around is not None and _is_repeated_ad(verdict):
            ad_targets.add(around.url)
        verdicts.append(verdict)
    ad_targets.discard("")
    return tuple(
        _with_verdict(image, verdict, ad_targets)
        for image, verdict in zip(images, verdicts, strict=True)
    )


class _Judge:
    """Judges images by the site model."""

    def __init__(self, tree: Tree, places: SitePlaces) -> None:
        self._host = places.model.host
        self._shares = places.model.noise.images
        self._slots = places.images
        self._in_body = places.in_body(tree)

    def verdict(self, image: Image, picture: Picture, around: Link | None) -> _Verdict | None:
        """Returns the verdict that overrules the page's, or None."""
        if image.kind is ImageKind.AD:
            return None
        share = self._shares.get(image.url, 0.0) if image.url else 0.0
        slot = self._slots.get(picture.block)
        is_icon = image.reason in _ICONS
        if not is_icon and around is not None and _leads_off(around, self._host):
            repeats = share
            if slot is not None and slot.repeats >= _OFTEN_SHARE:
                repeats = max(share, slot.repeats)  # images rotate in the slot
            if repeats:
                return ImageKind.AD, min(0.5 + repeats / 2, 1.0), ImageReason.HOST_REPEATS
        if share > _OFTEN_SHARE and image.kind is _CONTENT:
            return ImageKind.CHROME, share, ImageReason.HOST_REPEATS
        if share and image.reason is ImageReason.NO_EVIDENCE:
            return ImageKind.CHROME, min(0.5 + share / 2, 1.0), ImageReason.HOST_REPEATS
        if (
            image.url
            and image.kind is not _CONTENT
            and not is_icon
            and share <= _OFTEN_SHARE
            and (image.kind is not ImageKind.THUMB or _is_of_body(around))
            and self._in_body[picture.block]
        ):
            return _CONTENT, 0.8, ImageReason.IN_BODY
        return _of_slot(image, slot)


def _is_repeated_ad(verdict: _Verdict | None) -> bool:
    return (
        verdict is not None
        and verdict[0] is ImageKind.AD
        and verdict[2] is ImageReason.HOST_REPEATS
    )


def _of_slot(image: Image, slot: ImagePlace | None) -> _Verdict | None:
    """The verdict on an image by its slot, where the page has no evidence."""
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


def _with_verdict(image: Image, verdict: _Verdict | None, ad_targets: set[str]) -> Image:
    """The image with a verdict; AD without one if its link leads to the target of an AD."""
    if image.link in ad_targets and image.kind is not ImageKind.AD and verdict is None:
        verdict = ImageKind.AD, 0.7, ImageReason.SAME_ADDRESS
    if verdict is None:
        return image
    kind, score, reason = verdict
    return replace(image, kind=kind, score=score, reason=reason)


def _is_of_body(around: Link | None) -> bool:
    return around is None or around.kind is LinkKind.BODY


def _leads_off(around: Link, host: str) -> bool:
    """Whether a link leads to a page of another site and is no button, legal or body link."""
    if not around.url or around.kind in _NO_ADS or is_asset(around.url):
        return False
    if around.kind is LinkKind.NAVIGATION and around.reason is LinkReason.MARKER:
        return False  # a list of partner sites (友情链接)
    return site_of(host_of(around.url)) != site_of(host)
