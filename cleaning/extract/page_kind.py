"""What a page is, a first simple decision by the length of its body against its links."""

from __future__ import annotations

from cleaning.extract.body import Body
from cleaning.records import BodySource, Link, LinkKind, PageKind

_MIN_ARTICLE_CHARS = 100  # without white space; about three sentences
_MIN_INDEX_LINKS = 3


def decide_kind(body: Body, links: tuple[Link, ...]) -> PageKind:
    """THREAD when posts are the body, ARTICLE when it outweighs the links, INDEX when links do.

    Else OTHER.
    """
    if body.source is BodySource.POSTS:
        return PageKind.THREAD
    body_chars = sum(map(len, body.text.split()))
    around = [link.text for link in links if link.text and link.kind is not LinkKind.BODY]
    link_chars = sum(map(len, around))
    if body_chars >= _MIN_ARTICLE_CHARS and body_chars >= link_chars:
        return PageKind.ARTICLE
    if len(around) >= _MIN_INDEX_LINKS and link_chars > body_chars:
        return PageKind.INDEX
    return PageKind.OTHER
