"""Pages that are lists of others: of teasers with hardly any other text, with a grid, or hubs.

A *grid* is like cards side by side behind the title: products, exhibitions, places. Its cards may
have titles of one word and a price, and a text about the list may stand behind it. Because of this
text the grid is looked for in gaps that the text leaves behind the title; articles have none.

A *hub* has topics side by side, each a heading, an abstract and a list of pages. The lists are left
out where most topics have an abstract; else nothing but the lists tells what the topics are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain
from statistics import median

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import PLAIN_WORTH, Lines, Sums
from crawlclean.cleaning.features.parts import TAG_KINDS, leads_away

# Lists whose items are what a page is for: goods, offers, events, sections of a service.
#
# *Items* are parts of one shape in parts of one tag or shape, wherever these stand: rows of a
# table, cards in rows of three, tiles. Most have more than one line, a link text of their own and
# few links. They are the body where they hold more than the text around them and no one of them
# holds half.

_LEAST_ITEMS = 6  # fewer parts of one shape may be columns or sections of an article
_TITLED_SHARE = 0.7  # items with a link text that no other item has
_LINES_SHARE = 0.4  # items of two lines or more; a menu has single links
_MAX_LINKS = 4  # addresses in the item in the middle; a menu has more
_MAX_SHARE = 0.5  # of the text of all items in one; an article is one part of many
_TIMES_AROUND = 2.0  # text of the items as a multiple of that of the body around them
_MAX_BEFORE_UNITS = 60  # of text between the title and the first item; an article has more
_TRIED = 20  # largest groups that may be items
_LABEL_SHARE = 0.5  # items with the same line: a button, or the name of a field
_LEAST_LABELS = 3  # two items may share a line by chance
_TEXT_TAGS = frozenset(("p", "blockquote", "td", "th", "dd", *HEADINGS))
_DIGITS = re.compile(r"\d+")


def find_items(lines: Lines, find_noise: Callable[[], list[bool]], article: list[int]) -> list[int]:
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
    tree, sums, title_line = lines.tree, lines.sums, lines.title
    is_noise: list[bool] = []
    titles = _Titles(tree, lines)
    latest = _latest_start(lines, article)
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


def _latest_start(lines: Lines, article: list[int]) -> int:
    """The last line on which the first item may begin: hardly any text of the body is before it."""
    title_line = lines.title
    behind = [i for i in article if i > title_line]
    before = accumulate(lines.own[i] for i in behind)
    late = (i for i, units in zip(behind, before, strict=True) if units > _MAX_BEFORE_UNITS)
    return next(late, len(lines.own))


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


# A page with less text before its teasers, and less than this share of theirs, is their list.
_BEFORE_SHARE = 0.2
LEAST_TEASER_UNITS = 3  # shortest line of a teaser that is text: fewer words are a label
# A grid has so many cards, each of two lines or more: navigation has lines, or few columns.
_LEAST_CARDS = 8
_LEAST_GAP = 12  # lines between two of the text; a grid has more
_MAX_CARD_UNITS = 100  # of the card in the middle; sections are larger
# Text that the page's body has before the grid, and the least text of the grid, as shares of the
# text of the grid and of the body; a grid behind more text ends an article.
_BEFORE_GRID_SHARE = 0.3
_LEAST_BODY_SHARE = 0.3  # a smaller grid stands beside a text
_ALIKE_SHARE = 0.7  # cards with about as many lines as the one in the middle
_TITLED_CARDS_SHARE = (
    0.8  # cards with more than one word in links; replies of readers have a "reply"
)
_LEAST_LINKED_SHARE = 0.2  # of the text of all cards; replies and players have less
_LEAST_TOPICS = 4  # of a hub
_LIST_TEXT_TAGS = frozenset(("tr", "td", "p", "blockquote"))


def is_list_of(lines: Lines, article: list[int], cards: set[int]) -> bool:
    """Returns whether a page is a list of others: hardly any text but that of its teasers.

    Text behind the first teasers is about them (shops, catalogues); an article stands before those
    that end it.
    """
    tree, sums, title_line = lines.tree, lines.sums, lines.title
    teasers = sum(sums.own[part] + sums.linked[part] for part in cards)
    body = sum(lines.own[i] for i in article)
    if not cards or body >= teasers:
        return False
    first = _first_card(tree, sums, cards, title_line)
    if first == len(tree.line_starts):
        return False
    before = sum(lines.own[i] for i in article if i < first)
    return before < _MAX_BEFORE_UNITS and before < _BEFORE_SHARE * teasers


def _first_card(tree: Tree, sums: Sums, cards: set[int], title_line: int) -> int:
    """The first line of the most teasers side by side behind the title; else the page's end."""
    groups: dict[int, float] = {}
    starts: dict[int, int] = {}
    for part in sorted(cards):
        start, parent = tree.block_lines[part], tree.block_parents[part]
        if start > title_line:
            groups[parent] = groups.get(parent, 0.0) + sums.own[part] + sums.linked[part]
            starts.setdefault(parent, start)
    best = max(groups, key=lambda parent: (groups[parent], parent), default=-1)
    return starts.get(best, len(tree.line_starts))


