from __future__ import annotations

import pytest

from crawlclean.cleaning.posts.parts import is_date
from tests.kit.timing import timed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("发表于 2026-10-11 09:01", True),
        ("3 天前", True),
        ("5 minutes ago", True),
        ("#3", True),
        ("第 12 楼", True),
        ("March 3rd", True),
        ("3 mars 2021", True),
        ("14. August", True),
        ("Novice 1", False),
        ("Mars 3", False),
        ("2 Marvels", False),
        ("核桃 3 斤", False),
        ("ago", False),
    ],
)
def test_dates_and_floors(text: str, expected: bool) -> None:
    assert is_date(text) is expected


@pytest.mark.parametrize("piece", ["1", "1 ", " ", "#1", "1-", "第1", "年1"])
def test_a_long_line_takes_no_time(piece: str) -> None:
    with timed() as took:
        is_date("1" + piece * (100_000 // len(piece)) + "x")
    assert took.seconds < 1
