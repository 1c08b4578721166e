"""Odd rows and damaged archives: each costs itself, in `clean` and `import`."""

from __future__ import annotations

import gzip
import json
import random
import resource
import struct
import subprocess
import sys
import zlib
from base64 import b32encode
from collections.abc import Callable
from functools import reduce
from hashlib import sha1
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest

from tests.kit.commands import call_main
from tests.kit.web import html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
END = b"\r\n\r\n"
MEMORY_BYTES = 700 << 20  # of a command that meets a page of 400 MB, a copy of it and more


def page(n: int) -> bytes:
    return html(f"第{n}页", f"{TEXT}{n}").encode()


def record(
    n: int, body: bytes = b"", *headers: str, length: str = "", url: str | None = None
) -> bytes:
    """A response record; ``length`` stands in for the right Content-Length."""
    head = "".join(f"{line}\r\n" for line in ("Content-Type: text/html; charset=utf-8", *headers))
    block = f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + (body or page(n))
    uri = f"WARC-Target-URI: http://a.example/{n}\r\n" if url is None else url
    lines = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-03-01T12:00:00Z\r\n{uri}"
        f"Content-Length: {length or len(block)}\r\n\r\n"
    )
    return lines.encode() + block + b"\r\n\r\n"


def said_of(file: Path, data: bytes) -> tuple[list[int], list[str]]:
    """(numbers of the pages that became records, lines of errors) of a file."""
    file.write_bytes(data)
    _, out, err = call_main("clean", str(file))
    numbers = [int(json.loads(line)["url"].rpartition("/")[2]) for line in out.splitlines()]
    return numbers, err.splitlines()


