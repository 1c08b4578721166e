"""The counters of all processes in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Mapping

from storage.queue.counters import HELP, Counter
from workers import __dist__


def metric_name(counter: Counter) -> str:
    """Returns a counter's name in Prometheus: ``<name>_records_total``."""
    return f"{__dist__}_{counter}_total"


def exposition(values: Mapping[str, int]) -> str:
    """Returns every counter in Prometheus' text format; absent ones are 0."""
    lines = []
    for counter in Counter:
        name = metric_name(counter)
        lines += [
            f"# HELP {name} {HELP[counter]}",
            f"# TYPE {name} counter",
            f"{name} {values.get(counter, 0)}",
        ]
    return "\n".join(lines) + "\n"
