"""The posts of a thread, found by what they share: a date each, and one name for their contents.

A thread's page repeats one part for every post, with the author, the time and buttons around the
text; its comments are the body. After paper 5's KSF, which lets the posts vote for the class of
their contents:

1. Lines with a date or a floor number are counted for the parts around them, by tag and names
   without digits. Names with several parts that also hold text are candidates; the one with the
   most text outside links is the *post*.
2. Lines that repeat the title, or one short text in one place of most posts, are template. Of the
   names inside most posts, the one whose parts hold the most text and the least junk (links, dates,
   template) is the *content*; what holds much text beside it are comments on posts.
3. The body is the text of all content parts, without subjects, signatures and quotes of other
   posts. Where the article that was found without them holds more, they join it; a first post of
   another shape is put before the others.

Only addresses and titles that speak of a forum (``data/forum_words.txt``) are read this way: an
article with comments has the same structure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

from cleaning.extract.lines import Lines, is_meta
from cleaning.extract.params import Params
from cleaning.extract.title_line import plain_title
from cleaning.source.tags import HEADINGS
from cleaning.source.tree import Tree
from cleaning.source.word_lists import word_list

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(
    r"\d{4}\s*[-/年.]\s*\d{1,2}(?:\s*[-/月.]\s*\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\b\d{1,2}-\d{1,2}\s+\d{1,2}:\d{2}|\d+\s*(?:秒|分钟|小时|天|周|个?月|年)前"
    r"|(?:昨天|前天|今天)\s*\d{1,2}:\d{2}"
    r"|\b(?:\d+|an?)\s*(?:sec|second|min|minute|hour|hr|day|week|month|year)s?\s*ago\b"
    rf"|\b(?:{_MONTHS})[a-z]*\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}\.?\s+(?:{_MONTHS})[a-z]*"
    r"|\b\d+\s?[dhmw]\b|^\W*#?\d+\s*[楼樓#]|^\W*#\d+\b|第\s*\d+\s*楼"
    r"|^\s*\d{1,2}:\d{2}\s*(?:[ap]m)?\s*$",
    re.I,
)
_LETTER_OF_NEWS = re.compile(r"/[a-z]/(?:19|20)\d\d(?:[-_/]|\d\d)")
_DATE_UNITS = 20  # longest line that is about a post
_BUTTON_UNITS = 10  # longest text of a button or a count
_MAX_GROUPS = 4  # of parts that are tried as posts
_QUOTE_LEVELS = 4
_MAX_LEVELS = 24
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
_NO_POST = frozenset(("html", "body", "p", "main"))
_NO_CONTENT = frozenset(("tr", "tbody", "ul"))


def is_forum(url: str, title: str) -> bool:
    """Whether an address or a title speaks of a forum."""
    in_host, in_path, in_title = _words()
    parts = urlsplit(url)
    if any(word in parts.netloc.lower() for word in in_host):
        return True
    path = parts.path.lower()
    for segment in path.split("/"):
        name = segment.rpartition(".")[0] or segment
        words = re.findall("[a-z]+", name)
        if not words or len(words) > 2 or words[0] not in in_path:
            continue
        # One letter means a forum only where it stands alone and before no date, as in /t/123.
        if len(words[0]) > 1 or (name == words[0] and not _LETTER_OF_NEWS.search(path)):
            return True
    return any(word in title.lower() for word in in_title)


def find_posts(
    tree: Tree,
    lines: Lines,
    is_noise: list[bool],
    article: list[int],
    title: str,
    params: Params,
) -> list[int]:
    """The lines of a thread's posts in order, with the article's where it is more; [] for none.

    Args:
        tree: The page.
        lines: Its lines.
        is_noise: Whether each part is noise in a thread, where comments and teasers are none.
        article: The lines of the body it has as an article.
        title: What its title's line says.
        params: The thresholds.
    """
    reader = _Thread(tree, lines, is_noise, params)
    posts, names = reader.find_posts(plain_title(title))
    if not names:
        return []
    kept = reader.lines_of(names, plain_title(title))
    if not kept:
        return []
    in_posts = set(kept)
    for post in posts:
        for i in range(tree.block_lines[post], tree.line_end(post)):
            if not reader.is_text[i]:
                in_posts.add(i)
    article = [i for i in article if i not in in_posts]
    missing = [i for i in article if lines.worth[i] > 0]
    if sum(lines.worth[i] for i in missing) > sum(lines.own[i] for i in kept):
        return sorted([*kept, *article])
    # A first post of another shape stands before the others.
    if any(i < kept[0] for i in missing):
        return [i for i in article if i < kept[0]] + kept
    return kept


def _is_date(text: str) -> bool:
    # Most short lines have neither; the whole search is for the others.
    return (_DIGIT.search(text) is not None or "ago" in text) and _DATE.search(text) is not None


class _Thread:
    """One page read as a thread."""

    def __init__(self, tree: Tree, lines: Lines, is_noise: list[bool], params: Params) -> None:
        self.tree, self.lines, self.is_noise, self.params = tree, lines, is_noise, params
        plain = {names: _DIGITS.sub("", " ".join(names.split()[:3])) for names in tree.block_names}
        self.names = [
            (tag, plain[names])
            for tag, names in zip(tree.block_tags, tree.block_names, strict=True)
        ]
        own, linked, blocks = lines.own, lines.linked, tree.line_blocks
        count = len(blocks)
        self.is_date = [
            own[i] + linked[i] <= _DATE_UNITS and _is_date(tree.line_text(i)) for i in range(count)
        ]
        self.is_text = [
            not is_noise[blocks[i]] and not self.is_date[i] and own[i] >= 1 and linked[i] <= own[i]
            for i in range(count)
        ]
        self.add_up()

    def add_up(self) -> None:
        """Text and junk of each part."""
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        self.text = [0.0] * len(self.names)
        self.junk = [0.0] * len(self.names)
        for i, block in enumerate(tree.line_blocks):
            if self.is_text[i]:
                self.text[block] += own[i]
            elif not self.is_noise[block]:
                self.junk[block] += 1 + linked[i]
        parents = tree.block_parents
        for block in range(len(self.names) - 1, 0, -1):
            self.text[parents[block]] += self.text[block]
            self.junk[parents[block]] += self.junk[block]

    def find_posts(self, title: str) -> tuple[list[int], list[tuple[str, str]]]:
        """The parts that are posts, the names of those that hold their texts; [] for none."""
        is_text = self.is_text
        for posts in self.find_groups():
            self.is_text = is_text.copy()
            self.cut_template(posts, title)
            names = self.find_content(posts)
            if names:
                return posts, names
        return [], []

    def cut_template(self, posts: list[int], title: str) -> None:
        """Lines of the posts that repeat the title, or one text in one place, are no text."""
        tree, parents, own = self.tree, self.tree.block_parents, self.lines.own
        places: dict[tuple[tuple[str, str], tuple[str, str]], dict[str, list[int]]] = {}
        end = 0
        for post in posts:
            for i in range(max(end, tree.block_lines[post]), tree.line_end(post)):
                if not self.is_text[i]:
                    continue
                block = tree.line_blocks[i]
                text = _DIGITS.sub("", tree.line_text(i))
                if title and tree.block_tags[block] in HEADINGS and title in plain_title(text):
                    self.is_text[i] = False
                elif own[i] <= _BUTTON_UNITS:
                    place = (self.names[block], self.names[parents[block]])
                    places.setdefault(place, {}).setdefault(text, []).append(i)
            end = max(end, tree.line_end(post))
        for texts in places.values():
            found = max(texts.values(), key=len)
            if len(found) > 1 and len(found) >= self.params.post_share * len(posts):
                for i in found:
                    self.is_text[i] = False
        self.add_up()

    def find_groups(self) -> list[list[int]]:
        """Parts that may be posts, best first: of one name, each with a date, most with text."""
        parents = self.tree.block_parents
        groups: dict[tuple[str, str], set[int]] = {}
        for i, block in enumerate(self.tree.line_blocks):
            if not self.is_date[i]:
                continue
            part = block
            met: set[tuple[str, str]] = set()
            for _ in range(_MAX_LEVELS):
                if part <= 0:
                    break
                name = self.names[part]
                is_named = name[1] and name[0] not in _NO_POST and name not in met
                if is_named and not self.is_noise[part]:
                    groups.setdefault(name, set()).add(part)
                    met.add(name)
                part = parents[part]
        found: list[tuple[float, list[int]]] = []
        for parts in groups.values():
            with_text = sum(self.text[part] >= 2 for part in parts)
            if with_text < max(self.params.min_posts, self.params.post_share * len(parts)):
                continue
            units = sum(self.text[part] for part in parts if parents[part] not in parts)
            # Two parts may be the page and a corner of it; the more there are the surer.
            found.append((units * (1 - 1 / len(parts)), sorted(parts)))
        found.sort(key=lambda group: (-group[0], -len(group[1])))
        return [parts for _, parts in found[:_MAX_GROUPS]]

    def find_content(self, posts: list[int]) -> list[tuple[str, str]]:
        """The names of the parts that hold the posts' texts; [] when no name covers most posts.

        Beside the first there may be one for comments on posts: what is left outside it.
        """
        ends, parents = self.tree.block_ends, self.tree.block_parents
        starts = set(posts)
        # The innermost post around each part: one inside another has contents of its own.
        post_of = [-1] * len(parents)
        covering: dict[tuple[str, str], set[int]] = {}
        for part in range(1, len(parents)):
            post = post_of[part] = part if part in starts else post_of[parents[part]]
            name = self.names[part]
            if post >= 0 and self.text[part] > 0 and name[1] and name[0] not in _NO_CONTENT:
                covering.setdefault(name, set()).add(post)
        least = self.params.post_share * len(posts)
        inside_to = {name: 0 for name, found in covering.items() if len(found) >= least}
        scores: dict[tuple[str, str], float] = {}
        for part, name in enumerate(self.names):
            if part >= inside_to.get(name, part + 1) and not self.is_noise[part]:
                junk = self.params.post_junk_cost * self.junk[part]
                scores[name] = scores.get(name, 0.0) + self.text[part] - junk
                inside_to[name] = ends[part]
        if not scores:
            return []
        first = max(scores, key=scores.__getitem__)
        return [first, *self._find_comments(first, set(covering), post_of)]

    def _find_comments(
        self, first: tuple[str, str], names: set[tuple[str, str]], post_of: list[int]
    ) -> list[tuple[str, str]]:
        """The name of the parts with the most text outside those of ``first``, if it is much."""
        ends = self.tree.block_ends
        held = [False] * len(self.names)
        part = 1
        while part < len(held):
            if self.names[part] == first:
                around = self.tree.block_parents[part]
                while around > 0:
                    held[around] = True
                    around = self.tree.block_parents[around]
                held[part : ends[part]] = [True] * (ends[part] - part)
                part = ends[part]
            else:
                part += 1
        scores: dict[tuple[str, str], float] = {}
        counts: dict[tuple[str, str], int] = {}
        inside_to: dict[tuple[str, str], int] = {}
        for part, name in enumerate(self.names):
            if held[part] or name not in names or post_of[part] < 0 or self.is_noise[part]:
                continue
            if part >= inside_to.get(name, 0):
                junk = self.params.post_junk_cost * self.junk[part]
                scores[name] = scores.get(name, 0.0) + self.text[part] - junk
                counts[name] = counts.get(name, 0) + 1
                inside_to[name] = ends[part]
        best = max(scores, key=scores.__getitem__, default=None)
        if best is None or scores[best] < self.params.min_units * counts[best]:
            return []
        texts = [
            self.tree.line_text(i)
            for part, name in enumerate(self.names)
            if name == best
            for i in range(self.tree.block_lines[part], self.tree.line_end(part))
            if self.is_text[i]
        ]
        return [best] if 2 * len(set(texts)) > len(texts) else []

    def lines_of(self, contents: list[tuple[str, str]], title: str) -> list[int]:
        """The lines of all parts of a name: no subjects, bylines, and no quotes of this page."""
        tree, own, linked = self.tree, self.lines.own, self.lines.linked
        inside = [False] * len(self.names)
        for part in range(1, len(inside)):
            inside[part] = not self.is_noise[part] and (
                inside[tree.block_parents[part]] or self.names[part] in contents
            )
        seen: set[str] = set()
        kept = []
        for i, block in enumerate(tree.line_blocks):
            if not inside[block] or (
                self.is_date[i] and (own[i] < 10 or is_meta(tree.line_text(i)))
            ):
                continue
            if not own[i] and linked[i] < 4 and tree.block_tags[block] != "p":
                continue
            if (
                title
                and tree.block_tags[block] in HEADINGS
                and title in plain_title(tree.line_text(i))
            ):
                continue
            if own[i] >= self.params.min_units:
                text = tree.line_text(i)
                if text in seen and self._is_quoted(block):
                    continue
                seen.add(text)
            kept.append(i)
        return kept

    def _is_quoted(self, block: int) -> bool:
        tags, parents = self.tree.block_tags, self.tree.block_parents
        for _ in range(_QUOTE_LEVELS):
            if tags[block] == "blockquote":
                return True
            block = max(parents[block], 0)
        return False


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    words = sorted(word_list("forum_words"))
    return (
        tuple(word[1:] for word in words if word.startswith(".")),
        frozenset(word[1:] for word in words if word.startswith("/")),
        tuple(word for word in words if word[0] not in "./"),
    )
