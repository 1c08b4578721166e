"""Many things by several processes: order, bounded batches, and a process that dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence

from crawlclean.workers.operations.process_pool import batches, in_order, spread


def doubled(things: Sequence[int]) -> list[int]:
    """Work that dies of 13 and of nothing else."""
    if 13 in things:
        os.kill(os.getpid(), signal.SIGKILL)
    return [2 * thing for thing in things]


def counted(most: int, seen: list[int]) -> Iterator[int]:
    for n in range(most):
        seen.append(n)
        yield n


def test_a_batch_ends_by_number_or_by_bytes() -> None:
    made = list(batches([1, 1, 1, 9, 1, 1], lambda n: n, most=2, most_bytes=5))
    assert made == [[1, 1], [1, 9], [1, 1]]
    assert list(batches([], len)) == []


def test_results_come_in_order_and_nothing_is_read_far_ahead() -> None:
    seen: list[int] = []
    lots = batches(counted(400, seen), lambda _: 1, most=4)
    results = in_order(doubled, lots, 2, lambda _: -1)
    assert [next(results) for _ in range(4)] == [0, 2, 4, 6]
    assert len(seen) <= 4 * 7
    assert list(results) == [2 * n if n != 13 else -1 for n in range(4, 400)]


def test_a_process_that_dies_costs_the_thing_it_died_of() -> None:
    lots = batches(range(40), lambda _: 1, most=4)
    results = list(in_order(doubled, lots, 2, lambda thing: -thing))
    assert results == [-13 if n == 13 else 2 * n for n in range(40)]


def test_few_batches_are_done_in_this_process() -> None:
    def own_process(things: Sequence[int]) -> list[int]:
        return [os.getpid() for _ in things]

    few = batches(range(12), lambda _: 1, most=4)
    assert set(spread(own_process, few, lambda _: 0, 4)) == {os.getpid()}
    many = batches(range(40), lambda _: 1, most=4)
    assert list(spread(doubled, many, lambda _: -1, 4))[:3] == [0, 2, 4]
