"""The parts inside a body's container that are not of the body: comments, menus, repeated text.

The pages whose bodies stand there decide together: a part whose text repeats, a list of links that
the pages alone leave out, line numbers, comments, a short line in one place. Headings that
repeat are kept (every review has its 结论) with all that is in them, so is code, and so is prose in
parts without names: to lose a sentence is worse than to keep one. Of a part with a heading of the
page's own only the rest is left out, piece by piece. The heads of tables are headings, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from cleaning.document.tree import HEADINGS
from cleaning.features.parts import PartKind, kind_of_part
from cleaning.learn.template import Repeats
from cleaning.learn.views import PathTable, View
from cleaning.model.rules import Dropped, DropReason, PageSet

LEAST_SHARE = 0.04  # of the pages with a body, that a path or a shared line must stand on
ONCE = 1.3  # blocks of a path on a page, on average, that still stand in one place
LINE_CHARS = 60  # of the longest line about the body (source, time, buttons)
TEMPLATE_SHARE = 0.7  # share of repeats in a text, from which it is template
PRESENT_SHARE = 0.3  # share of the explained pages that a part must stand on to be left out ...
STEADY_SHARE = 0.7  # ... and of those that is left out by its place alone
LINKS_SHARE = 0.7  # share of linked text from which a part is a list of links
KEPT_SHARE = 0.1  # share of its text in bodies up to which a part may be left out
# Own characters of a line, on average, that make a part without names prose: what a site says
# below its articles is kept, modules have names.
PROSE_CHARS = 20.0
# Characters in headings of their own that pages with a part have on average, from which it is not
# left out whole.
LEAST_HEADING_CHARS = 2.0
MENU_LINKS = 3.0  # links of a part, on average, that make it a menu
NUMBERS_SHARE = 0.1  # share of characters outside line numbers, up to which a part is of these

_HEADING_TAGS = HEADINGS | {"thead", "th", "caption"}
_TEXT_TAGS = _HEADING_TAGS | {"pre"}


@dataclass(slots=True)
class _Sums:
    """What blocks hold, in characters; ``other`` are those of no line number.

    ``shared`` are those of lines that several pages have, if not most; ``headings`` those of
    headings that are the page's own.
    """

    own: int = 0
    linked: int = 0
    kept: int = 0
    repeated: int = 0
    shared: int = 0
    headings: int = 0
    other: int = 0
    lines: int = 0
    lists: int = 0
    links: int = 0
    inner: int = 0

    def add(self, more: _Sums) -> None:
        self.own += more.own
        self.linked += more.linked
        self.kept += more.kept
        self.repeated += more.repeated
        self.shared += more.shared
        self.headings += more.headings
        self.other += more.other
        self.lines += more.lines
        self.lists += more.lists
        self.links += more.links
        self.inner += more.inner


@dataclass(slots=True)
class _Part:
    """The blocks of one path inside the place of bodies, on all pages together."""

    sums: _Sums
    on: int = 0
    count: int = 0
    most: int = 0


def find_dropped(
    views: list[View],
    labels: list[list[bool]],
    table: PathTable,
    blocks: dict[int, int],
    repeats: Repeats,
    around: set[int],
) -> tuple[Dropped, ...]:
    """The parts of a body's block that are not of the body, outermost alone, sorted by path.

    Args:
        views: The sample, its paths numbered.
        labels: For each page which of its lines are of the body.
        table: The paths.
        blocks: For each page the block of its body.
        repeats: What repeats where.
        around: The paths of all bodies and what is around them: never left out.
    """
    parts: dict[int, _Part] = {}
    often = max(3, LEAST_SHARE * len(blocks))
    for page, container in blocks.items():
        one = views[page]
        sums = _sums(one, labels[page], container, repeats, often)
        for block, held in sums.items():
            part = parts.setdefault(one.paths[block], _Part(_Sums()))
            part.sums.add(held)
            part.on |= 1 << page
            part.count += 1
            part.most = max(part.most, held.own)
    found: dict[int, DropReason] = {}
    for path in sorted(parts):  # outer paths have smaller numbers
        parent = table.parents[path]
        while parent > 0 and parent not in found and not _is_heading(table.steps[parent]):
            parent = table.parents[parent]
        if path in around or parent > 0:
            continue
        reason = _reason(table.steps[path], parts[path], len(blocks))
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
                )
                for path, reason in found.items()
            ),
            key=lambda dropped: dropped.path,
        )
    )


def _sums(
    one: View, labels: list[bool], container: int, repeats: Repeats, often: float
) -> dict[int, _Sums]:
    """What each block inside a container with text holds."""
    tree = one.tree
    sums: dict[int, _Sums] = {}
    end, before = tree.block_ends[container], ""
    for i in range(tree.block_lines[container], tree.line_end(container)):
        block, text = tree.line_blocks[i], one.texts[i]
        if not container < block < end:
            before = text
            continue
        own, linked = one.own[i], one.linked[i]
        size, path = own + linked, one.paths[block]
        held = sums.setdefault(block, _Sums())
        held.own += own
        held.linked += linked
        held.kept += size if labels[i] else 0
        is_repeat = repeats.holds(path, text)
        held.repeated += size if is_repeat else 0
        if tree.block_tags[block] in HEADINGS and repeats.count(path, text) == 1:
            held.headings += size if one.inner[i] else own
        held.shared += size if repeats.count(path, text) >= often else 0
        held.other += 0 if _is_numbering(before, text) else size
        held.lines += 1
        held.lists += linked > own
        held.links += one.anchors[i]
        held.inner += one.inner[i]
        before = text
    for block in range(end - 1, container, -1):
        inner = sums.get(block)
        outer = tree.block_parents[block]
        if inner is not None and outer > container:
            sums.setdefault(outer, _Sums()).add(inner)
    return sums


def _is_heading(step: str) -> bool:
    return step.partition(".")[0] in _HEADING_TAGS


def _is_numbering(before: str, text: str) -> bool:
    """Whether a line is the number behind that of the line before, or the first."""
    if text == "1":
        return True
    is_number = text.isdecimal() and before.isdecimal() and len(text) < 6
    return is_number and int(text) == int(before[-6:]) + 1


def _reason(step: str, part: _Part, pages: int) -> DropReason | None:
    """Why a part is left out; None when it stays."""
    sums, count = part.sums, part.count
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
    is_once = count <= ONCE * seen
    is_prose = not names and sums.own > sums.linked and sums.own >= PROSE_CHARS * sums.lines
    is_short = chars <= LINE_CHARS * count
    is_steady = is_once and is_short and seen >= STEADY_SHARE * pages
    if is_once and not is_prose and tag not in _TEXT_TAGS:
        if sums.repeated >= TEMPLATE_SHARE * chars:
            return DropReason.REPEATS
        if is_steady and sums.shared >= TEMPLATE_SHARE * chars:
            return DropReason.REPEATS
    is_list = is_once or sums.lists >= 2 * count
    if 2 * sums.inner >= sums.links > 0:
        # Tables of contents, which some authors write, and headings that lead to themselves.
        is_list = is_list and seen >= STEADY_SHARE * pages and tag not in HEADINGS
    if is_left_out and is_list and sums.linked >= LINKS_SHARE * chars:
        return DropReason.LINKS
    if is_steady and sums.links >= MENU_LINKS * count:
        return DropReason.LINKS
    if is_left_out and is_steady and not is_prose and tag not in _TEXT_TAGS:
        return DropReason.ABOUT_BODY
    return None
