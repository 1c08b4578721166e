"""Pictures by their looks: copies are found, other pictures and hostile files are not."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from PIL import Image, ImageDraw

from crawlclean.cleaning.topics.pictures import (
    MAX_DISTANCE,
    MAX_PIXELS,
    Picture,
    is_same_picture,
    picture_keys,
    read_picture,
)
from tests.kit.pictures import encoded, photograph

PRINTS = st.binary(min_size=112, max_size=112)


def cut(left: float, top: float, right: float, bottom: float) -> Callable[[Image.Image], bytes]:
    def edit(picture: Image.Image) -> bytes:
        width, height = picture.size
        box = (width * left, height * top, width * (1 - right), height * (1 - bottom))
        return encoded(picture.crop(tuple(map(int, box))), "JPEG", quality=80)  # type: ignore[arg-type]

    return edit


def stamped(picture: Image.Image) -> bytes:
    picture = picture.copy()
    ImageDraw.Draw(picture).text((10, 10), "example.com", fill="white")
    return encoded(picture, "WEBP")


COPIES: dict[str, Callable[[Image.Image], bytes]] = {
    "half": lambda picture: encoded(picture.resize((160, 120))),
    "double": lambda picture: encoded(picture.resize((640, 480)), "JPEG"),
    "recompressed": lambda picture: encoded(picture, "JPEG", quality=30),
    "stamped": stamped,
    "256 colours": lambda picture: encoded(picture.quantize(), "GIF"),
    "transparent": lambda picture: encoded(picture.convert("RGBA")),
    "cut below": cut(0, 0, 0, 0.05),
    "cut above": cut(0, 0.05, 0, 0),
    "cut left": cut(0.05, 0, 0, 0),
    "cut right": cut(0, 0, 0.05, 0),
    "cut all around": cut(0.025, 0.025, 0.025, 0.025),
}


@pytest.mark.parametrize("kind", COPIES)
def test_copies_look_the_same_and_share_a_key(kind: str) -> None:
    for seed in range(3):
        picture = photograph(seed)
        ours, copy = read_picture(encoded(picture)), read_picture(COPIES[kind](picture))
        assert is_same_picture(ours.prints, copy.prints)
        assert is_same_picture(copy.prints, ours.prints)
        assert set(picture_keys(ours.prints, "c")) & set(picture_keys(copy.prints, "c"))


def test_other_pictures_look_different() -> None:
    prints = [read_picture(encoded(photograph(seed))).prints for seed in range(12)]
    same = [(a, b) for a in prints for b in prints if a is not b and is_same_picture(a, b)]
    assert same == []


@given(PRINTS, PRINTS)
def test_likeness_has_no_direction(first: bytes, second: bytes) -> None:
    assert is_same_picture(first, second) == is_same_picture(second, first)
    assert is_same_picture(first, first)


@given(PRINTS, st.sets(st.integers(0, 127), max_size=7))
def test_wholes_that_differ_in_fewer_bits_than_they_have_parts_share_a_key(
    prints: bytes, flipped: set[int]
) -> None:
    whole = int.from_bytes(prints[:16], "big")
    parts = [whole >> 16 * n & 0xFFFF for n in range(8)]
    kept = [n for n in range(8) if not any(bit // 16 == n for bit in flipped)]
    other = (whole ^ sum(1 << bit for bit in flipped)).to_bytes(16, "big") + prints[16:]
    assert len(flipped) <= MAX_DISTANCE
    assert is_same_picture(prints, other)
    if any(parts[n] not in (0, 0xFFFF) for n in kept):
        assert set(picture_keys(prints, "c")) & set(picture_keys(other, "c"))


@given(PRINTS)
def test_keys_are_few_and_belong_to_their_scope(prints: bytes) -> None:
    keys = picture_keys(prints, "news")
    assert len(keys) <= 56
    assert all(0 < key < 1 << 51 for key in keys)
    assert not set(keys) & set(picture_keys(prints, "sport"))


def test_an_empty_picture_is_like_none() -> None:
    blank = read_picture(encoded(Image.new("RGB", (300, 200), "white")))
    assert blank == Picture(width=300, height=200)
    assert not is_same_picture(blank.prints, blank.prints)
    assert picture_keys(blank.prints, "c") == ()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_header(width: int, height: int) -> bytes:
    ihdr = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", ihdr) + chunk(b"IDAT", zlib.compress(b"\0" * 99))


def test_a_file_that_would_fill_the_memory_is_not_decoded() -> None:
    side = int(MAX_PIXELS**0.5) + 1
    assert read_picture(png_header(side, side)) == Picture(width=side, height=side)
    assert read_picture(png_header(60_000, 60_000)) == Picture()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_damaged_files_have_no_print_and_raise_nothing(form: str) -> None:
    whole = encoded(photograph(1), form)
    assert read_picture(whole).prints
    for length in (0, 1, 10, 30, 60, len(whole) // 2):
        assert read_picture(whole[:length]).prints == b""
    for at in range(8, 200, 7):
        read_picture(whole[:at] + b"\xff\xff" + whole[at + 2 :])


@given(st.binary(max_size=200))
def test_any_bytes_may_come(body: bytes) -> None:
    for start in (
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff",
        b"RIFF\0\0\0\0WEBP",
        b"BM",
    ):
        assert read_picture(start + body).prints == b""


def test_formats_that_pages_do_not_show_are_not_decoded() -> None:
    assert read_picture(encoded(photograph(1), "TIFF")) == Picture()
    assert read_picture(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n") == Picture()
