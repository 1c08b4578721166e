"""The picture of README is the one that its program draws now."""

from __future__ import annotations

import pytest

from benchmarks.documents.picture import FOLDER, NAMES, picture, wrapped


@pytest.mark.parametrize("language", NAMES)
def test_the_kept_picture_is_current(language: str) -> None:
    assert (FOLDER / NAMES[language]).read_text("utf-8") == picture(language), "make bench-picture"


def test_lines_break_between_words_and_before_chinese() -> None:
    assert wrapped("one two three", 60) == ["one two", "three"]
    assert wrapped("一二三四，五", 50) == ["一二三", "四，五"]
