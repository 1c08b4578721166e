"""Pages that are lists of others: of teasers with hardly any other text, with a grid, or hubs.

A *grid* is like cards side by side behind the title: products, exhibitions, places. Its cards may
have titles of one word and a price, and a text about the list may stand behind it. Because of this
text the grid is looked for in gaps that the text leaves behind the title; articles have none.

A *hub* has topics side by side, each a heading, an abstract and a list of pages. The lists are left
out where most topics have an abstract; else nothing but the lists tells what the topics are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import median

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import PLAIN_WORTH, Lines, Sums
from crawlclean.cleaning.features.parts import TAG_KINDS

# A page with less text before its teasers, and less than this share of theirs, is their list.
_MAX_BEFORE_UNITS = 60
_BEFORE_SHARE = 0.2
LEAST_TEASER_UNITS = 3
# A grid has so many cards, each of two lines or more: navigation has lines, or few columns.
_LEAST_CARDS = 8
_LEAST_GAP = 12  # lines between two of the text; a grid has more
_MAX_CARD_UNITS = 100  # of the card in the middle; sections are larger
# Text that the page's body has before the grid, and the least text of the grid, as shares of the
# text of the grid and of the body; a grid behind more text ends an article.
_BEFORE_GRID_SHARE = 0.3
_LEAST_BODY_SHARE = 0.3
_ALIKE_SHARE = 0.7  # cards with about as many lines as the one in the middle
_TITLED_SHARE = 0.8  # cards with more than one word in links; replies of readers have a "reply"
_LEAST_LINKED_SHARE = 0.2  # of the text of all cards; replies and players have less
_LEAST_TOPICS = 4  # of a hub
_TEXT_TAGS = frozenset(("tr", "td", "p", "blockquote"))


def is_list_of(
    tree: Tree, lines: Lines, sums: Sums, article: list[int], cards: set[int], title_line: int
) -> bool:
    """Returns whether a page is a list of others: hardly any text but that of its teasers.

    Text behind the first teasers is about them (shops, catalogues); an article stands before those
    that end it.
    """
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


def find_grid(
    tree: Tree, lines: Lines, sums: Sums, article: list[int], title_line: int
) -> list[int]:
    """Finds the cards of the grid behind the title; [] where the page is no such list.

    Args:
        tree: The page.
        lines: Its lines.
        sums: The sums of its parts.
        article: The lines that would be its body.
        title_line: The line of its title, -1 without.
    """
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


def with_grid(
    tree: Tree, lines: Lines, grid: list[int], article: list[int], title_line: int
) -> list[int]:
    """Returns the lines of a grid with those of the text around it."""
    return make_list(lines, _lines_of_grid(tree, lines, grid, title_line), article)


def find_hub(tree: Tree, lines: Lines, cards: set[int], title_line: int) -> list[int]:
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


def _lines_of_grid(tree: Tree, lines: Lines, grid: list[int], title_line: int) -> list[int]:
    """The lines of a grid and of the text before it, without the buttons of its cards."""
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
    return found


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
    children = [child for child in tree.children(parent) if tags[child] not in _TEXT_TAGS]
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
        and sum(each > 1 for each in linked) >= _TITLED_SHARE * len(group)
        and sum(linked) >= _LEAST_LINKED_SHARE * sum(units)
    )
