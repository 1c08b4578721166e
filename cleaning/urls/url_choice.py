"""Which URLs a crawl follows by the patterns of its operator: ``--include`` and ``--exclude``.

A pattern is a regular expression that is searched for in the readable form of a URL
(``cleaning/urls/shapes.py``): ``/新闻/``, ``^https?://bbs\\.``, ``\\.pdf$``. A URL that an
exclude pattern matches is not fetched. When there are include patterns, one of them must match.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from re import _constants as sre, _parser as parser  # type: ignore[attr-defined] # no stubs
from typing import Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.urls.shapes import readable

# Regular expressions that cost time in proportion to the text, whatever the pattern.
#
# Python's ``re`` tries one way through a pattern after the other: ``(a+)+$`` takes hours on a line
# of 40 letters, and a site can choose the URLs that a pattern of its reader meets. Here a pattern
# becomes an automaton (Thompson 1968) that follows all ways at once. Its sets of places are kept as
# states, each with a table of moves, so that a common character costs one look-up.
#
# The syntax is Python's, read by Python's own parser. What no automaton can do is refused:
# references to groups, looking ahead or behind, possessive and atomic groups. Only whether a
# pattern matches is answered, so lazy repetition equals greedy repetition.

MAX_PATTERN_CHARS = 1000  # bounds the parser's work, which runs before places are counted
MAX_PLACES = 500
"""Places of an automaton: the most work that one character of a text can cost."""

MAX_WORK = 20 * MAX_PLACES
"""Sequences that are added; repetitions of nothing, ``(?:){60000}``, add no place."""

MAX_STATES = 2000
"""States whose moves are kept; then all are forgotten and found again."""

_Test = Callable[[str], bool]
_WORD, _OTHER, _EDGE = "word", "other", "edge"
_REFUSED = {
    sre.GROUPREF: "a reference to a group",
    sre.GROUPREF_EXISTS: "a reference to a group",
    sre.ASSERT: "looking ahead or behind, (?=...)",
    sre.ASSERT_NOT: "looking ahead or behind, (?!...)",
    sre.ATOMIC_GROUP: "an atomic group",
    sre.POSSESSIVE_REPEAT: "a possessive repetition, a++",
}


class _State:
    """A set of places, the kind of the character before them, and the moves found so far."""

    __slots__ = ("before", "moves", "places")

    def __init__(self, places: frozenset[int], before: str) -> None:
        self.places = places
        self.before = before
        self.moves: dict[str, _State] = {}


class LinearRegex:
    """A pattern that is searched for in texts, in time that grows with their length alone."""

    def __init__(self, pattern: str) -> None:
        """Compiles a pattern: ``/news/\\d{4}/``.

        Raises:
            ConfigError: The pattern is invalid, holds what no automaton can match, or is too
                large; the message has the position, which counts from 1.
        """
        if len(pattern) > MAX_PATTERN_CHARS:
            raise ConfigError(f"it has {len(pattern):,} characters, at most {MAX_PATTERN_CHARS:,}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # "[[": may be a nested set one day
                parsed = parser.parse(pattern)
            self._automaton = _Automaton(parsed, parsed.state.flags)
        except re.error as error:
            at = "" if error.pos is None else f" at position {error.pos + 1}"
            raise ConfigError(f"{error.msg}{at}") from None
        except OverflowError:
            raise ConfigError("a repetition is too large") from None
        except RecursionError:
            raise ConfigError("its groups are nested too deeply") from None
        self.pattern = pattern
        self._matched = _State(frozenset(), _EDGE)
        self._forget()

    def _forget(self) -> None:
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._first = self._state(frozenset([self._automaton.start]), _EDGE)

    def _state(self, places: frozenset[int], before: str) -> _State:
        key = places, before
        return self._states.setdefault(key, _State(places, before))

    def search(self, text: str) -> bool:
        """Returns whether the pattern matches anywhere in a text."""
        if len(self._states) > MAX_STATES:
            self._forget()
        state, matched = self._first, self._matched
        for char in text:
            after = state.moves.get(char)
            if after is None:
                after = state.moves[char] = self._move(state, char)
            if after is matched:
                return True
            state = after
        if "" not in state.moves:
            state.moves[""] = self._move(state, "")
        return state.moves[""] is matched

    def _move(self, state: _State, char: str) -> _State:
        """Returns the state after a character; ``""`` is the end of the text."""
        automaton = self._automaton
        ahead = _kind(char)
        reached = automaton.reached(state.places, state.before, ahead)
        if automaton.end in reached:
            return self._matched
        after = {automaton.start}  # a match may begin anywhere
        if char:
            after.update(to for test, to in automaton.tests(reached) if test(char))
        return self._state(frozenset(after), ahead)


class _Automaton:
    """The places of a pattern: tests of a character, forks, and assertions about the edges."""

    def __init__(self, parsed: Any, flags: int) -> None:
        self._tests: dict[int, tuple[_Test, int]] = {}
        self._forks: dict[int, list[int]] = {}
        self._assertions: dict[int, tuple[Any, int]] = {}
        self._places = self._work = 0
        self.end = self._place()
        self.start = self._sequence(parsed, self.end, flags)

    def tests(self, places: set[int]) -> Iterator[tuple[_Test, int]]:
        """Yields (test of a character, place behind it) of places."""
        return (self._tests[place] for place in places if place in self._tests)

    def reached(self, places: frozenset[int], before: str, ahead: str) -> set[int]:
        """Returns the places that are reached from others without a character."""
        reached: set[int] = set()
        todo = list(places)
        while todo:
            place = todo.pop()
            if place in reached:
                continue
            reached.add(place)
            if place in self._forks:
                todo += self._forks[place]
            elif place in self._assertions:
                what, to = self._assertions[place]
                if _holds(what, before, ahead):
                    todo.append(to)
        return reached

    def _place(self) -> int:
        self._places += 1
        if self._places > MAX_PLACES:
            raise ConfigError("it is too large: repeat fewer characters")
        return self._places

    def _sequence(self, items: Any, then: int, flags: int) -> int:
        """Adds a sequence of items that leads to ``then``; returns its first place."""
        self._work += 1
        if self._work > MAX_WORK:
            raise ConfigError("it is too large: repeat fewer characters")
        for code, value in reversed(list(items)):
            then = self._item(code, value, then, flags)
        return then

    def _item(self, code: Any, value: Any, then: int, flags: int) -> int:
        if code is sre.BRANCH:
            return self._fork([self._sequence(each, then, flags) for each in value[1]])
        if code is sre.SUBPATTERN:
            _, added, removed, items = value
            return self._sequence(items, then, (flags | added) & ~removed)
        if code in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self._repeat(value, then, flags)
        place = self._place()
        if code is sre.AT:
            self._assertions[place] = value, then
        elif code in _REFUSED:
            raise ConfigError(f"it holds {_REFUSED[code]}, which may take for ever on some URLs")
        else:
            self._tests[place] = _test(code, value, flags), then
        return place

    def _fork(self, ways: list[int]) -> int:
        place = self._place()
        self._forks[place] = ways
        return place

    def _repeat(self, value: Any, then: int, flags: int) -> int:
        least, most, items = value
        if most is sre.MAXREPEAT:
            loop = self._fork([then])
            self._forks[loop].append(self._sequence(items, loop, flags))
            first = loop
        else:
            first = then
            for _ in range(most - least):
                first = self._fork([then, self._sequence(items, first, flags)])
        for _ in range(least):
            first = self._sequence(items, first, flags)
        return first


def _kind(char: str) -> str:
    """Returns the kind of a character, for the edges of words; ``""``: the edge of the text."""
    if not char:
        return _EDGE
    return _WORD if char.isalnum() or char == "_" else _OTHER


def _holds(what: Any, before: str, ahead: str) -> bool:
    if what in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
        return before == _EDGE
    if what in (sre.AT_END, sre.AT_END_STRING):
        return ahead == _EDGE
    is_edge = (before == _WORD) != (ahead == _WORD)
    return is_edge if what is sre.AT_BOUNDARY else not is_edge


def _test(code: Any, value: Any, flags: int) -> _Test:
    """Returns the test of one character: a literal, a class or the dot."""
    if code is sre.ANY:
        return (lambda _: True) if flags & re.DOTALL else (lambda char: char != "\n")
    if code is sre.IN:
        items = list(value)
    elif code is sre.NOT_LITERAL:
        items = [(sre.NEGATE, None), (sre.LITERAL, value)]
    else:
        items = [(code, value)]
    negated = bool(items) and items[0][0] is sre.NEGATE
    single = frozenset(chr(v) for c, v in items if c is sre.LITERAL)
    ranges = [(chr(v[0]), chr(v[1])) for c, v in items if c is sre.RANGE]
    categories = [_category(v, flags) for c, v in items if c is sre.CATEGORY]

    def is_one(char: str) -> bool:
        return (
            char in single
            or any(first <= char <= last for first, last in ranges)
            or any(holds(char) for holds in categories)
        )

    def is_any_case(char: str) -> bool:
        return is_one(char) or is_one(char.lower()) or is_one(char.upper())

    found = is_any_case if flags & re.IGNORECASE else is_one
    return (lambda char: not found(char)) if negated else found


def _category(what: Any, flags: int) -> _Test:
    name = str(what)  # CATEGORY_NOT_WORD
    kind: _Test = str.isdecimal
    if name.endswith("WORD"):
        kind = _is_word
    elif name.endswith("SPACE"):
        kind = str.isspace
    is_ascii, is_not = bool(flags & re.ASCII), "_NOT_" in name
    return lambda char: (kind(char) and (char.isascii() or not is_ascii)) is not is_not


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


MAX_PATTERNS = 50
"""Patterns of one kind; more cost time for each link. ``/(?:tag|author|login)/`` is one."""

MAX_SHOWN = 5  # include patterns that a reason names


class UrlChoice:
    """The include and exclude patterns of a crawl, compiled."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        """Compiles the patterns.

        Raises:
            ConfigError: A pattern is invalid; the message names the pattern and the position.
        """
        self._include = compile_patterns("include", include)
        self._exclude = compile_patterns("exclude", exclude)

    def __bool__(self) -> bool:
        """Whether there is a pattern."""
        return bool(self._include or self._exclude)

    def exclusion(self, url: str) -> str:
        """Returns the exclude pattern that matches a URL in normal form; ``""`` without."""
        if not self._exclude:
            return ""
        text = readable(url)
        return next((each.pattern for each in self._exclude if each.search(text)), "")

    def is_included(self, url: str) -> bool:
        """Whether an include pattern matches a URL in normal form, or there is none."""
        if not self._include:
            return True
        text = readable(url)
        return any(each.search(text) for each in self._include)

    def reason(self, url: str) -> str:
        """Returns why a URL is not followed: ``excluded by --exclude /tag/``; ``""``: it is."""
        pattern = self.exclusion(url)
        if pattern:
            return Message("excluded", pattern)
        if self.is_included(url):
            return ""
        shown = " ".join(each.pattern for each in self._include[:MAX_SHOWN])
        more = len(self._include) - MAX_SHOWN
        return Message("not_included", shown + (f" and {more} more" if more > 0 else ""))


def compile_patterns(name: str, patterns: Sequence[str]) -> tuple[LinearRegex, ...]:
    """Compiles the patterns of one kind.

    Args:
        name: Of the kind, for errors: ``include``.
        patterns: Regular expressions.

    Raises:
        ConfigError: A pattern is invalid, or there are more than ``MAX_PATTERNS``.
    """
    if len(patterns) > MAX_PATTERNS:
        raise ConfigError(f"{name} has {len(patterns)} patterns: at most {MAX_PATTERNS}, join some")
    compiled = []
    for each in dict.fromkeys(patterns):
        if not each:
            raise ConfigError(f"{name} is empty: an empty pattern matches every URL")
        try:
            compiled.append(LinearRegex(each))
        except ConfigError as error:
            raise ConfigError(f"{name} is {each!r}: {error}") from None
    return tuple(compiled)
