"""`config`, `metrics`: what the program was told, and what it counted."""

from __future__ import annotations

import sys

from workers.config import Settings, rows, variable
from workers.metrics import exposition
from workers.operations.backends import any_queue


def tell_settings(settings: Settings) -> int:
    """Prints every setting with its variable, value and meaning."""
    section = ""
    for group, name, value, what in rows(settings):
        if group != section:
            section = group
            sys.stdout.write(f"[{section}]\n")
        sys.stdout.write(f"{variable(name)}={value}\n    {what}\n")
    return 0


def tell_counters(settings: Settings) -> int:
    """Prints every counter in Prometheus' format."""
    with any_queue(settings) as frontier:
        sys.stdout.write(exposition(frontier.counters()))
    return 0
