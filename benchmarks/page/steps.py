"""CPU time of each step of ``clean``, in bare lxml parses of the same pages: a part of ``page.py``.

A step is any function in the namespace of ``cleaning/page.py``, so new steps are found without a
change here. For each page three runs take turns: a bare parse, a ``clean`` with timed steps, a
``clean`` without timing; the quickest of ``ROUNDS`` counts. All times are CPU time of one process.
"""

from __future__ import annotations

import inspect
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import crawlclean.cleaning.page as module
from benchmarks.page.body import labelled_pages
from benchmarks.page.peer_answers import bare_parse, ours_record

ROUNDS = 3
RECORD = "record"
REST = "rest"
_WHOLE = (module.clean, module.read)  # they take all steps


def measure(_only_ours: bool = False) -> dict[str, Any]:
    """Returns the time of each step, of the whole record, and of the rest outside all steps."""
    parse, record = bare_parse(), ours_record()
    bare_s, record_s = 0.0, 0.0
    steps_s: dict[str, float] = defaultdict(float)
    pages = 0
    for page in labelled_pages():
        source = page["html"], page["url"], page["lang"]
        bare, whole, steps = [], [], []
        for _ in range(ROUNDS):
            bare.append(_seconds(parse, *source))
            whole.append(_seconds(record, *source))
            with _timed_steps() as timed:
                record(*source)
            steps.append(timed)
        pages += 1
        bare_s += min(bare)
        record_s += min(whole)
        for name, spent in min(steps, key=_total).items():
            steps_s[name] += spent
    dearest = sorted(steps_s, key=steps_s.__getitem__, reverse=True)
    in_parses = {name: steps_s[name] / bare_s for name in dearest}
    in_parses[REST] = (record_s - _total(steps_s)) / bare_s
    in_parses[RECORD] = record_s / bare_s
    return {
        "steps": {
            "pages": pages,
            "bare_parse_ms": round(1000 * bare_s / pages, 2),
            "cpu_in_bare_parses": {name: round(value, 2) for name, value in in_parses.items()},
        }
    }


def _total(spent: dict[str, float]) -> float:
    return sum(spent.values())


def _seconds(work: Callable[..., Any], *arguments: Any) -> float:
    begun = time.process_time()
    work(*arguments)
    return time.process_time() - begun


@contextmanager
def _timed_steps() -> Iterator[dict[str, float]]:
    """Times the steps in the block; yields CPU seconds by step."""
    spent: dict[str, float] = defaultdict(float)
    running: list[str] = []  # a step inside another step counts for the outer one

    def watch(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(step)
        def timed(*arguments: Any, **named: Any) -> Any:
            if running:
                return step(*arguments, **named)
            running.append(name)
            begun = time.process_time()
            try:
                return step(*arguments, **named)
            finally:
                running.clear()
                spent[name.removeprefix("extract_")] += time.process_time() - begun

        return timed

    steps = {
        name: step
        for name, step in vars(module).items()
        if inspect.isfunction(step) and step not in _WHOLE
    }
    for name, step in steps.items():
        setattr(module, name, watch(name, step))
    try:
        yield spent
    finally:
        for name, step in steps.items():
            setattr(module, name, step)
