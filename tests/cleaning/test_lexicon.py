from __future__ import annotations

from pathlib import Path

import pytest

from crawlclean import cleaning
from crawlclean.cleaning.lexicon import by_first_letter, find_words, word_list, word_table

FILES = sorted((Path(cleaning.__file__).parent / "data").glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_list_says_where_it_comes_from(file: Path) -> None:
    assert file.read_text("utf-8").startswith("# ")


def test_lists_and_tables() -> None:
    assert "相关链接" in word_list("related_markers")
    assert not any(word.startswith("#") for word in word_list("function_words"))
    assert "的" in word_table("frequent_characters")["hans"]


def test_words_are_found_where_they_begin() -> None:
    index = by_first_letter(["相关", "相关搜索", "hot"])
    assert find_words("更多相关搜索 hot", index) == [(2, "相关搜索"), (2, "相关"), (7, "hot")]
    assert find_words("", index) == []
