"""Processor time of a piece of work, whatever the tests before it left in memory."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
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
