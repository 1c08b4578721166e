"""Works on many items by several processes, in order; a process that dies costs one item.

Items are sent in batches of bounded bytes, and no more of them are read than the processes need to
stay busy, so that a folder of large pages takes no more memory than a small one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from crawlclean.storage.queue.embedded import die_with_parent

T = TypeVar("T")
R = TypeVar("R")

BATCH = 16  # items that a process gets at once: each takes milliseconds, sending them less
BATCH_BYTES = 4 << 20  # fewer large ones: each process holds one batch, and waits for the next


def batches(
    items: Iterable[T],
    size: Callable[[T], int],
    most: int = BATCH,
    most_bytes: int = BATCH_BYTES,
) -> Iterator[list[T]]:
    """Yields the items in order, ``most`` at a time, fewer once they have ``most_bytes``."""
    batch: list[T] = []
    room = most_bytes
    for item in items:
        batch.append(item)
        room -= size(item)
        if len(batch) >= most or room <= 0:
            yield batch
            batch, room = [], most_bytes
    if batch:
        yield batch


def spread(
    work: Callable[[Sequence[T]], list[R]],
    lots: Iterator[list[T]],
    lost: Callable[[T], R],
    least_lots: int,
) -> Iterator[R]:
    """Yields the result of every item in order, by one process for each core when there are many.

    Args:
        work: A function of a module, which the processes import by its name.
        lots: Batches of items.
        lost: Makes the result of an item whose process died.
        least_lots: With fewer batches all work is done in this process: it is done before others
            have started.
    """
    first = list(islice(lots, least_lots))
    cores = os.cpu_count() or 1
    if len(first) < least_lots or cores == 1:
        for lot in chain(first, lots):
            yield from work(lot)
    else:
        yield from in_order(work, chain(first, lots), cores, lost)


def in_order(
    work: Callable[[Sequence[T]], list[R]],
    lots: Iterator[list[T]],
    processes: int,
    lost: Callable[[T], R],
) -> Iterator[R]:
    """Yields the result of every item, in the order of the items.

    Args:
        work: A function of a module, which the processes import by its name.
        lots: Batches of items.
        processes: Processes that work at a time, at least 1.
        lost: Makes the result of an item whose process died twice: in its batch and alone.
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
                # All batches ahead broke with this one. Alone, only the item at fault dies again.
                pool.shutdown(cancel_futures=True)
                for item in batch:
                    yield _alone(work, item, lost)
                pool = _pool(processes)
                ahead = deque((waiting, pool.submit(work, waiting)) for waiting, _ in ahead)
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    """Returns a pool of processes that end with this one, even by kill -9."""
    return ProcessPoolExecutor(processes, initializer=die_with_parent())


def _alone(work: Callable[[Sequence[T]], list[R]], item: T, lost: Callable[[T], R]) -> R:
    with _pool(1) as pool:
        try:
            return pool.submit(work, [item]).result()[0]
        except BrokenProcessPool:
            return lost(item)
