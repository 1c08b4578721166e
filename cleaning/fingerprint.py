"""What a page says, as numbers: equal for pages that bring a reader nothing over each other.

Two numbers a page. The first stands for title, body, anchor texts and content images; digits, words
with digits in them and white space are left out, so that a calendar says the same in every month. The second leaves out the parts of the page's own address as well, so that a page that
only repeats what it was asked for says the same every time. Anchor texts belong to it: two lists
with other entries are two pages. Links the site itself tells not to follow (``rel=nofollow``) are
left out.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import unquote_plus

from cleaning.records import CleanRecord, ImageKind

FINGERPRINT_BYTES = 4
READ_CHARS = 2_000  # of body and links each without digits; the rest counts as it is
LEAST_ECHO_CHARS = 3
MAX_ECHOES = 16

# Possessive and only at the start of a word: a page cannot make it slow.
_WORD_WITH_DIGIT = re.compile(r"\b[A-Za-z_]*+[0-9][A-Za-z0-9_]*+", re.ASCII)


def content_fingerprints(record: CleanRecord) -> tuple[int, ...]:
    """One or two signed 32-bit numbers; a page that shares one with another repeats it."""
    images = sorted(
        {image.url for image in record.images if image.kind is ImageKind.CONTENT and image.url}
    )
    texts = "\n".join([link.text for link in record.links if "nofollow" not in link.rel])
    head = f"{record.title}\n{record.body[:READ_CHARS]}"
    links = _said(texts[:READ_CHARS])
    rest = "\n".join((record.body[READ_CHARS:], texts[READ_CHARS:], *images))
    whole = _fingerprint(_said(head), links, rest)
    bare = head
    if len(record.body) < READ_CHARS:  # a page that says more does not only repeat its address
        for echo in _address_parts(record.url):
            bare = bare.replace(echo, " ")
    return (whole,) if bare == head else (whole, _fingerprint(_said(bare), links, rest))


def _said(text: str) -> str:
    """The text without digits, words with digits in them, and white space."""
    return "".join(_WORD_WITH_DIGIT.sub("", text).split())


def _fingerprint(*parts: str) -> int:
    said = "\n".join(parts).encode("utf-8", "replace")
    digest = blake2b(said, digest_size=FINGERPRINT_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


def _address_parts(url: str) -> list[str]:
    """The path, its segments and the query's values as a person reads them, longest first."""
    path, _, query = url[max(url.find("/", 8), 0) :].partition("?")
    parts = {path, *path.split("/"), query}
    parts.update(pair.partition("=")[2] for pair in query.split("&"))
    read = {shown for part in parts for shown in (part, unquote_plus(part))}
    told = sorted((part for part in read if len(part) >= LEAST_ECHO_CHARS), key=len, reverse=True)
    return told[:MAX_ECHOES]
