"""Answers that take up to seconds: computed in the background, shown with the time they are of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from cleaning.errors import ServiceError

T = TypeVar("T")

LEAST_AGE_S = 30.0
"""An answer is not computed anew before it is this old."""

SHARE = 0.02
"""Most of a processor's time that computing takes: dear answers become older."""

MOST_KEPT = 200
FIRST_S = 0.05
"""A page waits this long for an answer that was never computed; those of small topics are there."""


@dataclass(slots=True)
class _Work:
    """The work on one answer; ``is_done`` is set at its end, also after an error."""

    is_done: threading.Event = field(default_factory=threading.Event)
    value: Any = None
    error: ServiceError | None = None
    begun_at: float = 0.0
    cost_s: float = 0.0


@dataclass(slots=True)
class _Kept:
    """One answer: the newest one, and the work on the next."""

    value: Any = None
    cost_s: float = 0.0
    at: float = 0.0
    asked_at: float = 0.0
    work: _Work | None = None


class Computing:
    """Computes answers one after the other, in threads of their own, while somebody asks for them.

    Somebody who asks gets the newest answer at once, perhaps half a minute old, and so begins the
    work on the next one. All of it takes at most ``SHARE`` of a processor.
    """

    def __init__(self) -> None:
        """Computes nothing yet."""
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._is_closed = False
        self._kept: dict[Hashable, _Kept] = {}

    def ask(self, question: Question[T], *, wait_s: float | None = FIRST_S) -> T | None:
        """Returns the newest answer to a question; None: the first is being computed.

        Args:
            question: What is asked.
            wait_s: How long to wait for the first answer, seconds; None: until it is there.

        Raises:
            ServiceError: Computing failed; the next call tries again.
        """
        with self._lock:
            kept = self._entry(question.key)
            if kept.work is not None and kept.work.is_done.is_set():
                self._take_over(kept)
            is_old = kept.value is None or time.monotonic() - kept.at > self._most_age_s()
            if kept.work is None and is_old:
                kept.work = self._begin(question.compute)
            work = kept.work
        if kept.value is None and work is not None:
            work.is_done.wait(wait_s)
            with self._lock:
                if kept.work is work and work.is_done.is_set():
                    self._take_over(kept)
        answer: T | None = kept.value
        return answer

    def close(self) -> None:
        """Begins no more work. What is at work only reads: nobody waits for its end."""
        self._is_closed = True

    def _begin(self, compute: Callable[[], object]) -> _Work:
        work = _Work()
        # A daemon: a console that ends does not wait for the pages of a large topic.
        threading.Thread(target=self._do, args=(work, compute), daemon=True).start()
        return work

    def _do(self, work: _Work, compute: Callable[[], object]) -> None:
        with self._turn:
            begun, work.begun_at = time.thread_time(), time.monotonic()
            try:
                if not self._is_closed:
                    work.value = compute()
            except ServiceError as error:
                work.error = error
            finally:
                work.cost_s = time.thread_time() - begun
                work.is_done.set()

    def _entry(self, key: Hashable) -> _Kept:
        if key not in self._kept and len(self._kept) >= MOST_KEPT:
            idle = [key for key, each in self._kept.items() if each.work is None]
            if idle:
                del self._kept[min(idle, key=lambda each: self._kept[each].asked_at)]
        kept = self._kept.setdefault(key, _Kept())
        kept.asked_at = time.monotonic()
        return kept

    def _take_over(self, kept: _Kept) -> None:
        """Keeps the answer of work that is done.

        Raises:
            ServiceError: The work failed.
        """
        work, kept.work = kept.work, None
        if work is None:
            return
        if work.error is not None:
            raise work.error
        if work.value is not None:  # else a defect ended the thread, which has printed it
            kept.value, kept.cost_s, kept.at = work.value, work.cost_s, work.begun_at

    def _most_age_s(self) -> float:
        """How old answers may become: all together cost at most ``SHARE``."""
        return max(LEAST_AGE_S, sum(each.cost_s for each in self._kept.values()) / SHARE)


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """A question whose answer takes long.

    Attributes:
        key: The question with its arguments: ``("topic", "quake")``.
        compute: Computes the answer.
    """

    key: Hashable
    compute: Callable[[], T]
