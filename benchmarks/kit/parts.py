"""The command line of a benchmark that is made of parts."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.kit.results import commit, keep, kept, show

Part = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Choice:
    """The parts named on the command line (none: all), and whether ``--quick`` was given."""

    named: tuple[str, ...]
    quick: bool

    def measure(self, parts: Mapping[str, Part]) -> dict[str, Any]:
        """Measures the chosen parts in turn; returns their results, merged."""
        result: dict[str, Any] = {}
        for name in self.named or parts:
            begun = time.monotonic()
            result |= parts[name]()
            sys.stderr.write(f"{name}: {time.monotonic() - begun:.0f} s\n")
        return result


def measure_kept(
    choice: Choice, name: str, parts: Mapping[str, Callable[[bool], dict[str, Any]]]
) -> None:
    """Measures the chosen parts and keeps their results, each part with its commit.

    The results of parts that were not chosen stay. With ``--quick`` everything is only shown.

    Args:
        choice: What the command line asked for.
        name: Of the file of results: ``page``.
        parts: By their names; called with whether ``--quick`` was given.
    """
    measured = choice.measure({key: partial(part, choice.quick) for key, part in parts.items()})
    if choice.quick:
        show(measured)
        return
    result = {**(kept(name) if choice.named else {}), **measured}
    commits = dict.fromkeys(choice.named or parts, commit())
    keep(name, {**result, "commits": result.get("commits", {}) | commits})


def choose_parts(description: str, parts: Collection[str], quick: str) -> Choice:
    """Reads ``[PART ...] [--quick]`` from the command line; ends it when a part is unknown.

    Args:
        description: What the program measures.
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
