"""Paths of blocks and keys of lines that are equal on all pages of a host.

A *step* is a block's tag with its names (class and id): ``div.post.post-#``. Numbers are ``#``,
random-looking names are left out, and of more than three names the first two and the last stay. A
*path* is the steps from the root: ``html/body/div.main/div.post``. An *open* step, such as
``div.post.*``, stands for blocks with more names, on which the pages of a host differ. Names that a
host's pages tell parts apart by keep their numbers: ``div.W1`` is the title, ``div.W2`` the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, islice
from zlib import crc32

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.urls.patterns import is_session_like

ANY = "*"
_MAX_NAME_CHARS = 40  # of a class or id: names that a program wrote may be endless
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_LETTERS = 4  # of a label around its number; fewer are a unit or a mark: 12 px
_MAX_LABEL_CHARS = 40  # longest line whose numbers count readers or replies, not facts
_MAX_KEY_CHARS = 200  # longer lines are known by their beginning: keys are held for a sample
_LONG_KEY_CHARS = 60  # of such a line, for people to know it by; the checksum tells it apart
_MARKS = str.maketrans("./*", "___")  # the marks of paths, which some class names contain
_NAMELESS = frozenset(("html", "body"))  # their names differ between pages


def line_key(text: str) -> str:
    """Returns the key of a line: its text, with ``#`` for each number in short lines with words.

    ``共有12条评论`` gives ``共有#条评论``. Longer lines with numbers are reports (stocks, weather),
    which differ by them. Of very long lines the key is the beginning and a checksum.
    """
    if len(text) > _MAX_KEY_CHARS:
        return f"{text[:_LONG_KEY_CHARS]}…{checksum_of(text):08x}"
    if len(text) > _MAX_LABEL_CHARS:
        return text
    plain = _DIGITS.sub("#", text)
    return plain if plain != text and len(_LETTER.findall(plain)) >= _LEAST_LETTERS else text


def checksum_of(key: str) -> int:
    """Returns the CRC-32 of a line's key."""
    return crc32(key.encode("utf-8", "replace"))


@lru_cache(maxsize=16384)
def step_of(tag: str, names: str, steady: frozenset[str] = frozenset()) -> str:
    """Returns the step of a block: ``div.post.post-#`` for ``div`` with ``post post-17``.

    Args:
        tag: Its tag.
        names: Its classes and id.
        steady: Names that keep their numbers.
    """
    if not names or tag in _NAMELESS:
        return tag
    kept = [
        name if name in steady else _DIGITS.sub("#", name)
        for name in (each[:_MAX_NAME_CHARS].translate(_MARKS) for each in names.split())
        if not is_session_like(name)
    ]
    if len(kept) > 3:
        kept = [*kept[:2], kept[-1]]
    return ".".join((tag, *kept))


@lru_cache(maxsize=16384)
def numbered_names(names: str) -> tuple[tuple[str, str], ...]:
    """Returns the names with numbers, and each without: ``(("post-17", "post-#"),)``."""
    found = []
    for name in names.split():
        plain = name[:_MAX_NAME_CHARS].translate(_MARKS)
        if _DIGITS.search(plain) and not is_session_like(name):
            found.append((plain, _DIGITS.sub("#", plain)))
    return tuple(found)


def open_step(tag: str, names: Sequence[str]) -> str:
    """Returns the step of a tag with these names and any others: ``div.post.*``."""
    return ".".join((tag, *names, ANY))


@lru_cache(maxsize=16384)
def _open_steps(step: str) -> tuple[str, ...]:
    """The open steps that match a step, the narrowest first: ``p.a.*``, ``p.*`` for ``p.a``."""
    tag, *names = step.split(".")
    sizes = range(len(names), -1, -1)
    return tuple(open_step(tag, some) for size in sizes for some in combinations(names, size))


def is_plain(path: str) -> bool:
    """Whether a path has no names, such as ``html/body/div/p``: pages of every kind have it."""
    return all(step.partition(".")[2] in ("", ANY) for step in path.split("/"))


class PathIndex:
    """A set of paths as a trie, which finds the blocks at them in one walk over a tree.

    Args:
        paths: The steps of each path from the root: ``["html", "body", "div.post"]``.
    """

    def __init__(self, paths: Iterable[Sequence[str]]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._found: list[list[int]] = [[]]
        self._is_open = [False]  # whether some next step is open
        steady: set[str] = set()
        for number, path in enumerate(paths):
            state = 0
            for step in path:
                following = self._next[state]
                if step not in following:
                    steady.update(filter(_DIGITS.search, step.split(".")[1:]))
                    following[step] = len(self._next)
                    self._next.append({})
                    self._found.append([])
                    self._is_open.append(False)
                    self._is_open[state] |= step.endswith(ANY)
                state = following[step]
            self._found[state].append(number)
        self._steady = frozenset(steady)

    def find(self, tree: Tree) -> list[tuple[int, int]]:
        """Returns (block, number of the path) of every block at a path, in document order."""
        nexts, numbers, is_open, steady = self._next, self._found, self._is_open, self._steady
        found: list[tuple[int, int]] = []
        states = [nexts[0].get("html", -1)]
        blocks = zip(tree.block_parents, tree.block_tags, tree.block_names, strict=True)
        for block, (parent, tag, names) in enumerate(islice(blocks, 1, None), 1):
            before = states[parent]
            state = -1
            if before >= 0 and (following := nexts[before]):
                step = step_of(tag, names, steady)
                state = following.get(step, -1)
                if state < 0 and is_open[before]:
                    state = next((following[x] for x in _open_steps(step) if x in following), -1)
                if state >= 0 and numbers[state]:
                    found += [(block, number) for number in numbers[state]]
            states.append(state)
        return found
