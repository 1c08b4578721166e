from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawlclean.cleaning.errors import StoreDamaged, StoreUnavailable
from crawlclean.storage.archive.segments import Archive, Place
from crawlclean.storage.archive.warc import (
    archived_headers,
    pack_member,
    response_record,
    target_uri,
    unpack_member,
)
from crawlclean.storage.store.ports import Answer
from tests.kit.outcomes import T0

URL = "https://forum.example/t/1?a=b"


class CommittedLengths(dict[int, int]):
    """Segments and their committed lengths, as a database would hold them."""

    def open_segments(self, below_bytes: int) -> list[int]:
        return sorted(number for number, length in self.items() if length < below_bytes)

    def committed(self, segment: int) -> int | None:
        return self.get(segment)

    def add_segment(self, segment: int) -> None:
        self.setdefault(segment, 0)


def member(body: bytes) -> bytes:
    headers = (("Content-Type", "text/html"),)
    answer = Answer(url=URL, fetched_at=T0, status=200, headers=headers, body=body)
    return pack_member(response_record(answer))


def write(archive: Archive, commits: CommittedLengths, *bodies: bytes) -> list[Place]:
    with archive.open_segment(commits) as segment:
        places = segment.append([member(body) for body in bodies])
        commits[segment.number] = segment.length
    return places


def bodies_of(path: Path) -> list[bytes]:
    """Every answer of a segment, as another WARC tool reads it."""
    with path.open("rb") as file:
        return [
            record.raw_stream.read()
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        ]


@given(
    body=st.binary(max_size=300),
    status=st.integers(100, 999),
    headers=st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "Content-Type",
                    "content-encoding",
                    "Content-Length",
                    "X-Archive-Orig-X",
                    "Set-Cookie",
                ]
            )
            | st.text(max_size=5),
            st.text(st.characters(exclude_categories=()), max_size=12),
        ),
        max_size=5,
    ).map(tuple),
    url=st.text(st.characters(exclude_categories=()), max_size=12).map(
        "https://h.example/".__add__
    ),
    at=st.datetimes(timezones=st.just(UTC)),
)
@settings(max_examples=150, deadline=None)
def test_an_answer_comes_back_equal(
    body: bytes, status: int, headers: tuple[tuple[str, str], ...], url: str, at: datetime
) -> None:
    record = response_record(
        Answer(url=url, fetched_at=at, status=status, headers=headers, body=body)
    )
    assert unpack_member(pack_member(record), url) == (status, archived_headers(headers), body)


