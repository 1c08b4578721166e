"""Replies to the text of a page: like parts side by side behind it, each with a date and a text.

Comments, opinions of buyers and answers often have more text than what they are about. Their names
differ from site to site; their structure does not: parts of one tag and name, each with a short
line that holds a date. Posts of a thread and entries of a diary have this structure, too, but no
text that is much longer stands before them, and teasers of a list, but these have linked headings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from statistics import median

from crawlclean.cleaning.body.noise import Noise
from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import Lines, Sums
from crawlclean.cleaning.posts.names import name_of
from crawlclean.cleaning.posts.parts import is_date

_LEAST_REPLIES = 3
_DATE_UNITS = 20  # longest line about a reply
_MAX_DATES = 2  # in one reply: it may have an answer; a section with more holds others
_REPLY_SHARE = 0.7  # of like parts that have a date and a text
_LEAST_TEXT_UNITS = 4  # of running text in a reply
# What stands around replies (their heading, a mean, filters) is theirs up to this many times their
# text; a page with hardly anything else is about them.
_AROUND_TIMES = 1.5
_MAX_SHARE = 0.9
# Least units of text between the title and the replies, in all and in times of the middle reply:
# questions with answers and first posts of threads are no longer than that. On pages of products,
# whose descriptions may be short lists, less is enough.
_LEAST_BEFORE_UNITS = 20
_BEFORE_TIMES, _BEFORE_TIMES_OF_PRODUCT = 4.0, 0.5
# Least share of the text from the first reply to the last that is in replies: what a manual has on
# each function, with its version, stands between paragraphs.
_LEAST_SPAN_SHARE = 0.5
_NO_REPLY = frozenset(("p", "td", "th", "html", "body", "main"))


def mark_replies(tree: Tree, lines: Lines, sums: Sums, noise: Noise, held: Sequence[int]) -> None:
    """Marks the replies to the text of a page as noise, as comments are.

    Args:
        tree: The page.
        lines: Its lines.
        sums: The sums of its parts.
        noise: Its parts that are noise; gets the replies, too.
        held: Lines whose parts are no noise, -1 for none: the title's first, then declared ones.
    """
    groups = [
        group
        for group in _groups(tree, sums, noise.is_noise)
        if _are_replies(tree, lines, sums, group)
    ]
    if not groups:
        return
    texts = [
        own if own > linked and not noise.is_noise[block] else 0.0
        for own, linked, block in zip(lines.own, lines.linked, tree.line_blocks, strict=True)
    ]
    before = list(accumulate(texts, initial=0.0))
    times = _times(tree)
    for group in groups:
        units = sum(sums.own[part] for part in group)
        if units >= _MAX_SHARE * sums.own[0] or any(_holds(tree, part, held) for part in group):
            continue
        long = before[tree.block_lines[group[0]]] - before[held[0] + 1]
        middle = median(sums.running[part] for part in group)
        if long < max(_LEAST_BEFORE_UNITS, times * middle):
            continue
        spans = [(tree.block_lines[part], tree.line_end(part)) for part in group]
        whole = before[spans[-1][1]] - before[spans[0][0]]
        if sum(before[end] - before[start] for start, end in spans) < _LEAST_SPAN_SHARE * whole:
            continue
        around = tree.block_parents[group[0]]
        parts = group
        while around > 0 and sums.own[around] <= _AROUND_TIMES * units:
            if _holds(tree, around, held):
                break
            parts = [around]
            around = tree.block_parents[around]
        for part in parts:
            end = tree.block_ends[part]
            noise.is_noise[part:end] = [True] * (end - part)
        noise.comments += parts
    noise.comments.sort()


class Behind:
    """What stands behind markers on a page: whether it is replies. Sums make each marker cheap.

    Args:
        tree: The page.
        lines: Its lines.
        title_line: The line of its title, -1 without.
    """

    def __init__(self, tree: Tree, lines: Lines, title_line: int) -> None:
        texts = [worth if worth > 0 else 0.0 for worth in lines.worth]
        self._units = list(accumulate(texts, initial=0.0))
        self._texts = list(accumulate([text > 0 for text in texts], initial=0))
        self._tree, self._lines = tree, lines
        self._dates: list[int] = []
        self._title = max(0, title_line)
        self._times = _times(tree)

    def units(self, start: int, end: int) -> float:
        """Returns the units of running text in lines ``start`` to ``end``."""
        return self._units[end] - self._units[start]

    def are_replies(self, marker: int, end: int) -> bool:
        """Returns whether the lines behind a marker up to ``end`` are replies: some have dates."""
        texts = self._texts[end] - self._texts[marker + 1]
        mean = self.units(marker + 1, end) / max(1, texts)
        least = max(_LEAST_BEFORE_UNITS, self._times * mean)
        if self.units(self._title, marker) < least:
            return False
        if not self._dates:
            self._dates = self._count_dates(marker + 1)
        return self._dates[end] - self._dates[marker + 1] >= _LEAST_REPLIES

    def _count_dates(self, start: int) -> list[int]:
        """Running totals of the short lines with dates, from the first line asked for."""
        own, linked = self._lines.own, self._lines.linked
        dates = (
            i >= start and own[i] + linked[i] <= _DATE_UNITS and is_date(self._tree.line_text(i))
            for i in range(len(own))
        )
        return list(accumulate(dates, initial=0))


def _times(tree: Tree) -> float:
    """How many times the middle reply the text before replies is on such a page."""
    return _BEFORE_TIMES_OF_PRODUCT if _is_of_product(tree) else _BEFORE_TIMES


def _is_of_product(tree: Tree) -> bool:
    """Whether a page declares itself the page of a product."""
    return tree.metas.get("og:type", "").startswith("product") or any(
        '"Product' in each for each in tree.scripts.data
    )


def _groups(tree: Tree, sums: Sums, is_noise: list[bool]) -> list[list[int]]:
    """The groups of like parts side by side of which enough have a text, in order."""
    tags, parents = tree.block_tags, tree.block_parents
    texts = Counter(
        [
            parent
            for parent, tag, units, is_out in zip(
                parents, tags, sums.running, is_noise, strict=True
            )
            if units >= _LEAST_TEXT_UNITS and not is_out and tag not in _NO_REPLY
        ]
    )
    found = []
    for parent, count in texts.items():
        if count < _LEAST_REPLIES:
            continue
        groups: dict[tuple[str, str], list[int]] = {}
        for part in tree.children(parent):
            has_text = sums.own[part] + sums.linked[part] > 0
            if has_text and tags[part] not in _NO_REPLY and not is_noise[part]:
                tag, names = name_of(tags[part], tree.block_names[part])
                groups.setdefault((tag, names.partition(" ")[0]), []).append(part)
        found += [group for group in groups.values() if len(group) >= _LEAST_REPLIES]
    return found


def _are_replies(tree: Tree, lines: Lines, sums: Sums, group: list[int]) -> bool:
    """Whether most of those parts that have a date or a text have both."""
    count = replies = 0
    most_others = (1 - _REPLY_SHARE) * len(group)
    for part in group:
        dates, has_text = _dates(tree, lines, part), sums.running[part] >= _LEAST_TEXT_UNITS
        count += dates > 0 or has_text
        is_text = has_text and sums.linked[part] < sums.own[part]
        replies += is_text and 1 <= dates <= _MAX_DATES
        if count - replies > most_others:
            return False
    return replies >= max(_LEAST_REPLIES, _REPLY_SHARE * count)


def _dates(tree: Tree, lines: Lines, part: int) -> int:
    """The number of short lines with a date in a part, up to one too many.

    A part with a linked heading has too many.
    """
    dates = 0
    for i in range(tree.block_lines[part], tree.line_end(part)):
        if tree.block_tags[tree.line_blocks[i]] in HEADINGS:
            if lines.linked[i] > lines.own[i]:
                return _MAX_DATES + 1
        elif lines.own[i] + lines.linked[i] <= _DATE_UNITS:
            dates += is_date(tree.line_text(i))
            if dates > _MAX_DATES:
                break
    return dates


def _holds(tree: Tree, part: int, held: Sequence[int]) -> bool:
    """Whether one of some lines lies in a part."""
    return any(tree.block_lines[part] <= line < tree.line_end(part) for line in held)
