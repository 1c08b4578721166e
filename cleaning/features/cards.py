"""Cards: parts side by side that hold one title each, with what stands on them.

A *card* shows another page in a list: its title, and beside it a picture, an abstract, an author, a
channel, a date, counters. It is the largest part around a title that holds no other title, and at
least three such parts with the same tag stand in one part, none of them with nearly all
the links of all, as the main column of a page has. What is on a card describes the page
of its title, whatever its words are: 新闻 on a card is the channel of a story, no menu, and 专栏 no
heading of a list.
"""

from __future__ import annotations

from itertools import islice

from crawlclean.cleaning.document.tree import Tree

_LEAST = 3  # cards in a list
_MAX_SHARE = 0.8  # of the links of all cards on one of them; a column of a page has more
_MAX_SEEN = 40  # parts of a list that are looked at


class Cards:
    """The cards of a page, found where they are asked for.

    Attributes:
        line_ends: The line behind the last of each block.

    Args:
        tree: The page.
        line_ends: As the attribute.
        titles: Running totals by line of titles; titles of one URL in a row count once.
        links: Running totals by line of links with a text.
    """

    def __init__(
        self,
        tree: Tree,
        line_ends: list[int],
        titles: list[int],
        links: list[int],
    ) -> None:
        self._tree, self.line_ends = tree, line_ends
        self._titles, self._links = titles, links
        self._known = {0: 0}
        self._has_any = titles[-1] >= _LEAST
        self._is_repeated: dict[tuple[int, str], bool] = {}

    def around(self, block: int) -> int:
        """Returns the card a block lies in or is; 0 where it is on none."""
        known = self._known
        if not self._has_any or block in known:
            return known.get(block, 0)
        parents, starts = self._tree.block_parents, self._tree.block_lines
        titles, ends = self._titles, self.line_ends
        path = []
        here = titles[ends[block]] - titles[starts[block]]
        while block not in known:
            path.append(block)
            parent = parents[block]
            around = titles[ends[parent]] - titles[starts[parent]]
            if around > 1:  # the block is the largest with one title, or with none
                known[block] = self._card(block) if here == 1 else 0
                break
            block, here = parent, around
        found = known[block]
        for each in path:
            known[each] = found
        return found

    def _card(self, block: int) -> int:
        """The largest part with one title if others stand beside it, else 0."""
        key = self._tree.block_parents[block], self._tree.block_tags[block]
        is_repeated = self._is_repeated.get(key)
        if is_repeated is None:
            is_repeated = self._is_repeated[key] = self._are_cards(*key)
        return block if is_repeated else 0

    def _are_cards(self, around: int, tag: str) -> bool:
        """Whether a part holds several cards with a tag, and not the columns of a page."""
        tags, lines, ends = self._tree.block_tags, self._tree.block_lines, self.line_ends
        links = self._links
        sizes = [
            links[ends[child]] - links[lines[child]]
            for child in islice(self._tree.children(around), _MAX_SEEN)
            if tags[child] == tag and self._count(child) == 1
        ]
        return len(sizes) >= _LEAST and max(sizes) <= _MAX_SHARE * sum(sizes)

    def _count(self, block: int) -> int:
        return self._titles[self.line_ends[block]] - self._titles[self._tree.block_lines[block]]
