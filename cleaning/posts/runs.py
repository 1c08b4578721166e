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
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain, islice

from crawlclean.cleaning.document.tree import Tree

# The names of parts: tag, class names and id, mostly without digits.
#
# Numbers in names count posts (``post-17``), mark every other one (``row1``, ``row2``) or how deep
# it stands (``depth-2``): the name is the *stem* before them. Where the numbers are all that tells
# the parts of a page apart (``W21`` stands in ``W7``, and both repeat), they belong to the name.

Name = tuple[str, str]
"""Tag, and the first class names and id: ``("div", "post-body p")``."""

_DIGITS = re.compile(r"\d+")
_MOST_NAMES = 3  # of a part: behind the third stand states and looks
_LEAST_REPEATS = 2  # a name that stands once is one part's own
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


_LEAST_ALIKE = 3  # parts side by side
_ALIKE_SHARE = 0.6  # of the common paths that a part of a run has, and of its parts at a path
_OWN_SHARE = 0.4  # of the paths in a part that are common
_COMMON_SHARE = 0.9  # of the parts at a path that have a word in common
_MOST_WORDS = 3  # of a name, as of _MOST_NAMES
_LOOSE, _PATH, _TURN = "*", ":", "~"
_NO_RUN = frozenset(("p", "td", "th", "option", "head", "br", "dt", "dd"))


class _Places:
    """Where each part of a page stands among those beside it.

    Attributes:
        tree: The page.
        kinds: For each part the number of its words without digits.
        words: The words of each kind: ``("post", "p")`` of ``post p17``.
        cells: How many cells a row has.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        numbers: dict[tuple[str, ...], int] = {}
        known = {
            names: numbers.setdefault(tuple(_DIGITS.sub("", names).split()), len(numbers))
            for names in {*tree.block_names}
        }
        self.kinds = [known[names] for names in tree.block_names]
        self.words = list(numbers)
        self.cells: Counter[int] = Counter()
        if "td" in tree.block_tags:
            beside = zip(tree.block_parents, tree.block_tags, strict=True)
            self.cells.update([parent for parent, tag in beside if tag == "td"])

    def words_of(self, part: int) -> tuple[str, ...]:
        """The words of a part without digits."""
        return self.words[self.kinds[part]]

    @cached_property
    def steps(self) -> list[str]:
        """Each part's step in a path: its tag, of a cell with its place in the row: ``td2of3``."""
        steps = self.tree.block_tags.copy()
        if self.cells:
            before: dict[int, int] = {}
            for part, parent in enumerate(self.tree.block_parents):
                if steps[part] == "td":
                    before[parent] = number = before.get(parent, 0) + 1
                    steps[part] = f"td{number}of{self.cells[parent]}"
        return steps

    @cached_property
    def turns(self) -> list[int]:
        """How many parts of its tag stand before each part in the part around it."""
        turns, before = [], Counter[tuple[int, str]]()
        for beside in zip(self.tree.block_parents, self.tree.block_tags, strict=True):
            turns.append(before[beside])
            before[beside] += 1
        return turns

    def paths(self) -> list[int]:
        """A number for the path of steps to each part."""
        numbers = {step: number for number, step in enumerate({*self.steps})}
        steps = map(numbers.__getitem__, self.steps)
        known: dict[int, int] = {}  # by the path around and the step as one number
        found = [0]
        for parent, step in islice(zip(self.tree.block_parents, steps, strict=True), 1, None):
            found.append(known.setdefault(found[parent] * len(numbers) + step, len(known) + 1))
        return found


def name_alike(tree: Tree, names: list[Name], *, nameless: bool = False) -> bool:
    """Names the parts of runs anew where their own names tell nothing; returns whether any changes.

    Args:
        tree: The page.
        names: The name of each part; changed in place.
        nameless: Whether rows of tables without any name get one too, and what is in them.
    """
    runs = _Runs(tree, nameless=nameless)
    found = runs.read()
    steps = runs.path_words() if None in found.values() else {}
    is_new = False
    for part, name in found.items():
        new = names[part][0], _path_name(runs.places, part, steps) if name is None else name
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
    places = _Places(tree)
    for part, tag in enumerate(tree.block_tags):
        for name in loose:
            if name[0] == tag and names[part] not in known and _fits(places, part, name[1]):
                names[part] = name


