"""The difference between two texts, line by line, and word by word in lines that were edited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

CONTEXT_LINES = 2
"""Equal lines shown around a difference."""
MOST_LINES = 4_000
"""Lines of both texts that are matched; longer texts count as rewritten."""
MOST_WORDS = 600
"""Words of a line that are matched: two such lines cost 30 ms."""
MOST_EDITED_LINES = 40
"""Lines that are compared word by word; those behind them are removed and added."""
LEAST_RATIO: Final = 0.3
"""Share of equal words below which a line was replaced, not edited."""

_WORDS = re.compile(r"[^\W\u2e80-\u9fff\uf900-\ufaff]+|\s+|.", re.DOTALL)
"""Words; each Chinese character and each mark is one."""


class Change(StrEnum):
    """What became of a line, or of a part of one."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    EDITED = "edited"  # only of lines: their parts are the others
    LEFT_OUT = "left_out"  # only of lines: equal ones that are not shown


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of a difference.

    Attributes:
        change: What became of it.
        parts: (what became of it, text), in order; of ``left_out`` none.
        lines: Number of lines: 1, or those that are left out.
    """

    change: Change
    parts: Sequence[tuple[Change, str]]
    lines: int = 1


def inline_difference(older: Sequence[str], newer: Sequence[str]) -> list[ChangedLine]:
    """Returns the difference between two texts; empty when they are equal.

    Args:
        older: Lines of the older text.
        newer: Lines of the newer text.
    """
    if list(older) == list(newer):
        return []
    if len(older) + len(newer) > MOST_LINES:
        return [*_whole(Change.REMOVED, older), *_whole(Change.ADDED, newer)]
    found: list[ChangedLine] = []
    codes = SequenceMatcher(None, older, newer, autojunk=False).get_opcodes()
    edited = 0
    for number, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            found += _around(older[a:b], is_first=not number, is_last=number == len(codes) - 1)
        elif tag == "replace" and b - a == d - c and edited + b - a <= MOST_EDITED_LINES:
            edited += b - a
            for before, after in zip(older[a:b], newer[c:d], strict=True):
                found += _edited(before, after)
        else:
            found += [*_whole(Change.REMOVED, older[a:b]), *_whole(Change.ADDED, newer[c:d])]
    return found


def _whole(change: Change, lines: Sequence[str]) -> Iterator[ChangedLine]:
    for line in lines:
        yield ChangedLine(change, ((change, line),))


def _around(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[ChangedLine]:
    """The equal lines near a difference, and how many lie between."""
    head = [] if is_first else lines[:CONTEXT_LINES]
    rest = lines[len(head) :]
    tail = [] if is_last else rest[-CONTEXT_LINES:]
    hidden = len(rest) - len(tail)
    yield from _whole(Change.SAME, head)
    if hidden:
        yield ChangedLine(Change.LEFT_OUT, (), hidden)
    yield from _whole(Change.SAME, tail)


def _edited(before: str, after: str) -> Iterator[ChangedLine]:
    ours, theirs = _WORDS.findall(before), _WORDS.findall(after)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    if max(len(ours), len(theirs)) > MOST_WORDS or matcher.ratio() < LEAST_RATIO:
        yield from (*_whole(Change.REMOVED, (before,)), *_whole(Change.ADDED, (after,)))
        return
    parts: list[tuple[Change, str]] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            parts.append((Change.SAME, "".join(ours[a:b])))
            continue
        gone, new = "".join(ours[a:b]), "".join(theirs[c:d])
        parts += [(Change.REMOVED, gone)] * bool(gone) + [(Change.ADDED, new)] * bool(new)
    yield ChangedLine(Change.EDITED, tuple(parts))
