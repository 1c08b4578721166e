from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from crawlclean import RawPage, clean
from crawlclean.cleaning import json_values
from crawlclean.cleaning.errors import ConfigError, SchemaMismatch, StoreDamaged
from crawlclean.cleaning.json_values import cleaned_value
from crawlclean.cleaning.page import without_surrogates
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    HostStats,
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkBlock,
    LinkKind,
    LinkReason,
    Outlink,
    PageKind,
    Post,
    Via,
)
from crawlclean.storage.crawl_types import CRAWL_ID, CrawlSpec, KeepRaw, Scope, Step, is_crawl_id
from crawlclean.storage.store import rows as codec, rows as record_blobs
from tests.kit.outcomes import T0, make_record

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too
MAYBE = st.none() | TEXT
SCORE = st.floats(0, 1)
COUNT = st.integers(0, 1 << 70)
TIME = st.datetimes(
    timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
    | st.just(UTC)
)
URL = TEXT | TEXT.map("https://h.example".__add__)
LINK = st.one_of(
    st.builds(
        Link,
        href=TEXT,
        url=URL,
        text=TEXT,
        title=TEXT,
        rel=TEXT,
        kind=st.sampled_from(LinkKind),
        score=SCORE,
        reason=st.sampled_from(LinkReason),
    ),
    TEXT.map(lambda path: Link(href=path, url="https://h.example" + path, text=path * 20)),
)
IMAGE = st.builds(
    Image,
    src=TEXT,
    url=URL,
    alt=TEXT,
    caption=TEXT,
    width=st.none() | COUNT,
    height=st.none() | COUNT,
    link=MAYBE,
    kind=st.sampled_from(ImageKind),
    score=SCORE,
    reason=st.sampled_from(ImageReason),
)
OUTLINK = st.builds(
    Outlink,
    url=URL,
    via=st.sampled_from(Via),
    kind=st.sampled_from(LinkKind),
    score=SCORE,
    text=TEXT,
)
RECORD_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "page_id": TEXT,
    "url": TEXT,
    "canonical_url": TEXT,
    "host": TEXT,
    "fetched_at": TIME,
    "kind": st.sampled_from(PageKind),
    "title": TEXT,
    "author": MAYBE,
    "published_at": st.none() | TIME,
    "language": MAYBE,
    "encoding": TEXT,
    "body": TEXT,
    "markdown": TEXT,
    "posts": st.lists(
        st.builds(Post, author=MAYBE, published_at=st.none() | TIME, floor=COUNT, body=TEXT),
        max_size=3,
    ).map(tuple),
    "links": st.lists(LINK, max_size=5).map(tuple),
    "images": st.lists(IMAGE, max_size=3).map(tuple),
    "outlinks": st.lists(OUTLINK, max_size=3).map(tuple),
    "signature": TEXT,
    "model_version": COUNT,
    "body_source": st.sampled_from(BodySource),
    "warnings": st.lists(
        st.builds(PageWarning, kind=st.sampled_from(WarningKind), detail=TEXT, count=COUNT),
        max_size=3,
    ).map(tuple),
    "link_blocks": st.lists(
        st.builds(LinkBlock, first=COUNT, end=COUNT, start_char=COUNT, end_char=COUNT), max_size=3
    ).map(tuple),
    "confidence": st.none() | SCORE,
    "lcr": SCORE,
    "ccr": SCORE,
    "origin": TEXT,
    "extra": st.dictionaries(
        st.text("ab中", max_size=3), st.none() | st.booleans() | COUNT | SCORE, max_size=2
    ),
}
RECORD = st.builds(CleanRecord, **RECORD_FIELDS)
SPEC = st.builds(
    CrawlSpec,
    crawl_id=st.from_regex(CRAWL_ID, fullmatch=True).filter(is_crawl_id),
    seeds=st.lists(TEXT).map(tuple),
    scope=st.sampled_from(Scope),
    max_pages=st.none() | COUNT,
    max_depth=st.none() | COUNT,
    keep_raw=st.sampled_from(KeepRaw),
    allow_private=st.booleans(),
    delay_ms=st.none() | COUNT,
    slots=COUNT,
    verify_tls=st.booleans(),
    topic=TEXT,
)
STATS = st.builds(
    HostStats,
    host=TEXT,
    pages_by_state=st.dictionaries(st.text(), COUNT),
    pages_by_kind=st.dictionaries(st.sampled_from(PageKind), COUNT),
    links_by_kind=st.dictionaries(st.sampled_from(LinkKind), COUNT),
    images_by_kind=st.dictionaries(st.sampled_from(ImageKind), COUNT),
    errors_by_reason=st.dictionaries(st.text(), COUNT),
    certificate_faults=st.dictionaries(st.text(), COUNT),
    errors_by_status=st.dictionaries(st.text(), COUNT),
    pages_by_warning=st.dictionaries(st.sampled_from(WarningKind), COUNT),
    empty_bodies=COUNT,
    fetched_bytes=COUNT,
    html_chars=COUNT,
    body_chars=COUNT,
    near_duplicates=COUNT,
    wait_ms=COUNT,
    first_seen=st.none() | TIME,
    last_seen=st.none() | TIME,
    model_version=COUNT,
    exact=st.booleans(),
)


