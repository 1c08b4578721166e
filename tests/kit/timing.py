"""Time in tests: the processor time of a block, and waiting for a condition."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Took:
    """Processor seconds, known when the block ends."""

    seconds: float = 0.0


@contextmanager
def timed() -> Iterator[Took]:
    """Times a block; what others left behind is not looked through by the collector meanwhile.

    Nothing is collected first: in a process with all tests that takes longer than most blocks do.
    """
    took = Took()
    gc.freeze()
    begun = time.process_time()
    try:
        yield took
    finally:
        took.seconds = time.process_time() - begun
        gc.unfreeze()


def wait_until(condition: Callable[[], bool], limit_s: float = 30.0, look_s: float = 0.01) -> None:
    """Returns when a condition holds that only looking can tell; looks every ``look_s``.

    Raises:
        AssertionError: It does not hold within the limit.
    """
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(look_s)
