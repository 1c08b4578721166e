"""Teasers of other pages: like parts side by side, each small and with a linked title."""

from __future__ import annotations

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import TEASER_UNITS, Lines, Sums
from crawlclean.cleaning.features.parts import TAG_KINDS

_CARD_UNITS = 250  # largest part that can be a teaser of another page
_MIN_CARDS = 3  # fewest like parts side by side that are a list of teasers
_CARD_TEXT_TAGS = frozenset(("tr", "td", "p", "blockquote"))  # texts are written in them


def find_cards(tree: Tree, lines: Lines, sums: Sums) -> set[int]:
    """Finds teasers of other pages: like parts side by side, each small and with a linked title.

    Rows, cells and paragraphs are no cards: texts are written in them. Nor are sections that each
    end with one button.
    """
    own, linked, teases = sums.own, sums.linked, sums.teases
    tags, parents = tree.block_tags, tree.block_parents
    small: dict[int, int] = {}
    for block, is_teaser in enumerate(teases):
        if is_teaser and block and own[block] + linked[block] < _CARD_UNITS:
            parent = parents[block]
            small[parent] = small.get(parent, 0) + 1
    cards: set[int] = set()
    for parent, count in small.items():
        if count < _MIN_CARDS:
            continue
        groups: dict[tuple[str, str], list[int]] = {}
        for child in tree.children(parent):
            tag = tags[child]
            if tag not in _CARD_TEXT_TAGS:
                kind = tree.block_names[child].partition(" ")[0] if tag == "div" else ""
                groups.setdefault((tag, kind), []).append(child)
        for group in groups.values():
            if len(group) < _MIN_CARDS:
                continue
            linking = [
                part for part in group
                if linked[part] and own[part] + linked[part] < _CARD_UNITS
            ]  # fmt: skip
            teasing = [part for part in linking if teases[part]]
            # Nearly all of them, and most of these with a title.
            if (
                len(linking) >= 0.8 * len(group)
                and 10 * len(teasing) >= 7 * len(linking)
                and (tags[group[0]] == "article" or _differ(tree, lines, teasing))
                and not _end_with_links(tree, lines, teasing)
            ):
                cards.update(group)
    return cards


def _differ(tree: Tree, lines: Lines, teasing: list[int]) -> bool:
    """Whether parts link to different titles; equal words in each are a button."""
    first = ""
    for part in teasing:
        for i in range(tree.block_lines[part], tree.line_end(part)):
            links = lines.linked[i]
            if links >= TEASER_UNITS and links >= lines.own[i] and leads_away(tree, i):
                text = tree.line_text(i)
                if first and text != first:
                    return True
                first = text
    return False


def _end_with_links(tree: Tree, lines: Lines, teasing: list[int]) -> bool:
    """Whether most parts have text before their first link: it is a button, and no title."""
    count = 0
    for part in teasing:
        for i in range(tree.block_lines[part], tree.line_end(part)):
            if lines.worth[i] > 0 and tree.block_tags[tree.line_blocks[i]] not in TAG_KINDS:
                count += 1
                break
            if lines.linked[i] >= TEASER_UNITS and lines.linked[i] >= lines.own[i]:
                break
    return 2 * count > len(teasing)


def leads_away(tree: Tree, line: int) -> bool:
    """Returns whether a line has a link that leads away; one that unfolds a text stays here."""
    last = -1
    for run in range(*tree.line_runs(line)):
        anchor = tree.anchor_of[run]
        if anchor != last:
            last = anchor
            href = tree.anchors[anchor].href.strip() if anchor >= 0 else ""
            if href and not href.startswith(("#", "javascript:")):
                return True
    return False
