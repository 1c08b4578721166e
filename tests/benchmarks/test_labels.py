"""Labels of plots keep off each other, and the kept plots can be read without the document."""

from __future__ import annotations

import re

import pytest

from benchmarks.documents.labels import Box, first_free, overlaps
from benchmarks.documents.plots import FOLDER, PLOTS

LEFT, RIGHT = Box(0, 0, 10, 10), Box(20, 0, 30, 10)


def test_a_label_takes_the_first_place_that_is_free() -> None:
    assert first_free([LEFT, RIGHT], []) == 0
    assert first_free([LEFT, RIGHT], [Box(5, 5, 15, 15)]) == 1
    assert first_free([LEFT, RIGHT], [LEFT, LEFT, RIGHT]) == 1


def test_overlapping_labels_are_found_and_touching_ones_are_not() -> None:
    assert overlaps([("a", LEFT), ("b", RIGHT)]) == []
    assert overlaps([("a", LEFT), ("b", Box(10, 0, 20, 10))]) == []
    assert overlaps([("a", LEFT), ("b", RIGHT), ("c", Box(9, 9, 11, 11))]) == [("a", "c")]


@pytest.mark.parametrize("name", PLOTS)
def test_a_kept_plot_says_what_it_shows(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text("utf-8")
    written = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    assert re.search(r"\b(up|left|no direction) is better", written)
    assert re.search(
        r"\b\d[\d,]* (Chinese articles|index pages|links|sites|related links|topics)", written
    )
