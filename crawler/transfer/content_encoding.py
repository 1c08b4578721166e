"""Decodes the Content-Encoding of a response: the whole body, or none of it.

- A stream that ends early is a broken response even where the transfer was complete: the decoded
  part would be a shorter page, and no one would notice. Bytes after a whole stream are ignored.
- Servers declare encodings that they did not apply, and names that are no encodings: a body that is
  plainly text is not decoded.
- Every piece is counted before the next one is decompressed, so a decompression bomb ends at the
  limit, in any encoding and however nested.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from io import BytesIO
from typing import Any

import zstandard

from crawlclean.cleaning.errors import FetchError, PageTooLarge

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
# Values of the header that are no encoding: the body is not decoded.
NO_CODINGS = frozenset(
    {"", "identity", "none", "utf-8", "utf8", "aws-chunked", "binary", "8bit", "7bit"}
)
MAX_CODINGS = 3  # nested
MAX_STREAMS = 10_000  # one after another, as block-wise compressors write them
MAX_WINDOW_BYTES = 8 << 20  # RFC 9659: the largest window that a response may need
# Decompressed at once: so far a bomb may pass the limit before it is noticed.
PIECE_BYTES = 64 << 10
# Given to a decompressor at once: bounds what it holds back for the next piece.
SLICE_BYTES = 16 << 10
ZSTD_SLICE_BYTES = 512  # decompressed at once, to at most 32,768 times the size
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
BLANKS = b" \t\r\n\x0b\x0c"
ASCII_TEXT = bytes([9, 10, 12, 13, *range(32, 127)])
TEXT = ASCII_TEXT + b"\x1b" + bytes(range(128, 256))  # bytes of text in any charset
SAMPLE_BYTES = 1024  # enough to tell text from compressed bytes, which are not printable for long
GZIP_TAIL_BYTES = 8  # checksum and size, 4 bytes each (RFC 1952)
DAMAGED = "the compressed body does not match its checksum"
ENDS_EARLY = "the compressed body ends early"
TOO_MANY_STREAMS = f"the body has more than {MAX_STREAMS} compressed streams"
UNPACKING_ERRORS = (zlib.error, zstandard.ZstdError)


def undo_codings(
    body: bytes, headers: Sequence[tuple[str, str]], max_bytes: int, *, head_only: bool = False
) -> bytes:
    """Decodes a response body by its Content-Encoding headers.

    Args:
        body: The bytes received.
        headers: (name, value) of the response: ``("Content-Encoding", "gzip")``.
        max_bytes: Limit of the size, at every stage of a nested encoding.
        head_only: Return the first ``max_bytes`` of a longer body instead of raising.

    Raises:
        FetchError: The body is broken, ends early, or has an encoding that we did not accept.
        PageTooLarge: The body is over the limit.
    """
    codings = [
        name.strip().lower()
        for key, value in headers
        if key.lower() == "content-encoding"
        for name in value.split(",")
    ]
    codings = [name for name in codings if name not in NO_CODINGS]
    if len(codings) > MAX_CODINGS:
        raise FetchError(f"{len(codings)} nested content encodings; more than {MAX_CODINGS}")
    for name in reversed(codings):
        body = _undo(name, body, max_bytes, head_only=head_only)
    if codings and body.startswith(GZIP) and len(codings) < MAX_CODINGS:
        body = _undo("gzip", body, max_bytes, head_only=head_only)  # declared once
    return body


def _undo(name: str, body: bytes, max_bytes: int, *, head_only: bool) -> bytes:
    if not body:
        return body
    cut_short: FetchError | None = None
    for reader in READERS.get(name, ()):
        try:
            return _gathered(reader(body), max_bytes, head_only=head_only)
        except UNPACKING_ERRORS:
            continue
        except FetchError as error:
            cut_short = error
    if cut_short and body.startswith((GZIP, ZSTD)):
        raise cut_short
    if _is_plain(body):
        return body
    if name in READERS:
        raise cut_short or FetchError(f"the body is not {name}, as Content-Encoding declares")
    raise FetchError(f"content encoding {name[:40]!r}, which the request does not accept")


def _gathered(pieces: Iterator[bytes], max_bytes: int, *, head_only: bool) -> bytes:
    out = BytesIO()
    for piece in pieces:
        if out.tell() + len(piece) > max_bytes:
            if not head_only:
                raise PageTooLarge("the response is over the size limit when decompressed")
            out.write(piece[: max_bytes - out.tell()])
            break
        out.write(piece)
    return out.getvalue()


def _gzip(body: bytes) -> Iterator[bytes]:
    at = 0
    for _ in range(MAX_STREAMS):
        at, checksum = yield from _inflated(body, _after_gzip_head(body, at), zlib.crc32, 0)
        check = body[at : at + 4]  # some servers omit it
        if len(check) == 4 and int.from_bytes(check, "little") != checksum:
            raise FetchError(DAMAGED)
        at += GZIP_TAIL_BYTES
        if not body.startswith(GZIP, at):
            return
    raise FetchError(TOO_MANY_STREAMS)


def _after_gzip_head(body: bytes, at: int) -> int:
    """Returns the offset of the deflate data of the gzip member at ``at`` (RFC 1952)."""
    flags = body[at + 3] if at + 3 < len(body) else 0
    if body[at + 2 : at + 3] not in (b"", b"\x08"):
        raise zlib.error("not deflated")
    at += 10
    if flags & 4:
        at += 2 + int.from_bytes(body[at : at + 2], "little")
    for has_text in (flags & 8, flags & 16):
        if has_text:
            at = (body.find(0, at) + 1) or len(body)
    return at + (flags & 2)


def _zlib(body: bytes) -> Iterator[bytes]:
    if body[0] & 15 != 8 or int.from_bytes(body[:2], "big") % 31:
        raise zlib.error("no zlib header")
    at, checksum = yield from _inflated(body, 2, zlib.adler32, 1)
    check = body[at : at + 4]
    if len(check) == 4 and int.from_bytes(check, "big") != checksum:
        raise FetchError(DAMAGED)


def _deflate(body: bytes) -> Iterator[bytes]:
    yield from _inflated(body, 0, zlib.crc32, 0)


def _inflated(
    body: bytes, at: int, check: Callable[[bytes, int], int], checksum: int
) -> Generator[bytes, None, tuple[int, int]]:
    """Yields the pieces of a raw deflate stream; returns (end offset, checksum)."""
    stream = zlib.decompressobj(-15)
    while at < len(body) and not stream.eof:
        data = body[at : at + SLICE_BYTES]
        at += len(data)
        piece = b""
        while (data or len(piece) == PIECE_BYTES) and not stream.eof:
            piece = stream.decompress(data, PIECE_BYTES)
            data = stream.unconsumed_tail
            checksum = check(piece, checksum)
            yield piece
    if not stream.eof:
        raise FetchError(ENDS_EARLY)
    return at - len(stream.unused_data), checksum


def _zstd(body: bytes) -> Iterator[bytes]:
    unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
    at = 0
    for _ in range(MAX_STREAMS):
        stream = unpacker.decompressobj()
        while at < len(body) and not stream.eof:
            data = body[at : at + ZSTD_SLICE_BYTES]
            at += len(data)
            yield stream.decompress(data)
        if not stream.eof:
            raise FetchError(ENDS_EARLY)
        at -= len(stream.unused_data)
        if not body.startswith(ZSTD, at):
            return
    raise FetchError(TOO_MANY_STREAMS)


def _brotli(body: bytes) -> Iterator[bytes]:
    try:
        import brotli  # type: ignore[import-untyped]  # of an extra; pages of files need none
    except ImportError:
        raise FetchError("the body is br, and brotli is not installed (the extra crawl)") from None
    try:
        yield from _unbrotlied(body, brotli.Decompressor())
    except brotli.error as error:
        raise zlib.error(str(error)) from None


def _unbrotlied(body: bytes, stream: Any) -> Iterator[bytes]:
    for start in range(0, len(body), SLICE_BYTES):
        piece = stream.process(body[start : start + SLICE_BYTES], output_buffer_limit=PIECE_BYTES)
        while piece and not stream.is_finished():
            yield piece
            piece = stream.process(b"", output_buffer_limit=PIECE_BYTES)
        yield piece
        if stream.is_finished():
            return
    raise FetchError(ENDS_EARLY)


def _is_plain(body: bytes) -> bool:
    """Whether a body is certainly not compressed: markup, a byte-order mark, printable ASCII."""
    if body.startswith(BYTE_ORDER_MARKS):
        return True
    sample = body[:SAMPLE_BYTES]
    if sample.lstrip(BLANKS).startswith(b"<"):
        return not sample.translate(None, TEXT)
    return len(sample) > 4 and not sample.translate(None, ASCII_TEXT)


# Decoders of an encoding, the likeliest first: deflate means zlib's format (RFC 9110), but some
# servers send the raw stream.
READERS: dict[str, tuple[Callable[[bytes], Iterator[bytes]], ...]] = {
    "gzip": (_gzip,),
    "x-gzip": (_gzip,),
    "deflate": (_zlib, _deflate),
    "br": (_brotli,),
    "zstd": (_zstd,),
}
