"""What a page says, as numbers: equal for pages that bring a reader nothing over each other.

The text is title, body, anchor texts and content images. Anchor texts belong to it, for two lists
with other entries are two pages; links the site itself tells not to follow (``rel=nofollow``) do
not. Numbers in the body do not count: a page that says how often it was read is the same page.

A page with next to no body says the same as another also when they differ in numbers anywhere, or
in what they repeat of their own addresses: a calendar in every month, a page that names the address
it did not find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import unquote_plus

from cleaning.records import CleanRecord, ImageKind

FINGERPRINT_BYTES = 4
THIN_BYTES = 100  # a body of less, in UTF-8, is next to none: a dozen words
READ_CHARS = 2_000  # of a body without numbers; the rest counts as it is
LEAST_ECHO_CHARS = 3
MAX_ECHOES = 16

# Possessive and only at the start of a word: a page cannot make it slow.
_WORD_WITH_DIGIT = re.compile(r"\b[A-Za-z_]*+[0-9][A-Za-z0-9_]*+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """Signed 32-bit numbers; pages of one host that share one are the same.

    Attributes:
        text: Of what the page says.
        bare: Of what is left without numbers and its own address; None where it has a body.
    """

    text: int
    bare: int | None = None


def content_fingerprints(record: CleanRecord) -> Fingerprints:
    """The fingerprints of a page's text."""
    images = sorted(
        {image.url for image in record.images if image.kind is ImageKind.CONTENT and image.url}
    )
    links = "\n".join([link.text for link in record.links if "nofollow" not in link.rel])
    read, rest = record.body[:READ_CHARS], record.body[READ_CHARS:]
    text = fingerprint_of((record.title, _without_numbers(read), rest, links, *images))
    if len(record.body.encode("utf-8", "replace")) >= THIN_BYTES:
        return Fingerprints(text=text)
    said = "\n".join((record.title, record.body, links[:READ_CHARS]))
    for echo in _address_parts(record.url):
        said = said.replace(echo, " ")
    bare = (_without_numbers(said), links[READ_CHARS:], *images)
    return Fingerprints(text=text, bare=fingerprint_of(bare))


def fingerprint_of(parts: Iterable[str]) -> int:
    """A signed 32-bit number of some texts in their order."""
    said = "\n".join(parts).encode("utf-8", "replace")
    digest = blake2b(said, digest_size=FINGERPRINT_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


def _without_numbers(text: str) -> str:
    """The text without digits, words with digits in them, and white space."""
    return "".join(_WORD_WITH_DIGIT.sub("", text).split())


def _address_parts(url: str) -> list[str]:
    """The path, its segments and the query's values as a person reads them, longest first."""
    path, _, query = url[max(url.find("/", 8), 0) :].partition("?")
    parts = {path, *path.split("/"), query}
    parts.update(pair.partition("=")[2] for pair in query.split("&"))
    read = {shown for part in parts for shown in (part, unquote_plus(part))}
    told = sorted((part for part in read if len(part) >= LEAST_ECHO_CHARS), key=len, reverse=True)
    return told[:MAX_ECHOES]
