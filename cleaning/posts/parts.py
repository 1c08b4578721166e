"""The parts of a thread's page: which lines are text, which are template or about a post.

Parts are known by name (``runs``). *Template* is a line that repeats the title, or one short text
in one place of most posts.

Cost: linear in the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from enum import Enum
from functools import lru_cache
from itertools import repeat

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import MIN_UNITS, Lines, is_meta, plain_title
from crawlclean.cleaning.features.parts import is_quote
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.posts.runs import (
    Name,
    is_loose,
    name_alike,
    name_known,
    name_of,
    numbered_names,
    telling_names,
)
from crawlclean.cleaning.records import VerdictReason

# Whole names: Novice 1 and Mars 3 are no dates.
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_MONTHS_BEHIND_DAYS = (  # of languages that write the day first, too: 3. Januar, 3 mars, 3 marzo
    f"{_MONTHS}|janv(?:ier)?|januari?|janeiro|februari?|febrero|febbraio|mars|marzo|mart|maart"
    "|marca|aprile?|avril|mayo|juni|junio|junho|juli|julio|julho|juillet|augustus|augusti"
    "|septembre|septiembre|octobre|octubre|novembre|noviembre|novembro"
)
_DATE = re.compile(
    r"\d{4}\s*[-/年.]\s*\d{1,2}(?:\s*[-/月.]\s*\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\b\d{1,2}-\d{1,2}\s+\d{1,2}:\d{2}|\d{1,9}\s*(?:秒|分钟|小时|天|周|个?月|年)前"
    r"|(?:昨天|前天|今天)\s*\d{1,2}:\d{2}"
    r"|\b(?:\d+|an?)\s*(?:sec|second|min|minute|hour|hr|day|week|month|year)s?\s*ago\b"
    rf"|\b(?:{_MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:{_MONTHS_BEHIND_DAYS})\b"
    r"|\b\d+\s?[dhmw]\b|^\W*#?\d+\s*[楼樓#]|^\W*#\d+\b|第\s*\d+\s*楼"
    r"|^\s*\d{1,2}:\d{2}\s*(?:[ap]m)?\s*$",
    re.I,
)
DATE_UNITS = 20  # longest line about a post
_MAX_DATE_CHARS = 80  # of an attribute or a link text: a date or a name is shorter
_MAX_CELLS = 4  # of a row of posts
_LEAST_DATED = 10  # shortest line of text with a date in it
_LEAST_LINKED = 4  # shortest line of links that is text
BUTTON_UNITS = 10  # longest text of a button or a count
POST_SHARE = 0.6  # share of the posts that must have text, and that one template text must cover
LEAST_UNITS = 2  # shortest text of a post
DIGIT = re.compile(r"\d")
DIGITS = re.compile(r"\d+")
MAX_NAME_CHARS = 40  # longest name of a user; a longer text is a title
_NAME_UNITS = 4  # longest name of a user that is no link
_USER_UNITS = 12  # longest line with a link to the author of a post
_SENTENCE = re.compile(r"[。！？；，!?;,|•:：]")
_State = Enum("_State", "OUTSIDE TEXT BLOCKQUOTE QUOTE CUT")
# Looking up a member takes ten times as long as a name.
_OUTSIDE, _TEXT, _BLOCKQUOTE, _QUOTE, _CUT = _State
_ABOUT, _LINK = VerdictReason.ABOUT_POST, VerdictReason.POST_LINK
_SUBJECT, _REPEATED = VerdictReason.POST_SUBJECT, VerdictReason.REPEATED


@lru_cache(maxsize=4096)
def is_date(text: str) -> bool:
    """Whether a short line holds a date, a time ago (``3 天前``) or a floor (``#3``)."""
    # Most short lines have neither; the whole search is for the others.
    return (DIGIT.search(text) is not None or "ago" in text) and _DATE.search(text) is not None


@lru_cache(maxsize=4096)
def is_name(text: str) -> bool:
    """Whether a text may be the name of a user: short, with letters, no date and no button."""
    return (
        0 < len(text) <= MAX_NAME_CHARS
        and any(map(str.isalpha, text))
        and not _SENTENCE.search(text)
        and not is_date(text)
        and not text.startswith(("#", "["))
        and text.lower() not in word_list("post_buttons")
    )


class PostReader:
    """The parts of one page read as a thread; a part is the number of its block.

    Args:
        tree: The page.
        lines: Its weighed lines.
        is_noise: For each block whether it is noise.
        known: The names of the host's posts, if learned: they decide which numbers tell.
    """

    def __init__(
        self,
        tree: Tree,
        lines: Lines,
        is_noise: list[bool],
        known: Collection[Name] | None = None,
    ) -> None:
        self.tree, self.lines, self.is_noise = tree, lines, is_noise
        self.telling: frozenset[str] = frozenset()
        self.known = known
        self.name_parts(telling_names(tree) if known is None else numbered_names(known))
        own, linked, blocks = lines.own, lines.linked, tree.line_blocks
        count = len(blocks)
        self.is_date = [
            own[i] + linked[i] <= DATE_UNITS and is_date(tree.line_text(i)) for i in range(count)
        ]
        for i in self._hidden_dates():
            self.is_date[i] = self.is_date[i] or own[i] + linked[i] <= DATE_UNITS
        self.is_text = [
            not is_noise[blocks[i]] and not self.is_date[i] and own[i] >= 1 and linked[i] <= own[i]
            for i in range(count)
        ]
        self.template: set[str] = set()
        self.weights: list[float] | None = None  # of lines; None: each counts with its units
        self.add_up()

    def name_parts(self, telling: frozenset[str]) -> None:
        """Names the parts; some names keep their numbers (``names.telling_names``)."""
        tree = self.tree
        self.telling = telling
        self.names: list[Name] = list(
            map(name_of, tree.block_tags, tree.block_names, repeat(telling))
        )
        self._number_cells()
        if self.known is None:
            name_alike(tree, self.names)
        else:
            name_known(tree, self.names, self.known)

    def name_as(self, known: Collection[Name]) -> None:
        """Names the parts as the names of the host's posts are: with numbers, or by path."""
        telling = numbered_names(known)
        if telling != self.telling or self.known is None or any(map(is_loose, known)):
            self.known = known
            self.name_parts(telling)

    def _number_cells(self) -> None:
        """Numbers the cells of a row that have one name: author and text of a post are such."""
        tree, names = self.tree, self.names
        counts: dict[tuple[int, Name], list[int]] = {}
        for part, tag in enumerate(tree.block_tags):
            if tag == "td" and names[part][1]:
                counts.setdefault((tree.block_parents[part], names[part]), []).append(part)
        for (_, name), cells in counts.items():
            if 1 < len(cells) <= _MAX_CELLS:
                for number, part in enumerate(cells, 1):
                    names[part] = name[0], f"{name[1]} :{number}"

    def _hidden_dates(self) -> set[int]:
        """The lines with an element whose attributes have a date: ``<time datetime="2026-05-01">``.

        Their text may be in any language: ``16 十二月 '23``.
        """
        tree = self.tree
        return {
            tree.line_of[run]
            for _, attributes, run in tree.inlines
            for key in ("datetime", "title")
            if run < len(tree.line_of) and is_date(attributes.get(key, "")[:_MAX_DATE_CHARS])
        }

    def user_lines(self) -> list[bool]:
        """For each line whether it is short and has a link with the name of a user."""
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        found = [False] * len(tree.line_blocks)
        for anchor in tree.anchors:
            if anchor.start < anchor.end and not anchor.href.startswith(("#", "javascript:")):
                line = tree.line_of[anchor.start]
                if not found[line] and own[line] + linked[line] <= _USER_UNITS:
                    text = "".join(tree.texts[anchor.start : anchor.end])
                    found[line] = is_name(" ".join(text[:_MAX_DATE_CHARS].split()))
        return found

    def date_lines(self) -> list[bool]:
        """The short lines with a date or a floor."""
        return self.is_date

    def author_lines(self) -> list[bool]:
        """The lines of users whose names differ in one place: a button has one text everywhere."""
        found = self.user_lines()
        texts: dict[tuple[Name, Name], list[str]] = {}
        for i, is_user in enumerate(found):
            if is_user:
                texts.setdefault(self.place_of(i), []).append(self.tree.line_text(i))
        same = {place for place, held in texts.items() if len(held) > 1 == len(set(held))}
        return [is_user and self.place_of(i) not in same for i, is_user in enumerate(found)]

    def name_lines(self) -> list[bool]:
        """The lines that may be names of users and no links: one place has nothing else.

        Headings in a text may look the same: they stand in no parts of their own, side by side.
        """
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        held: dict[tuple[Name, Name], list[int]] = {}
        for i, block in enumerate(tree.line_blocks):
            if self.names[block][1] and not linked[i]:
                held.setdefault(self.place_of(i), []).append(i)
        found: set[int] = set()
        for lines in held.values():
            are_names = all(own[i] <= _NAME_UNITS and is_name(tree.line_text(i)) for i in lines)
            if are_names and len({tree.line_text(i) for i in lines}) > 1:
                found.update(lines)
        return [i in found for i in range(len(tree.line_blocks))]

    def place_of(self, line: int) -> tuple[Name, Name]:
        """The names of the part of a line and of the part around it."""
        block = self.tree.line_blocks[line]
        return self.names[block], self.names[max(self.tree.block_parents[block], 0)]

    def add_up(self) -> None:
        """Sums up the units of text and of junk (links, dates, buttons) of each part."""
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        is_text, is_noise, parents = self.is_text, self.is_noise, tree.block_parents
        text = self.text = [0.0] * len(parents)
        junk = self.junk = [0.0] * len(parents)
        for i, block in enumerate(tree.line_blocks):
            if is_text[i]:
                text[block] += own[i] * self.weights[i] if self.weights else own[i]
            elif not is_noise[block]:
                junk[block] += 1 + linked[i]
        for block in range(len(parents) - 1, 0, -1):
            if text[block]:
                text[parents[block]] += text[block]
            if junk[block]:
                junk[parents[block]] += junk[block]

    def cut_template(self, posts: list[int], title: str, *, has_template: bool = True) -> None:
        """Marks lines of the posts that repeat the title, or one text in one place, as no text."""
        tree, parents, own = self.tree, self.tree.block_parents, self.lines.own
        places: dict[tuple[Name, Name], dict[str, list[int]]] = {}
        end = 0
        for post in posts:
            for i in range(max(end, tree.block_lines[post]), tree.line_end(post)):
                if not self.is_text[i]:
                    continue
                block = tree.line_blocks[i]
                text = DIGITS.sub("", tree.line_text(i))
                if title and tree.block_tags[block] in HEADINGS and title in plain_title(text):
                    self.is_text[i] = False
                elif has_template and own[i] <= BUTTON_UNITS:
                    place = (self.names[block], self.names[parents[block]])
                    places.setdefault(place, {}).setdefault(text, []).append(i)
            end = max(end, tree.line_end(post))
        for texts in places.values():
            found = max(texts.values(), key=len)
            if len(found) > 1 and len(found) >= POST_SHARE * len(posts):
                self.template.add(DIGITS.sub("", tree.line_text(found[0])))
                for i in found:
                    self.is_text[i] = False
        self.add_up()

    def read_lines(
        self, contents: Collection[Name], title: str, signatures: Collection[Name] = ()
    ) -> tuple[list[int], list[int]]:
        """Returns (text lines, quote lines) of the parts of some names, no subjects or bylines.

        Quotes of text that stands nowhere else on the page, and have no quote name, are texts too.
        """
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        states = self._states(contents, signatures)
        seen: set[str] = set()
        texts, quotes = [], []
        for i, block in enumerate(tree.line_blocks):
            state = states[block]
            if state is _QUOTE or state is _BLOCKQUOTE:
                quotes.append(i)
            if state is not _TEXT and state is not _BLOCKQUOTE:
                continue
            text = tree.line_text(i)
            why: VerdictReason | None = None
            is_about = self.is_date[i] and (own[i] < _LEAST_DATED or is_meta(text))
            if is_about or self._is_byline(i):
                why = _ABOUT
            elif not own[i] and linked[i] < _LEAST_LINKED and tree.block_tags[block] != "p":
                why = _LINK
            elif title and tree.block_tags[block] in HEADINGS and title in plain_title(text):
                why = _SUBJECT
            elif own[i] >= MIN_UNITS:
                if text in seen and state is _BLOCKQUOTE:
                    why = _REPEATED
                else:
                    seen.add(text)
            if why is None:
                texts.append(i)
            else:
                self.lines.cut((i,), why)
        return self.without_template(texts), quotes

    def _is_byline(self, line: int) -> bool:
        """Whether a line is a name with a date below it, as pages for phones begin their posts."""
        blocks = self.tree.line_blocks
        if line + 1 >= len(blocks) or blocks[line] != blocks[line + 1]:
            return False
        is_first = not line or blocks[line - 1] != blocks[line]
        return (
            is_first
            and self.is_date[line + 1]
            and self.lines.own[line] <= _NAME_UNITS
            and is_name(self.tree.line_text(line).rstrip(":： "))
        )

    def without_template(self, lines: list[int]) -> list[int]:
        """Removes lines of the template, but for one that stands alone between others."""
        if not self.template:
            return lines
        tree = self.tree
        kept = []
        for i in lines:
            text = DIGITS.sub("", tree.line_text(i))
            around = tree.block_parents[tree.line_blocks[i]]
            if text not in self.template or self.text[around] < LEAST_UNITS:
                kept.append(i)
            else:
                self.lines.cut((i,), VerdictReason.POST_TEMPLATE)
        return kept

    def _states(self, contents: Collection[Name], signatures: Collection[Name]) -> list[_State]:
        """The state of each part: outside, text, block quote, quote, or cut from the text."""
        tree, is_noise = self.tree, self.is_noise
        states = [_OUTSIDE] * len(self.names)
        for part, name in enumerate(self.names):
            state = states[tree.block_parents[part]] if part else _OUTSIDE
            if state is _OUTSIDE:
                if name not in contents or is_noise[part] or not part:
                    continue
                state = _TEXT
            elif state is _TEXT or state is _BLOCKQUOTE:
                if is_quote(tree.block_names[part]):
                    state = _QUOTE
                elif is_noise[part] or name in signatures:
                    state = _CUT
                elif tree.block_tags[part] == "blockquote":
                    state = _BLOCKQUOTE
            states[part] = state
        return states

    def find_outermost(self, names: Collection[Name]) -> list[int]:
        """Finds the outermost parts of some names in order, without noise."""
        found = []
        end = 0
        for part, name in enumerate(self.names):
            if part >= end and name in names and not self.is_noise[part]:
                found.append(part)
                end = self.tree.block_ends[part]
        return found

    def noise_only(self, names: Collection[Name]) -> list[int]:
        """The first line of each part of some names where most of them are noise; else []."""
        parts = [part for part, name in enumerate(self.names) if name in names]
        if 2 * sum(self.is_noise[part] for part in parts) <= len(parts):
            return []
        starts, end = self.tree.block_lines, self.tree.line_end
        return [starts[part] for part in parts if end(part) > starts[part]]

    def part_around(self, lines: list[int]) -> int:
        """The innermost named part around some lines; 0 for the page."""
        parents, ends = self.tree.block_parents, self.tree.block_ends
        blocks = [self.tree.line_blocks[i] for i in lines]
        part, last = min(blocks), max(blocks)
        while part > 0 and (ends[part] <= last or not self.names[part][1]):
            part = parents[part]
        return part


# The contents of posts: the names of the parts inside posts that hold their texts.
#
# Of the names inside most posts, the one whose parts hold the most text and the least junk (links,
# dates, template) is the *content*; another name with much text beside it holds comments on posts.
#
# Cost: linear in the page.

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
        is_outside = any(  # most pages have none
            post < 0 and own == first and units >= MIN_UNITS
            for post, own, units in zip(post_of, self.names, self.text, strict=True)
        )
        beside = self._beside(posts) if is_outside else set()
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
                is_copy = any(
                    self.lines.own[i] >= MIN_UNITS and texts[tree.line_text(i)] > 1 for i in lines
                )
                if not is_copy and not any(self.is_date[i] for i in lines):
                    inside = (p for p in range(part, ends[part]) if self.text[p] >= MIN_UNITS)
                    found.update(self.names[p] for p in inside if not self.is_noise[p])
                part = ends[part]
        return found

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
                if name in found or name in kept:
                    continue
                words, others = set(name[1].split()), set(first[1].split())
                is_alike = 2 * len(words & others) > min(len(words), len(others))
                is_twin = is_alike and (not i or covering[name] | covering[first] == posts)
                if is_twin and covering[name].isdisjoint(covering[first]):
                    kept.add(first)
                    found[name] = first
                    covering[first] |= covering.pop(name)
    return found