def packed(record: CleanRecord) -> tuple[bytes, bytes]:
    """The two blobs of a record, as a store saves them."""
    head, links = record_blobs.encode_record(record)
    return record_blobs.compress(head), record_blobs.compress(links)


def carried(value: Any) -> Any:
    """The value as UTF-8 can carry it."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, tuple):
        return tuple(map(carried, value))
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        return msgspec.structs.replace(value, **{n: carried(getattr(value, n)) for n in names})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: carried(getattr(value, f.name)) for f in fields(value)})
    return value


def with_outlinks_to_its_links(record: CleanRecord) -> CleanRecord:
    found = tuple(
        Outlink(url=link.url, via=Via.LINK, text=link.text[: 80 - n])
        for n, link in enumerate(record.links)
    )
    return replace(record, outlinks=found + record.outlinks)


@given(RECORD.map(with_outlinks_to_its_links))
@settings(max_examples=200, deadline=None)
def test_record_survives(record: CleanRecord) -> None:
    expected = carried(record)
    assert record_blobs.unpack_record(*packed(record)) == expected
    assert CleanRecord.from_json(record.to_json()) == expected
    assert cleaned_value(record) == expected


@given(RECORD.map(carried))
@settings(deadline=None)
def test_a_stored_record_is_a_line_of_an_export(record: CleanRecord) -> None:
    assert record_blobs.unpack_line(*packed(record)) == CleanRecord.to_json(record)


def test_a_field_that_is_not_stored_is_exported_with_its_default() -> None:
    record = make_record("https://forum.example/t/1", links=3)
    expected = record.to_json()
    head, links = map(json.loads, record_blobs.encode_record(record))
    short = {name: value for name, value in head.items() if name not in ("ccr", "lcr")}
    for one, two in ((short, links), (head | {"x": 1}, links), (head, links | {"x": 1})):
        packed = [record_blobs.compress(json.dumps(each).encode()) for each in (one, two)]
        assert record_blobs.unpack_line(packed[0], packed[1]) == expected


@given(RECORD)
@settings(deadline=None)
def test_a_made_record_has_no_surrogates(record: CleanRecord) -> None:
    in_texts = replace(record, title=record.title + "\ud800")
    assert without_surrogates(in_texts) == carried(in_texts)
    assert without_surrogates(carried(record)) == carried(record)


def test_a_page_may_spell_a_surrogate_in_its_json() -> None:
    linked = r'{"@type": "NewsArticle", "headline": "x", "author": {"name": "An \udfff Na"}}'
    html = f"<title>x</title><script type=application/ld+json>{linked}</script><p>{'text, ' * 40}"
    page = replace(RawPage.from_bytes("https://h.example/", b""), html=html)
    record = clean(page)
    assert record.author == "An \ufffd Na"
    record.to_json().decode()


def test_no_field_is_left_out() -> None:
    assert set(RECORD_FIELDS) == {field.name for field in fields(CleanRecord)}


@given(SPEC)
@settings(deadline=None)
def test_spec_survives(spec: CrawlSpec) -> None:
    assert codec.spec_from_json(codec.spec_to_json(spec)) == carried(spec)


@given(STATS)
@settings(deadline=None)
def test_statistics_survive(stats: HostStats) -> None:
    data = codec.stats_to_json(stats)
    assert codec.stats_from_json(data) == replace(stats, host=carried(stats.host))


@given(st.lists(st.builds(Step, at=TIME, step=TEXT, detail=TEXT)).map(tuple))
@settings(deadline=None)
def test_log_survives(log: tuple[Step, ...]) -> None:
    assert codec.log_from_json(codec.log_to_json(log)) == carried(log)


@given(TIME)
def test_microseconds(at: datetime) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    if first <= at <= last:
        assert codec.from_microseconds(codec.to_microseconds(at)) == at


def test_export_is_readable() -> None:
    record = make_record("https://forum.example/t/1", links=1)
    shown = json.loads(record.to_json())
    assert list(shown) == ["schema", *(field.name for field in fields(CleanRecord))]
    assert shown["schema"] == json_values.SCHEMA
    assert shown["fetched_at"] == "2026-03-01T12:00:00.123456Z"
    assert type(shown["kind"]) is str
    assert shown["links"][0]["kind"] == "body"
    assert shown["warnings"] == [{"kind": "bad_links", "detail": "", "count": 2}]
    assert "正文" in json.dumps(shown, ensure_ascii=False)


def test_a_time_without_zone_is_utc() -> None:
    naive = T0.replace(tzinfo=None)
    record = replace(make_record("https://forum.example/"), published_at=naive)
    assert record_blobs.unpack_record(*packed(record)).published_at == T0
    assert codec.to_microseconds(naive) == codec.to_microseconds(T0)


def test_links_of_a_typical_page_take_little() -> None:
    record = make_record("https://forum.example/t/1", links=156)
    links = record_blobs.encode_record(record)[1]
    assert len(links) > 35_000
    assert len(record_blobs.compress(links)) <= 6_000


def test_newer_schema_is_told() -> None:
    record = make_record("https://forum.example/")
    head, links = record_blobs.encode_record(record)
    newer = json.dumps(json.loads(head) | {"schema": json_values.SCHEMA + 1}).encode()
    with pytest.raises(SchemaMismatch, match="newer version"):
        record_blobs.unpack_record(record_blobs.compress(newer), record_blobs.compress(links))
    with pytest.raises(SchemaMismatch, match="newer version"):
        record_blobs.unpack_line(record_blobs.compress(newer), record_blobs.compress(links))
    newer = json.dumps(json.loads(links) | {"schema": json_values.SCHEMA + 1}).encode()
    with pytest.raises(SchemaMismatch):
        record_blobs.unpack_record(record_blobs.compress(head), record_blobs.compress(newer))
    with pytest.raises(SchemaMismatch):
        codec.spec_from_json(b'{"schema":%d}' % (json_values.SCHEMA + 1))


@given(st.integers(0), st.integers(0, 7), st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_flipped_bit_never_gives_another_record(place: int, bit: int, in_links: bool) -> None:
    blobs = [bytearray(each) for each in packed(make_record("https://h.example/"))]
    blob = blobs[in_links]
    blob[place % len(blob)] ^= 1 << bit
    expected = make_record("https://h.example/")
    try:
        found = record_blobs.unpack_record(bytes(blobs[0]), bytes(blobs[1]))
    except StoreDamaged:
        with pytest.raises(StoreDamaged):
            record_blobs.unpack_line(bytes(blobs[0]), bytes(blobs[1]))
        return
    assert found == expected  # a bit that zstd does not use
    line = record_blobs.unpack_line(bytes(blobs[0]), bytes(blobs[1]))
    assert line == expected.to_json()


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b"{}",
        b"nonsense",
        b'{"schema":1}',
        b'{"schema":"1"}',
        b'{"schema":0}',
        b'{"schema":1,"links":[],"images":3,"outlinks":[]}',
        b'{"schema":1,"links":[{"href":1}],"images":[],"outlinks":[]}',
    ],
)
def test_what_we_never_wrote_is_damage(damage: bytes) -> None:
    head, links = packed(make_record("https://forum.example/"))
    with pytest.raises(StoreDamaged):
        record_blobs.unpack_record(head, record_blobs.compress(damage))
    with pytest.raises(StoreDamaged):
        record_blobs.unpack_record(record_blobs.compress(damage), links)
    with pytest.raises(StoreDamaged):
        record_blobs.unpack_line(record_blobs.compress(damage), links)
    with pytest.raises(StoreDamaged):
        record_blobs.unpack_record(damage, links)


@pytest.mark.parametrize(
    "name", ["news", "example.com-3f2a", "伊朗地震", "café_2", "7天", "ニュース", "뉴스", "震" * 64]
)
def test_names_of_crawls_have_letters_of_any_script(name: str) -> None:
    assert CrawlSpec(crawl_id=name, seeds=()).crawl_id == name


NO_NAMES = (
    "", ".news", "-news", "_news", "a b", "a:b", "a/b", "a\\b", "a*", "a?", "a[b]", "a\n", "a\x1b",
    "a\u202eb", "a\u200db", "a\u00a0b", "a\u3000b", "a\ufeff", "a\ud800", "cafe\u0301", "震" * 65,
    "\U00020000" * 51,
)  # fmt: skip


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_names_of_crawls_have_nothing_that_keys_or_terminals_take_otherwise(name: str) -> None:
    with pytest.raises(ConfigError, match="no crawl name"):
        CrawlSpec(crawl_id=name, seeds=())
