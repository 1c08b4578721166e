"""Where the author and the date of a text stand: about its title, above it and right behind it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from operator import itemgetter

from cleaning.extract.body import Body
from cleaning.source.tree import Tree

_LINES_BEFORE = 8  # the title, or the body where no line is the title
_LINES_BEHIND = 12
_LINES_AT_ENDS = 2  # of the body itself
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
        inside: First and last lines of the body.
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
        self._joined: str | None = None
        self._starts: list[int] = []
        self._lines: list[int] = []
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
        self.behind = list(range(last + 1, min(last + 1 + _LINES_BEHIND, len(tree.line_starts))))

    def holding(self, pattern: re.Pattern[str], more: Iterable[int] = ()) -> list[tuple[int, str]]:
        """The lines short enough for a byline that hold a pattern, with their texts, in order.

        One search through all lines: few of them hold anything.

        Args:
            pattern: Must match within a line.
            more: Lines that count without it.
        """
        if self._joined is None:
            self._join()
        joined, starts, lines = self._joined or "", self._starts, self._lines
        found = {i for line in more if (i := bisect_left(lines, line)) < len(lines)}
        match = pattern.search(joined)
        while match:
            i = bisect_right(starts, match.start()) - 1
            found.add(i)
            match = pattern.search(joined, starts[i + 1]) if i + 1 < len(starts) else None
        texts = ((lines[i], self._tree.line_text(lines[i])) for i in sorted(found))
        return [(line, text) for line, text in texts if len(text) <= MAX_LINE_CHARS]

    def _join(self) -> None:
        tree = self._tree
        texts, line_starts = tree.texts, [*tree.line_starts, len(tree.texts)]
        self._lines = sorted({*self.above, *self.inside, *self.behind})
        pieces = []
        for line in self._lines:
            start, end = line_starts[line], line_starts[line + 1]
            piece = texts[start] if end - start == 1 else "".join(texts[start:end])
            pieces.append(piece if len(piece) <= _MAX_SOURCE_CHARS else "")
        self._starts = [0, *accumulate(len(piece) + 1 for piece in pieces[:-1])]
        self._joined = "\n".join(pieces)

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
