"""The body rule: the paths of a host's bodies, learned from the bodies of its pages alone.

The body found on one page alone is a noisy label.

1. Labels are smoothed: a line belongs to the body if most text at its path does, and does not if
   hardly any does; bylines and button rows never do.
2. On each page the blocks that hold most of the body form a chain from the root. A block's worth is
   the F1 of its text against the label.
3. A path's worth is the sum over all pages: chance errors of single pages cancel, and text that no
   page alone gives (code, lists, tables) is won, because it stands in the same block.
4. The best path explains the pages where its block is nearly the best one. The next path is chosen
   on the pages that are left. A path of tags alone is on pages of every kind: it explains what no
   other path does, and a page takes from it only what stands between lines of its own body.
5. Each URL class is explained by itself, and what is left together.

Source of the idea: learning wrappers from noisy labels (Dalvi, Kumar, Soliman: Automatic wrappers
for large scale web extraction, VLDB 2011). Cost: linear in the lines of the sample.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from crawlclean.cleaning.body.container import TEXT_TAGS
from crawlclean.cleaning.features.lines import is_meta
from crawlclean.cleaning.learn.dropped import (
    LEAST_SHARE,
    LINE_CHARS,
    ONCE,
    TEMPLATE_SHARE,
    find_dropped,
)
from crawlclean.cleaning.learn.views import PathTable, Repeats, Sample, View
from crawlclean.cleaning.model.paths import is_plain
from crawlclean.cleaning.model.rules import BodyPlace, BodyRule, PageSet
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.url_classes.rules import class_of

LEAST_PAGES = 2  # pages that a path must explain
CLASS_PAGES = 3  # pages of a URL class from which it has places of its own
PLAIN_PAGES = 4  # pages that a path of tags alone must explain
MAX_PLACES = 8  # paths of a rule
# Share of a path's text in bodies, and of the pages with the path, from which all its lines are
# labelled body: a few pages of long comments do not make comments body.
OFTEN_SHARE = 0.5
SELDOM_SHARE = 0.3  # share up to which none is labelled body ...
SELDOM_PAGES = 5  # ... where at least 5 pages leave lines at the path out
MOST_SHARE = 0.5  # share of a page's body that every block of the chain exceeds
REPEAT_WEIGHT = 0.5  # weight of a repeated character outside the body; others weigh 1
MANY_WEIGHT = 0.9  # weight of a block that is one of many at its path
NEAR_BEST = 0.97  # share of a page's best F1 from which a path explains the page
# Power of that share in a path's worth: a path that is slightly too wide on every page must not win
# by a few pages of another kind.
SHARPNESS = 20.0
# Bodies that tell nothing of the place of others.
_NO_LABELS = frozenset((BodySource.NONE, BodySource.POSTS, BodySource.LIST))


@dataclass(slots=True)
class _Chain:
    """The blocks of one page that hold most of its body, from the outermost inwards.

    Attributes:
        page: Number of the page in the sample.
        of_path: Path of each block -> (F1 of its text against the label, block): {41: (0.96, 117)}.
        best: The best F1.
        counts: Blocks with text at each path of the page.
    """

    page: int
    of_path: dict[int, tuple[float, int]] = field(default_factory=dict)
    best: float = 0.0
    counts: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class _Place:
    """A path, and the block at it on each page it explains: page -> block."""

    path: int
    blocks: dict[int, int]


def learn_body_rule(sample: Sample) -> BodyRule:
    """Returns the paths of bodies, the one that explains most pages first."""
    views, table = sample.views, sample.table
    labels = _smooth(views)
    places = _find_places(sample, labels)
    around: set[int] = set()
    for place in places:
        path = place.path
        while path >= 0:
            around.add(path)
            path = table.parents[path]
    return BodyRule(
        places=tuple(
            BodyPlace(
                path=table.path(place.path),
                on=PageSet(sum(1 << page for page in place.blocks)),
                seen_on=sum(place.path in set(one.paths) for one in views),
                classes=_classes([views[page] for page in place.blocks]),
                dropped=find_dropped(sample, labels, place.blocks, around),
            )
            for place in places
        ),
        threads=_classes([one for one in views if one.body.source is BodySource.POSTS]),
    )


def _find_places(sample: Sample, labels: list[list[bool]]) -> list[_Place]:
    """The paths that explain the pages: those of each URL class, then those of the other pages."""
    views, table, repeats = sample.views, sample.table, sample.repeats
    chains = [
        chain
        for number, one in enumerate(views)
        if not repeats.copies[number]
        and one.body.source not in _NO_LABELS
        and (chain := _chain(number, one, labels[number], repeats)).of_path
    ]
    least = max(LEAST_PAGES, LEAST_SHARE * len(chains))
    classes: dict[str, list[_Chain]] = {}
    for chain in chains:
        classes.setdefault(class_of(views[chain.page].page.url), []).append(chain)
    places: list[_Place] = []
    left: list[_Chain] = []
    for _, members in sorted(classes.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(members) >= CLASS_PAGES:
            members = _add_places(places, members, table, least)
        left += members
    for place in places:
        left = _explain(place, left)
    left = _add_places(places, left, table, least)
    _add_places(places, left, table, max(least, PLAIN_PAGES), may_be_plain=True)
    return places


def _add_places(
    places: list[_Place],
    chains: list[_Chain],
    table: PathTable,
    least: float,
    *,
    may_be_plain: bool = False,
) -> list[_Chain]:
    """Adds the paths that explain some pages; returns the pages that no path explains."""
    while len(chains) >= least:
        worth: dict[int, float] = {}
        for chain in chains:
            for path, (f1, _) in chain.of_path.items():
                ratio = f1 / chain.best
                if ratio >= NEAR_BEST and (may_be_plain or not is_plain(table.path(path))):
                    worth[path] = worth.get(path, 0.0) + ratio**SHARPNESS
        if not worth:
            break
        best = max(worth, key=lambda path: (worth[path], path))
        explained = [chain for chain in chains if _explains(best, chain)]
        if len(explained) < least:
            break
        outer = next((place for place in places if table.holds(place.path, best)), None)
        is_many = sum(c.counts[best] for c in explained) > ONCE * len(explained)
        # One of many equal pieces inside the place of other pages: the place is the body.
        is_piece = outer and is_many and all(outer.path in c.of_path for c in explained)
        if outer and (outer.path == best or is_piece):
            outer.blocks.update((c.page, c.of_path[outer.path][1]) for c in explained)
        elif len(places) < MAX_PLACES:
            places.append(_Place(best, {c.page: c.of_path[best][1] for c in explained}))
        else:
            break
        chains = [chain for chain in chains if not _explains(best, chain)]
    return chains


def _explains(path: int, chain: _Chain) -> bool:
    """Whether the block at a path is nearly the best one of a page."""
    return path in chain.of_path and chain.of_path[path][0] >= NEAR_BEST * chain.best


def _explain(place: _Place, chains: list[_Chain]) -> list[_Chain]:
    """Adds the pages of other URL classes that a place explains; returns the other pages."""
    found = [chain for chain in chains if _explains(place.path, chain)]
    place.blocks.update((c.page, c.of_path[place.path][1]) for c in found)
    return [chain for chain in chains if not _explains(place.path, chain)]


def _smooth(views: list[View]) -> list[list[bool]]:
    """For each page whether each line belongs to the body, by the page and by its path."""
    kept: Counter[int] = Counter()
    chars: Counter[int] = Counter()
    left_out: dict[int, set[int]] = {}
    votes: Counter[int] = Counter()  # pages that keep text at a path, less those that leave it out
    for number, one in enumerate(views):
        if one.body.source in _NO_LABELS:
            continue
        here: Counter[int] = Counter()
        for i, block in enumerate(one.tree.line_blocks):
            path = one.paths[block]
            size = one.own[i] + one.linked[i]
            chars[path] += size
            here[path] += size if one.kept[i] else -size
            if one.kept[i]:
                kept[path] += size
            else:
                left_out.setdefault(path, set()).add(number)
        for path, size in here.items():
            votes[path] += (size > 0) - (size < 0)
    often = {
        path
        for path, size in kept.items()
        if size >= OFTEN_SHARE * chars[path] and votes[path] >= 0
    }
    seldom = {
        path
        for path, pages in left_out.items()
        if len(pages) >= SELDOM_PAGES and kept[path] <= SELDOM_SHARE * chars[path]
    }
    return [
        [
            ((is_kept and one.paths[block] not in seldom) or one.paths[block] in often)
            and not (size <= LINE_CHARS and is_meta(text))
            for is_kept, block, size, text in zip(
                one.kept, one.tree.line_blocks, map(sum, zip(one.own, one.linked, strict=True)),
                one.texts, strict=True,
            )
        ]
        for one in views
    ]  # fmt: skip


def _chain(number: int, one: View, labels: list[bool], repeats: Repeats) -> _Chain:
    """The blocks that hold most of a page's body; none for a body that mostly repeats."""
    tree, paths = one.tree, one.paths
    fresh = 0
    kept_before: list[int] = [0]
    text_before: list[float] = [0.0]
    for i, block in enumerate(tree.line_blocks):
        is_repeat = repeats.holds(paths[block], one.texts[i])
        kept, other = 0, 0.0
        if labels[i]:
            kept = one.own[i] + one.linked[i]
            fresh += 0 if is_repeat else kept
        else:
            other = one.own[i] * (REPEAT_WEIGHT if is_repeat else 1.0)
        kept_before.append(kept_before[-1] + kept)
        text_before.append(text_before[-1] + kept + other)
    whole = kept_before[-1]
    chain = _Chain(page=number)
    if fresh <= (1 - TEMPLATE_SHARE) * whole:
        return chain
    starts = tree.block_lines
    chain.counts.update(
        paths[block] for block in range(len(starts)) if tree.line_end(block) > starts[block]
    )
    block, end = 0, len(starts)
    while block < end:
        first, last = starts[block], tree.line_end(block)
        kept = kept_before[last] - kept_before[first]
        if kept <= MOST_SHARE * whole:
            block = tree.block_ends[block]
            continue
        if tree.block_tags[block] in TEXT_TAGS:
            break  # a paragraph or heading, the whole body of some pages
        path = paths[block]
        f1 = 2 * kept / (text_before[last] - text_before[first] + whole)
        if chain.counts[path] > 1:
            f1 *= MANY_WEIGHT
        chain.of_path[path] = f1, block
        chain.best = max(chain.best, f1)
        end = tree.block_ends[block]
        block += 1
    return chain


def _classes(pages: list[View]) -> tuple[tuple[str, int], ...]:
    """The URL classes of pages with their numbers, sorted: ``(("/news/*.html", 12),)``."""
    counts = Counter(class_of(one.page.url) for one in pages)
    return tuple(sorted(counts.items()))
