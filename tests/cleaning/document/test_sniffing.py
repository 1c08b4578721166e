"""What bytes are that are no page, whatever their Content-Type."""

from __future__ import annotations

import gzip
import random

import pytest

from crawlclean.cleaning.document.source import foreign_type

CHINESE = "青石镇的三百亩柿子陆续成熟，漫山遍野一片金黄，合作社连日组织村民上山采摘。" * 30


@pytest.mark.parametrize("size", [200, 1_000, 50_000])
@pytest.mark.parametrize("seed", range(5))
def test_random_and_compressed_bytes_are_no_page(size: int, seed: int) -> None:
    noise = random.Random(seed).randbytes(size)
    assert foreign_type(noise) == "binary data"
    assert foreign_type(gzip.compress(noise)[10:]) == "binary data", "without its magic number"


@pytest.mark.parametrize(
    "charset",
    ["utf-8", "gb18030", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "utf-16", "utf-16-le"],
)
@pytest.mark.parametrize("markup", ["<html><p>{}", "<p>{}", "{}"])
def test_text_of_every_charset_may_be_a_page(charset: str, markup: str) -> None:
    text = "<p>村の柿" * 99 if charset in ("cp932", "euc_jp", "iso2022_jp") else CHINESE
    is_unknown = charset == "utf-16-le" and not markup.startswith("<html>")  # nothing tells
    body = markup.format(text).encode(charset, "replace")
    assert foreign_type(body) == ("binary data" if is_unknown else None)


def test_a_page_with_bytes_that_are_no_text_is_a_page() -> None:
    assert foreign_type(b"<!DOCTYPE html><title>x</title>" + bytes(900) + b"<p>text</p>") is None
