"""Promotions in a body: lines that ask the reader to follow, scan, download or share.

Their words are in ``data/promotions.txt``; only short lines are looked at, because a text about
these things needs a sentence. A box goes with its line: the largest part around it that is short
and, unless the line is a label of advertising, holds no running text. Lines behind a promotion at
the end go too: behind the last paragraph a body does not begin again. Headings such as 延伸阅读 go
when the links below them are not in the body (chapter 5 of the link block paper, Figure 5-2: blocks
of links inside a body).
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.headings import heading_kind
from crawlclean.cleaning.features.lines import TEASER_UNITS, Lines, Sums, trim_to
from crawlclean.cleaning.lexicon import by_first_letter, word_list
from crawlclean.cleaning.verdict import VerdictReason

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_GAP = ".{0,20}"
_MAX_LEVELS = 6
_PROMOTION_UNITS = 40  # longest line, and largest box, of a promotion
# Shortest line that is surely a paragraph: behind the last one a promotion ends the body.
_PARAGRAPH_UNITS = 30
_HEADING_UNITS = 14  # longest heading of links that are not in the body
_SENTENCE_END = "。！？.!?"


def drop_promotions(
    tree: Tree, lines: Lines, sums: Sums, kept: list[int], container: int
) -> list[int]:
    """Removes promotions, their boxes and the lines behind them at the end from the body's lines.

    Args:
        tree: The page.
        lines: Its lines.
        sums: The sums of its parts.
        kept: Numbers of the body's lines, growing.
        container: The part of the body; boxes are smaller.
    """
    promoting = {
        line
        for line in kept
        if lines.own[line] + lines.linked[line] <= _PROMOTION_UNITS
        and promotes(lines.texts[line] or tree.line_text(line))
    }
    bare = _bare_headings(lines, kept)
    promoting |= bare
    if not promoting or len(promoting) == len(kept):
        return kept
    dropped = set(promoting)
    prose = {n for n, worth in enumerate(lines.worth) if worth > 0} - promoting
    for line in promoting:
        is_label = heading_kind(lines.texts[line]) == "ad"
        box = _box(tree, sums, line, container, set() if is_label else prose)
        dropped.update(range(tree.block_lines[box], tree.line_end(box)) if box else ())
    last = max(
        (n for n in kept if lines.worth[n] > 0 and lines.own[n] >= _PARAGRAPH_UNITS
         and n not in promoting),
        default=-1,
    )  # fmt: skip
    end = min((n for n in promoting if n > last >= 0), default=len(lines.own))
    if lines.trail is not None:
        lines.trail.cut((n for n in kept if n >= end), VerdictReason.BEHIND_PROMOTION)
        lines.trail.cut(dropped.intersection(kept), VerdictReason.PROMOTION)
        lines.trail.cut(bare, VerdictReason.NO_LINKS_BELOW)
    return [n for n in kept if n not in dropped and n < end]


def _bare_headings(lines: Lines, kept: list[int]) -> set[int]:
    """Finds headings such as 延伸阅读 whose links right below, titles of pages, are not kept."""
    found = set()
    for n, line in enumerate(kept[:-1]):
        below = line + 1
        if (
            kept[n + 1] > below
            and lines.linked[below] > lines.own[below]
            and lines.linked[below] >= TEASER_UNITS
            and lines.own[line] <= _HEADING_UNITS
            and heading_kind(lines.texts[line]) == "related"
            and lines.texts[line][-1] not in _SENTENCE_END
        ):
            found.add(line)
    return found


def _box(tree: Tree, sums: Sums, line: int, container: int, prose: set[int]) -> int:
    """Finds the largest small part around a line without a line of ``prose``; 0 for none."""
    part, box = tree.line_blocks[line], 0
    for _ in range(_MAX_LEVELS):
        is_small = sums.own[part] + sums.linked[part] <= _PROMOTION_UNITS
        if part <= container or not is_small:
            break
        if not prose.isdisjoint(range(tree.block_lines[part], tree.line_end(part))):
            break
        box, part = part, tree.block_parents[part]
    return box


@lru_cache(maxsize=8192)
def promotes(text: str) -> bool:
    """Whether a short line asks to follow, scan or share, or is a label of advertising."""
    whole, inside = _words()
    text = text.lower()
    return trim_to(text, _LETTER_OR_DIGIT) in whole or inside.search(text) is not None


@lru_cache(maxsize=1)
def _words() -> tuple[frozenset[str], re.Pattern[str]]:
    """(whole lines, pattern of words inside a line) that promote."""
    words = word_list("promotions")
    inside = by_first_letter(word for word in words if word[0] != "=")
    # Alternatives that begin with different letters: one of them is tried at a place.
    pieces = (
        f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in found)})"
        for first, found in inside.items()
    )
    return (
        frozenset(word[1:] for word in words if word[0] == "="),
        re.compile("|".join(pieces).replace("…", _GAP)),
    )