def find_grid(lines: Lines, article: list[int]) -> list[int]:
    """Finds the cards of the grid behind the title; [] where the page is no such list.

    Args:
        tree: The page.
        lines: Its lines.
        sums: The sums of its parts.
        article: The lines that would be its body.
        title_line: The line of its title, -1 without.
    """
    tree, sums, title_line = lines.tree, lines.sums, lines.title
    body = sum(lines.own[i] for i in article)
    last, before = title_line, 0.0
    for line in (*(i for i in article if i > title_line), len(lines.own)):
        if line - last > _LEAST_GAP:
            grid = _largest_between(tree, sums, last + 1, line)
            units = sum(sums.own[card] + sums.linked[card] for card in grid)
            if before <= _BEFORE_GRID_SHARE * units and units > _LEAST_BODY_SHARE * body:
                return grid
        before += lines.own[line] if line < len(lines.own) else 0.0
        if before > _MAX_BEFORE_UNITS:
            break
        last = line
    return []


def find_hub(lines: Lines, cards: set[int]) -> list[int]:
    """Finds the lines of a hub: topics with a heading, an abstract and a list of their pages.

    The headings and abstracts are what a hub is about; its lists are ways to other pages.

    Args:
        tree: The page.
        lines: Its lines.
        cards: Its teasers, which stand in the lists.
        title_line: The line of its title, -1 without.

    Returns:
        The lines in order; [] where the page is no hub.
    """
    tree, title_line = lines.tree, lines.title
    topics: dict[tuple[str, ...], list[int]] = {}
    for line, block in enumerate(tree.line_blocks):
        part = tree.block_parents[block]
        is_heading = tree.block_tags[block] in HEADINGS
        if is_heading and line > title_line and tree.block_lines[part] == line:
            topics.setdefault(_shape(tree, part), []).append(part)
    for parts in topics.values():
        spans = [range(tree.block_lines[part] + 1, tree.line_end(part)) for part in parts]
        abstracts = [
            [i for i in span if lines.own[i] >= max(LEAST_TEASER_UNITS, lines.linked[i])]
            for span in spans
        ]
        inside = sum(any(tree.block_lines[card] in span for span in spans) for card in cards)
        told = sum(map(bool, abstracts))
        if told >= _LEAST_TOPICS and 2 * told > len(parts) and 2 * inside > len(cards):
            listed = {tree.block_lines[part] for part in parts}.union(*abstracts)
            return make_list(lines, listed)
    return []