ODD: dict[str, tuple[bytes, str]] = {
    "negative": (record(3, length="-5"), "http://a.example/3: its Content-Length is '-5'"),
    "too long": (record(3, length="99999"), "Content-Length says"),
    "beyond the end": (record(3, length="999999"), "of http://a.example/3"),
    "endless": (record(3, length="9" * 15), "http://a.example/3: over 64 MB"),
    "too short": (record(3, length="60"), "http://a.example/3: it does not end where"),
    "no length": (record(3, length="x"), "http://a.example/3: its Content-Length is 'x'"),
    "no url": (record(3, url=""), "it has no WARC-Target-URI"),
    "garbage": (b"\xfe\x07 no record of an archive\r\n" * 40, "the record at byte "),
    "no http": (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n", ""),
}


@pytest.mark.parametrize("form", ["plain", "members", "one stream"])
@pytest.mark.parametrize("odd", ODD)
def test_a_bad_record_costs_itself(tmp_path: Path, odd: str, form: str) -> None:
    bad, message = ODD[odd]
    # The last record is long: a wrong length of the third that lies inside of it is noticed.
    parts = [record(1), record(2), bad, record(4), record(5), record(6, page(6) + b" " * 200_000)]
    data = b"".join(gzip.compress(each) if form == "members" else each for each in parts)
    data = gzip.compress(data) if form == "one stream" else data
    numbers, errors = said_of(tmp_path / ("x.warc" if form == "plain" else "x.warc.gz"), data)
    assert numbers == [1, 2, 4, 5, 6]
    assert len(errors) == bool(message)
    assert all(message in line and ": broken: " in line for line in errors)


@pytest.mark.parametrize(
    "damage",
    [
        lambda member: member[:40] + bytes(60) + member[100:],
        lambda member: member[:-8] + b"\x01" * 8,
        lambda member: member[: len(member) // 2],
        lambda member: b"\xff" * len(member),
        lambda member: member[:10] + b"\xff" * 200 + member[210:],
    ],
    ids=["zeros", "checksum", "cut", "overwritten", "begin"],
)
@pytest.mark.parametrize("at", [0, 5, 19])
def test_a_damaged_member_costs_itself(
    tmp_path: Path, damage: Callable[[bytes], bytes], at: int
) -> None:
    members = [gzip.compress(record(n)) for n in range(20)]
    whole = len(members[at])
    members[at] = damage(members[at])
    # At the begin, a file is known for gzip by its first bytes.
    if at == 0 and not members[at].startswith(b"\x1f\x8b"):
        members.insert(
            0,
            gzip.compress(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"),
        )
    assert whole
    numbers, errors = said_of(tmp_path / "x.warc.gz", b"".join(members))
    assert numbers == [n for n in range(20) if n != at]
    assert len(errors) == 1


def test_an_archive_that_ends_in_zeros_is_whole(tmp_path: Path) -> None:
    for packed in (True, False):
        data = b"".join(gzip.compress(record(n)) if packed else record(n) for n in range(3))
        assert said_of(tmp_path / "x.warc", data + bytes(5000)) == ([0, 1, 2], [])


def test_the_first_part_of_a_damaged_stream_is_read(tmp_path: Path) -> None:
    pages = [page(n) + random.Random(n).randbytes(9000).hex().encode() for n in range(40)]
    data = bytearray(gzip.compress(b"".join(record(n, each) for n, each in enumerate(pages))))
    data[len(data) // 2 : len(data) // 2 + 200] = bytes(200)
    numbers, errors = said_of(tmp_path / "x.warc.gz", bytes(data))
    assert numbers == list(range(len(numbers)))
    assert 10 < len(numbers) < 30
    assert len(errors) == 1


def _brotli_gzip(body: bytes) -> bytes:
    return gzip.compress(brotli.compress(body))


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("br", brotli.compress), ("gzip", gzip.compress), ("br, gzip", _brotli_gzip)],
)
def test_bodies_in_content_codings_are_pages(
    tmp_path: Path, coding: str, pack: Callable[[bytes], bytes]
) -> None:
    packed, line = pack(page(2)), f"Content-Encoding: {coding}"
    broken = record(3, packed[: len(packed) // 2], line)
    parts = [record(1), record(2, packed, line), broken, record(4, page(4), line), record(5)]
    numbers, errors = said_of(tmp_path / "x.warc.gz", b"".join(map(gzip.compress, parts)))
    assert numbers == [1, 2, 4, 5]
    [error] = errors
    assert "http://a.example/3: " in error


def test_revisits_find_their_body_in_every_form(tmp_path: Path) -> None:
    digest = "sha1:" + b32encode(sha1(page(1), usedforsecurity=False).digest()).decode()
    first = record(
        1, page(1), url=f"WARC-Target-URI: http://a.example/1\r\nWARC-Payload-Digest: {digest}\r\n"
    )
    again = (
        "WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Target-URI: http://a.example/9\r\n"
        f"WARC-Payload-Digest: {digest}\r\nContent-Length: 44\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\r\n\r\n"
    ).encode()
    parts = [record(0), first, again]
    for name, data in (
        ("a.warc", b"".join(parts)),
        ("b.warc.gz", b"".join(map(gzip.compress, parts))),
        ("c.warc.gz", gzip.compress(b"".join(parts))),
    ):
        assert said_of(tmp_path / name, data) == ([0, 1, 9], [])


def _limited(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command with little memory."""
    limits = (MEMORY_BYTES, MEMORY_BYTES)
    return subprocess.run(
        [sys.executable, "-m", "crawlclean.workers.cli", *arguments],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )


def gzip_bomb(before: bytes, after: bytes) -> bytes:
    """A gzip member of ``before``, 400 times a megabyte, and ``after``: packed in no time."""
    megabyte, packer = b"a" * 1_000_000, zlib.compressobj(1, zlib.DEFLATED, -15)
    head = packer.compress(before) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)  # alike wherever it stands
    sums = reduce(lambda so_far, _: zlib.crc32(megabyte, so_far), range(400), zlib.crc32(before))
    size = len(before) + 400 * len(megabyte) + len(after)
    begin, end = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", struct.pack("<II", zlib.crc32(after, sums), size)
    return begin + head + 400 * piece + packer.compress(after) + packer.flush() + end


@pytest.mark.parametrize("bomb", ["body", "member", "line", "base64"])
def test_a_bomb_is_one_line_and_little_memory(tmp_path: Path, bomb: str) -> None:
    if bomb == "body":
        body = gzip_bomb(b"<p>", b"")
        data = gzip.compress(record(1, body, "Content-Encoding: gzip")) + gzip.compress(record(2))
    elif bomb == "member":
        head = record(1, b"<p>", length=str(len(HEAD) + 400_000_003))
        data = gzip_bomb(head.removesuffix(END), END) + gzip.compress(record(2))
    else:
        field = b"html" if bomb == "line" else b"html_base64"
        good = json.dumps({"url": "http://a.example/2", "html": page(2).decode()}).encode()
        data = gzip_bomb(b'{"url": "http://a.example/1", "%s": "' % field, b'"}\n' + good)
    file = tmp_path / ("x.jsonl.gz" if bomb in ("line", "base64") else "x.warc.gz")
    file.write_bytes(data)
    done = _limited("clean", str(file))
    assert [json.loads(line)["title"] for line in done.stdout.splitlines()] == ["第2页"], (
        done.stderr
    )
    lines = done.stderr.decode().splitlines()
    [error] = [line for line in lines if not line.startswith("cleaned ")]
    assert "over 64 MB" in error or "over 128 MB" in error or "over the size limit" in error


@pytest.mark.parametrize(
    "at",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31",
        "2026-13-01",
    ],
)  # fmt: skip
def test_an_odd_date_is_no_end_of_a_file(tmp_path: Path, at: str) -> None:
    pages = [{"url": f"http://a.example/{n}", "html": page(n).decode()} for n in range(1, 50)]
    rows = [{**pages[0], "fetched_at": at}, *pages[1:]]
    file = tmp_path / "x.jsonl"
    numbers, errors = said_of(file, "\n".join(map(json.dumps, rows)).encode())
    assert (numbers, errors) == (list(range(1, 50)), [])
    for _ in range(2):
        status, out, err = call_main(
            "import", str(file), "--data", str(tmp_path / "d"), "--no-learn"
        )
        assert (status, out[:9]) == (0, "49 pages "), err
    odd = record(1).replace(b"2026-03-01T12:00:00Z", at.encode())
    assert said_of(tmp_path / "x.warc", odd + record(2)) == ([1, 2], [])


def test_a_row_says_what_is_wrong_with_its_url(tmp_path: Path) -> None:
    rows = (
        b'{"url": "http://a.example/\\udc00", "html": "<p>x"}\n'
        + json.dumps({"url": "http://a.example/2", "html": "<p>x"}).encode()
    )
    numbers, errors = said_of(tmp_path / "x.jsonl", rows)
    assert numbers == [2]
    assert errors == [
        f"{tmp_path / 'x.jsonl'}:1: has half of a character (a lone surrogate) in url"
    ]


@pytest.mark.parametrize("given", ["www.a.example", "www.a.example/", ".", "mirror.old"])
def test_a_folder_named_like_a_host_is_that_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    folder = tmp_path / "mirror.old" / "www.a.example"
    (folder / "v1.org").mkdir(parents=True)
    for name in ("index.html", "v1.org/a.html"):
        (folder / name).write_bytes(page(1))
    monkeypatch.chdir({".": folder, "mirror.old": tmp_path}.get(given, folder.parent))
    _, out, _ = call_main("clean", given)
    assert [json.loads(line)["url"] for line in out.splitlines()] == [
        "http://www.a.example/index.html",
        "http://www.a.example/v1.org/a.html",
    ]
