"""`clean`: pages that others fetched, as records in input order."""

from __future__ import annotations

import gzip
import io
import json
import random
import warnings
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcio.warcwriter import WARCWriter

from tests.kit.commands import Cleaned
from tests.kit.crawls import crawlclean
from tests.kit.web import html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"


def row(n: int | str, url: str = "") -> str:
    body = b64encode(html(f"第{n}页", LONG).encode()).decode()
    return json.dumps({"url": url or f"http://a.example/{n}", "html_base64": body})


def response(url: str, media: str, body: bytes, at: str = "2026-03-01T12:00:00Z") -> bytes:
    """One record of an archive."""
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\n".encode() + body
    return entry("response", url, "application/http; msgtype=response", answer, at)


def entry(kind: str, url: str, media: str, body: bytes, at: str = "2026-03-01T12:00:00Z") -> bytes:
    """One record of any kind."""
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library leaves its temporary file to the collector
        writer = WARCWriter(out, gzip=False)
        head = {"Content-Type": media, "WARC-Date": at}
        made = writer.create_warc_record(
            url, kind, payload=io.BytesIO(body), warc_content_type=media, warc_headers_dict=head
        )
        writer.write_record(made)
        del writer, made
    return out.getvalue()


def warc(path: Path, zipped: bool = True) -> None:
    """Two pages, and what is no page: a request, a picture, a resource."""
    entries = [
        entry("request", "http://a.example/1", "application/http", b"GET / HTTP/1.1\r\n\r\n"),
        response("http://a.example/1", "text/html; charset=gbk", html("甲", LONG).encode("gbk")),
        response("http://a.example/p.png", "image/png", b"\x89PNG"),
        response("http://a.example/2", "text/html", html("乙", LONG).encode(), "no date"),
        entry("resource", "http://a.example/3", "text/html", b"<p>x"),
    ]
    path.write_bytes(b"".join(gzip.compress(e) if zipped else e for e in entries))


def test_one_file_with_its_address(tmp_path: Path) -> None:
    file = tmp_path / "页 面#1.html"
    text = html("国标", LONG, links={"/b.html": "链接"}).replace("utf-8", "gbk")
    file.write_bytes(text.encode("gbk"))
    said = Cleaned(file, "--url", "http://a.example/x/a.html")
    assert (said.status, said.errors) == (0, [])
    [record] = said.records
    assert record["url"] == "http://a.example/x/a.html"
    assert record["title"] == "国标"
    assert LONG in record["body"]
    assert record["encoding"].lower().startswith("gb")
    assert record["links"][0]["url"] == "http://a.example/b.html"


def test_a_file_without_address_has_one_of_its_name(tmp_path: Path) -> None:
    for name in ("页 面#1.html", "a?b.html", "a%20b.html"):
        (tmp_path / name).write_text(html(name, LONG), "utf-8")
    said = Cleaned(tmp_path)
    assert said.of_each("url") == [
        "http://localhost/a%2520b.html",
        "http://localhost/a%3Fb.html",
        "http://localhost/%E9%A1%B5%20%E9%9D%A2%231.html",
    ]
    assert len({record["page_id"] for record in said.records}) == 3


def test_blocks_are_there_when_they_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text("<a href=1>一</a> <a href=2>二</a> <a href=3>三</a><p>" + LONG, "utf-8")
    for blocks, count in ((False, 0), (True, 1)):
        [record] = Cleaned(file, *(["--blocks"] if blocks else [])).records
        assert len(record["link_blocks"]) == count


def test_folders_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b/2.htm", "a/9.HTML", "a/1.html", "c.xhtml", "a/readme.txt", "a/.git/x"):
        file = tmp_path / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html(name, LONG), "utf-8")
    (tmp_path / "in/d.jsonl").write_text(row("行") + "\n", "utf-8")
    said = Cleaned(tmp_path / "in", tmp_path / "in/b/2.htm")
    assert said.of_each("title") == [
        "a/1.html",
        "a/9.HTML",
        "b/2.htm",
        "c.xhtml",
        "第行页",
        "b/2.htm",
    ]


def test_a_mirror_is_read_as_the_hosts_it_is_of(tmp_path: Path) -> None:
    pages = (
        "a.example/index.asp",
        "a.example/list.php?id=7&p=2",
        "127.0.1.1:8800/x/页",
        "v2/a.html",
    )
    for name in (*pages, "a.example/s.css", "a.example/.x/a.html", "b.example/feed.xml"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(("\ufeff\n<!DOCTYPE html>" + html(name, LONG)).encode())
    (tmp_path / "b.example/feed.xml").write_text("<?xml?><rss><title>x</title>", "utf-8")
    said = Cleaned(tmp_path)
    assert said.of_each("url") == [
        "http://127.0.1.1:8800/x/%E9%A1%B5",
        "http://a.example/index.asp",
        "http://a.example/list.php?id=7&p=2",
        "http://localhost/v2/a.html",
    ]
    assert said.errors == ["skipped 2 files that are not HTML, WARC or .jsonl"]


@pytest.mark.parametrize("zipped", [True, False])
def test_warc(tmp_path: Path, zipped: bool) -> None:
    file = tmp_path / ("x.WARC.gz" if zipped else "x.warc")
    warc(file, zipped)
    said = Cleaned(file)
    assert (said.status, said.errors) == (0, [])
    assert said.of_each("title") == ["甲", "乙"]
    assert said.of_each("url") == ["http://a.example/1", "http://a.example/2"]
    at = [datetime.fromisoformat(r["fetched_at"]).astimezone(UTC) for r in said.records]
    assert at[0] == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_broken_archive_is_one_error(tmp_path: Path) -> None:
    whole, cut, none = tmp_path / "a.warc.gz", tmp_path / "b.warc.gz", tmp_path / "c.warc"
    warc(whole)
    cut.write_bytes(whole.read_bytes()[:900])
    none.write_bytes(b"this is no archive\r\n" * 9)
    damaged = bytearray(whole.read_bytes())
    damaged[700:760] = b"\xff" * 60
    (tmp_path / "d.warc.gz").write_bytes(damaged)
    said = Cleaned(tmp_path)
    assert said.status == 1
    assert said.of_each("title")[:2] == ["甲", "乙"]
    assert f"{none}: broken: it has no WARC record" in said.errors
    assert all(line.startswith(str(tmp_path)) for line in said.errors)
    assert all(line.isprintable() for line in said.errors)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "ROWS.JSONL.GZ"])
