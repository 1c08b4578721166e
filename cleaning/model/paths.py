"""The place of a block and the text of a line, as other pages of the host have them.

A *step* is a block's tag with its names: class and id, numbers as ``#``, without what looks drawn
at random, the first two and the last. A *path* is the steps from the root. A step that ends with
``*`` may have more names, where the pages of a host do not agree on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, islice

from cleaning.document.tree import Tree
from cleaning.urls.patterns import is_session_like

ANY = "*"
_MAX_NAME_CHARS = 40
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_LETTERS = 4
_MAX_LABEL_CHARS = 40
_MARKS = str.maketrans("./*", "___")  # those of paths, which names of some stylesheets have
_NAMELESS = frozenset(("html", "body"))  # their names are of the page, not of a place


def line_key(text: str) -> str:
    """A line's text as other pages have it: short ones with numbers as ``#`` beside words.

    Longer ones are reports of numbers: of stocks, of the weather.
    """
    if len(text) > _MAX_LABEL_CHARS:
        return text
    plain = _DIGITS.sub("#", text)
    return plain if plain != text and len(_LETTER.findall(plain)) >= _LEAST_LETTERS else text


@lru_cache(maxsize=16384)
def step_of(tag: str, names: str) -> str:
    """The step of a block with these names (class and id, separated by spaces)."""
    if not names or tag in _NAMELESS:
        return tag
    kept = [
        _DIGITS.sub("#", name[:_MAX_NAME_CHARS].translate(_MARKS))
        for name in names.split()
        if not is_session_like(name)
    ]
    if len(kept) > 3:
        kept = [*kept[:2], kept[-1]]
    return ".".join((tag, *kept))


def open_step(tag: str, names: Sequence[str]) -> str:
    """The step of a tag with these names and any others."""
    return ".".join((tag, *names, ANY))


@lru_cache(maxsize=16384)
def _open_steps(step: str) -> tuple[str, ...]:
    """The open steps a block with this step stands at, those of most names first."""
    tag, *names = step.split(".")
    sizes = range(len(names), -1, -1)
    return tuple(open_step(tag, some) for size in sizes for some in combinations(names, size))


def is_plain(path: str) -> bool:
    """Whether a path has no names: tags alone are on pages of every kind."""
    return all(step.partition(".")[2] in ("", ANY) for step in path.split("/"))


class PathIndex:
    """A set of paths, to find the blocks of a tree that stand at them.

    Args:
        paths: Each a sequence of steps from the root.
    """

    def __init__(self, paths: Iterable[Sequence[str]]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._found: list[list[int]] = [[]]
        self._is_open = [False]  # whether an open step follows
        for number, path in enumerate(paths):
            state = 0
            for step in path:
                following = self._next[state]
                if step not in following:
                    following[step] = len(self._next)
                    self._next.append({})
                    self._found.append([])
                    self._is_open.append(False)
                    self._is_open[state] |= step.endswith(ANY)
                state = following[step]
            self._found[state].append(number)

    def find(self, tree: Tree) -> list[tuple[int, int]]:
        """(block, number of its path) of every block at one of the paths, in document order."""
        nexts, numbers, is_open = self._next, self._found, self._is_open
        found: list[tuple[int, int]] = []
        states = [nexts[0].get("html", -1)]
        blocks = zip(tree.block_parents, tree.block_tags, tree.block_names, strict=True)
        for block, (parent, tag, names) in enumerate(islice(blocks, 1, None), 1):
            before = states[parent]
            state = -1
            if before >= 0 and (following := nexts[before]):
                step = step_of(tag, names)
                state = following.get(step, -1)
                if state < 0 and is_open[before]:
                    state = next((following[x] for x in _open_steps(step) if x in following), -1)
                if state >= 0 and numbers[state]:
                    found += [(block, number) for number in numbers[state]]
            states.append(state)
        return found
