"""A record as two small blobs, as a store keeps it.

The record without its links is one zstd blob, links, images and outlinks together are another. In
the second one equal things stand side by side (one list per field) and what follows from a field
already written is left out: most URLs are a prefix plus their href, most outlinks are links.

What comes back, and what is raised, is as ``storage/store/codec.py`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import zstandard

from cleaning.errors import StoreDamaged
from cleaning.records import (
    CleanRecord,
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkKind,
    LinkReason,
    Outlink,
    Via,
)
from storage.store.codec import (
    DAMAGE,
    RECORD_READERS,
    SCHEMA,
    Readers,
    check_schema,
    dump,
    load,
    plain,
    read_versioned,
)

ZSTD_LEVEL = 3
MAX_UNPACKED_BYTES = 1 << 30
"""A blob that claims to be larger was not written by us."""

_DAMAGE = (zstandard.ZstdError, *DAMAGE)


def compress(data: bytes) -> bytes:
    """One zstd frame with its checksum."""
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(data)


def decompress(blob: bytes) -> bytes:
    """What ``compress`` was given.

    Raises:
        StoreDamaged: The blob is no whole frame of ours.
    """
    try:
        if not 0 <= zstandard.frame_content_size(blob) <= MAX_UNPACKED_BYTES:
            raise StoreDamaged("a stored blob has an impossible size")
        return zstandard.ZstdDecompressor().decompress(blob)
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored blob cannot be read: {error}") from error


def encode_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """The record without its links, and its links, images and outlinks, both as JSON."""
    head = {"schema": SCHEMA}
    for each in fields(record):
        if each.name not in ("links", "images", "outlinks"):
            head[each.name] = plain(getattr(record, each.name))
    return dump(head), dump(_pack_links(record))


def pack_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """The two parts of ``encode_record`` compressed."""
    head, links = encode_record(record)
    return compress(head), compress(links)


def unpack_record(head: bytes, links: bytes) -> CleanRecord:
    """The record ``pack_record`` was given."""
    data = load(decompress(head))
    packed = load(decompress(links))
    try:
        check_schema(packed)
        data |= _unpack_links(packed)
        return read_versioned(CleanRecord, data, _HEAD, "record")
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored record cannot be read: {error}") from error


def unpack_outlinks(links: bytes) -> tuple[Outlink, ...]:
    """Only the outlinks of a record, from its second part: a third of the work."""
    packed = load(decompress(links))
    try:
        check_schema(packed)
        hrefs, prefixes, urls, texts = packed["links"][:4]
        return _outlinks(
            packed["outlinks"],
            lambda n: _unpack_url(prefixes, hrefs[n], urls[n]),
            lambda n: texts[n],
        )
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored record cannot be read: {error}") from error


def unpack_images(links: bytes) -> tuple[Image, ...]:
    """Only the images of a record, from its second part."""
    packed = load(decompress(links))
    try:
        check_schema(packed)
        return _images(packed)
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored record cannot be read: {error}") from error


_HEAD: Readers = {
    k: v for k, v in RECORD_READERS.items() if k not in ("links", "images", "outlinks")
}


def _pack_urls(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str | int]]:
    """(prefixes, forms) of (tail, url) pairs: a form is the URL, or n for prefix n plus tail."""
    known: dict[str, int] = {}
    forms: list[str | int] = []
    for tail, url in pairs:
        if tail and url.endswith(tail):
            forms.append(known.setdefault(url[: -len(tail)], len(known)))
        else:
            forms.append(url)
    return list(known), forms


def _unpack_url(prefixes: Sequence[str], tail: str, form: str | int) -> str:
    return form if isinstance(form, str) else prefixes[form] + tail


def _pack_links(record: CleanRecord) -> dict[str, Any]:
    links, images, outlinks = record.links, record.images, record.outlinks
    link_prefixes, link_urls = _pack_urls([(each.href, each.url) for each in links])
    image_prefixes, image_urls = _pack_urls([(each.src, each.url) for each in images])
    first: dict[str, int] = {}
    for number, link in enumerate(links):
        first.setdefault(link.url, number)
    out_urls: list[str | int] = []
    out_texts: list[str | int] = []
    for each in outlinks:
        number = first.get(each.url, -1)
        out_urls.append(each.url if number < 0 else number)
        same_text = number >= 0 and links[number].text[:80] == each.text
        out_texts.append(0 if same_text else each.text)
    return {
        "schema": SCHEMA,
        "links": [
            [each.href for each in links],
            link_prefixes,
            link_urls,
            [each.text for each in links],
            [each.title for each in links],
            [each.rel for each in links],
            [each.kind for each in links],
            [each.score for each in links],
            [each.reason for each in links],
        ],
        "images": [
            [each.src for each in images],
            image_prefixes,
            image_urls,
            [each.alt for each in images],
            [each.width for each in images],
            [each.height for each in images],
            [each.link for each in images],
            [each.kind for each in images],
            [each.score for each in images],
            [each.reason for each in images],
        ],
        "captions": {n: each.caption for n, each in enumerate(images) if each.caption},
        "outlinks": [
            out_urls,
            [each.via for each in outlinks],
            [each.kind for each in outlinks],
            [each.score for each in outlinks],
            out_texts,
        ],
    }


def _unpack_links(packed: Mapping[str, Any]) -> dict[str, Any]:
    hrefs, prefixes, urls, *rest = packed["links"]
    links = tuple(
        Link(
            href=href,
            url=_unpack_url(prefixes, href, url),
            text=text,
            title=title,
            rel=rel,
            kind=LinkKind(kind),
            score=score,
            reason=LinkReason(reason),
        )
        for href, url, text, title, rel, kind, score, reason in zip(hrefs, urls, *rest, strict=True)
    )
    outlinks = _outlinks(packed["outlinks"], lambda n: links[n].url, lambda n: links[n].text)
    return {"links": links, "images": _images(packed), "outlinks": outlinks}


def _images(packed: Mapping[str, Any]) -> tuple[Image, ...]:
    sources, prefixes, urls, *rest = packed["images"]
    captions = packed.get("captions", {})  # by number; older records have none
    return tuple(
        Image(
            src=src,
            url=_unpack_url(prefixes, src, url),
            alt=alt,
            caption=captions.get(str(n), ""),
            width=width,
            height=height,
            link=link,
            kind=ImageKind(kind),
            score=score,
            reason=ImageReason(reason),
        )
        for n, (src, url, alt, width, height, link, kind, score, reason) in enumerate(
            zip(sources, urls, *rest, strict=True)
        )
    )


def _outlinks(
    columns: Sequence[Any], url_of: Callable[[int], str], text_of: Callable[[int], str]
) -> tuple[Outlink, ...]:
    """Outlinks whose URL or text may be the number of a link that has it."""
    return tuple(
        Outlink(
            url=url if isinstance(url, str) else url_of(url),
            via=Via(via),
            kind=LinkKind(kind),
            score=score,
            text=text if isinstance(text, str) else text_of(url)[:80],
        )
        for url, via, kind, score, text in zip(*columns, strict=True)
    )
