"""Running totals by line: how many links, headlines or cards stand before each line of a page."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate


def totals_by_line(lines: Collection[int], count: int) -> list[int]:
    """Computes running totals: how many ``lines`` are before each line, and in all.

    Args:
        lines: The line of each thing that is counted.
        count: The number of lines of the page.
    """
    totals = [0] * (count + 1)
    if not lines:
        return totals
    for line in lines:
        totals[line + 1] += 1
    return list(accumulate(totals))


def share(part: int, whole: int) -> float:
    """A part by its whole, 0 where the whole is 0."""
    return part / whole if whole else 0.0
