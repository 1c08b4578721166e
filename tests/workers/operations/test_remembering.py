"""Answers to dear questions are given at once, and computed anew meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain, count, repeat
from threading import Event

import pytest

from crawlclean.cleaning.errors import NotFound, StoreUnavailable
from crawlclean.workers.operations.watching.remembering import Remembered
from tests.kit.timing import LIMIT_S, wait_until

FRESH_S = 60.0


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def made() -> Iterator[Remembered]:
    with closing(Remembered()) as opened:
        yield opened


def numbers() -> Callable[[], int]:
    """Counts its calls."""
    return count(1).__next__


def held_until(may_end: Event, answers: Iterator[int]) -> Callable[[], int]:
    """Gives answers, each after ``may_end`` is set."""

    def compute() -> int:
        assert may_end.wait(LIMIT_S)
        return next(answers)

    return compute


def test_nobody_waits_for_an_answer_that_takes_long(made: Remembered) -> None:
    may_end = Event()
    compute = held_until(may_end, iter([7]))
    assert made.newest("slow", compute, FRESH_S, 0) is None
    assert made.newest("slow", compute, FRESH_S, 0) is None
    may_end.set()
    assert made.ask("slow", compute, FRESH_S) == 7


def test_who_asks_at_the_same_time_gets_one_answer(made: Remembered) -> None:
    may_end = Event()
    compute = held_until(may_end, chain((7,), repeat(8)))
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(made.ask, "slow", compute, FRESH_S) for _ in range(4)]
        may_end.set()
        assert [each.result() for each in asked] == [7] * 4


def test_an_old_answer_is_given_until_the_next_is_there(made: Remembered) -> None:
    ask, may_end = numbers(), Event()
    assert made.ask("grows", ask, FRESH_S) == 1
    assert made.ask("grows", ask, FRESH_S) == 1, "young: nothing is computed"
    slowly = held_until(may_end, iter(ask, -1))
    assert made.newest("grows", slowly, 0.0, LIMIT_S) == 1
    assert made.ask("grows", slowly, 0.0) == 1, "the next one is computed, and nobody waits"
    may_end.set()
    wait_until(lambda: made.ask("grows", slowly, FRESH_S) == 2)


def test_an_answer_that_is_too_old_is_waited_for() -> None:
    ask, clock = numbers(), Clock()
    with closing(Remembered(clock)) as made:
        assert made.ask("a", ask, 3.0, 6.0) == 1
        clock.now = 6.0
        assert made.ask("a", ask, 3.0, 6.0) == 2


def test_an_error_is_told_once_and_the_next_call_tries_again(made: Remembered) -> None:
    outcomes = iter((NotFound("purged"), 3))

    def compute() -> int:
        outcome = next(outcomes)
        if isinstance(outcome, NotFound):
            raise outcome
        return outcome

    with pytest.raises(NotFound, match="purged"):
        made.newest("fails", compute, FRESH_S, LIMIT_S)
    assert made.newest("fails", compute, FRESH_S, LIMIT_S) == 3


def test_what_cannot_be_computed_anew_stays(made: Remembered) -> None:
    answers = iter((1, None, 3))

    def compute() -> int:
        answer = next(answers)
        if answer is None:
            raise StoreUnavailable("away")
        return answer

    assert made.ask("rows", compute, 0.0) == 1
    wait_until(lambda: made.ask("rows", compute, 0.0) == 3)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_does_not_keep_an_answer_for_ever(made: Remembered) -> None:
    answers = chain((1, 0), repeat(3))

    def compute() -> int:
        answer = next(answers)
        if not answer:
            raise ValueError("a row of another program")
        return answer

    assert made.ask("rows", compute, 0.0) == 1
    wait_until(lambda: made.ask("rows", compute, 0.0) == 3)


def test_dear_answers_become_older() -> None:
    clock, ask = Clock(), numbers()

    def dear() -> int:
        clock.now += 2.0
        return ask()

    with closing(Remembered(clock, share=0.02)) as made:
        for key in range(3):
            made.ask(key, dear, 1.0)
        clock.now = 0.0 + 3 * 2.0 / 0.02 - 1.0
        assert made.ask(0, dear, 1.0) == 1
        assert made.oldest_s() == pytest.approx(299.0)
        clock.now += 2.0
        wait_until(lambda: made.ask(0, dear, 1.0) == 4)


def test_dear_answers_are_computed_one_after_the_other() -> None:
    may_end, begun = Event(), Event()
    with closing(Remembered(at_once=1)) as made:
        assert made.newest("first", held_until(may_end, iter([1])), FRESH_S, 0) is None

        def second() -> int:
            begun.set()
            return 2

        assert made.newest("second", second, FRESH_S, 0) is None
        assert not begun.wait(0.05)
        may_end.set()
        wait_until(lambda: made.newest("second", second, FRESH_S, LIMIT_S) == 2)


def test_answers_that_nobody_asks_for_are_forgotten() -> None:
    ask = numbers()
    with closing(Remembered(most=2)) as made:
        assert [made.ask(key, ask, FRESH_S) for key in ("a", "b", "a", "c")] == [1, 2, 1, 3]
        assert [made.ask(key, ask, FRESH_S) for key in ("a", "c", "b")] == [1, 3, 4]


def test_nothing_is_begun_after_the_end() -> None:
    made, ask = Remembered(), numbers()
    assert made.ask("a", ask, FRESH_S) == 1
    made.close()
    assert made.newest("a", ask, 0.0, 0) == 1
    assert made.newest("b", ask, 0.0, 0) is None
