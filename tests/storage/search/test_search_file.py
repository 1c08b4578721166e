"""The index finds what the texts have, whatever was saved again, deleted or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage import search as search_file
from crawlclean.storage.search import FILE, Asked, SearchFile, has_all, phrases_of
from crawlclean.storage.store.records import SearchText
from crawlclean.storage.store.rows import from_microseconds

TEXTS = st.lists(st.text("数据清洗主题a1Ａ ，", max_size=30), min_size=1, max_size=6)


def text_of(seq: int, text: str, page: int | None = None, **about: str) -> SearchText:
    page_id = f"{page if page is not None else seq:032x}"
    named = {"crawl_id": "c", "host": "a.example", **about}
    return SearchText(seq=seq, page_id=page_id, fetched_at=seq * 1000, text=text, **named)


def found(index: SearchFile, asked: str, **only: Any) -> list[int]:
    hits, is_late = index.find(Asked(text=asked, **only), None, 1000)
    assert not is_late
    return [seq for seq, _, _ in hits]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchFile]:
    with closing(SearchFile(tmp_path)) as opened:
        yield opened


@settings(max_examples=60)
@given(TEXTS, st.text("数据清洗主题a1", min_size=2, max_size=5))
def test_a_phrase_is_found_where_it_is_and_nowhere_else(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], other: str
) -> None:
    rows = [text_of(seq, text) for seq, text in enumerate(texts, 1)]
    with closing(SearchFile(tmp_path_factory.mktemp("index"))) as index:
        index.add(rows, len(rows))
        parts = {row.text[at : at + n] for row in rows for n in (2, 4) for at in range(20)}
        for part in (*parts, other):
            phrases = phrases_of(f'"{part}"')
            if phrases:
                there = [row.seq for row in reversed(rows) if has_all(row.text, phrases)]
                maybe = found(index, f'"{part}"')
                assert [seq for seq in maybe if seq in there] == there, part
                if len(phrases[0].runs[-1]) > 1:
                    assert maybe == there, part


def test_only_of_a_host_a_crawl_a_time(index: SearchFile) -> None:
    rows = [
        text_of(1, "数据"),
        text_of(2, "数据", host="b.example:80"),
        text_of(3, "数据", crawl_id='"x" OR'),
        text_of(4, "主题"),
    ]
    index.add(rows, 4)
    assert found(index, "数据") == [3, 2, 1]
    assert found(index, "数据 主题") == []
    assert found(index, "数据", host="b.example:80") == [2]
    assert found(index, "数据", crawl_id='"x" OR') == [3]
    assert found(index, "数据", since=from_microseconds(2000), until=from_microseconds(3000)) == [2]
    first, _ = index.find(Asked(text="数据"), None, 2)
    rest, _ = index.find(Asked(text="数据"), first[-1][0], 2)
    assert [seq for seq, _, _ in (*first, *rest)] == [3, 2, 1]


def test_a_page_that_is_saved_again_is_found_by_its_new_text(index: SearchFile) -> None:
    assert index.add([text_of(1, "旧的正文", page=7), text_of(2, "别的", page=8)], 2) == 2
    assert index.add([text_of(3, "新的正文", page=7)], 3) == 1
    assert found(index, "正文") == [3]
    assert found(index, "旧的") == []
    assert index.add([text_of(1, "旧的正文", page=7)], 3) == 0, "a late one changes nothing"
    assert index._facts() == (3, 3, 1)


def test_forgotten_pages_make_room_when_many(
    index: SearchFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_file, "FEWEST_DEAD", 2)
    index.add([text_of(seq, "正文") for seq in range(1, 11)], 10)
    index.forget([1, 2])
    assert found(index, "正文") == [10, 9, 8, 7, 6, 5, 4, 3]
    assert not index.begin_anew_if_dead()
    index.forget([3, 3])
    assert index.begin_anew_if_dead()
    assert index.newest() == 0


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_damaged_file_is_made_anew(
    tmp_path: Path, is_whole: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(SearchFile(tmp_path)) as index:
        index.add([text_of(seq, f"正文{seq}" * 50) for seq in range(1, 200)], 200)
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    data[0 if is_whole else 4096 :] = b"\xff" * (len(data) - (0 if is_whole else 4096))
    path.write_bytes(data)
    with suppress(StoreUnavailable), closing(SearchFile(tmp_path)) as index:
        found(index, "正文")
    with closing(SearchFile(tmp_path)) as index:
        assert index.newest() == 0
        index.add([text_of(1, "正文")], 1)
        assert found(index, "正文") == [1]
    assert [each.message for each in caplog.records] == ["the search index is made anew"]


def test_a_deleted_file_is_noticed_by_who_has_it_open(index: SearchFile) -> None:
    index.add([text_of(1, "正文")], 1)
    with closing(SearchFile(index.path.parent)) as other:
        index.path.unlink()
        other.add([text_of(5, "正文")], 5)
    assert found(index, "正文") == [5]


def test_two_writers_index_a_save_once(index: SearchFile) -> None:
    rows = [text_of(seq, "正文") for seq in range(1, 5)]
    with closing(SearchFile(index.path.parent)) as other:
        assert index.add(rows[:3], 3) == 3
        assert other.add(rows, 4) == 1
    assert found(index, "正文") == [4, 3, 2, 1]


def test_a_search_that_takes_too_long_ends(
    index: SearchFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_file, "LOOK_STEPS", 1)
    index.add([text_of(seq, "正文") for seq in range(1, 50)], 49)
    hits, is_late = index.find(Asked(text="正文"), None, 50, within_s=-1)
    assert (hits, is_late) == ([], True)