class _Runs:
    """Finds the runs of a page, and the new names of their parts.

    Args:
        tree: The page.
        nameless: Whether rows without any name get one too.
    """

    def __init__(self, tree: Tree, *, nameless: bool) -> None:
        self.places, self._tree, self._nameless = _Places(tree), tree, nameless
        self._paths = self.places.paths()
        self._counts: Counter[str] = Counter()  # parts of the page that have each word
        words = self.places.words
        for kind, count in Counter(self.places.kinds).items():
            for word in {*words[kind]}:
                self._counts[word] += count
        self._found: dict[int, str | None] = {}
        self._read: list[list[int]] = []  # the members of each run
        self._told: list[tuple[list[int], str]] = []  # parts, and what nearly all of them have

    def read(self) -> dict[int, str | None]:
        """Returns the new names of parts; None for one that is named by its path."""
        for members in self._members():
            self._read.append(members)
            self._name(members)
        return self._found

    def path_words(self) -> dict[int, str]:
        """For each part of a run the word in its step of a path, ``""`` for none."""
        ends = self._tree.block_ends
        found = {
            part: ""
            for members in self._read
            for member in members
            for part in range(member, ends[member])
        }
        for parts, word in self._told:
            found.update(dict.fromkeys(parts, word))  # that of the innermost run
        return found

    def _members(self) -> Iterator[list[int]]:
        """The parts of each run, outer runs first."""
        tree, paths = self._tree, self._paths
        beside: dict[tuple[int, str], list[int]] = {}
        ends = tree.block_ends
        for part, key in enumerate(zip(tree.block_parents, tree.block_tags, strict=True)):
            if part and key[1] not in _NO_RUN:
                beside.setdefault(key, []).append(part)
        for parts in beside.values():
            if len(parts) < _LEAST_ALIKE:
                continue
            for alike in self._by_word(parts):
                inside = [set(paths[part + 1 : ends[part]]) for part in alike]
                held = Counter(chain.from_iterable(inside))
                common = {path for path, count in held.items() if 2 * count >= len(alike)}
                members = [
                    part
                    for part, each in zip(alike, inside, strict=True)
                    if len(each & common) >= max(_ALIKE_SHARE * len(common), _OWN_SHARE * len(each))
                ]
                if common and len(members) >= _LEAST_ALIKE:
                    yield members

    def _by_word(self, parts: list[int]) -> list[list[int]]:
        """The parts by the first of their words that several have, rows by their cells too.

        Rows of two kinds take turns; parts with nothing inside are no run.
        """
        ends = self._tree.block_ends
        if sum([ends[part] > part + 1 for part in parts]) < _LEAST_ALIKE:
            return []
        kinds, words, cells = self.places.kinds, self.places.words, self.places.cells
        counts: Counter[str] = Counter()
        held = Counter([kinds[part] for part in parts])
        for kind, count in held.items():
            for word in words[kind]:
                counts[word] += count
        first = {
            kind: next((word for word in words[kind] if counts[word] >= _LEAST_ALIKE), "")
            for kind in held
        }
        found: dict[tuple[str, int], list[int]] = {}
        for part in parts:
            found.setdefault((first[kinds[part]], cells[part]), []).append(part)
        return [alike for alike in found.values() if len(alike) >= _LEAST_ALIKE]

    def _name(self, members: list[int]) -> None:
        """Names the parts of a run, those at one path together."""
        paths, kinds, ends = self._paths, self.places.kinds, self._tree.block_ends
        at: dict[int, list[int]] = {}
        for member in members:
            for part in range(member, ends[member]):
                at.setdefault(paths[part], []).append(part)
        least = _ALIKE_SHARE * len(members)
        for parts in at.values():
            if len(parts) < least:
                continue
            held = [bisect_right(members, part) for part in parts]
            count = len({*held})
            if count < least:
                continue
            alike = {kinds[part] for part in parts}
            if len(alike) > 1:
                self._name_unlike(parts, held, count)
            elif words := self.places.words[alike.pop()]:
                self._told.append((parts, words[0]))
            elif self._nameless and self._tree.block_tags[members[0]] == "tr":
                self._add(dict.fromkeys(parts))

    def _name_unlike(self, parts: list[int], held: list[int], count: int) -> None:
        """Names the parts at one path that have not all the same words.

        Args:
            parts: The parts.
            held: The number of the member that each is in.
            count: How many members have one.
        """
        counts, words = self._counts, self.places.words
        kinds_of = [self.places.kinds[part] for part in parts]
        often: Counter[str] = Counter()
        for kind, number in Counter(kinds_of).items():
            for word in dict.fromkeys(words[kind]):
                often[word] += number
        word, most = often.most_common(1)[0]
        is_common = most >= _COMMON_SHARE * len(parts)
        if is_common:
            self._told.append((parts, word))
        with_own = {kind for kind in {*kinds_of} if any(counts[w] == 1 for w in words[kind])}
        own = {member for kind, member in zip(kinds_of, held, strict=True) if kind in with_own}
        is_own = len(own) >= _ALIKE_SHARE * count
        is_one_each = len(parts) == count and (is_own or all(words[kind] for kind in kinds_of))
        if is_one_each and not is_common:
            self._add(dict.fromkeys(parts))
        elif is_own:
            least = _COMMON_SHARE * len(parts) if is_one_each else _LEAST_ALIKE
            for part, kind in zip(parts, kinds_of, strict=True):
                kept = [word for word in words[kind] if often[word] >= least]
                if kept and len(kept) < len(words[kind]):
                    self._add({part: " ".join((*kept[:_MOST_WORDS], _LOOSE))})
                elif not kept:
                    self._add({part: None})
                    turn = "" if is_one_each else f"{_TURN}{self.places.turns[part]}"
                    self._told.append(([part], turn))

    def _add(self, names: dict[int, str | None]) -> None:
        """Adds new names of parts; those by an outer run stay."""
        for part, name in names.items():
            self._found.setdefault(part, name)


def _path_name(places: _Places, part: int, common: dict[int, str]) -> str:
    """The name of a part of a run by its path below the nearest named part around the run."""
    tree = places.tree
    steps = []
    while part > 0 and (part in common or not places.words_of(part)):
        word = common.get(part, "")
        steps.append(places.steps[part] + (f".{word}" if word else ""))
        part = tree.block_parents[part]
    anchor = places.words_of(part)[0] if part > 0 else ""
    return f"{_PATH}{'/'.join((anchor, *reversed(steps)))}"


def _fits(places: _Places, part: int, words: str) -> bool:
    """Whether a part may have a name of a run."""
    tree = places.tree
    if not words.startswith(_PATH):
        wanted = {word for word in words.split() if word != _LOOSE and word[0] != _PATH}
        return wanted.issubset(places.words_of(part))
    anchor, *steps = words[len(_PATH) :].split("/")
    for step in reversed(steps):
        tag, _, word = step.partition(".")
        if part <= 0 or places.steps[part] != tag:
            return False
        if word.startswith(_TURN):
            if word != f"{_TURN}{places.turns[part]}":
                return False
        elif word and word not in places.words_of(part):
            return False
        part = tree.block_parents[part]
    return part <= 0 if not anchor else anchor in places.words_of(part)
