"""The names of parts: tag, class names and id, mostly without digits.

Numbers in names count posts (``post-17``), mark every other one (``row1``, ``row2``) or how deep
it stands (``depth-2``): the name is the *stem* before them. Where the numbers are all that tells
the parts of a page apart (``W21`` stands in ``W7``, and both repeat), they belong to the name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree

Name = tuple[str, str]
"""Tag, and the first class names and id: ``("div", "post-body p")``."""

_DIGITS = re.compile(r"\d+")
_MOST_NAMES = 3
_LEAST_REPEATS = 2
_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=8192)
def name_of(tag: str, names: str, telling: frozenset[str] = _NONE) -> Name:
    """The name of a part: ``("div", "post-body p")`` of ``<div class="post-body" id="p12">``.

    Args:
        tag: Its tag.
        names: Its classes and id, separated by spaces.
        telling: The names that keep their numbers; beside them others with their stems go.
    """
    if not telling:
        return tag, _DIGITS.sub("", " ".join(names.split()[:_MOST_NAMES]))
    pairs = [(name, _DIGITS.sub("", name)) for name in names.split()]
    told = {stem for name, stem in pairs if name in telling}
    found = [
        name if name in telling else stem
        for name, stem in pairs
        if name in telling or stem not in told
    ]
    return tag, " ".join(found[:_MOST_NAMES])


def telling_names(tree: Tree) -> frozenset[str]:
    """The names of a page that tell its parts apart by their numbers alone: ``W21``, ``W7``.

    Parts with no name but such ones stand in one another, and most of them repeat.
    """
    blocks = Counter(tree.block_names)
    with_digits = filter(_DIGITS.search, blocks)
    numbered = {names: found for names in with_digits if (found := _only_numbered(names))}
    counts: Counter[tuple[str, str]] = Counter()
    for names, pairs in numbered.items():
        for pair in pairs:
            counts[pair] += blocks[names]
    held: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    for (stem, _), count in counts.items():
        held[stem] += count
        repeated[stem] += count if count >= _LEAST_REPEATS else 0
    often = {stem for stem, count in held.items() if 2 * repeated[stem] > count}
    if not often:
        return _NONE  # the common case
    nested: set[str] = set()
    above: list[dict[str, str]] = []  # for each block, stem -> first name of those around and on it
    for parent, names in zip(tree.block_parents, tree.block_names, strict=True):
        around = above[parent] if parent >= 0 else {}
        pairs = numbered.get(names, ())
        if pairs:
            own = dict(reversed(pairs))
            nested.update(stem for stem, name in own.items() if around.get(stem, name) != name)
            around = around | own
        above.append(around)
    nested &= often
    return frozenset(
        name for (stem, name), count in counts.items() if stem in nested and count >= _LEAST_REPEATS
    )


def numbered_names(names: Collection[Name]) -> frozenset[str]:
    """The class names with numbers in some names: ``W21`` of ``("td", "W21 :2")``."""
    words = (word for _, each in names for word in each.split() if word[0] != ":")
    return frozenset(word for word in words if _DIGITS.search(word))


def is_told(name: Name, telling: Collection[str]) -> bool:
    """Whether a name holds for one kind of part: a stem whose numbers tell does not."""
    return {_DIGITS.sub("", each) for each in telling}.isdisjoint(name[1].split())


@lru_cache(maxsize=8192)
def _only_numbered(names: str) -> tuple[tuple[str, str], ...]:
    """(stem, name) of the names of a part, where all have a number behind letters; else ()."""
    found = [(_DIGITS.sub("", name), name) for name in names.split()]
    return tuple(found) if all(stem and stem != name for stem, name in found) else ()