def _shape(tree: Tree, part: int) -> tuple[str, ...]:
    """Tags and first names of a part and of the part around it."""
    around = tree.block_parents[part]
    names = (tree.block_names[each].partition(" ")[0] for each in (part, around))
    return tree.block_tags[part], tree.block_tags[around], *names


def make_list(lines: Lines, listed: Iterable[int], article: Iterable[int] = ()) -> list[int]:
    """Returns the lines of a list, made worth their words, and of the text around it; in order."""
    for i in listed:
        units = lines.own[i] + lines.linked[i]
        lines.worth[i] = units if units >= LEAST_TEASER_UNITS else PLAIN_WORTH
    kept = sorted({*listed, *article})
    if lines.trail is not None:
        lines.trail.end(kept)
        lines.trail.attempts[-1].worth = lines.worth.copy()
    return kept


def with_grid(lines: Lines, grid: list[int], article: list[int]) -> list[int]:
    """Returns the lines of a grid, without the buttons of its cards, and of the text around it."""
    tree, title_line = lines.tree, lines.title
    starts = tree.block_lines
    spans = [range(starts[card], tree.line_end(card)) for card in grid]
    texts = Counter(
        tree.line_text(i) for span in spans for i in span if lines.linked[i] > lines.own[i]
    )
    found = [i for i in range(title_line + 1, spans[0].start) if lines.worth[i] > 0]
    for card, span in zip(grid, spans, strict=True):
        buttons = {
            i
            for part in range(card, tree.block_ends[card])
            if tree.block_tags[part] in TAG_KINDS
            for i in range(starts[part], tree.line_end(part))
        }
        found += [i for i in span if i not in buttons and 2 * texts[tree.line_text(i)] <= len(grid)]
    return make_list(lines, found, article)


def _largest_between(tree: Tree, sums: Sums, start: int, end: int) -> list[int]:
    """The cards of the largest grid between two lines."""
    parents, linked = tree.block_parents, sums.linked
    first, behind = bisect_left(tree.block_lines, start), bisect_left(tree.block_lines, end)
    counts = Counter(parents[part] for part in range(first, behind) if linked[part])
    best: list[int] = []
    most = 0.0
    for parent, count in counts.items():
        if count < _LEAST_CARDS:
            continue
        for group in _alike(tree, parent):
            inside = [card for card in group if first <= card and tree.line_end(card) <= end]
            units = sum(sums.own[card] + linked[card] for card in inside)
            if units > most and _are_cards(tree, sums, inside):
                best, most = group, units
    return best


def _alike(tree: Tree, parent: int) -> Iterator[list[int]]:
    """The parts directly inside a part, those of one tag and name together."""
    tags, names = tree.block_tags, tree.block_names
    children = [child for child in tree.children(parent) if tags[child] not in _LIST_TEXT_TAGS]
    firsts = [next(iter(names[child].split()), "") for child in children]
    # Names that no two parts share are of what each part shows.
    is_own = len(set(firsts)) == len(firsts)
    groups: dict[tuple[str, str], list[int]] = {}
    for child, first in zip(children, firsts, strict=True):
        groups.setdefault((tags[child], "" if is_own else first), []).append(child)
    yield from groups.values()


def _are_cards(tree: Tree, sums: Sums, group: list[int]) -> bool:
    """Whether parts of one shape are cards: small, with several lines, and linked titles."""
    if len(group) < _LEAST_CARDS:
        return False
    linked = [sums.linked[card] for card in group]
    units = [sums.own[card] + sums.linked[card] for card in group]
    counts = [tree.line_end(card) - tree.block_lines[card] for card in group]
    middle = median(counts)
    return (
        middle > 1
        and sum(abs(count - middle) <= max(1, middle / 4) for count in counts)
        >= _ALIKE_SHARE * len(group)
        and median(units) <= _MAX_CARD_UNITS
        and sum(each > 1 for each in linked) >= _TITLED_CARDS_SHARE * len(group)
        and sum(linked) >= _LEAST_LINKED_SHARE * sum(units)
    )
