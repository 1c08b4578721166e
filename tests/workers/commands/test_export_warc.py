"""`export --warc`: other tools read the files, a kill loses nothing, imports give the records."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator, is_http
from warcio.archiveiterator import ArchiveIterator

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.export import FILE
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings
from tests.flow.test_one_crawl import small_site
from tests.kit.commands import DataFolder, call
from tests.kit.crawls import crawlclean, run_crawl, start
from tests.kit.fixtures import server
from tests.kit.mongo_server import MongoServer, own_store, url_of
from tests.kit.outcomes import HOST, later, make_outcome
from tests.kit.timing import wait_until
from tests.kit.web import Page, Web

__all__ = ["server"]

PAGES = 300
BODIES = 100


def outcome(n: int) -> Outcome:
    """A page whose body two others have, too; one in fifty without a body."""
    made = make_outcome(f"/t/{n}", keep_raw=True, links=2)
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("X-N", f"{n}"))
    body = b"" if n % 50 == 49 else f"<p>{n % BODIES}</p>".encode() * 40
    result = replace(made.queued.result, body=body, headers=headers)
    return replace(made, queued=replace(made.queued, result=result))


def fill(store: Store) -> None:
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",)), CrawlState.FINISHED)
    store.save([outcome(n) for n in range(PAGES)])
    other = make_outcome("/t/0", keep_raw=True, crawl_id="c2", at=later(5))
    store.crawls.put(CrawlSpec(crawl_id="c2", seeds=(f"https://{HOST}/",)), CrawlState.FINISHED)
    store.save([other])
    store.statistics.refresh()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warc")
    store = SqliteStore(folder / "records.sqlite")
    fill(store)
    store.close()
    return folder


@contextmanager
def stored_in(name: str, data: Path, server: MongoServer) -> Iterator[Settings]:
    """Settings of a filled store."""
    if name == "sqlite":
        yield replace(Settings(), storage=StorageConfig(data=data))
        return
    with own_store(server.url("")) as store:
        fill(store)
        assert isinstance(store, MongoStore)
        storage = StorageConfig(redis_url="redis://127.0.0.1:1/0", mongodb_url=url_of(store))
        yield replace(Settings(), storage=storage)


def records(*paths: Path) -> list[tuple[str, dict[str, str], bytes]]:
    """(type, headers, payload) of every record, read by warcio, digests checked."""
    found = []
    for path in paths:
        with path.open("rb") as stream:
            for entry in ArchiveIterator(stream, check_digests="raise"):
                headers = dict(entry.rec_headers.headers)
                found.append((entry.rec_type, headers, entry.content_stream().read()))
    return found


@pytest.mark.parametrize("name", ["sqlite", "mongo"])
def test_two_other_tools_read_the_file(
    name: str, data: Path, server: MongoServer, tmp_path: Path
) -> None:
    path = tmp_path / "out.warc.gz"
    with stored_in(name, data, server) as settings:
        assert call(settings, "export", "--warc", "--crawl", "c1", "--output", str(path)) == 0
    found = records(path)
    kinds = Counter(kind for kind, *_ in found)
    empty = PAGES // 50
    with_body = BODIES - BODIES // 50
    assert kinds == {
        "warcinfo": 1,
        "response": with_body + empty,
        "revisit": PAGES - with_body - empty,
        "request": PAGES,
        "metadata": PAGES,
    }
    assert found[0][1]["WARC-Filename"] == "out.warc.gz"
    assert b"format: WARC File Format 1.1" in found[0][2]
    ids = [headers["WARC-Record-ID"] for _, headers, _ in found]
    assert len(set(ids)) == len(ids)
    check_links(found)
    assert read_fast(path) == kinds


def read_fast(path: Path) -> Counter[str]:
    """Types of all records, read by FastWARC, bodies and digests checked."""
    kinds: Counter[str] = Counter()
    with path.open("rb") as stream:
        for each in FastIterator(stream):
            kinds[each.headers["WARC-Type"]] += 1
            if each.headers["WARC-Type"] != "response":
                continue
            assert is_http(each)
            assert each.verify_payload_digest()
            assert each.http_headers["X-Archive-Orig-Content-Encoding"] == "gzip"
            assert each.reader.read()[:3] in (b"", b"<p>")
    return kinds


def check_links(found: list[tuple[str, dict[str, str], bytes]]) -> None:
    """What records name of each other is there, before them."""
    bodies: dict[str, tuple[str, str, bytes]] = {}
    last = ""
    for kind, headers, payload in found[1:]:
        uri = headers["WARC-Target-URI"]
        if kind == "response":
            bodies[headers["WARC-Record-ID"]] = (uri, headers["WARC-Payload-Digest"], payload)
        if kind == "revisit":
            original, digest, _ = bodies[headers["WARC-Refers-To"]]
            assert original == headers["WARC-Refers-To-Target-URI"]
            assert digest == headers["WARC-Payload-Digest"]
            assert headers["WARC-Profile"].endswith("/revisit/identical-payload-digest")
            assert payload == b""
        if kind in ("response", "revisit"):
            last = headers["WARC-Record-ID"]
        else:
            assert headers["WARC-Concurrent-To"] == last
        if kind == "metadata":
            assert b"crawl: c1\r\n" in payload
            assert b"via: " in payload


def test_each_record_is_a_gzip_member(data: Path, tmp_path: Path) -> None:
    folder = DataFolder(data)
    folder.output("export", "--warc", "--output", str(tmp_path / "a.warc.gz"))
    packed = (tmp_path / "a.warc.gz").read_bytes()
    plain = gzip.decompress(packed)
    assert plain.count(b"\r\n\r\nWARC/1.1\r\n") + 1 == packed.count(b"\x1f\x8b\x08\x00\x00\x00\x00")


def test_files_of_a_size_are_one_archive(data: Path, tmp_path: Path) -> None:
    folder = DataFolder(data)
    arguments = ("export", "--warc", "--output", str(tmp_path), "--chunk-size", "40")
    folder.output(*arguments)
    files = sorted(tmp_path.iterdir())
    names = [f"records-{n:05}.warc.gz" for n in range(1, (PAGES + 1) // 40 + 2)]
    assert [path.name for path in files] == names
    found = [each for each in records(*files) if each[0] != "warcinfo"]
    assert sum(kind in ("response", "revisit") for kind, *_ in found) == PAGES + 1
    for path in files:
        assert records(path)[0][1]["WARC-Filename"] == path.name
    assert "is of an export that is finished" in folder.error(*arguments, status=2)


def test_a_killed_export_goes_on(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (
        *("export", "--warc", "--crawl", "c1", "--chunk-size", "3"),
        *("--output", str(out), "--data", str(data)),
    )
    for least in (2, 10, 30):
        process = start(*arguments)
        wait_until(partial(has_files, out, least))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert (out / FILE).exists()
    done = crawlclean(*arguments)
    assert "going on after " in done.stderr
    files = sorted(out.iterdir())
    assert len(files) == PAGES // 3
    found = [each for each in records(*files) if each[0] != "warcinfo"]
    check_links([found[0], *found])
    whole = [(kind, headers) for kind, headers, _ in found if kind in ("response", "revisit")]
    pages = Counter(headers["WARC-Target-URI"] for _, headers in whole)
    assert pages == Counter(f"https://{HOST}/t/{n}" for n in range(PAGES))
    bodies = [h["WARC-Payload-Digest"] for kind, h, body in found if body and kind == "response"]
    assert len(set(bodies)) == len(bodies), "each body once, over all kills"


def has_files(folder: Path, least: int) -> bool:
    return len(list(folder.glob("records-*"))) >= least


def test_which_responses(data: Path, tmp_path: Path) -> None:
    folder = DataFolder(data)
    out = ("export", "--warc", "--output", str(tmp_path / "some.warc.gz"))

    def count(*options: str) -> int:
        folder.output(*out, *options)
        return sum(kind in ("response", "revisit") for kind, *_ in records(Path(out[-1])))

    assert count() == PAGES + 1
    assert count("--crawl", "c2") == 1
    assert count("--host", HOST) == PAGES + 1
    assert count("--since", "2026-03-01T12:00:03") == 1
    for options in (["--kind", "article"], ["--unique"], ["--min-chars", "9"], ["--images", "x"]):
        assert f"{options[0]} is for records" in folder.error(*out, *options, status=2)
    for options in (["--gzip"], ["--file-per-page"], ["--fields", "url"]):
        folder.error(*out, *options, status=2)
    assert "needs --output" in folder.error("export", "--warc", status=2)


def site() -> dict[str, Page]:
    """The small site, and two pages with one body."""
    pages = small_site()
    pages["/same.html"] = pages["/c.html"]
    index = pages["/hidden.html"]
    assert isinstance(index, str)
    pages["/hidden.html"] = index.replace("</body>", '<a href="/same.html">同</a></body>')
    return pages


def test_an_import_of_the_archive_gives_the_same_records(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with Web(tmp_path / "web", site()) as web:
        run_crawl(first, web.url())
    out = tmp_path / "out"
    DataFolder(first).output("export", "--warc", "--output", str(out), "--chunk-size", "2")
    kinds = Counter(kind for kind, *_ in records(*sorted(out.iterdir())))
    assert kinds["revisit"] >= 1
    DataFolder(second).output("import", str(out), "--crawl", "again", "--no-learn")
    was, now = read_records(DataFolder(first)), read_records(DataFolder(second))
    assert len(was) >= 6
    assert now == was


def test_a_revisit_whose_body_is_nowhere_is_named(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    DataFolder(data).output("export", "--warc", "--output", str(out), "--chunk-size", "150")
    files = sorted(out.iterdir())
    files[0].unlink()
    missing = 0
    bodies = set()
    for kind, headers, body in records(*files[1:]):
        if kind == "response" and body:
            bodies.add(headers["WARC-Payload-Digest"])
        if kind == "revisit":
            missing += headers["WARC-Payload-Digest"] not in bodies
    status, _, err = DataFolder(tmp_path / "new").call("import", str(out), "--no-learn")
    assert status == 1
    assert err.count(": a revisit, whose body no file before it has") == missing > 0


def read_records(folder: DataFolder) -> list[dict[str, Any]]:
    """The records of a folder, without what says how a page came there."""
    found = [json.loads(line) for line in folder.output("export").splitlines()]
    for each in found:
        for name in ("provenance", "model_version", "origin"):
            each.pop(name, None)
    return sorted(found, key=lambda each: str(each["url"]))


def _filled(data: Path) -> tuple[DataFolder, Path]:
    """A data folder with records, and the only segment of its archive."""
    data.mkdir()
    with closing(SqliteStore(data / "records.sqlite")) as store:
        fill(store)
    [segment] = (data / "raw").glob("*.warc.gz")
    return DataFolder(data), segment


@pytest.mark.parametrize("damage", ["cut", "gone", "zeroed", "a bit", "the last bit"])
@pytest.mark.parametrize("chunks", [(), ("--chunk-size", "40")])
def test_what_the_archive_has_lost_is_left_out_and_said(
    tmp_path: Path, damage: str, chunks: tuple[str, ...]
) -> None:
    folder, segment = _filled(tmp_path / "data")
    whole = segment.read_bytes()
    if damage == "gone":
        segment.unlink()
    elif damage == "cut":
        segment.write_bytes(whole[:-3000])
    elif damage == "zeroed":
        segment.write_bytes(whole[:5000] + bytes(300) + whole[5300:])
    else:  # the last four bytes of a member are its length
        place = len(whole) // 2 if damage == "a bit" else len(whole) - 5
        segment.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    out = tmp_path / "out"
    out.mkdir()
    status, _, said = folder.call("export", "--warc", "--output", str(out), *chunks)
    assert status == 1
    found = re.search(r"^left out (\d+) responses?, which the archive has lost", said, re.M)
    assert found, said
    bodies = [answer for path in sorted(out.iterdir()) for answer in answers_in(path)]
    assert len(bodies) + int(found[1]) == PAGES + 1
    assert 0 < int(found[1]) < 40 if damage != "gone" else not bodies
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said)
    assert "the archive is damaged (" in folder.call("doctor")[1]


def test_half_a_record_of_a_killed_writer_is_no_damage(tmp_path: Path) -> None:
    folder, segment = _filled(tmp_path / "data")
    whole = segment.read_bytes()
    segment.write_bytes(whole + whole[:100])
    assert "the archive is damaged (" not in folder.call("doctor")[1]


def answers_in(path: Path) -> list[str]:
    """The URLs of the responses and revisits of a file."""
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        kinds = ("response", "revisit")
        return [r.rec_headers["WARC-Target-URI"] for r in records if r.rec_type in kinds]


def test_a_run_says_that_its_archive_is_damaged(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(tmp_path, small_site()) as web:
        first = crawlclean("run", web.url("/"), "--data", str(data), "--allow-private")
        [segment] = sorted((data / "raw").glob("*.warc.gz"))
        assert "archive" not in first.stderr
        os.truncate(segment, segment.stat().st_size - 10)
        again = crawlclean("run", web.url("/"), "--data", str(data), "--allow-private")
    assert f"the archive is damaged ({segment} lacks 10 bytes)" in again.stderr
    failed = crawlclean("model", "reclean", web.host, "--again", "--data", str(data), check=False)
    assert failed.returncode == 1
    assert f"\n{web.url('')}" in "\n" + failed.stderr  # the page's URL, not its id
