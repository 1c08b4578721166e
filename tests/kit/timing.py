"""Time in tests: the processor time of a block, and waiting for a condition."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LIMIT_S = 120.0  # of a wait that may take long on a busy machine


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


def wait_until(
    condition: Callable[[], bool], limit_s: float = LIMIT_S, look_s: float | None = None
) -> None:
    """Returns when a condition holds that only looking can tell.

    Looks every ``look_s``; without it every 10 ms for a second, then every 50 ms: looking takes
    processor time from those that are waited for. The limit bounds a failure alone.

    Raises:
        AssertionError: The condition does not hold within the limit.
    """
    begun = time.monotonic()
    while not condition():
        passed = time.monotonic() - begun
        assert passed < limit_s, "waited in vain"
        time.sleep(look_s or (0.01 if passed < 1 else 0.05))
