"""A page in the queue that nobody of us wrote ends as a failure of its own, whatever it says."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from crawlclean.cleaning.records import Via
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlSpec, FailureReason, FetchResult, PageRole, UrlState
from crawlclean.storage.queue.entries import pack_result, read_page
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.tasks import _end

URL = "http://a.example/x"
META, BODY = pack_result(
    FetchResult(status=200, headers=(("Content-Type", "text/html"),), body=b"<p>x", elapsed_ms=3)
)
PAGE: dict[bytes, bytes] = {
    b"state": b"claimed", b"url": URL.encode(), b"host": b"a.example", b"role": b"page",
    b"depth": b"0", b"referrer": b"", b"via": b"seed", b"text": b"", b"found_ms": b"1700000000000",
    b"attempt": b"1", b"crashes": b"0", b"fetched_ms": b"1700000000000", b"meta": META,
    b"body": BODY, b"hops": b"0", b"log": b"1\tclaimed\tw\n",
}  # fmt: skip
TERABYTE = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 40) + b"\x01\x00\x00"
CHANGES: tuple[dict[str, Any], ...] = (
    {"status": 10**40}, {"status": -1}, {"status": "x"}, {"status": None}, {"headers": 5},
    {"headers": [[1]]}, {"headers": [["a"] * 3]}, {"headers": {"a": "b"}},
    {"headers": [["Location", "\ud800"], ["ETag", "x" * 9999]]}, {"elapsed_ms": 1e400},
    {"elapsed_ms": 10**40}, {"failure": 7}, {"failure": ["dns"]}, {"failure": ["x", "y"]},
    {"failure": ["dns", 5]}, {"failure": ["dns", "\ud800"]}, {"failure": {"a": 1}},
    {"status": 301, "headers": [["Location", "http://a.example:99999/"]]},
    {"status": True}, {"headers": [[{}, []]]},
)  # fmt: skip
GARBAGE: tuple[bytes, ...] = (
    b"", b"\xff\xfe\x00", b"-1", b"9" * 30, b"9" * 5000, b"1e400", b"nan", b"inf", b"0x10", b"{",
    b"[" * 100_000, b"{}", b"[]", b"null", b"3", b'"x"', TERABYTE,
    zstandard.compress(bytes(300 << 20)),
    b"http://[::1/", b"javascript:1", b"file:///etc/passwd", b"http://a.example/" + b"x" * 100_000,
    b"http://\xff\xff/", b"9999999999999999\tx\ty\n", b"cos\nsystem\n(S'true'\ntR.", b"\x00" * 9,
    *(
        json.dumps({"status": 200, "headers": [], "elapsed_ms": 1} | change).encode()
        for change in CHANGES
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    opened = SqliteStore(Path(tmp_path_factory.mktemp("poison")) / "records.sqlite")
    yield opened
    opened.close()


@pytest.mark.parametrize("field", [*PAGE, b"poison"])
def test_any_field_may_be_anything(store: SqliteStore, field: bytes) -> None:
    for garbage in (*GARBAGE, None):
        changed = {**PAGE, field: garbage or b""}
        if garbage is None:
            del changed[field]
        page = read_page("c", page_id(URL), 7, changed)
        assert page.provenance.via in Via
        assert page.role in PageRole
        ending = _end(page, CrawlSpec(crawl_id="c", seeds=()), None, HookCalls())
        assert ending.outcome.state in UrlState
        if ending.outcome.failure:
            assert ending.outcome.failure.reason in FailureReason
        store.save([ending.outcome])
    assert store.urls.rows(page_id(URL))
