"""Lists whose items are what a page is for: goods, offers, events, sections of a service.

*Items* are parts of one shape in parts of one tag or shape, wherever these stand: rows of a table,
cards in rows of three, tiles. Most have more than one line, a link text of their own and few links.
They are the body where they hold more than the text around them and no one of them holds half.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from statistics import median

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import Lines, Sums
from crawlclean.cleaning.features.parts import TAG_KINDS
from crawlclean.cleaning.features.teasers import leads_away

_LEAST_ITEMS = 6
_TITLED_SHARE = 0.7  # items with a link text that no other item has
_LINES_SHARE = 0.4  # items of two lines or more; a menu has single links
_MAX_LINKS = 4  # addresses in the item in the middle; a menu has more
_MAX_SHARE = 0.5  # of the text of all items in one; an article is one part of many
_TIMES_AROUND = 2.0  # text of the items as a multiple of that of the body around them
_MAX_BEFORE_UNITS = 60  # of text between the title and the first item; an article has more
_TRIED = 20  # largest groups that may be items
_LABEL_SHARE = 0.5  # items with the same line: a button, or the name of a field
_LEAST_LABELS = 3
_TEXT_TAGS = frozenset(("p", "blockquote", "td", "th", "dd", *HEADINGS))
_DIGITS = re.compile(r"\d+")


def find_items(
    tree: Tree,
    lines: Lines,
    sums: Sums,
    find_noise: Callable[[], list[bool]],
    article: list[int],
    title_line: int,
) -> list[int]:
    """Finds the lines of a list and of the text around it.

    Args:
        tree: The page.
        lines: Its lines.
        sums: The sums of its parts.
        find_noise: Returns for each part whether it is noise, teasers apart; few pages need it.
        article: The lines that would be the page's body.
        title_line: The line of its title, -1 without.

    Returns:
        The lines in order; [] where the page is no such list.
    """
    is_noise: list[bool] = []
    titles = _Titles(tree, lines)
    latest = _latest_start(lines, article, title_line)
    for group in _by_size(sums, _groups(tree, sums, title_line, latest)):
        if not _is_list(titles, sums, group, article):
            continue
        is_noise = is_noise or find_noise()
        items = [part for part in group if not is_noise[part]]
        is_less = len(items) < len(group)
        if is_less and (
            len(items) < _LEAST_ITEMS
            or tree.block_lines[items[0]] > latest
            or not _by_size(sums, [items])
            or not _is_list(titles, sums, items, article)
        ):
            continue
        inside = {i for item in items for i in _span(tree, item)}
        headings = (
            i
            for i in range(title_line + 1, min(inside))
            if tree.block_tags[tree.line_blocks[i]] in HEADINGS
            and not is_noise[tree.line_blocks[i]]
        )
        around = (i for i in article if i not in inside)
        return sorted({*around, *headings, *_told(tree, items)})
    return []


def _by_size(sums: Sums, groups: Iterable[list[int]]) -> list[list[int]]:
    """The largest groups in which no part holds half, the one with most text first."""
    sized = []
    for group in groups:
        units = [sums.own[part] + sums.linked[part] for part in group]
        if max(units) < _MAX_SHARE * sum(units):
            sized.append((sum(units), group))
    sized.sort(key=lambda each: -each[0])
    return [group for _, group in sized[:_TRIED]]


def _latest_start(lines: Lines, article: list[int], title_line: int) -> int:
    """The last line on which the first item may begin: hardly any text of the body is before it."""
    before = 0.0
    for i in article:
        if i > title_line:
            before += lines.own[i]
            if before > _MAX_BEFORE_UNITS:
                return i
    return len(lines.own)


class _Titles(dict[int, str]):
    """The text of each line that is mostly links and leads away, ``""`` of another.

    A line is read when it is first asked for: groups of parts hold others.
    """

    def __init__(self, tree: Tree, lines: Lines) -> None:
        self.tree, self.lines = tree, lines

    def __missing__(self, line: int) -> str:
        own, linked = self.lines.own[line], self.lines.linked[line]
        is_title = linked > max(own, 1) and leads_away(self.tree, line)
        self[line] = text = self.tree.line_text(line) if is_title else ""
        return text


def _is_list(titles: _Titles, sums: Sums, group: list[int], article: list[int]) -> bool:
    """Whether parts hold more than the body around them."""
    inside = {i for part in group for i in _span(titles.tree, part)}
    around = sum(titles.lines.own[i] for i in article if i not in inside)
    most = sum(sums.own[part] + sums.linked[part] for part in group)
    return most >= _TIMES_AROUND * around and _are_items(titles, group)


def _groups(tree: Tree, sums: Sums, title_line: int, latest: int) -> Iterator[list[int]]:
    """The parts of one shape behind the title; those without names in parts of one shape.

    Of parts in each other, the outermost counts. The first part begins on line ``latest`` at last.
    """
    tags, names, parents, linked = (
        tree.block_tags, tree.block_names, tree.block_parents, sums.linked
    )  # fmt: skip
    starts, ends = tree.block_lines, tree.block_ends
    groups: dict[tuple[str, ...], list[int]] = {}
    behind = bisect_right(starts, latest)
    for part in range(max(1, bisect_right(starts, title_line)), len(tags)):
        if not linked[part] or tags[part] in _TEXT_TAGS:
            continue
        if part >= behind and not groups:
            break
        around, stem = parents[part], _stem(names[part])
        key = tags[around], "" if stem else _stem(names[around]), tags[part], stem
        group = groups.get(key)
        if group is None:
            if part < behind:
                groups[key] = [part]
        elif part >= ends[group[-1]]:
            group.append(part)
    return (group for group in groups.values() if len(group) >= _LEAST_ITEMS)


@lru_cache(maxsize=8192)
def _stem(names: str) -> str:
    """The first of a part's names without digits: ``"card"`` of ``card3 wide``."""
    return _DIGITS.sub("", names.partition(" ")[0])


