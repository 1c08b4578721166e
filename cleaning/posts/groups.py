"""The posts of a page without a learned rule: parts of one name that repeat with a date or a user.

1. Lines with a date or a floor are counted for the parts around them, by tag and names without
   digits; where they show no posts, lines with a link to a user are, then names alone. Names with
   several parts with text are candidates, except lists and pieces of posts and rows of boards; the
   one with the most text outside links is the *post*. Lines of one text weigh as one together.
2. The names of the parts with their texts are found (``parts``).

Cost: linear in the page for each candidate, of which there are at most eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from crawlclean.cleaning.features.lines import MIN_UNITS, count_words, plain_title
from crawlclean.cleaning.posts.parts import (
    BUTTON_UNITS,
    DATE_UNITS,
    DIGIT,
    DIGITS,
    LEAST_UNITS,
    POST_JUNK_COST,
    POST_SHARE,
    ContentFinder,
)
from crawlclean.cleaning.posts.runs import Name, name_alike

_HEADLINE_UNITS = 6  # shortest link text that is a headline: names of users are shorter
_ROW_SHARE = 0.7  # of the parts; a post here and there quotes a headline
_MAX_GROUPS = 4  # groups of parts that are tried as posts
_MAX_LEVELS = 24  # parts around a sign that may be its post: layouts nest no deeper
_MIN_POSTS = 2  # fewest parts with a date that are the posts of a thread
_LIST_SHARE = 0.6  # share of a part's text in the posts inside it when it is their list
_MAX_PIECES = 3  # parts with a sign of which one post may consist
_POST_TAGS = frozenset(("article",))  # parts that need no name to be posts
_LEAST_LINES = 3  # of a paragraph that is a post
_NO_POST = frozenset(("html", "body", "p", "main"))


class PostFinder(ContentFinder):
    """Finds the posts of a page without a rule of its host."""

    def find_posts(self, title: str) -> tuple[list[int], list[Name]]:
        """Finds the posts of a page: (parts, names of their contents); ``([], [])`` for none."""
        is_text = self.is_text
        found = self._search(title, (self.date_lines, self.author_lines, self.name_lines))
        if found is None and name_alike(self.tree, self.names, nameless=True):
            # Where nothing has a name, paths of tags tell the parts of posts.
            self.is_text = is_text
            found = self._search(title, (self.date_lines, self.author_lines))
            if found is None:
                self.name_parts(self.telling)
        self.weights = None
        self.add_up()
        return found if found is not None else ([], [])

    def _search(
        self, title: str, kinds: Sequence[Callable[[], list[bool]]]
    ) -> tuple[list[int], list[Name]] | None:
        """The posts by the first kind of sign that shows any."""
        is_text = self.is_text
        for find_signs in kinds:
            is_sign = find_signs()
            if sum(is_sign) < _MIN_POSTS:
                continue
            # A line with a sign is about a post and no text of it.
            is_text = [text and not sign for text, sign in zip(is_text, is_sign, strict=True)]
            self.is_text = is_text
            signed = self._around(is_sign)
            weights = self._weigh_repeats()
            # Replies of one word, all alike, weigh too little.
            for self.weights in (weights, None) if weights else (None,):
                self.is_text = is_text
                self.add_up()
                groups = self._rank(signed, is_sign)
                if find_signs != self.date_lines:
                    groups = [parts for parts in groups if self._share_place(parts, is_sign)]
                found = self._first_posts(groups, is_text, title)
                if found is not None:
                    return found
        return None

    def _first_posts(
        self, groups: list[list[int]], is_text: list[bool], title: str
    ) -> tuple[list[int], list[Name]] | None:
        """The first of some groups that are posts, with the names of their contents."""
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
        return None

    def _share_place(self, posts: list[int], is_sign: list[bool]) -> bool:
        """Whether one place of most parts has their sign: a post and a form have no such place."""
        tree = self.tree
        held: Counter[tuple[Name, Name]] = Counter()
        for post in posts:
            lines = range(tree.block_lines[post], tree.line_end(post))
            held.update({self.place_of(i) for i in lines if is_sign[i]})
        return max(held.values(), default=0) >= POST_SHARE * len(posts)

    def _weigh_repeats(self) -> list[float] | None:
        """The weight of each line: what stands in post after post (rank, number of posts) is
        about their authors, and all lines of one text together weigh as one. None if all differ.
        """
        own, linked = self.lines.own, self.lines.linked
        texts = [
            DIGITS.sub("", self._unlinked(i))
            if is_text and own[i] + linked[i] <= DATE_UNITS
            else ""
            for i, is_text in enumerate(self.is_text)
        ]
        counts = Counter(texts)
        del counts[""]
        if all(count == 1 for count in counts.values()):
            return None
        return [1 / counts[text] if text else 1.0 for text in texts]

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
        found: dict[str, list[tuple[int, Name]]] = {}
        for post in posts:
            for i in range(tree.block_lines[post], tree.line_end(post)):
                if linked[i] < _HEADLINE_UNITS or linked[i] <= own[i] or self.is_date[i]:
                    continue
                text = DIGITS.sub("", tree.line_text(i))
                if not title or title not in plain_title(text):
                    found.setdefault(text, []).append((post, self.names[tree.line_blocks[i]]))
        places: dict[Name, set[int]] = {}
        for held in found.values():
            if len({post for post, _ in held}) == 1:  # a link of several parts is a button
                for post, name in held:
                    places.setdefault(name, set()).add(post)
        return any(len(rows) > _ROW_SHARE * len(posts) for rows in places.values())

    def _unlinked(self, line: int) -> str:
        """The text of a line outside its links: ``Posted by:`` before the name of a user."""
        tree = self.tree
        if not self.lines.linked[line]:
            return tree.line_text(line)
        runs = range(*tree.line_runs(line))
        return "".join(tree.texts[run] for run in runs if tree.anchor_of[run] < 0)

    def _around(self, is_sign: list[bool]) -> list[set[int]]:
        """The parts around lines with a sign: those of one name, and like ones side by side."""
        blocks, parents, names = self.tree.line_blocks, self.tree.block_parents, self.names
        groups: dict[Name, set[int]] = {}
        # Beside each other they may differ in words such as odd and even.
        siblings: dict[tuple[int, str, str], set[int]] = {}
        may_be_post: dict[int, bool] = {}
        # Lines of one part are in the same parts.
        for block in {block: None for block, has in zip(blocks, is_sign, strict=True) if has}:
            part = block
            met: set[Name] = set()
            for _ in range(_MAX_LEVELS):
                if part <= 0:
                    break
                may_be = may_be_post.get(part)
                if may_be is None:
                    may_be = may_be_post[part] = self._may_be_post(part)
                name = names[part]
                if may_be and name not in met:
                    groups.setdefault(name, set()).add(part)
                    met.add(name)
                    word = name[1].partition(" ")[0]
                    siblings.setdefault((parents[part], name[0], word), set()).add(part)
                part = parents[part]
        mixed = [parts for parts in siblings.values() if len({names[part] for part in parts}) > 1]
        return [parts for parts in (*groups.values(), *mixed) if len(parts) >= _MIN_POSTS]

    def _may_be_post(self, part: int) -> bool:
        """Whether a part has a name, and a tag that posts have, and is no noise."""
        tag, words = self.names[part]
        if self.is_noise[part] or not (words or tag in _POST_TAGS):
            return False
        # A paragraph may be a post of lines: who, when, and a text.
        lines = self.tree.line_end(part) - self.tree.block_lines[part]
        return tag not in _NO_POST or (tag == "p" and lines >= _LEAST_LINES)

    def _rank(self, groups: list[set[int]], is_sign: list[bool]) -> list[list[int]]:
        """The groups whose parts have text and are no lists of others, best first."""
        parents = self.tree.block_parents
        alike = [like for parts in groups for like in self._split(parts)]
        valid = [sorted(parts) for parts in (*groups, *alike) if self._has_text(parts)]
        lists, pieces = self._find_lists(valid, is_sign)
        found: list[tuple[float, list[int]]] = []
        for number, all_parts in enumerate(valid):
            parts = [part for part in all_parts if part not in lists and number not in pieces]
            if not self._has_text(parts):
                continue
            held = set(parts)
            units = sum(self.text[part] for part in parts if parents[part] not in held)
            # Two parts may be the page and a corner of it; the more there are the surer.
            found.append((units * (1 - 1 / len(parts)), parts))
        found.sort(key=lambda group: (-group[0], -len(group[1])))
        return [parts for _, parts in found[:_MAX_GROUPS]]

    def _split(self, parts: Collection[int]) -> list[list[int]]:
        """The parts by the names of their children, where most are without text.

        Rows of two kinds take turns: one with the subject of a post, the next with its text.
        """
        if self._has_text(parts):
            return []
        like: dict[tuple[Name, ...], list[int]] = {}
        for part in sorted(parts):
            if self.text[part] >= LEAST_UNITS:
                children = tuple(self.names[child] for child in self.tree.children(part))
                like.setdefault(children, []).append(part)
        return [same for same in like.values() if len(same) >= _MIN_POSTS]

    def _has_text(self, parts: Collection[int]) -> bool:
        with_text = sum(self.text[part] >= LEAST_UNITS for part in parts)
        return with_text >= max(_MIN_POSTS, POST_SHARE * len(parts))

    def _find_lists(
        self, groups: list[list[int]], is_sign: list[bool]
    ) -> tuple[set[int], set[int]]:
        """Finds the parts whose signs and nearly all text are in several parts of one group.

        Returns these parts, and the positions of groups that are pieces of posts: as many in each
        part around them (author beside text).
        """
        parents = self.tree.block_parents
        signs = [0] * len(parents)
        for i, block in enumerate(self.tree.line_blocks):
            signs[block] += is_sign[i]
        for part in range(len(parents) - 1, 0, -1):
            signs[parents[part]] += signs[part]
        lists: set[int] = set()
        pieces: set[int] = set()
        for number, parts in enumerate(groups):
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
                    pieces.add(number)
                    continue
                lists.update(around for around, _ in found)
        return lists, pieces

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
