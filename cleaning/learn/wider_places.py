"""The part around a place of bodies, where all that it adds is text of its own.

The page alone often keeps one piece of a body of several (a product's description, and not its
data and its use, each in a box), and the same piece on every page. The block around the place is
the body's when what stands beside the place is text that no other page has, outside links. A title,
a byline, links, comments or a part that its name marks as noise prove that the block is wider than
the body.
"""

from __future__ import annotations

from crawlclean.cleaning.features.lines import is_meta
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.learn.views import Sample, View
from crawlclean.cleaning.model.paths import is_plain

_LEAST_SHARE = 0.1  # share of the place's text that the block around it adds
_WRONG_SHARE = 0.1  # share of what it adds that may be links, bylines, titles
_PAGES_SHARE = 0.5  # share of the pages where it adds text
_LEAST_PAGES = 3


def widen(sample: Sample, blocks: dict[int, int]) -> dict[int, int]:
    """Returns the blocks of bodies, each by the number of its page, or blocks around all of them.

    Args:
        sample: The pages.
        blocks: Page -> the block at one path.
    """
    if len(blocks) < _LEAST_PAGES:
        return blocks
    views = sample.views
    best, inner = blocks, blocks
    while True:
        around = {page: views[page].tree.block_parents[block] for page, block in inner.items()}
        page, block = next(iter(around.items()))
        if block <= 0 or is_plain(sample.table.path(views[page].paths[block])):
            return best
        gain = _gain(sample, best, around)
        if gain is None:
            return best
        if gain:
            best = around
        inner = around


def _gain(sample: Sample, inner: dict[int, int], around: dict[int, int]) -> bool | None:
    """Whether blocks add text of the body to inner ones; None where they add anything else."""
    held = fresh = same = wrong = 0
    pages = 0
    for page, outer in around.items():
        one, block = sample.views[page], inner[page]
        tree = one.tree
        first, last = tree.block_lines[block], tree.line_end(block)
        held += sum(one.own[first:last])
        before = fresh
        for i in range(tree.block_lines[outer], tree.line_end(outer)):
            if first <= i < last or not one.own[i] + one.linked[i]:
                continue
            if i == one.body.title_line or _is_wrong(one, i, outer):
                wrong += one.own[i] + one.linked[i]
            elif sample.repeats.count(one.paths[tree.line_blocks[i]], one.texts[i]) > 1:
                same += one.own[i]
            else:
                fresh += one.own[i]
        pages += fresh > before
    if wrong > _WRONG_SHARE * (fresh + wrong) or same > fresh:
        return None
    return fresh >= _LEAST_SHARE * held and pages >= _PAGES_SHARE * len(around)


def _is_wrong(one: View, line: int, outer: int) -> bool:
    """Whether a line is of links, about the body, a heading of the page, or in a part of noise."""
    tree = one.tree
    block = tree.line_blocks[line]
    if one.linked[line] > 0 or is_meta(tree.line_text(line)):
        return True
    if tree.block_tags[block] == "h1":
        return True
    while block > outer:
        if kind_of_part(tree.block_tags[block], tree.block_names[block]) is not PartKind.PLAIN:
            return True
        block = tree.block_parents[block]
    return False