def _span(tree: Tree, part: int) -> range:
    return range(tree.block_lines[part], tree.line_end(part))


def _are_items(titles: _Titles, group: list[int]) -> bool:
    """Whether most parts have a link text of their own, more than one line, and few links."""
    tree, least = titles.tree, _TITLED_SHARE * len(group)
    spans = [_span(tree, part) for part in group]
    if sum(len(span) > 1 for span in spans) < _LINES_SHARE * len(group):
        return False
    said = [{*filter(None, map(titles.__getitem__, span))} for span in spans]
    if sum(map(bool, said)) < least:
        return False
    texts = Counter(chain.from_iterable(said))
    titled = sum(any(texts[text] == 1 for text in each) for each in said)
    return titled >= least and median(_count_links(tree, span) for span in spans) <= _MAX_LINKS


def _count_links(tree: Tree, span: range) -> int:
    """The number of addresses that some lines link to."""
    runs = range(tree.line_runs(span[0])[0], tree.line_runs(span[-1])[1])
    anchors = {tree.anchor_of[run] for run in runs}
    return len({tree.anchors[anchor].href for anchor in anchors if anchor >= 0})


def _told(tree: Tree, items: list[int]) -> Iterator[int]:
    """The lines of the items, without buttons and what many of them say."""
    texts = Counter(
        text for item in items for text in {tree.line_text(i) for i in _span(tree, item)}
    )
    labels = max(_LEAST_LABELS, _LABEL_SHARE * len(items))
    for item in items:
        buttons = {
            i
            for part in range(item + 1, tree.block_ends[item])
            if tree.block_tags[part] in TAG_KINDS
            for i in _span(tree, part)
        }
        yield from (
            i for i in _span(tree, item) if i not in buttons and texts[tree.line_text(i)] < labels
        )
