"""What the parts of a page hold: sums of their lines, from the leaves up.

A *part* is a block element with all it contains; parts are numbered in document order, so that the
parts inside part ``p`` are ``p + 1 .. tree.block_ends[p] - 1`` and one pass from the end adds up
everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cleaning.document.tree import Tree
from cleaning.features.lines import Lines
from cleaning.features.params import Params

_TITLE_UNITS = 4  # shortest link text that can be another page's title


@dataclass(slots=True)
class Sums:
    """For each part; the lists run in parallel.

    Attributes:
        own: Units outside links.
        linked: Units inside links.
        running: Worth of the running text.
        teases: Whether some line is the title of another page: linked, and long enough.
    """

    own: list[float]
    linked: list[float]
    running: list[float]
    teases: list[bool]


def add_up(tree: Tree, lines: Lines) -> Sums:
    """The sums of all parts."""
    count = len(tree.block_tags)
    parents = tree.block_parents
    own = [0.0] * count
    linked = [0.0] * count
    running = [0.0] * count
    teases = [False] * count
    for block, mine, links, worth in zip(
        tree.line_blocks, lines.own, lines.linked, lines.worth, strict=True
    ):
        own[block] += mine
        if links:
            linked[block] += links
            if links >= _TITLE_UNITS and links >= mine:
                teases[block] = True
        if worth > 0:
            running[block] += worth
    for block in range(count - 1, 0, -1):
        mine = own[block]
        if mine:
            own[parents[block]] += mine
            worth = running[block]
            if worth:
                running[parents[block]] += worth
        links = linked[block]
        if links:
            linked[parents[block]] += links
            if teases[block]:
                teases[parents[block]] = True
    return Sums(own=own, linked=linked, running=running, teases=teases)


def children_of(tree: Tree, part: int) -> Iterator[int]:
    """The parts directly inside a part."""
    child, end = part + 1, tree.block_ends[part]
    while child < end:
        yield child
        child = tree.block_ends[child]


def find_cards(tree: Tree, lines: Lines, sums: Sums, params: Params) -> set[int]:
    """Teasers of other pages: like parts side by side, each small and with a linked title.

    Rows, cells and paragraphs are no cards: texts are written in them. Nor are sections that each
    end with the same button.
    """
    own, linked, teases = sums.own, sums.linked, sums.teases
    tags, parents = tree.block_tags, tree.block_parents
    small: dict[int, int] = {}
    for block, is_teaser in enumerate(teases):
        if is_teaser and block and own[block] + linked[block] < params.card_units:
            parent = parents[block]
            small[parent] = small.get(parent, 0) + 1
    cards: set[int] = set()
    for parent, count in small.items():
        if count < params.min_cards:
            continue
        groups: dict[tuple[str, str], list[int]] = {}
        for child in children_of(tree, parent):
            tag = tags[child]
            if tag not in _TEXT_TAGS:
                kind = tree.block_names[child].partition(" ")[0] if tag == "div" else ""
                groups.setdefault((tag, kind), []).append(child)
        for group in groups.values():
            if len(group) < params.min_cards:
                continue
            linking = [
                part for part in group
                if linked[part] and own[part] + linked[part] < params.card_units
            ]  # fmt: skip
            teasing = [part for part in linking if teases[part]]
            # Nearly all of them, and most of these with a title.
            if (
                len(linking) >= 0.8 * len(group)
                and 10 * len(teasing) >= 7 * len(linking)
                and (tags[group[0]] == "article" or _differ(tree, lines, teasing))
            ):
                cards.update(group)
    return cards


def _differ(tree: Tree, lines: Lines, teasing: list[int]) -> bool:
    """Whether parts lead to different titles; the same words in each are a button."""
    first = ""
    for part in teasing:
        for i in range(tree.block_lines[part], tree.line_end(part)):
            links = lines.linked[i]
            if links >= _TITLE_UNITS and links >= lines.own[i]:
                text = tree.line_text(i)
                if first and text != first:
                    return True
                first = text
    return False


_TEXT_TAGS = frozenset(("tr", "td", "p", "blockquote"))
