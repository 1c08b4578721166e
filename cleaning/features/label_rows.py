"""Rows of labels, as tabs are, and the panels that the labels govern by their place.

A *row* is a part with several short texts, each in a part of its own with the same tag; at most one
leads to a page (更多). With as many parts of one shape behind the row as it has labels, each label
governs the part of its place, shown or hidden. Else the strongest label governs what stands behind
the row, and the others are notes and buttons (换一换).
"""

from __future__ import annotations

from crawlclean.cleaning.document.tree import Tree

_MAX_LABELS = 12
_MAX_LEVELS = 3  # parts around a row that hold nothing else
_BUTTONS = frozenset(("button",))
_LEAST_LINKS = 2  # of a panel; the items of a list are none
_NO_PAGE = ("#", "javascript:")


def find_row(tree: Tree, line: int, line_ends: list[int]) -> int:
    """Returns the part with a row of labels that a line is the first of; 0 without one.

    Args:
        tree: The page.
        line: The line of a heading.
        line_ends: The line behind the last of each block.
    """
    parents, starts = tree.block_parents, tree.block_lines
    cell = tree.line_blocks[line]
    row = parents[cell]
    while row > 0 and line_ends[row] == line + 1 and starts[row] == line:
        cell, row = row, parents[row]
    if row <= 0:
        return 0
    end = line_ends[row]
    if not 1 < end - line <= _MAX_LABELS:
        return 0
    cells = [child for child in tree.children(row) if line_ends[child] > starts[child]]
    if len(cells) < end - line or len({tree.block_tags[child] for child in cells} - _BUTTONS) > 1:
        return 0
    pages = 0
    for i in range(line, end):
        anchor = tree.anchor_of[tree.line_starts[i]]
        pages += anchor >= 0
    return row if pages <= 1 else 0


def find_panels(tree: Tree, row: int, count: int, links: list[int]) -> list[int]:
    """Returns the parts behind a row, or inside the part behind it, where there are ``count``."""
    behind = _behind(tree, row, count)
    if not behind:
        return []
    for parts in (behind, list(tree.children(behind[0]))):
        if len(parts) == count and len({_shape(tree, part) for part in parts}) == 1:
            found = [links[tree.line_end(part)] - links[tree.block_lines[part]] for part in parts]
            if all(n >= _LEAST_LINKS for n in found):
                return parts
    return []


def _behind(tree: Tree, row: int, count: int) -> list[int]:
    """The first parts behind a row, or behind the parts that hold nothing else."""
    ends, parents = tree.block_ends, tree.block_parents
    for _ in range(_MAX_LEVELS):
        around = parents[row]
        behind: list[int] = []
        block = ends[row]
        while block < ends[around] and len(behind) < count:
            behind.append(block)
            block = ends[block]
        if behind or row <= 0:
            return behind
        row = around
    return []


def _shape(tree: Tree, part: int) -> tuple[str, str]:
    """(tag, first name without digits) of a part."""
    name = tree.block_names[part].partition(" ")[0]
    return tree.block_tags[part], name.rstrip("0123456789")
