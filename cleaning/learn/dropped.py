"""The parts inside a body's block that do not belong to the body: comments, menus, repeated text.

All pages with their body at one path decide together. Dropped are:

* parts whose text repeats;
* lists of links that the pages alone leave out;
* line numbers;
* comments;
* one short line at a steady path: source, time, buttons.

Kept are repeated headings (every review has its 结论) with their content, code, and prose in parts
without class or id: losing a sentence is worse than keeping one. A part with headings that do not
repeat is not dropped whole, but its inner parts may be. Table heads count as headings. Of what the
pages alone have in their bodies stays what stands without links between text of each page (names of
columns), and what links of the page lead to by name (members that all classes of a manual have).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from operator import add, sub
from typing import NamedTuple

from crawlclean.cleaning.body.container import TEXT_TAGS
from crawlclean.cleaning.document.tree import HEADINGS
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.learn.views import Repeats, Sample, View
from crawlclean.cleaning.model.paths import checksum_of
from crawlclean.cleaning.model.rules import Dropped, DropReason, PageSet

LEAST_SHARE = 0.04  # share of the pages with a body that have a path or a shared line
ONCE = 1.3  # blocks of a path on a page, on average, that count as one block
TWICE = 2.2  # blocks of a path on a page, on average, of a list that stands twice
LINE_CHARS = 60  # longest line about the body (source, time, buttons)
TEMPLATE_SHARE = 0.7  # share of repeated text from which a part is template
PRESENT_SHARE = 0.3  # share of the explained pages that have a dropped part ...
LEAST_COMMON = 4  # pages, or all, with a repeated part that the pages alone have in their bodies
STEADY_SHARE = 0.7  # ... and that have a part dropped by its path alone
LINKS_SHARE = 0.7  # share of linked text from which a part is a list of links
KEPT_SHARE = 0.1  # share of a part's text in bodies up to which it may be dropped
# Own characters of a line, on average, from which a part without class and id is prose: a site's
# notes below its articles are kept, and modules have classes.
PROSE_CHARS = 20.0
# Characters in unrepeated headings a page, on average, from which a part is not dropped whole.
LEAST_HEADING_CHARS = 2.0
MENU_LINKS = 3.0  # links of a part, on average, that make it a menu
MAX_CHECKSUMS = 50  # lines of a part in a model
NUMBERS_SHARE = 0.1  # share of text outside line numbers up to which a part is line numbers

_HEADING_TAGS = HEADINGS | {"thead", "th", "caption"}
_TEXT_TAGS = _HEADING_TAGS | {"pre"}


class _Sums(NamedTuple):
    """The contents of a line, of a block, or of many blocks.

    Attributes:
        own: Characters outside links.
        linked: Characters inside links.
        kept: Characters in lines labelled body.
        repeated: Characters in lines that repeat at their path.
        shared: Characters in lines that several pages, if not most, have at their path.
        fresh: Characters in lines labelled body that no other page has.
        headings: Characters in headings that no other page has.
        other: Characters outside line numbers.
        lines: Number of lines.
        lists: Lines with more linked than own text.
        links: Number of links with text.
        inner: Links to places of their own page.
    """

    own: int = 0
    linked: int = 0
    kept: int = 0
    repeated: int = 0
    shared: int = 0
    fresh: int = 0
    headings: int = 0
    other: int = 0
    lines: int = 0
    lists: int = 0
    links: int = 0
    inner: int = 0


def _added(first: _Sums, second: _Sums) -> _Sums:
    return _Sums._make(map(add, first, second))


@dataclass(slots=True)
class _Part:
    """The blocks of one path inside a body's block, on all pages together.

    Attributes:
        before: Sums of the lines of its page before each block.
        after: The same with the lines of the block.
        on: The pages that have the path, page ``i`` as bit ``i``: 0b101 for pages 0 and 2.
        most: Most characters outside links in one block.
        places: Number of blocks that links of their page lead to.
        between: Number of blocks between lines of the body that no other page has.
    """

    before: list[_Sums] = field(default_factory=list)
    after: list[_Sums] = field(default_factory=list)
    on: int = 0
    most: int = 0
    places: int = 0
    between: int = 0

    @property
    def sums(self) -> _Sums:
        """The contents of the blocks."""
        after, before = (map(sum, zip(*each, strict=True)) for each in (self.after, self.before))
        return _Sums._make(map(sub, after, before))


def find_dropped(
    sample: Sample,
    labels: list[list[bool]],
    blocks: dict[int, int],
    around: set[int],
) -> tuple[Dropped, ...]:
    """Finds the parts of a body's block that do not belong to the body, the outermost, by path.

    Args:
        sample: The pages.
        labels: For each page whether each of its lines is of the body.
        blocks: The block of the body, by number of the page.
        around: The paths of all bodies and of the blocks around them: never left out.
    """
    table = sample.table
    parts: dict[int, _Part] = {}
    often = max(3, LEAST_SHARE * len(blocks))
    for page, container in blocks.items():
        one = sample.views[page]
        tree = one.tree
        start = tree.block_lines[container]
        rows = _lines_of(one, labels[page], container, sample.repeats, often)
        fresh = [start + i for i, row in enumerate(rows) if row.fresh]
        sums = list(accumulate(rows, _added, initial=_Sums()))
        targets = {a.href[1:] for a in tree.anchors if a.href.startswith("#")}
        for block in range(container + 1, tree.block_ends[container]):
            first, end = tree.block_lines[block], tree.line_end(block)
            if first == end:
                continue
            before, after = sums[first - start], sums[end - start]
            part = parts.setdefault(one.paths[block], _Part())
            part.before.append(before)
            part.after.append(after)
            part.on |= 1 << page
            part.most = max(part.most, after.own - before.own)
            part.between += bool(fresh) and fresh[0] < first and end <= fresh[-1]
            part.places += not targets.isdisjoint(tree.block_names[block].split())
    found: dict[int, DropReason] = {}
    for path in sorted(parts):  # outer paths have smaller numbers
        parent = table.parents[path]
        while parent > 0 and parent not in found and not _is_heading(table.steps[parent]):
            parent = table.parents[parent]
        if path in around or parent > 0:
            continue
        is_place = any(_is_place(parts.get(each)) for each in (path, table.parents[path]))
        reason = _reason(table.steps[path], parts[path], len(blocks), is_place=is_place)
        if reason is not None:
            found[path] = reason
    return tuple(
        sorted(
            (
                Dropped(
                    path=table.path(path),
                    reason=reason,
                    most_chars=parts[path].most,
                    on=PageSet(parts[path].on),
                    lines=_lines_at(sample, blocks, path, reason),
                )
                for path, reason in found.items()
            ),
            key=lambda dropped: dropped.path,
        )
    )


def _lines_at(
    sample: Sample, blocks: dict[int, int], path: int, reason: DropReason
) -> tuple[int, ...]:
    """Checksums of the lines that a part is dropped for; () where its name is enough."""
    table = sample.table
    tag, _, names = table.steps[path].partition(".")
    if reason is not DropReason.REPEATS or (names and tag not in TEXT_TAGS):
        return ()
    found = set()
    for page in blocks:
        one = sample.views[page]
        for block, text in zip(one.tree.line_blocks, one.texts, strict=True):
            at = one.paths[block]
            if table.holds(path, at) and sample.repeats.count(at, text) > 1:
                found.add(checksum_of(text))
    return tuple(sorted(found)[:MAX_CHECKSUMS])


def _lines_of(
    one: View, labels: list[bool], container: int, repeats: Repeats, often: float
) -> list[_Sums]:
    """The contents of each line of a container."""
    tree, before = one.tree, ""
    rows = []
    for i in range(tree.block_lines[container], tree.line_end(container)):
        block, text, own, linked = tree.line_blocks[i], one.texts[i], one.own[i], one.linked[i]
        size, path = own + linked, one.paths[block]
        count = repeats.count(path, text)
        is_own_heading = count == 1 and tree.block_tags[block] in HEADINGS
        row = _Sums(
            own=own,
            linked=linked,
            kept=size if labels[i] else 0,
            repeated=size if repeats.holds(path, text) else 0,
            shared=size if count >= often else 0,
            fresh=size if labels[i] and count == 1 else 0,
            headings=(size if one.inner[i] else own) if is_own_heading else 0,
            other=0 if _is_numbering(before, text) else size,
            lines=1,
            lists=linked > own,
            links=one.anchors[i],
            inner=one.inner[i],
        )
        rows.append(row)
        before = text
    return rows


def _is_heading(step: str) -> bool:
    """Whether a step such as ``h2.title`` is a heading or the head of a table."""
    return step.partition(".")[0] in _HEADING_TAGS


def _is_numbering(before: str, text: str) -> bool:
    """Whether a line is ``1`` or one more than the line before."""
    if text == "1":
        return True
    is_number = text.isdecimal() and before.isdecimal() and len(text) < 6
    return is_number and int(text) == int(before[-6:]) + 1


def _is_place(part: _Part | None) -> bool:
    """Whether links of most pages with a part lead to it."""
    return part is not None and 2 * part.places > len(part.after)


def _reason(step: str, part: _Part, pages: int, *, is_place: bool) -> DropReason | None:
    """Why a part is dropped; None for a part that stays.

    Args:
        step: Its step, ``div.note``.
        part: Its blocks on all pages.
        pages: Number of pages.
        is_place: Whether links of its page lead to it, or to the part around it.
    """
    sums, count = part.sums, len(part.after)
    seen = part.on.bit_count()
    chars = sums.own + sums.linked
    is_left_out = sums.kept <= KEPT_SHARE * chars
    tag, _, names = step.partition(".")
    if is_left_out and kind_of_part(tag, names.replace(".", " ")) is PartKind.COMMENT:
        return DropReason.COMMENTS
    if seen < max(2, PRESENT_SHARE * pages):
        return None
    if sums.other <= NUMBERS_SHARE * chars:
        return DropReason.LINE_NUMBERS
    if sums.headings >= LEAST_HEADING_CHARS * seen:
        return None
    is_between = not sums.links and 2 * part.between > count
    if not is_left_out and (is_place or is_between):
        return None
    is_once = count <= ONCE * seen
    is_prose = not names and sums.own > sums.linked and sums.own >= PROSE_CHARS * sums.lines
    is_short = chars <= LINE_CHARS * count
    is_steady = is_once and is_short and seen >= STEADY_SHARE * pages
    is_fresh = sums.fresh > KEPT_SHARE * chars
    # Three pages of a kind may have a note of their text in common.
    is_common = is_left_out or seen >= min(pages, LEAST_COMMON)
    if is_common and is_once and not is_prose and not is_fresh and tag not in _TEXT_TAGS:
        if sums.repeated >= TEMPLATE_SHARE * chars:
            return DropReason.REPEATS
        if is_steady and sums.shared >= TEMPLATE_SHARE * chars:
            return DropReason.REPEATS
    # Links to the pages before and behind stand above and below the body.
    is_twice = not sums.kept and count <= TWICE * seen
    is_list = is_once or is_twice or sums.lists >= 2 * count
    if 2 * sums.inner >= sums.links > 0:
        # Tables of contents, which some authors write, and headings with a link to themselves.
        is_list = is_list and seen >= STEADY_SHARE * pages and tag not in HEADINGS
    if is_left_out and is_list and sums.linked >= LINKS_SHARE * chars:
        return DropReason.LINKS
    if is_steady and sums.links >= MENU_LINKS * count:
        return DropReason.LINKS
    if is_left_out and is_steady and not is_prose and tag not in _TEXT_TAGS:
        return DropReason.ABOUT_BODY
    return None
