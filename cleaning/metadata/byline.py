"""Where the author and the date of a text stand: about its title, above it and right behind it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from operator import itemgetter

from cleaning.body.page_body import Body
from cleaning.document.tree import Tree

_LINES_BEFORE = 8  # the title, or the body where no line is the title
_LINES_BEHIND = 12
_LINES_AT_ENDS = 2  # of the body itself
_LINES_UNDER = 4  # a title that is part of the body
_MAX_LINES = 40  # between title and body
MAX_LINE_CHARS = 160
_MAX_SOURCE_CHARS = 4 * MAX_LINE_CHARS  # white space is yet to be collapsed
Inline = tuple[str, dict[str, str], int]  # tag, attributes, run it begins at


class Byline:
    """The lines about a body.

    Attributes:
        title: The title's line, -1 without.
        first: First line of the body.
        last: Last line of it.
        above: Lines from a little before the title to the beginning of the body.
        inside: First and last lines of the body, and those under a title in it.
        behind: Lines right behind it.
    """

    def __init__(self, tree: Tree, body: Body) -> None:
        self.title = body.title_line
        # A page without body has no lines about it.
        self.first = self.last = -1
        self.above: list[int] = []
        self.inside: list[int] = []
        self.behind: list[int] = []
        self._tree = tree
        self._texts: dict[int, str] | None = None  # of the lines that are short
        self._joined = ""
        self._starts: list[int] = []
        self._inlines: dict[int, list[Inline]] | None = None
        if not body.lines:
            return
        first = self.first = body.lines[0]
        last = self.last = body.lines[-1]
        begin = max(0, (min(self.title, first) if self.title >= 0 else first) - _LINES_BEFORE)
        half = _MAX_LINES // 2
        if first - begin <= _MAX_LINES:
            self.above = list(range(begin, first))
        else:
            self.above = [*range(begin, begin + half), *range(first - half, first)]
        ends = min(_LINES_AT_ENDS, last - first + 1)
        self.inside = sorted({*range(first, first + ends), *range(last + 1 - ends, last + 1)})
        if self.has_title_inside:
            under = range(self.title + 1, min(self.title + 1 + _LINES_UNDER, last + 1))
            self.inside = sorted({*self.inside, *under})
        self.behind = list(range(last + 1, min(last + 1 + _LINES_BEHIND, len(tree.line_starts))))

    @property
    def has_title_inside(self) -> bool:
        """Whether the body begins with its title, and what stands under it."""
        return self.first <= self.title <= min(self.last, self.first + _LINES_UNDER)

    def is_under_title(self, line: int) -> bool:
        """Whether a line of the body stands right under the title in it."""
        return self.has_title_inside and self.title < line <= self.title + _LINES_UNDER

    def holding(self, pattern: re.Pattern[str], more: Iterable[int] = ()) -> list[tuple[int, str]]:
        """The lines short enough for a byline that hold a pattern, with their texts, in order.

        One search through all lines: few of them hold anything.

        Args:
            pattern: Must match within a line in lower case.
            more: Lines that count without it.
        """
        texts = self._short_lines()
        joined, starts = self._joined, self._starts
        lines = list(texts)
        found = {line for line in more if line in texts}
        match = pattern.search(joined)
        while match:
            i = bisect_right(starts, match.start())
            found.add(lines[i - 1])
            match = pattern.search(joined, starts[i]) if i < len(starts) else None
        return [(line, texts[line]) for line in sorted(found)]

    def _short_lines(self) -> dict[int, str]:
        """The texts of the lines that are short enough for a byline, in order."""
        if self._texts is None:
            found: dict[int, str] = {}
            texts, starts = self._tree.texts, self._tree.line_starts
            for line in sorted({*self.above, *self.inside, *self.behind}):
                start = starts[line]
                end = starts[line + 1] if line + 1 < len(starts) else len(texts)
                text = texts[start] if end - start == 1 else "".join(texts[start:end])
                if len(text) <= _MAX_SOURCE_CHARS:
                    text = " ".join(text.split())
                    if len(text) <= MAX_LINE_CHARS:
                        found[line] = text
            lower = [text.lower() for text in found.values()]
            self._starts = [0, *accumulate(len(text) + 1 for text in lower[:-1])]
            self._joined = "\n".join(lower)
            self._texts = found
        return self._texts

    @property
    def inlines(self) -> dict[int, list[Inline]]:
        """The inline elements with attributes that begin on each line above and behind the body."""
        if self._inlines is None:
            found = self._inlines = {}
            tree = self._tree
            for lines in (self.above, *([line] for line in self.inside), self.behind):
                if not lines:
                    continue
                start, end = tree.line_starts[lines[0]], tree.line_runs(lines[-1])[1]
                for i in range(_first_at(tree.inlines, start), _first_at(tree.inlines, end)):
                    inline = tree.inlines[i]
                    found.setdefault(tree.line_of[inline[2]], []).append(inline)
        return self._inlines


def _first_at(inlines: list[Inline], run: int) -> int:
    return bisect_left(inlines, run, key=itemgetter(2))
