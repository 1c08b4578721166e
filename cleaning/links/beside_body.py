"""Where the body of a page lies, and what stands in, between, beside and near its lines."""

from __future__ import annotations

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.sections import Section

NEAR_LINES = 15  # lines around the body in which its keywords and its title stand
_WHOLE_PAGE = ("html", "body")


class BesideBody:
    """The place of a body among the lines and blocks of its page.

    Attributes:
        first: First line of the body, -1 without.
        last: Last line of the body, -1 without.
    """

    def __init__(self, tree: Tree, line_ends: list[int], body: Body) -> None:
        is_kept = body.is_kept
        self.first, self.last = -1, -1
        if True in is_kept:
            self.first = tree.line_of[is_kept.index(True)]
            self.last = tree.line_of[len(is_kept) - 1 - is_kept[::-1].index(True)]
        self._tree, self._line_ends = tree, line_ends
        self._is_thread = body.thread is not None
        self._around: tuple[int, int] | None = None

    def is_near(self, line: int) -> bool:
        """Whether a line stands in the body or a few lines from it."""
        return self.first - NEAR_LINES <= line <= self.last + NEAR_LINES

    def is_amid(self, line: int, text: str) -> bool:
        """Whether a link stands on or between lines of a body that is no thread.

        Args:
            line: The line of the link.
            text: Its text. A link without one is on no line; the nearest may be the body's last.
        """
        if self._is_thread or not self.first <= line <= self.last:
            return False
        return bool(text) or self.first < line < self.last

    def is_beside(self, block: int) -> bool:
        """Whether a block stands in the smallest block around a body that is no thread.

        A block that ends far from the body is a column; neither it nor the whole page counts.
        """
        if self._around is None:
            self._around = self._find_around()
        first, end = self._around
        return first <= block < end

    def is_inside(self, section: Section) -> bool:
        """Whether a section begins before the body and ends behind it: it is no list."""
        return section.first < self.first <= self.last < section.end

    def _find_around(self) -> tuple[int, int]:
        """The smallest part that holds the body, as (first block, block behind the last).

        (0, 0) where the part is large.
        """
        if self.first < 0 or self._is_thread:
            return 0, 0
        tree = self._tree
        starts, ends = tree.block_lines, self._line_ends
        block = tree.line_blocks[self.first]
        while block > 0 and (starts[block] > self.first or ends[block] <= self.last):
            block = tree.block_parents[block]
        if tree.block_tags[block] in _WHOLE_PAGE or ends[block] - 1 - self.last > NEAR_LINES:
            return 0, 0
        return block, tree.block_ends[block]
