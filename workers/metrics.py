"""The counters in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Mapping

from storage.queue.counters import HELP, Counter
from workers import __dist__


def metric_name(counter: Counter) -> str:
    """The name Prometheus sees."""
    return f"{__dist__}_{counter}_total"


def exposition(values: Mapping[str, int]) -> str:
    """Every counter, absent ones as 0, in Prometheus' text format."""
    lines = []
    for counter in Counter:
        name = metric_name(counter)
        lines += [
            f"# HELP {name} {HELP[counter]}",
            f"# TYPE {name} counter",
            f"{name} {values.get(counter, 0)}",
        ]
    return "\n".join(lines) + "\n"
