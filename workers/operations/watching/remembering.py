"""Answers to dear questions: kept, and computed anew in the background while somebody asks."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct, field

from crawlclean.cleaning.errors import ServiceError

T = TypeVar("T")

MOST_KEPT = 200
"""Answers that are kept; some are lists of 200 rows."""


class _Kept(Struct):
    """The newest answer to a question; ``turn`` is held while the next one is computed."""

    value: Any = None
    at: float = -math.inf
    cost_s: float = 0.0
    error: ServiceError | None = None
    renewal: threading.Thread = field(default_factory=threading.Thread)
    turn: threading.Lock = field(default_factory=threading.Lock)


class Remembered:
    """Answers by their questions, for the threads of one process.

    Whoever asks gets the newest answer at once and, where it is old, so begins the work on the next
    one. An answer that cannot be computed anew is given until it is too old.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        share: float = math.inf,
        at_once: int = MOST_KEPT,
        most: int = MOST_KEPT,
    ) -> None:
        """Knows no answer.

        Args:
            clock: Its seconds.
            share: Most of the time that computing takes: dear answers become older.
            at_once: Most answers that are computed in the background at the same time.
            most: Answers that are kept, those that were asked for last.
        """
        self._clock = clock
        self._share = share
        self._most = most
        self._at_once = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._kept: dict[Hashable, _Kept] = {}
        self._renewals: list[threading.Thread] = []
        self._is_closed = False

    def ask(
        self, key: Hashable, compute: Callable[[], T], fresh_s: float, given_s: float = math.inf
    ) -> T:
        """Returns an answer; waits for the first one, and for one in place of one that is too old.

        Args:
            key: The question with its arguments: ``("crawls",)``.
            compute: Computes the answer, perhaps in another thread.
            fresh_s: How old the answer may be before it is computed anew, seconds.
            given_s: From which age on the answer is no longer given.
        """
        kept, is_due = self._look_up(key, fresh_s)
        at = kept.at
        if self._clock() - at >= given_s:
            with kept.turn:
                if kept.at == at:
                    self._compute(kept, compute)
        elif is_due:
            self._renew(kept, compute)
        answer: T = kept.value
        return answer

    def newest(
        self, key: Hashable, compute: Callable[[], T], fresh_s: float, wait_s: float
    ) -> T | None:
        """Returns an answer; None: the first one is being computed.

        Args:
            key: The question with its arguments.
            compute: Computes the answer in another thread.
            fresh_s: How old the answer may be before it is computed anew, seconds.
            wait_s: How long to wait for the first answer.

        Raises:
            ServiceError: Computing failed; the next call tries again.
        """
        kept, is_due = self._look_up(key, fresh_s)
        if is_due:
            renewal = self._renew(kept, compute)
            if kept.at == -math.inf and renewal.is_alive():
                renewal.join(wait_s)
        if kept.error is not None:
            error, kept.error = kept.error, None
            raise error
        answer: T | None = kept.value
        return answer

    def oldest_s(self) -> float:
        """How old the oldest answer is, seconds; 0.0 without one."""
        now = self._clock()
        with self._lock:
            ages_s = [now - each.at for each in self._kept.values() if each.at > -math.inf]
        return max(ages_s, default=0.0)

    def forget_all(self) -> None:
        """Has every question asked anew; what is computed at this moment is not kept either."""
        with self._lock:
            self._kept.clear()

    def close(self, wait_s: float | None = None) -> None:
        """Begins no more work in the background, and waits for the rest so long; None: to its end.

        A process that ends need not wait: such work only reads.
        """
        with self._lock:
            self._is_closed = True
        for renewal in self._renewals:
            renewal.join(wait_s)

    def _look_up(self, key: Hashable, fresh_s: float) -> tuple[_Kept, bool]:
        """The answer to a question, and whether it has to be computed anew."""
        with self._lock:
            kept = self._kept.pop(key) if key in self._kept else _Kept()
            self._kept[key] = kept  # behind all others: it is asked for last
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
            cost_s = sum(each.cost_s for each in self._kept.values())
        return kept, self._clock() - kept.at >= max(fresh_s, cost_s / self._share)

    def _renew(self, kept: _Kept, compute: Callable[[], object]) -> threading.Thread:
        """Begins to compute an answer anew, unless it is at work: the work on it."""
        with self._lock:
            if not kept.renewal.is_alive() and not self._is_closed:  # it also ends by a defect
                work = partial(self._renew_now, kept, kept.at, compute)
                kept.renewal = threading.Thread(target=work, daemon=True)
                kept.renewal.start()
                at_work = [each for each in self._renewals if each.is_alive()]
                self._renewals = [*at_work, kept.renewal]
            return kept.renewal

    def _renew_now(self, kept: _Kept, at: float, compute: Callable[[], object]) -> None:
        with self._at_once, kept.turn:
            try:
                if kept.at == at and not self._is_closed:  # nobody has computed it meanwhile
                    self._compute(kept, compute)
            except ServiceError as error:
                kept.error = error

    def _compute(self, kept: _Kept, compute: Callable[[], object]) -> None:
        begun = self._clock()
        kept.value = compute()
        kept.at, kept.cost_s, kept.error = begun, self._clock() - begun, None
