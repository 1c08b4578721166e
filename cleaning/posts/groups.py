"""The posts of a page without a learned rule: parts of one name that repeat with a date or a user.

1. Lines with a date or a floor are counted for the parts around them, by tag and names without
   digits; where they show no posts, lines with the name of a user are. Names with several parts
   with text are candidates, except lists of posts and rows of boards; the one with the most text
   outside links is the *post*.
2. Of the names inside most posts, the one whose parts hold the most text and the least junk (links,
   dates, template) is the *content*; another name with much text beside it holds comments on posts.

Cost: linear in the page for each candidate, of which there are at most eight.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

from cleaning.features.lines import MIN_UNITS, count_words, plain_title
from cleaning.posts.names import Name
from cleaning.posts.parts import (
    BUTTON_UNITS,
    DIGIT,
    DIGITS,
    LEAST_UNITS,
    POST_SHARE,
    PostReader,
)

_HEADLINE_UNITS = 6
_ROW_SHARE = 0.7
_MAX_GROUPS = 4  # groups of parts that are tried as posts
_MAX_LEVELS = 24
_MIN_POSTS = 2  # fewest parts with a date that are the posts of a thread
_LIST_SHARE = 0.6  # share of a part's text in the posts inside it when it is their list
_MAX_PIECES = 3  # parts with a sign of which one post may consist
POST_JUNK_COST = 3  # units of text that a unit of links, dates or buttons costs a content
_NO_POST = frozenset(("html", "body", "p", "main"))
_NO_CONTENT = frozenset(("tr", "tbody", "ul"))


class PostFinder(PostReader):
    """Finds the posts of a page without a rule of its host."""

    def find_posts(self, title: str) -> tuple[list[int], list[Name]]:
        """Finds the posts of a page: (parts, names of their contents); ``([], [])`` for none."""
        is_text = self.is_text
        for is_sign in (self.is_date, self.user_lines()):
            # A line with a sign is about a post and no text of it.
            is_text = [text and not sign for text, sign in zip(is_text, is_sign, strict=True)]
            self.is_text = is_text
            self.add_up()
            groups = self.find_groups(is_sign)
            # Where most replies are one word, the replies themselves would be the template.
            for has_template in (True, False):
                for posts in groups:
                    self.is_text = is_text.copy()
                    self.template = set()
                    self.cut_template(posts, title, has_template=has_template)
                    names = self.find_content(posts)
                    if (
                        names
                        and not self._are_nested(posts, names[0])
                        and self._differ(names)
                        and not self._are_rows(posts, title)
                    ):
                        return posts, names
        return [], []

    def _are_nested(self, posts: list[int], content: Name) -> bool:
        """Whether posts are their own contents and have no text outside the posts inside them."""
        if self.names[posts[0]] != content:
            return False
        ends = self.tree.block_ends
        beside = [
            self.text[part] - self.text[after]
            for part, after in pairwise(posts)
            if after < ends[part]
        ]
        return bool(beside) and max(beside) < LEAST_UNITS

    def _differ(self, contents: list[Name]) -> bool:
        """Whether the contents differ in more than numbers, or are replies of one word."""
        tree = self.tree
        held = [
            [
                tree.line_text(i)
                for i in range(tree.block_lines[part], tree.line_end(part))
                if self.is_text[i]
            ]
            for part in self.find_outermost(contents)
        ]
        if len({frozenset(DIGITS.sub("", text) for text in texts) for texts in held}) > 1:
            return True
        # Replies may all be one word; long texts that differ in numbers alone are no counts.
        return all(
            (len(texts) < 2 and not DIGIT.search("".join(texts)))
            or count_words("".join(texts)) > BUTTON_UNITS
            for texts in held
        )

    def _are_rows(self, posts: list[int], title: str) -> bool:
        """Whether most parts hold the headline of another page: rows of a board, no posts."""
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        found: list[tuple[int, Name, str]] = []
        posts_of: dict[str, set[int]] = {}
        for post in posts:
            for i in range(tree.block_lines[post], tree.line_end(post)):
                if linked[i] < _HEADLINE_UNITS or linked[i] <= own[i] or self.is_date[i]:
                    continue
                text = DIGITS.sub("", tree.line_text(i))
                if not title or title not in plain_title(text):
                    posts_of.setdefault(text, set()).add(post)
                    found.append((post, self.names[tree.line_blocks[i]], text))
        places: dict[Name, set[int]] = {}
        for post, name, text in found:
            # A link of several parts is a button.
            if len(posts_of[text]) == 1:
                places.setdefault(name, set()).add(post)
        return any(len(held) > _ROW_SHARE * len(posts) for held in places.values())

    def find_groups(self, is_sign: list[bool]) -> list[list[int]]:
        """Finds parts that may be posts, best group first: one name, a sign and text in most.

        Args:
            is_sign: For each line whether it has the sign of a post: a date, or a user's name.
        """
        parents = self.tree.block_parents
        groups: dict[Name, set[int]] = {}
        # Beside each other they may differ in words such as odd and even.
        siblings: dict[tuple[int, str, str], set[int]] = {}
        for i, block in enumerate(self.tree.line_blocks):
            if not is_sign[i]:
                continue
            part = block
            met: set[Name] = set()
            for _ in range(_MAX_LEVELS):
                if part <= 0:
                    break
                name = self.names[part]
                is_named = name[1] and name[0] not in _NO_POST and name not in met
                if is_named and not self.is_noise[part]:
                    groups.setdefault(name, set()).add(part)
                    met.add(name)
                    word = name[1].partition(" ")[0]
                    siblings.setdefault((parents[part], name[0], word), set()).add(part)
                part = parents[part]
        mixed = [
            parts for parts in siblings.values() if len({self.names[part] for part in parts}) > 1
        ]
        valid = [sorted(parts) for parts in (*groups.values(), *mixed) if self._has_text(parts)]
        lists = self._find_lists(valid, is_sign)
        found: list[tuple[float, list[int]]] = []
        for all_parts in valid:
            parts = [part for part in all_parts if part not in lists]
            if not self._has_text(parts):
                continue
            held = set(parts)
            units = sum(self.text[part] for part in parts if parents[part] not in held)
            # Two parts may be the page and a corner of it; the more there are the surer.
            found.append((units * (1 - 1 / len(parts)), parts))
        found.sort(key=lambda group: (-group[0], -len(group[1])))
        return [parts for _, parts in found[:_MAX_GROUPS]]

    def _has_text(self, parts: Collection[int]) -> bool:
        with_text = sum(self.text[part] >= LEAST_UNITS for part in parts)
        return with_text >= max(_MIN_POSTS, POST_SHARE * len(parts))

    def _find_lists(self, groups: list[list[int]], is_sign: list[bool]) -> set[int]:
        """Finds the parts whose signs and nearly all text are in several parts of one group."""
        parents = self.tree.block_parents
        signs = [0] * len(parents)
        for i, block in enumerate(self.tree.line_blocks):
            signs[block] += is_sign[i]
        for part in range(len(parents) - 1, 0, -1):
            signs[parents[part]] += signs[part]
        lists: set[int] = set()
        for parts in groups:
            among: dict[Name, list[tuple[int, int]]] = {}
            held: dict[int, tuple[int, float, int]] = {}
            for part in parts:
                around = parents[part]
                for _ in range(_MAX_LEVELS):
                    if around <= 0:
                        break
                    count, units, signed = held.get(around, (0, 0.0, 0))
                    held[around] = (count + 1, units + self.text[part], signed + signs[part])
                    around = parents[around]
            for around, (count, units, signed) in held.items():
                is_all = units >= _LIST_SHARE * self.text[around]
                if count > 1 and is_all and signed >= signs[around]:
                    among.setdefault(self.names[around], []).append((around, count))
            for name, found in among.items():
                counts = {count for _, count in found}
                # Rows of a post, as many in each, are pieces of it.
                if len(found) > 1 and name[1] and len(counts) == 1 and max(counts) <= _MAX_PIECES:
                    continue
                lists.update(around for around, _ in found)
        return lists

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
        for part, own in enumerate(self.names):
            name = twin_of.get(own, own)
            if part >= inside_to.get(name, part + 1) and not self.is_noise[part]:
                junk = POST_JUNK_COST * self.junk[part]
                scores[name] = scores.get(name, 0.0) + self.text[part] - junk
                inside_to[name] = ends[part]
        if not scores:
            return []
        # Of parts with the same text the inner one.
        order = {name: i for i, name in enumerate(scores)}
        first = max(scores, key=lambda name: (scores[name], order[name]))
        twins = [first, *sorted(own for own, name in twin_of.items() if name == first)]
        names = set(covering).union(twin_of)
        return [*twins, *self._find_comments(twins, names, post_of)]

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

    def find_single(self, title: str) -> list[int]:
        """Finds the lines of the only post of a page: the best part around its date; [] for none.

        Args:
            title: The page's title as ``plain_title`` gives it.
        """
        tree, parents, ends = self.tree, self.tree.block_parents, self.tree.block_ends
        self.cut_template([0], title)
        for i, block in enumerate(tree.line_blocks):
            if not self.is_date[i] or self.is_noise[block]:
                continue
            around = block
            while around > 0 and self.text[around] < MIN_UNITS:
                around = parents[around]
            best, most = 0, 0.0
            for part in range(max(around, 1), ends[around]):
                worth = self.text[part] - POST_JUNK_COST * self.junk[part]
                # Of parts with the same text the inner one.
                if worth >= most and worth > 0 and self.names[part][1]:
                    best, most = part, worth
            if best:
                texts, _ = self.read_lines([self.names[best]], title)
                first, last = tree.block_lines[best], tree.line_end(best)
                return [line for line in texts if first <= line < last]
        return []


def _find_twins(places: Iterable[set[Name]], covering: dict[Name, set[int]]) -> dict[Name, Name]:
    """Finds names that stand for another in some posts: ``text has-image`` for ``text``.

    They have one tag, one place inside posts and most words in common, and no post has both.
    Returns the name each stands for, whose posts in ``covering`` are those of both.
    """
    found: dict[Name, Name] = {}
    kept: set[Name] = set()
    for names in places:
        free = names.difference(found)
        if len(free) < 2:
            continue
        first = max(free, key=lambda name: (len(covering[name]), name))
        for name in sorted(free - kept - {first}):
            if _share_words(name, first) and covering[name].isdisjoint(covering[first]):
                kept.add(first)
                found[name] = first
                covering[first] |= covering.pop(name)
    return found


def _share_words(one: Name, other: Name) -> bool:
    """Whether most words of the shorter name are in the other."""
    words, others = set(one[1].split()), set(other[1].split())
    return 2 * len(words & others) > min(len(words), len(others))
