"""Some seconds of fuzzing in every run of the suite; hypothesis chooses and shrinks."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.fuzz.__main__ import main
from tests.fuzz.checks import check_page
from tests.fuzz.mutations import MAX_CHARS, MUTATIONS, Mutation
from tests.fuzz.shapes import article, golden_pages, index, shaped_page, thread

Steps = list[tuple[Mutation, int]]
STEPS = st.lists(st.tuples(st.sampled_from(MUTATIONS), st.integers(0, 2**32)), max_size=8)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), STEPS, st.sampled_from(["utf-8", "gb18030"]))
def test_a_mutated_page_is_cleaned_or_refused(seed: int, steps: Steps, charset: str) -> None:
    rng = random.Random(seed)
    source, other = shaped_page(rng), shaped_page(rng)
    for mutate, step_seed in steps:
        source = mutate(random.Random(step_seed), source, other)[:MAX_CHARS]
    check_page(source.encode(charset, "replace"))


@pytest.mark.parametrize("shape", [article, thread, index])
def test_what_is_mutated_is_a_page_with_a_body(
    shape: Callable[[random.Random, bool], str],
) -> None:
    record = check_page(shape(random.Random(3), True).encode())
    assert record is not None
    assert record.title
    assert record.links
    assert record.body or shape is index


def test_the_golden_pages_hold() -> None:
    assert len(golden_pages()) > 10
    for source in golden_pages():
        assert check_page(source.encode()) is not None


def test_the_long_run_ends_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--minutes", "0.02", "--seed", "7"]) == 0
    assert "0 found" in capsys.readouterr().err