def test_other_tools_read_it(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    answer = Answer(
        url="https://forum.example/a b",
        fetched_at=T0,
        status=404,
        headers=(("Content-Encoding", "gzip"), ("Content-Length", "5"), ("Server", "x")),
        body=b"decoded body",
    )
    with archive.open_segment(commits) as segment:
        segment.append([pack_member(response_record(answer))])
    with archive.path(1).open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        info = next(records)
        assert info.rec_type == "warcinfo"
        assert b"format: WARC File Format 1.1" in info.raw_stream.read()
        found = next(records)
        assert found.format == "warc"
        assert found.rec_headers.protocol == "WARC/1.1"
        assert found.rec_headers["WARC-Target-URI"] == "https://forum.example/a%20b"
        assert found.rec_headers["WARC-Date"] == "2026-03-01T12:00:00.123456Z"
        assert found.http_headers.statusline == "404 Not Found"
        assert found.http_headers.headers == [
            ("X-Archive-Orig-Content-Encoding", "gzip"),
            ("X-Archive-Orig-Content-Length", "5"),
            ("Server", "x"),
            ("Content-Length", "12"),
        ]
        assert found.content_stream().read() == b"decoded body"
    assert gzip.decompress(archive.path(1).read_bytes()).startswith(b"WARC/1.1\r\n")


def test_records_are_read_by_their_place(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    places = write(archive, commits, b"one", b"") + write(archive, commits, b"three" * 9999)
    assert [archive.read(place, URL)[2] for place in places] == [b"one", b"", b"three" * 9999]
    assert {place.segment for place in places} == {1}
    assert bodies_of(archive.path(1)) == [b"one", b"", b"three" * 9999]


def test_what_was_not_committed_is_cut_off(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    write(archive, commits, b"kept")
    with archive.open_segment(commits) as segment:  # its writer dies before the commit
        segment.append([member(b"lost")])
    with archive.path(1).open("ab") as file:
        file.write(member(b"torn")[:30])
    write(archive, commits, b"next")
    assert bodies_of(archive.path(1)) == [b"kept", b"next"]


def test_repair_cuts_what_was_left(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    write(archive, commits, b"kept")
    with archive.path(1).open("ab") as file:
        file.write(b"torn")
    assert archive.repair(commits) == 1
    assert archive.repair(commits) == 0
    assert bodies_of(archive.path(1)) == [b"kept"]


def test_a_full_segment_is_followed_by_a_new_one(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw", limit_bytes=900), CommittedLengths()
    bodies = [bytes([n]) * 9 for n in range(12)]
    for body in bodies:
        write(archive, commits, body)
    assert len(archive.numbers()) > 2
    assert [b for number in archive.numbers() for b in bodies_of(archive.path(number))] == bodies


def test_a_held_segment_is_left_alone(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    with archive.open_segment(commits) as first, archive.open_segment(commits) as second:
        assert (first.number, second.number) == (1, 2)
        with archive.hold(1) as held:
            assert not held
        assert archive.repair(commits) == 0
    with archive.hold(1) as held:
        assert held
    with archive.open_segment(commits) as again:
        assert again.number == 1


def test_a_segment_filled_by_another_before_the_lock_is_not_cut(tmp_path: Path) -> None:
    class Late(CommittedLengths):
        def open_segments(self, below_bytes: int) -> list[int]:
            return sorted(self) if below_bytes else []  # asked before the other writer's commit

    archive, commits = Archive(tmp_path / "raw", limit_bytes=600), Late()
    while commits.get(1, 0) < 600:
        write(archive, commits, b"x")
    before = archive.path(1).read_bytes()
    (place,) = write(archive, commits, b"y")
    assert place.segment == 2
    assert archive.path(1).read_bytes() == before


def test_unknown_files_are_never_touched(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    write(archive, commits, b"of a database that is gone")
    before = archive.path(1).read_bytes()
    (place,) = write(archive, CommittedLengths(), b"new")
    assert place.segment == 2
    assert archive.path(1).read_bytes() == before


def test_a_segment_shorter_than_its_row_gets_nothing_more(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    places = write(archive, commits, b"one")
    archive.path(1).write_bytes(archive.path(1).read_bytes()[:-9])
    assert write(archive, commits, b"two")[0].segment == 2
    with pytest.raises(StoreDamaged, match="shorter"):
        archive.read(places[0], URL)


def test_another_record_at_the_place_is_damage(tmp_path: Path) -> None:
    archive, commits = Archive(tmp_path / "raw"), CommittedLengths()
    (place,) = write(archive, commits, b"one")
    with pytest.raises(StoreDamaged):
        archive.read(place, URL + "&other")
    with pytest.raises(StoreDamaged):
        archive.read(Place(segment=1, offset=0, length=place.offset), URL)  # the warcinfo
    with pytest.raises(StoreDamaged):
        archive.read(Place(segment=1, offset=1, length=place.length), URL)
    with pytest.raises(StoreDamaged, match="gone"):
        archive.read(Place(segment=9, offset=0, length=1), URL)
    spoilt = bytearray(archive.path(1).read_bytes())
    spoilt[place.offset + place.length // 2] ^= 1
    archive.path(1).write_bytes(spoilt)
    with pytest.raises(StoreDamaged):
        archive.read(place, URL)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreUnavailable, match="choose another data directory"),
        Archive(tmp_path / "file" / "raw").open_segment(CommittedLengths()),
    ):
        pass


def test_target_uri() -> None:
    assert target_uri("http://h/\u2028 <a>") == "http://h/%E2%80%A8%20%3Ca%3E"
