"""Answers that take long are computed in the background, and shown until the next is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain, repeat
from threading import Event

import pytest

from cleaning.errors import NotFound
from tests.kit.timing import LIMIT_S, wait_until
from workers.operations.watching import computing
from workers.operations.watching.computing import Computing, Question


@pytest.fixture
def made() -> Iterator[Computing]:
    with closing(Computing()) as opened:
        yield opened


def test_nobody_waits_for_an_answer_that_takes_long(made: Computing) -> None:
    may_end = Event()

    def compute() -> int:
        assert may_end.wait(LIMIT_S)
        return 7

    asked = Question("slow", compute)
    assert made.ask(asked, wait_s=0) is None
    assert made.ask(asked, wait_s=0) is None
    may_end.set()
    assert made.ask(asked, wait_s=None) == 7


def test_an_old_answer_is_shown_until_the_next_is_there(
    made: Computing, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = chain((1,), repeat(2))
    may_end = Event()

    def compute() -> int:
        answer = next(answers)
        assert answer == 1 or may_end.wait(LIMIT_S)
        return answer

    asked = Question("grows", compute)
    assert made.ask(asked, wait_s=None) == 1
    assert made.ask(asked) == 1, "young: nothing is computed"
    monkeypatch.setattr(computing, "LEAST_AGE_S", -1.0)
    monkeypatch.setattr(computing, "SHARE", -1.0)
    assert made.ask(asked) == 1
    assert made.ask(asked, wait_s=None) == 1, "the next one is computed, and nobody waits"
    may_end.set()
    wait_until(lambda: made.ask(asked) == 2)


def test_an_error_is_told_once_and_the_next_call_tries_again(made: Computing) -> None:
    outcomes = iter((NotFound("purged"), 3))

    def compute() -> int:
        outcome = next(outcomes)
        if isinstance(outcome, NotFound):
            raise outcome
        return outcome

    asked = Question("fails", compute)
    with pytest.raises(NotFound, match="purged"):
        made.ask(asked, wait_s=None)
    assert made.ask(asked, wait_s=None) == 3


def test_dear_answers_become_older(made: Computing) -> None:
    assert made._most_age_s() == computing.LEAST_AGE_S
    for key in range(3):
        assert made.ask(Question(key, lambda: 1), wait_s=None) == 1
        made._kept[key].cost_s = 2.0
    assert made._most_age_s() == pytest.approx(6.0 / computing.SHARE)


def test_answers_that_nobody_asks_for_are_forgotten(
    made: Computing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computing, "MOST_KEPT", 2)
    for key in ("a", "b", "a", "c"):
        assert made.ask(Question(key, lambda: 1), wait_s=None) == 1
    assert set(made._kept) == {"a", "c"}
