"""What images are where their host is known, and what they then make of the links around them.

Images: one that many pages show and that leads to another site is AD, and so is what leads where
an advertisement leads; others that many pages show are CHROME; what stands in a body found by the
site's rule is CONTENT; else the kind of its place.

Lists that lead to the site of an advertising picture of the page are of the advertising.
"""

from __future__ import annotations

from dataclasses import replace

from cleaning.document.tree import Tree
from cleaning.links.evidence import site_of
from cleaning.model.places import SitePlaces
from cleaning.records import Image, ImageKind, ImageReason, Link, LinkKind, LinkReason
from cleaning.urls.assets import is_asset
from cleaning.urls.normal_form import host_of

_OFTEN_SHARE = 0.5  # m2 from which an address is no page's own, whatever a page alone has found
_PLACE_SHARE = 0.8  # share of its kind from which a place decides
_PLACE_PAGES = 3  # fewest pages a place was learned from
_NO_ADS = frozenset((LinkKind.LEGAL, LinkKind.FUNCTION, LinkKind.BODY))
_LISTED = frozenset((LinkKind.HOT, LinkKind.NAVIGATION))
_ICONS = frozenset((ImageReason.TINY, ImageReason.NAMES))
# Looking up a member of an enumeration takes ten times as long as a name.
_NOTHING, _CONTENT = LinkReason.NO_EVIDENCE, ImageKind.CONTENT


def settle_images(
    tree: Tree, images: tuple[Image, ...], links: tuple[Link, ...], places: SitePlaces
) -> tuple[Image, ...]:
    """The images of a page with the kinds its host gives them.

    Args:
        tree: The page.
        images: Its images, one for each of the first pictures of the tree.
        links: Its links, settled.
        places: What its host taught, and where that is on the page.
    """
    model = places.model
    shares = model.noise.images
    in_body = places.in_body(tree)
    verdicts: list[tuple[ImageKind, float, ImageReason] | None] = []
    ad_targets: set[str] = set()
    for image, picture in zip(images, tree.pictures, strict=False):
        share = shares.get(image.url, 0.0) if image.url else 0.0
        around = links[picture.anchor] if 0 <= picture.anchor < len(links) else None
        place = places.images.get(picture.block)
        repeats = share
        if place is not None and place.repeats >= _OFTEN_SHARE:
            repeats = max(share, place.repeats)  # pictures that take turns in one place
        verdict = None
        if image.kind is ImageKind.AD:
            ad_targets.add(image.link or "")
        elif (
            repeats
            and around is not None
            and image.reason not in _ICONS
            and _leads_off(around, model.host)
        ):
            verdict = ImageKind.AD, min(0.5 + repeats / 2, 1.0), ImageReason.HOST_REPEATS
            ad_targets.add(around.url)
        elif share > _OFTEN_SHARE and image.kind is ImageKind.CONTENT:
            verdict = ImageKind.CHROME, share, ImageReason.HOST_REPEATS
        elif share and image.reason is ImageReason.NO_EVIDENCE:
            verdict = ImageKind.CHROME, min(0.5 + share / 2, 1.0), ImageReason.HOST_REPEATS
        elif (
            image.url
            and image.kind is not ImageKind.CONTENT
            and image.reason not in _ICONS
            and share <= _OFTEN_SHARE
            and (image.kind is not ImageKind.THUMB or _is_of_body(around))
            and in_body[picture.block]
        ):
            verdict = ImageKind.CONTENT, 0.8, ImageReason.IN_BODY
        elif (
            place is not None
            and image.reason is ImageReason.NO_EVIDENCE
            and place.share >= _PLACE_SHARE
            and place.on.bit_count() >= _PLACE_PAGES
        ):
            verdict = place.kind, place.share, ImageReason.HOST_PLACE
        verdicts.append(verdict)
    ad_targets.discard("")
    return tuple(
        _with_verdict(image, verdict, ad_targets)
        for image, verdict in zip(images, verdicts, strict=True)
    )


def settle_picture_links(
    tree: Tree, links: tuple[Link, ...], images: tuple[Image, ...]
) -> tuple[Link, ...]:
    """The links with what the images say: of the body, or of a site that advertises here.

    Around pictures of the body and to pictures of the page they are the body's. A list that repeats
    and leads to the site of an advertising picture is of the advertising.
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


def _with_verdict(
    image: Image, verdict: tuple[ImageKind, float, ImageReason] | None, ad_targets: set[str]
) -> Image:
    if image.link in ad_targets and image.kind is not ImageKind.AD and verdict is None:
        verdict = ImageKind.AD, 0.7, ImageReason.SAME_ADDRESS
    if verdict is None:
        return image
    kind, score, reason = verdict
    return replace(image, kind=kind, score=score, reason=reason)


def _is_of_body(around: Link | None) -> bool:
    return around is None or around.kind is LinkKind.BODY


def _leads_off(around: Link, host: str) -> bool:
    """Whether a link leads to a page of another site, and is no badge or button."""
    if not around.url or around.kind in _NO_ADS or is_asset(around.url):
        return False
    if around.kind is LinkKind.NAVIGATION and around.reason is LinkReason.MARKER:
        return False  # links of friends
    return site_of(host_of(around.url)) != site_of(host)
