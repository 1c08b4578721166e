"""The items of an XML file that lists URLs (sitemap, feed), one after another in bounded memory.

Read without entities, DTD or network. Each item is parsed alone, so a slip (a bare ``&``, a tag
without end, a notice before the file, a wrong checksum) costs at most the item that it is in.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator
from html import escape, unescape

from lxml import etree

from crawlclean.cleaning.document.charset import decode

MAX_BYTES = 64 * 2**20  # after decompression
MAX_ITEM_CHARS = 2**20  # the rest of a longer item is left out: an entry with its page has a tenth
PIECE_BYTES = 65_536
SAMPLE_BYTES = 2**20  # that the charset is found by
GZIP = b"\x1f\x8b\x08"

# Comments and character data are passed over: they may hold what looks like an item.
_OPAQUE = r"<!--(?:.*?-->|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)"
_AMPERSAND = re.compile(_OPAQUE + r"|&(?!(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);)"
                        r"(?:[a-z]\w{0,31};)?", re.S | re.I)  # fmt: skip


def unpacked(body: bytes) -> tuple[bytes, int]:
    """Returns the file without gzip, at most 64 MB, and how many gzip members are damaged.

    What stands before the damage counts; reading goes on at the next member.
    """
    if not body.startswith(GZIP[:2]):
        return body[:MAX_BYTES], 0
    pieces: list[bytes] = []
    room, damaged, at = MAX_BYTES, 0, 0
    while at >= 0 and room > 0:
        at, is_whole, room = _unpack_member(body, at, pieces, room)
        damaged += not is_whole
        at = body.find(GZIP, at)
    return b"".join(pieces), damaged


def _unpack_member(body: bytes, at: int, pieces: list[bytes], room: int) -> tuple[int, bool, int]:
    """Unpacks the gzip member at an offset; returns (where it ends, whether it is whole, room)."""
    unpacker = zlib.decompressobj(wbits=31)
    step = PIECE_BYTES
    while at < len(body) and room > 0 and not unpacker.eof:
        before = unpacker.copy() if step > 1 else None
        try:
            piece = unpacker.decompress(body[at : at + step], room)
        except zlib.error:
            if before is None:
                return at + 1, False, room
            unpacker, step = before, 1  # byte by byte: what stands before the error is kept
            continue
        pieces.append(piece)
        room -= len(piece)
        at += step
    return min(at, len(body)) - len(unpacker.unused_data), unpacker.eof or room <= 0, room


class Items:
    """The elements with one of the names, ``{"url"}``, whole and in document order.

    Attributes:
        slips: How many errors were read over so far.
    """

    def __init__(self, body: bytes, names: Collection[str]) -> None:
        """Decodes the file; ``body`` is unpacked."""
        encoding = decode(body[:SAMPLE_BYTES]).encoding
        self._text = body.decode(encoding, "replace")
        self._tags = re.compile(
            _OPAQUE + rf"|<(/?)(?:[\w.-]{{1,40}}:)?(?:{'|'.join(sorted(names))})(?:\s[^<>]*)?>",
            re.S | re.I,
        )
        self._parser = etree.XMLParser(
            recover=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        self.slips = 0

    def __iter__(self) -> Iterator[etree._Element]:
        """Yields the items; one that is not closed ends where the next one begins."""
        begin = -1
        for tag in self._tags.finditer(self._text):
            if tag[1] is None:
                continue
            if begin >= 0:
                yield from self._item(begin, tag.end() if tag[1] else tag.start())
            self.slips += bool(tag[1]) == (begin < 0)
            begin = -1 if tag[1] or tag[0].endswith("/>") else tag.start()
        if begin >= 0:
            self.slips += 1
            yield from self._item(begin, len(self._text))

    def _item(self, begin: int, end: int) -> Iterator[etree._Element]:
        source = self._text[begin : min(end, begin + MAX_ITEM_CHARS)]
        try:
            yield etree.fromstring(_AMPERSAND.sub(self._mended, source), self._parser)
        except etree.XMLSyntaxError:
            self.slips += 1

    def _mended(self, found: re.Match[str]) -> str:
        """A bare ampersand, or a name that only HTML knows, as XML has it."""
        if found[0].startswith("<"):
            return found[0]
        self.slips += 1
        return escape(unescape(found[0]) if found[0].endswith(";") else found[0])


def local_name(element: etree._Element) -> str:
    """The local name of an element; ``""`` for an entity that was not resolved."""
    tag = element.tag
    return re.split("[}:]", tag)[-1].lower() if isinstance(tag, str) else ""
