"""Opinions of buyers on a product: like parts side by side, each with a date and a text.

Shops put them below the description, often with more text than that has. Their names differ from
shop to shop; their structure is that of replies: parts of one tag and name, each with a short line
that holds a date. Only pages that declare a product (JSON-LD, ``og:type``) are looked at: entries
of a diary have the same structure.
"""

from __future__ import annotations

from collections.abc import Sequence

from cleaning.body.noise import Noise
from cleaning.document.tree import Tree
from cleaning.features.lines import Lines, Sums
from cleaning.posts.names import name_of
from cleaning.posts.parts import is_date

_LEAST_OPINIONS = 3
_DATE_UNITS = 20  # longest line about an opinion
_MAX_DATES = 2  # in one opinion: the shop may have answered; a section with more holds others
_OPINION_SHARE = 0.7  # of like parts that have a date and a text
_LEAST_TEXT_UNITS = 4  # of running text in an opinion
# What stands around opinions (their heading, a mean, filters) is theirs up to this many times their
# text; a page with hardly anything else is about them.
_AROUND_TIMES = 1.5
_MAX_SHARE = 0.9
_NO_OPINION = frozenset(("p", "td", "th", "html", "body", "main"))


def is_of_product(tree: Tree) -> bool:
    """Returns whether a page declares itself the page of a product."""
    return tree.metas.get("og:type", "").startswith("product") or any(
        '"Product' in each for each in tree.scripts.data
    )


def mark_opinions(tree: Tree, lines: Lines, sums: Sums, noise: Noise, held: Sequence[int]) -> None:
    """Marks the opinions on a product as noise, as comments are.

    Args:
        tree: The page of a product.
        lines: Its lines.
        sums: The sums of its parts.
        noise: Its parts that are noise; gets the opinions, too.
        held: Lines whose parts are no noise: the title's and declared ones, -1 for none.
    """
    for group in _find_opinions(tree, lines, sums, noise.is_noise):
        units = sum(sums.own[part] for part in group)
        if units >= _MAX_SHARE * sums.own[0] or any(_holds(tree, part, held) for part in group):
            continue
        around = tree.block_parents[group[0]]
        parts = group
        while around > 0 and sums.own[around] <= _AROUND_TIMES * units:
            if _holds(tree, around, held):
                break
            parts = [around]
            around = tree.block_parents[around]
        for part in parts:
            end = tree.block_ends[part]
            noise.is_noise[part:end] = [True] * (end - part)
        noise.comments += parts
    noise.comments.sort()


def _find_opinions(tree: Tree, lines: Lines, sums: Sums, is_noise: list[bool]) -> list[list[int]]:
    """The groups of like parts side by side of which most have a date and a text."""
    parents, tags = tree.block_parents, tree.block_tags
    dates = [0] * len(parents)
    for i, block in enumerate(tree.line_blocks):
        if lines.own[i] + lines.linked[i] <= _DATE_UNITS and not is_noise[block]:
            dates[block] += is_date(tree.line_text(i))
    for block in range(len(parents) - 1, 0, -1):
        dates[parents[block]] += dates[block]
    groups: dict[tuple[int, str, str], list[int]] = {}
    for part, count in enumerate(dates):
        if count and part and not is_noise[part] and tags[part] not in _NO_OPINION:
            tag, names = name_of(tags[part], tree.block_names[part])
            groups.setdefault((parents[part], tag, names.partition(" ")[0]), []).append(part)
    return [
        group
        for group in groups.values()
        if sum(
            dates[part] <= _MAX_DATES
            and sums.running[part] >= _LEAST_TEXT_UNITS
            and sums.linked[part] < sums.own[part]
            for part in group
        )
        >= max(_LEAST_OPINIONS, _OPINION_SHARE * len(group))
    ]


def _holds(tree: Tree, part: int, held: Sequence[int]) -> bool:
    """Whether one of some lines lies in a part."""
    return any(tree.block_lines[part] <= line < tree.line_end(part) for line in held)
