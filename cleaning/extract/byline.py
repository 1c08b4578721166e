"""Where the author and the date of a text stand: about its title, above it and right behind it."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter

from cleaning.extract.body import Body
from cleaning.source.tree import Tree

_LINES_BEFORE = 8  # the title, or the body where no line is the title
_LINES_BEHIND = 12
_LINES_AT_ENDS = 2  # of the body itself
_MAX_LINES = 40  # between title and body
MAX_LINE_CHARS = 160


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
        self._texts: dict[int, str] | None = None
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

    @property
    def texts(self) -> dict[int, str]:
        """Text of each of these lines that is short enough for a byline, in document order."""
        if self._texts is None:
            lines = sorted({*self.above, *self.inside, *self.behind})
            texts = ((line, self._tree.line_text(line)) for line in lines)
            self._texts = {line: text for line, text in texts if len(text) <= MAX_LINE_CHARS}
        return self._texts


def inlines_of(tree: Tree, line: int) -> list[tuple[str, dict[str, str], int]]:
    """The inline elements with attributes that begin on a line, with the run each begins at."""
    start, end = tree.line_runs(line)
    inlines = tree.inlines
    i = j = bisect_left(inlines, start, key=itemgetter(2))
    while j < len(inlines) and inlines[j][2] < end:
        j += 1
    return inlines[i:j]
