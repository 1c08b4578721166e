"""Records of an export: what the web wrote cannot end a line, a record or a gzip member."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from crawlclean.storage.archive.warc import (
    info_record,
    metadata_record,
    original_of,
    pack_member,
    payload_digest,
    record_id,
    request_record,
    response_record,
    revisit_record,
)
from crawlclean.storage.store.ports import Answer

EVIL = "a\r\nWARC-Type: response\r\n\r\n\u2028\ud800\0"
ANSWER = Answer(
    url=f"https://user@a.example:8443/p/{EVIL}?q=1#f",
    fetched_at=datetime(2026, 1, 31, 12, tzinfo=UTC),
    status=799,
    headers=(("Content-Type", f"text/html{EVIL}"), (EVIL, "1"), ("Content-Length", "9")),
    body=b"WARC/1.1\r\n\r\n" * 3,
)


def records() -> bytes:
    digest = payload_digest(ANSWER.body)
    identity = record_id("response", ANSWER, digest)
    made = (
        info_record("a.warc.gz", [("isPartOf", EVIL)]),
        response_record(ANSWER),
        revisit_record(ANSWER, digest, original_of(ANSWER, digest)),
        request_record(ANSWER, digest, identity),
        metadata_record(ANSWER, digest, identity, [("via", EVIL), ("linkText", EVIL)]),
    )
    return b"".join(map(pack_member, made))


def test_both_readers_see_five_records() -> None:
    kinds = ["warcinfo", "response", "revisit", "request", "metadata"]
    found = list(ArchiveIterator(BytesIO(records()), check_digests="raise"))
    assert [entry.rec_type for entry in found] == kinds
    assert len({entry.rec_headers.get_header("WARC-Record-ID") for entry in found}) == 5
    fast = [each.headers["WARC-Type"] for each in FastIterator(BytesIO(records()))]
    assert fast == kinds


def test_values_stay_in_their_lines() -> None:
    texts = {}
    for entry in ArchiveIterator(BytesIO(records())):
        texts[entry.rec_type] = entry.raw_stream.read()
        if entry.rec_type == "response":
            assert texts["response"] == ANSWER.body
            assert entry.http_headers.get_statuscode() == "799"
            assert entry.http_headers.get_header("X-Archive-Orig-Content-Length") == "9"
        if entry.rec_type == "request":
            assert entry.http_headers.get_header("Host") == "a.example:8443"
            assert entry.http_headers.protocol == "GET"
            assert "\r" not in entry.http_headers.statusline
    assert texts["metadata"].count(b"\r\n") == 2
    assert texts["revisit"] == texts["request"] == b""


def test_ids_are_the_same_each_time_but_of_each_record_another() -> None:
    digest = payload_digest(ANSWER.body)
    ids = {record_id(kind, ANSWER, digest) for kind in ("response", "revisit", "metadata")}
    assert len(ids) == 3
    assert record_id("response", ANSWER, digest) in response_record(ANSWER).decode()
