"""Headings of what is not the body, such as 相关阅读, 网友评论, Related posts: what follows is cut.

A marker is a short line outside links whose words, without punctuation and counts, stand in
``data/end_markers.txt``, or that is a heading of such links (``sections``). It governs what follows
in the smallest part that holds more than the marker itself. Where that would cut much of the page's
text the words were the body's own.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cleaning.document.tree import Tree
from cleaning.features.headings import heading_kind
from cleaning.features.lines import Lines
from cleaning.features.params import Params
from cleaning.features.subtrees import Sums
from cleaning.lexicon import word_list

_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_MAX_LEVELS = 12
# Of headings of links; those of lists and of what is popular are headings of bodies, too.
_KINDS = frozenset(("related", "maybe", "comment", "author"))


def cut_after_markers(
    tree: Tree, lines: Lines, sums: Sums, title_line: int, is_noise: list[bool], params: Params
) -> None:
    """Turn the worth of what markers govern below zero."""
    own, linked, worth, texts = lines.own, lines.linked, lines.worth, lines.texts
    blocks, parents = tree.line_blocks, tree.block_parents
    before: list[float] | None = None
    cut_to = 0
    most = params.marker_units
    for i, text in enumerate(texts):
        if (
            text
            and own[i] + linked[i] <= most
            and i != title_line
            and not is_noise[blocks[i]]
            and is_marker(text)
        ):
            units = own[i] + linked[i]
            part = blocks[i]
            for _ in range(_MAX_LEVELS):
                if part <= 0 or sums.own[part] + sums.linked[part] > units + 2:
                    break
                part = parents[part]
            end = tree.line_end(part)
            if before is None:
                before = _running_before(worth)
            if before[end] - before[i + 1] < params.after_marker_share * sums.running[0]:
                cut_to = max(cut_to, end)
        if i < cut_to:
            worth[i] = -1 - 0.1 * worth[i] if worth[i] > 0 else worth[i] - 1


def _running_before(worth: list[float]) -> list[float]:
    total = 0.0
    before = [0.0]
    for value in worth:
        if value > 0:
            total += value
        before.append(total)
    return before


@lru_cache(maxsize=8192)
def is_marker(text: str) -> bool:
    """Whether a line says that what follows is none of the body's."""
    words = " ".join(_EDGES.sub("", text.lower()).replace("’", "'").split())
    whole, starts, ends = _markers()
    if not words:
        return False
    if words in whole or words.startswith(starts) or words.endswith(ends):
        return True
    return heading_kind(text) in _KINDS


@lru_cache(maxsize=1)
def _markers() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    words = word_list("end_markers")
    starts = tuple(sorted(word[:-1] for word in words if word.endswith("*")))
    ends = tuple(sorted(word[1:] for word in words if word.startswith("*")))
    return frozenset(words), starts, ends
