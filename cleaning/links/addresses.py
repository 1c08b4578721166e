"""What a link is by its address and its ``rel``: a button, a place on the page, a keyword.

Addresses that share a page are known by a word of their path and the page they name in their query;
``rel`` values are those of the HTML standard and the microformats' registry.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from cleaning.links.lists import Verdict
from cleaning.records import LinkKind, LinkReason

_NO_PAGE = ("#", "javascript:", "mailto:", "tel:", "sms:", "data:", "about:", "void(",
            "whatsapp:", "fb-messenger:", "weixin:", "wechat:", "mqqapi:", "mqqwpa:", "tencent:",
            "skype:", "tg:", "line:", "viber:", "sinaweibo:", "intent:", "market:")  # fmt: skip
# Fragments that are buttons.
_DOES = re.compile("comment|top|share|reply|login|close")
_SHARES = re.compile(
    r"(?<![a-z])share(?:r|article|link|qq)?(?![a-z])|qzshare|repaste|bookmark(?![a-z])"
    r"|/intent/|/pin/create|/submit$|/send$",
    re.I,
)
_MAX_KEYWORD_CHARS = 20
_MAX_QUERY_CHARS = 500
_OF_REL = {
    "sponsored": LinkKind.AD,
    "author": LinkKind.OTHER,
    "tag": LinkKind.TAG,
    "license": LinkKind.LEGAL,
    "privacy-policy": LinkKind.LEGAL,
    "terms-of-service": LinkKind.LEGAL,
    "home": LinkKind.NAVIGATION,
    "next": LinkKind.NAVIGATION,
    "prev": LinkKind.NAVIGATION,
}


def by_address(href: str, url: str, rel: str, text: str, is_own: bool) -> Verdict | None:
    """What an address says, or None.

    Args:
        href: As in the source, without white space around it.
        url: The absolute URL, ``""`` for none.
        rel: Words in lower case.
        text: The visible text of the link.
        is_own: Whether it leads to the page's own host.
    """
    if not url or not href or href[0] == "#":
        address = href.lower()
        if address.startswith("mailto:"):
            # Without a recipient it sends the page to a friend.
            kind = LinkKind.FUNCTION if address[7:8] in ("", "?") else LinkKind.LEGAL
            return kind, 0.5, LinkReason.NOT_A_PAGE
        if text and address.startswith("#") and len(address) > 1 and not _DOES.search(address):
            return LinkKind.NAVIGATION, 0.5, LinkReason.NOT_A_PAGE  # a table of contents
        if not address or address.startswith(_NO_PAGE):
            return LinkKind.FUNCTION, 0.9, LinkReason.NOT_A_PAGE
        return LinkKind.OTHER, 0.0, LinkReason.NO_EVIDENCE
    if rel:
        for word in rel.split():
            said = _OF_REL.get(word)
            if said is not None:
                return said, 0.9, LinkReason.REL
    if not is_own:
        path, _, query = url.partition("?")
        if query and _SHARES.search(path):
            return LinkKind.FUNCTION, 0.8, LinkReason.URL_SHAPE
    return None


def asks_for(url: str, text: str) -> bool:
    """Whether an address is a search for the very text of its link, as those of keywords are.

    Args:
        url: The absolute URL.
        text: The visible text of the link, not empty.
    """
    query = url.partition("?")[2]
    if len(text) > _MAX_KEYWORD_CHARS or not query or len(query) > _MAX_QUERY_CHARS:
        return False
    said = {unquote_to_bytes(pair.partition("=")[2].replace("+", " ")) for pair in query.split("&")}
    word = text.strip("# ")
    return bool(word) and not said.isdisjoint(
        (word.encode("utf-8", "replace"), word.encode("gb18030", "replace"))
    )
