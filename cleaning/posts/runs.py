"""Parts that repeat side by side in one shape, and names for what stands in one place of each.

A name is no use where each post has its own, ``msg-ad41f`` beside ``msg-0c77e``, or where names
take turns. A *run* is three or more parts side by side with one tag and mostly the same tags at the
same paths inside. In a run a part is named

- ``("div", "text *")`` by the words that are not its own alone, where most parts at its path have
  a word that stands nowhere else on the page;
- ``("td", ":board/tr/td2of2")`` by its path of tags below a named part where no word is left, or
  where the parts at its path, one in each post, have no word in common.

Both kinds of names are found again on other pages of the host by ``name_known``.

Cost: linear in the blocks times their depth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cleaning.document.tree import Tree

Name = tuple[str, str]

_LEAST_ALIKE = 3  # parts side by side
_ALIKE_SHARE = 0.6  # of the common paths that a part of a run has, and of its parts at a path
_OWN_SHARE = 0.4  # of the paths in a part that are common
_COMMON_SHARE = 0.9  # of the parts at a path that have a word in common
_MOST_WORDS = 3
_LOOSE, _PATH, _TURN = "*", ":", "~"
_DIGITS = re.compile(r"\d+")
_NO_RUN = frozenset(("p", "td", "th", "option", "head", "br", "dt", "dd"))


@dataclass(frozen=True, slots=True)
class _Places:
    """Where each part of a page stands among those beside it.

    Attributes:
        tree: The page.
        steps: The part's step in a path: its tag, of a cell with its place in the row: ``td2of3``.
        turns: How many parts of its tag stand before it in the part around it.
        cells: How many cells a row has.
        stems: The words of its names without digits: ``["post", "p"]`` of ``post p17``.
    """

    tree: Tree
    steps: list[str]
    turns: list[int]
    cells: Counter[int]
    stems: list[list[str]]

    @classmethod
    def of(cls, tree: Tree) -> _Places:
        """Reads a page."""
        beside = list(zip(tree.block_parents, tree.block_tags, strict=True))
        cells = Counter(parent for parent, tag in beside if tag == "td")
        steps, turns, before = [], [], Counter[tuple[int, str]]()
        for parent, tag in beside:
            turns.append(before[parent, tag])
            before[parent, tag] += 1
            steps.append(f"td{before[parent, tag]}of{cells[parent]}" if tag == "td" else tag)
        known = {names: _DIGITS.sub("", names).split() for names in {*tree.block_names}}
        return cls(tree, steps, turns, cells, [known[names] for names in tree.block_names])

    def paths(self) -> list[int]:
        """A number for the path of steps to each part."""
        known: dict[tuple[int, str], int] = {}
        found = [0] * len(self.steps)
        for part, step in enumerate(self.steps):
            if part:
                path = found[self.tree.block_parents[part]], step
                found[part] = known.setdefault(path, len(known) + 1)
        return found


def name_alike(tree: Tree, names: list[Name], *, nameless: bool = False) -> bool:
    """Names the parts of runs anew where their own names tell nothing; returns whether any changes.

    Args:
        tree: The page.
        names: The name of each part; changed in place.
        nameless: Whether rows of tables without any name get one too, and what is in them.
    """
    places = _Places.of(tree)
    paths = places.paths()
    counts = Counter(word for each in places.stems for word in {*each})
    found: dict[int, str | None] = {}
    words: dict[int, str] = {}
    for members in _runs(places, paths):
        found |= {
            part: name
            for part, name in _names_in(
                places, paths, members, counts, words, nameless=nameless
            ).items()
            if part not in found
        }
    is_new = False
    for part, name in found.items():
        new = names[part][0], _path_name(places, part, words) if name is None else name
        is_new = is_new or new != names[part]
        names[part] = new
    return is_new


def is_loose(name: Name) -> bool:
    """Whether a name is one of a run: by words among others, or by path."""
    return name[1].startswith(_PATH) or _LOOSE in name[1].split()


def name_known(tree: Tree, names: list[Name], known: Iterable[Name]) -> None:
    """Gives the parts of a page the known names of runs that fit them; changed in place."""
    loose = [name for name in known if is_loose(name)]
    if not loose:
        return
    places = _Places.of(tree)
    for part, tag in enumerate(tree.block_tags):
        for name in loose:
            if name[0] == tag and names[part] not in known and _fits(places, part, name[1]):
                names[part] = name


def _runs(places: _Places, paths: list[int]) -> Iterator[list[int]]:
    """The parts of each run, outer runs first."""
    tree = places.tree
    beside: dict[tuple[int, str], list[int]] = {}
    for part, (tag, parent) in enumerate(zip(tree.block_tags, tree.block_parents, strict=True)):
        if part and tag not in _NO_RUN:
            beside.setdefault((parent, tag), []).append(part)
    ends = tree.block_ends
    for parts in beside.values():
        for alike in _by_word(places, parts) if len(parts) >= _LEAST_ALIKE else ():
            inside = [set(paths[part + 1 : ends[part]]) for part in alike]
            held = Counter(path for each in inside for path in each)
            common = {path for path, count in held.items() if 2 * count >= len(alike)}
            members = [
                part
                for part, each in zip(alike, inside, strict=True)
                if len(each & common) >= max(_ALIKE_SHARE * len(common), _OWN_SHARE * len(each))
            ]
            if common and len(members) >= _LEAST_ALIKE:
                yield members


def _by_word(places: _Places, parts: list[int]) -> Iterable[list[int]]:
    """The parts by the first of their words that several have, rows by their cells too.

    Rows of two kinds take turns.
    """
    words = {part: places.stems[part] for part in parts}
    counts = Counter(word for each in words.values() for word in each)
    found: dict[tuple[str, int], list[int]] = {}
    for part, each in words.items():
        often = (word for word in each if counts[word] >= _LEAST_ALIKE)
        found.setdefault((next(often, ""), places.cells[part]), []).append(part)
    return [alike for alike in found.values() if len(alike) >= _LEAST_ALIKE]


def _names_in(
    places: _Places,
    paths: list[int],
    members: list[int],
    counts: Counter[str],
    common: dict[int, str],
    *,
    nameless: bool,
) -> dict[int, str | None]:
    """New names of parts of a run; None for one that is named by its path.

    Args:
        places: Of the parts of the page.
        paths: The path of each part.
        members: The parts side by side.
        counts: How many parts of the page have each word.
        common: Receives for each part of the run the word that nearly all at its path have.
        nameless: Whether rows without any name get one too.
    """
    tree = places.tree
    at: dict[int, dict[int, list[int]]] = {}
    for member in members:
        for part in range(member, tree.block_ends[member]):
            at.setdefault(paths[part], {}).setdefault(member, []).append(part)
            common.setdefault(part, "")
    found: dict[int, str | None] = {}
    for held in at.values():
        if len(held) < _ALIKE_SHARE * len(members):
            continue
        parts = [part for each in held.values() for part in each]
        words = {part: places.stems[part] for part in parts}
        if not any(words.values()):
            if nameless and tree.block_tags[members[0]] == "tr":
                found.update(dict.fromkeys(parts))
            continue
        often = Counter(word for each in words.values() for word in dict.fromkeys(each))
        word, count = often.most_common(1)[0]
        if count >= _COMMON_SHARE * len(parts):
            common.update(dict.fromkeys(parts, word))  # that of the innermost run
        own = sum(any(counts[w] == 1 for p in each for w in words[p]) for each in held.values())
        is_own = own >= _ALIKE_SHARE * len(held)
        is_one_each = len(parts) == len(held) and (is_own or all(words.values()))
        if is_one_each and count < _COMMON_SHARE * len(parts):
            found.update(dict.fromkeys(parts))
        elif is_own:
            least = _COMMON_SHARE * len(parts) if is_one_each else _LEAST_ALIKE
            for part in parts:
                kept = [word for word in words[part] if often[word] >= least]
                if kept and len(kept) < len(words[part]):
                    found[part] = " ".join((*kept[:_MOST_WORDS], _LOOSE))
                elif not kept:
                    found[part] = None
                    common[part] = f"{_TURN}{places.turns[part]}" if not is_one_each else ""
    return found


def _path_name(places: _Places, part: int, common: dict[int, str]) -> str:
    """The name of a part of a run by its path below the nearest named part around the run."""
    tree = places.tree
    steps = []
    while part > 0 and (part in common or not places.stems[part]):
        word = common.get(part, "")
        steps.append(places.steps[part] + (f".{word}" if word else ""))
        part = tree.block_parents[part]
    anchor = places.stems[part][0] if part > 0 else ""
    return f"{_PATH}{'/'.join((anchor, *reversed(steps)))}"


def _fits(places: _Places, part: int, words: str) -> bool:
    """Whether a part may have a name of a run."""
    tree = places.tree
    if not words.startswith(_PATH):
        wanted = {word for word in words.split() if word != _LOOSE and word[0] != _PATH}
        return wanted.issubset(places.stems[part])
    anchor, *steps = words[len(_PATH) :].split("/")
    for step in reversed(steps):
        tag, _, word = step.partition(".")
        if part <= 0 or places.steps[part] != tag:
            return False
        if word.startswith(_TURN):
            if word != f"{_TURN}{places.turns[part]}":
                return False
        elif word and word not in places.stems[part]:
            return False
        part = tree.block_parents[part]
    return part <= 0 if not anchor else anchor in places.stems[part]
