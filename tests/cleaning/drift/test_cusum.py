"""Page's sums: what they are, how seldom they lie, how soon they tell."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleaning.drift.watch import MOST_EXPECTED, THRESHOLD, log_ratio, next_score

SHARES = st.floats(0, 1)
PAGES = st.lists(st.tuples(SHARES, st.booleans()), max_size=60)


def scores(pages: list[tuple[float, bool]]) -> list[float]:
    found = [0.0]
    for expected, fits in pages:
        found.append(next_score(found[-1], expected, fits=fits))
    return found


@given(PAGES)
def test_a_sum_is_the_most_that_the_last_pages_say(pages: list[tuple[float, bool]]) -> None:
    said = [log_ratio(expected, fits=fits) for expected, fits in pages]
    most = max([0.0, *(sum(said[start:]) for start in range(len(said)))])
    assert scores(pages)[-1] == pytest.approx(most)


@given(SHARES)
def test_a_page_that_fits_never_speaks_for_a_change(expected: float) -> None:
    assert log_ratio(expected, fits=True) <= 0 <= log_ratio(expected, fits=False)


@given(st.floats(0.5, 1))
def test_what_is_expected_speaks_against_a_change_on_average(expected: float) -> None:
    share = min(expected, MOST_EXPECTED)
    mean = share * log_ratio(expected, fits=True) + (1 - share) * log_ratio(expected, fits=False)
    assert mean < 0


@pytest.mark.parametrize("expected", [0.6, 0.8, 0.95])
def test_false_alarms_are_as_seldom_as_the_bound_says(expected: float) -> None:
    chance, pages, alarms, score = random.Random(1), 40_000, 0, 0.0
    for _ in range(pages):
        score = next_score(score, expected, fits=chance.random() < expected)
        if score >= math.log(50):
            alarms, score = alarms + 1, 0.0
    assert pages / max(alarms, 1) >= 50


@pytest.mark.parametrize(("expected", "most"), [(0.95, 8), (0.9, 12), (0.75, 21)])
def test_a_change_is_told_within_tens_of_pages(expected: float, most: int) -> None:
    found = scores([(expected, False)] * 60)
    assert next(n for n, score in enumerate(found) if score >= THRESHOLD) <= most
    assert scores([(0.3, False)] * 60)[-1] == 0, "of what seldom fits nothing is said"
