"""The contents of posts: the names of the parts inside posts that hold their texts.

Of the names inside most posts, the one whose parts hold the most text and the least junk (links,
dates, template) is the *content*; another name with much text beside it holds comments on posts.

Cost: linear in the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from crawlclean.cleaning.features.lines import MIN_UNITS
from crawlclean.cleaning.posts.names import Name
from crawlclean.cleaning.posts.parts import DIGIT, POST_SHARE, PostReader

POST_JUNK_COST = 3  # units of text that a unit of links, dates or buttons costs a content
_SAME_SHARE = 0.9  # of the text in posts that another name for the same texts has
_MIN_NUMBERS = 2  # fewest numbers of one name that most posts have
_NO_CONTENT = frozenset(("tr", "tbody", "ul"))


class ContentFinder(PostReader):
    """Finds the contents of known posts."""

    def find_content(self, posts: list[int]) -> list[Name]:
        """Finds the names of the parts with the posts' texts; [] when none covers most posts.

        The first names are twins, the last, if any, is that of comments: text outside the others.
        """
        ends, parents = self.tree.block_ends, self.tree.block_parents
        starts = set(posts)
        # The innermost post around each part: one inside another has contents of its own.
        post_of = [-1] * len(parents)
        covering: dict[Name, set[int]] = {}
        places: dict[tuple[Name, str, str], set[Name]] = {}
        for part in range(1, len(parents)):
            post = post_of[part] = part if part in starts else post_of[parents[part]]
            name = self.names[part]
            if post >= 0 and self.text[part] > 0 and name[1] and name[0] not in _NO_CONTENT:
                covering.setdefault(name, set()).add(post)
                if part != post:
                    place = self.names[parents[part]], name[0], name[1].partition(" :")[2]
                    places.setdefault(place, set()).add(name)
        twin_of = _find_twins(places.values(), covering)
        least = POST_SHARE * len(posts)
        inside_to = {name: 0 for name, found in covering.items() if len(found) >= least}
        scores: dict[Name, float] = {}
        inside: dict[Name, float] = {}
        for part, own in enumerate(self.names):
            name = twin_of.get(own, own)
            if part >= inside_to.get(name, part + 1) and not self.is_noise[part]:
                junk = POST_JUNK_COST * self.junk[part]
                scores[name] = scores.get(name, 0.0) + self.text[part] - junk
                if post_of[part] >= 0:
                    inside[name] = inside.get(name, 0.0) + self.text[part] - junk
                inside_to[name] = ends[part]
        if not scores:
            return []
        # Of parts with the same text the inner one.
        order = {name: i for i, name in enumerate(scores)}
        first = max(scores, key=lambda name: (scores[name], order[name]))
        beside = self._beside(posts) if self._is_outside(first, post_of) else set()
        if first in beside:
            least_text = _SAME_SHARE * inside.get(first, 0.0)
            alone = [name for name in inside if name not in beside and inside[name] >= least_text]
            first = max(alone, key=lambda name: (inside[name], order[name]), default=first)
        told = self._told_by_number(first, posts, post_of)
        if told is not None:
            return [told]
        twins = [first, *sorted(own for own, name in twin_of.items() if name == first)]
        names = set(covering).union(twin_of)
        return [*twins, *self._find_comments(twins, names, post_of)]

    def _is_outside(self, name: Name, post_of: list[int]) -> bool:
        """Whether a part of a name has text outside the posts; most pages have none."""
        return any(
            post < 0 and own == name and units >= MIN_UNITS
            for post, own, units in zip(post_of, self.names, self.text, strict=True)
        )

    def _beside(self, posts: list[int]) -> set[Name]:
        """The names of parts with text that stand beside the posts too, with no date around them.

        The rules of a forum beside its threads may be formatted as a post is.
        """
        tree = self.tree
        parents, ends = tree.block_parents, tree.block_ends
        around = {0}
        for post in posts:
            part = parents[post]
            while part not in around:
                around.add(part)
                part = parents[part]
        texts = Counter(map(tree.line_text, range(len(tree.line_blocks))))
        found: set[Name] = set()
        part, held = 1, set(posts)
        while part < len(parents):
            if part in held:
                part = ends[part]
            elif part in around:
                part += 1
            else:
                lines = range(tree.block_lines[part], tree.line_end(part))
                # A copy of the first post may stand beside it, too.
                if not any(self.is_date[i] or self._is_copy(i, texts) for i in lines):
                    inside = (p for p in range(part, ends[part]) if self.text[p] >= MIN_UNITS)
                    found.update(self.names[p] for p in inside if not self.is_noise[p])
                part = ends[part]
        return found

    def _is_copy(self, line: int, counts: Counter[str]) -> bool:
        """Whether a line of some length stands more than once on the page."""
        return self.lines.own[line] >= MIN_UNITS and counts[self.tree.line_text(line)] > 1

    def _told_by_number(self, name: Name, posts: list[int], post_of: list[int]) -> Name | None:
        """The name with its number of the parts with the text, where only this tells them apart.

        Most posts have parts of several numbers, ``MsgR1`` to ``MsgR3``: one is the text. Numbers
        that take turns, ``row1`` and ``row2``, tell nothing. The parts are named anew.
        """
        tree = self.tree
        held: dict[str, dict[int, float]] = {}
        for part, own in enumerate(self.names):
            if own == name and post_of[part] >= 0 and not self.is_noise[part]:
                words = tree.block_names[part]
                if not DIGIT.search(words):
                    continue  # most parts
                junk = POST_JUNK_COST * self.junk[part]
                for word in filter(DIGIT.search, words.split()):
                    worth = held.setdefault(word, {})
                    post = post_of[part]
                    worth[post] = worth.get(post, 0.0) + self.text[part] - junk
        least = POST_SHARE * len(posts)
        often = {word: sum(worth.values()) for word, worth in held.items() if len(worth) >= least}
        if len(often) < _MIN_NUMBERS:
            return None
        best = max(sorted(often), key=often.__getitem__)
        self.name_parts(self.telling | {best})
        return next(
            own
            for own, names in zip(self.names, tree.block_names, strict=True)
            if best in names.split() and own[0] == name[0]
        )

    def _find_comments(
        self, contents: Collection[Name], names: set[Name], post_of: list[int]
    ) -> list[Name]:
        """Finds the name of the parts with the most text outside contents; [] if it is little."""
        ends = self.tree.block_ends
        held = [False] * len(self.names)
        part = 1
        while part < len(held):
            if self.names[part] in contents:
                around = self.tree.block_parents[part]
                while around > 0 and not held[around]:
                    held[around] = True
                    around = self.tree.block_parents[around]
                held[part : ends[part]] = [True] * (ends[part] - part)
                part = ends[part]
            else:
                part += 1
        scores: dict[Name, float] = {}
        counts: dict[Name, int] = {}
        inside_to: dict[Name, int] = {}
        for part, name in enumerate(self.names):
            if held[part] or name not in names or post_of[part] < 0 or self.is_noise[part]:
                continue
            if part >= inside_to.get(name, 0):
                junk = POST_JUNK_COST * self.junk[part]
                scores[name] = scores.get(name, 0.0) + self.text[part] - junk
                counts[name] = counts.get(name, 0) + 1
                inside_to[name] = ends[part]
        best = max(scores, key=scores.__getitem__, default=None)
        if best is None or scores[best] < MIN_UNITS * counts[best]:
            return []
        texts = [
            self.tree.line_text(i)
            for part, name in enumerate(self.names)
            if name == best
            for i in range(self.tree.block_lines[part], self.tree.line_end(part))
            if self.is_text[i]
        ]
        return [best] if 2 * len(set(texts)) > len(texts) else []


def _find_twins(places: Iterable[set[Name]], covering: dict[Name, set[int]]) -> dict[Name, Name]:
    """Finds names that stand for another in some posts: ``text has-image`` for ``text``.

    They have one tag, one place inside posts and most words in common, and no post has both. Two
    names of which neither is the place's most frequent are twins only if every post has one.
    Returns the name each stands for, whose posts in ``covering`` are those of both.
    """
    found: dict[Name, Name] = {}
    kept: set[Name] = set()
    posts = set().union(*covering.values())
    for names in places:
        free = sorted(names.difference(found), key=lambda name: (-len(covering[name]), name))
        for i, first in enumerate(free):
            if first in found:
                continue
            for name in free[i + 1 :]:
                is_free = name not in found and name not in kept
                is_twin = is_free and _share_words(name, first)
                is_twin = is_twin and (not i or covering[name] | covering[first] == posts)
                if is_twin and covering[name].isdisjoint(covering[first]):
                    kept.add(first)
                    found[name] = first
                    covering[first] |= covering.pop(name)
    return found


def _share_words(one: Name, other: Name) -> bool:
    """Whether most words of the shorter name are in the other."""
    words, others = set(one[1].split()), set(other[1].split())
    return 2 * len(words & others) > min(len(words), len(others))