def test_rows(tmp_path: Path, name: str) -> None:
    lines: list[bytes] = [
        row(1).encode(),
        b"",
        b"no json",
        b'{"url": "http://a.example/"}',
        json.dumps({"url": "http://a.example/3", "html": html("第3页", LONG)}).encode(),
        b'{"url": "http://a.example/", "html_base64": "%%%"}',
        b'{"url": 5, "html_base64": "PHA+eA=="}',
        b"[1]",
        b"\xff\xfe\xff broken bytes",
        b'{"url": "http://a.example/\\ud800", "html_base64": "PHA+eA=="}',
        b'{"url": "mailto:x", "html_base64": "PHA+eA=="}',
        row(2).encode(),
    ]
    data = b"\n".join(lines) + b"\n"
    file = tmp_path / name
    file.write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    said = Cleaned(file)
    assert said.status == 1
    assert said.of_each("title") == ["第1页", "第3页", "第2页"]
    assert [int(line.split(":")[1]) for line in said.errors] == [3, 4, 6, 7, 8, 9, 10, 11]


def test_cut_rows_end_with_an_error(tmp_path: Path) -> None:
    data = gzip.compress("".join(row(n) + "\n" for n in range(200)).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(data[:-40])
    (tmp_path / "no.jsonl.gz").write_bytes(b"no gzip")
    damaged = data[:60] + b"\x00" * 40 + data[100:]
    (tmp_path / "wrong.jsonl.gz").write_bytes(damaged)
    said = Cleaned(tmp_path)
    assert said.status == 1
    assert {Path(line.split(":")[0]).name for line in said.errors} == {
        "cut.jsonl.gz",
        "no.jsonl.gz",
        "wrong.jsonl.gz",
    }


def test_what_is_no_page_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"%PDF-1.7 ...")
    (tmp_path / "b.html").write_text(html("页", LONG), "utf-8")
    (tmp_path / "c.html").write_bytes(b"")
    said = Cleaned(tmp_path)
    assert said.status == 1
    assert "页" in said.of_each("title")
    assert "a.html: this is PDF, not HTML" in said.errors[0]


def test_wrong_use(tmp_path: Path) -> None:
    page, rows = tmp_path / "a.html", tmp_path / "B.JSONL"
    page.write_text("<p>x", "utf-8")
    rows.write_text(row(1), "utf-8")
    (tmp_path / "empty").mkdir()
    for paths, url, text in (
        ([tmp_path / "none.html"], "", "does not exist"),
        ([tmp_path / "empty"], "", "holds no HTML"),
        ([page, page], "http://a.example/", "--url"),
        ([rows], "http://a.example/", "--url"),
        ([tmp_path, page], "http://a.example/", "--url"),
    ):
        said = Cleaned(*paths, *(["--url", url] if url else []))
        assert (said.status, len(said.errors)) == (2, 1)
        assert text in said.errors[0]


def test_many_pages_keep_their_order(tmp_path: Path) -> None:
    count = 75
    rows = [row(n) for n in range(count)]
    rows[40] = "broken"
    (tmp_path / "many.jsonl").write_text("\n".join(rows), "utf-8")
    done = crawlclean("clean", str(tmp_path / "many.jsonl"), check=False)
    assert done.returncode == 1
    titles = [json.loads(line)["title"] for line in done.stdout.splitlines()]
    assert titles == [f"第{n}页" for n in range(count) if n != 40]
    [error] = [line for line in done.stderr.splitlines() if "many.jsonl:41" in line]
    assert "many.jsonl:41: is no JSON" in error
    assert "Traceback" not in done.stderr


def test_files_of_a_folder_have_addresses_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("index.html", "sub/index.html"):
        (tmp_path / name).write_text("<a href='b.html'>b</a>", "utf-8")
    said = Cleaned(tmp_path, "--url", "http://a.example/x")
    assert (said.status, said.of_each("url")) == (
        0,
        ["http://a.example/x/index.html", "http://a.example/x/sub/index.html"],
    )
    assert said.records[1]["links"][0]["url"] == "http://a.example/x/sub/b.html"


def test_a_warc_that_ends_early_is_said(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(4000).hex()
    entries = b"".join(
        gzip.compress(response(f"http://a.example/{i}", "text/html", f"<p>{noise}".encode()))
        for i in range(3)
    )
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(entries[: len(entries) * 5 // 6])
    said = Cleaned(cut)
    assert said.status == 1
    assert len(said.records) == 2
    assert "broken: ends in the middle of http://a.example/2" in said.errors[0]
