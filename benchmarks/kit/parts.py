"""The command line of a benchmark that is made of parts."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """The parts that were asked for by name (none: all), and whether a short run was."""

    named: tuple[str, ...]
    quick: bool


def choose_parts(description: str, parts: Collection[str], quick: str) -> Choice:
    """Reads ``[PART ...] [--quick]`` from the command line; ends it when a part is unknown.

    Args:
        description: Of the program.
        parts: Names of all parts.
        quick: Effect of ``--quick``.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)} (default all)")
    parser.add_argument("--quick", action="store_true", help=quick)
    given = parser.parse_args()
    unknown = sorted(set(given.parts) - set(parts))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")
    return Choice(tuple(given.parts), given.quick)
