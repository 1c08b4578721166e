"""Images by their first bytes."""

from __future__ import annotations

import time

import pytest

from crawlclean.cleaning.document.source import image_type

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"GIF87a\1\0\1\0", "image/gif"),
        (b"GIF89a\1\0\1\0", "image/gif"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"\xff\xd8\xff\xdb", "image/jpeg"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "image/avif"),
        (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0", "image/bmp"),
        (b"\0\0\1\0\1\0\x10\x10", "image/x-icon"),
        (b"II*\0\x08\0\0\0", "image/tiff"),
        (SVG.encode(), "image/svg+xml"),
        (b"\xef\xbb\xbf\n " + SVG.encode(), "image/svg+xml"),
        (
            b'<?xml version="1.0"?>\n<!-- a --> <!-- b -->\n' + SVG.encode(),
            "image/svg+xml",
        ),
        (
            b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" '
            b'[<!ENTITY a "b">]>' + SVG.encode(),
            "image/svg+xml",
        ),
        (b"", None),
        (b"<!DOCTYPE html><html><body>" + SVG.encode(), None),
        (b"<html>", None),
        (b"<svgs>", None),
        (b"RIFF\x24\0\0\0WAVEfmt ", None),
        (b"GIF8", None),
        (b"BM is a name, and this is a sentence", None),
        (b"%PDF-1.7", None),
        (b"\0\0\0\x1cftypmp42", None),
    ],
)
def test_types(body: bytes, media_type: str | None) -> None:
    assert image_type(body) == media_type


@pytest.mark.parametrize(
    "unit", [b"<!--", b"<!-- -->", b"<?xml ", b"<!DOCTYPE svg [", b"- ", b" ", b"<!DOCTYPE svg"]
)
def test_nothing_is_read_twice(unit: bytes) -> None:
    begun = time.process_time()
    image_type(unit * (1 << 20))
    image_type(b"<?xml?><!--" + unit * (1 << 20))
    assert time.process_time() - begun < 0.5
