"""Work on many things by several processes, in order; a process that dies costs one thing.

Things are sent in batches of bounded bytes, and no more of them are read than the processes need to
stay busy, so that a folder of large pages takes no more memory than a small one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from storage.queue.embedded import die_with_parent

T = TypeVar("T")
R = TypeVar("R")

BATCH = 16
BATCH_BYTES = 4 << 20


def batches(
    things: Iterable[T],
    size: Callable[[T], int],
    most: int = BATCH,
    most_bytes: int = BATCH_BYTES,
) -> Iterator[list[T]]:
    """The things in order, at most ``most`` at a time; fewer once they have ``most_bytes``."""
    batch: list[T] = []
    room = most_bytes
    for thing in things:
        batch.append(thing)
        room -= size(thing)
        if len(batch) >= most or room <= 0:
            yield batch
            batch, room = [], most_bytes
    if batch:
        yield batch


def in_order(
    work: Callable[[Sequence[T]], list[R]],
    lots: Iterator[list[T]],
    processes: int,
    lost: Callable[[T], R],
) -> Iterator[R]:
    """What the work gives for every thing, in the order of the things.

    Args:
        work: A function of a module, which goes to the processes by its name.
        lots: Batches of things.
        processes: How many work at a time, at least 1.
        lost: What stands for a thing whose process died of it twice: in its batch and alone.
    """
    pool = _pool(processes)
    ahead: deque[tuple[list[T], Future[list[R]]]] = deque()
    try:
        while True:
            while len(ahead) <= 2 * processes and (batch := next(lots, None)) is not None:
                ahead.append((batch, pool.submit(work, batch)))
            if not ahead:
                return
            batch, future = ahead.popleft()
            try:
                yield from future.result()
            except BrokenProcessPool:
                # All that was ahead broke with it; whose fault it was, only each alone can tell.
                pool.shutdown(cancel_futures=True)
                for thing in batch:
                    yield _alone(work, thing, lost)
                pool = _pool(processes)
                ahead = deque((waiting, pool.submit(work, waiting)) for waiting, _ in ahead)
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    """Processes that end with this one, however it ends."""
    return ProcessPoolExecutor(processes, initializer=die_with_parent())


def _alone(work: Callable[[Sequence[T]], list[R]], thing: T, lost: Callable[[T], R]) -> R:
    with _pool(1) as pool:
        try:
            return pool.submit(work, [thing]).result()[0]
        except BrokenProcessPool:
            return lost(thing)
