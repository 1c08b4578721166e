"""Running totals by line: how many links, headlines or cards stand before each line of a page."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate

from cleaning.links.evidence import Verdict


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


def count_unknown(
    lines: list[int], texts: list[str], known: list[Verdict | None], count: int
) -> list[int]:
    """Running totals by line of the links with a text that is no known word."""
    links = zip(lines, texts, known, strict=True)
    unknown = [line for line, text, is_known in links if text and not is_known]
    return totals_by_line(unknown, count)


def share(part: int, whole: int) -> float:
    """A part by its whole, 0 where the whole is 0."""
    return part / whole if whole else 0.0
