"""Lines that are wholly links and text nonetheless, told by what stands above and below them.

Of a body's lines of links most lead away: to related pages, tools, offers. Some are words of the
text, and their place tells so: a heading above its section; a file, such as the attachment of a
notice; what a line that ends in a colon announces; a line like its neighbours between two lines of
text. A label before a link, ``See also: Title``, is no word of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import TEASER_UNITS, Lines, ends_sentence
from crawlclean.cleaning.features.sections import heading_kind, promotes

_FILE = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|wps|ofd|od[stp]|rtf|csv|zip|rar|7z|epub)(?:$|[?#])", re.I
)
_COLONS = (":", "：")
_MOST_ANNOUNCED = 30  # links below a colon; more are a list of pages
_CELLS = frozenset(("td", "th"))
_LEAST_ANNOUNCING_UNITS = 3  # "Sources:" may head anything


def with_linked_lines(lines: Lines, kept: list[int], is_noise: list[bool], end: int) -> list[int]:
    """Returns a body's lines with the lines of links that are text, in order.

    Args:
        lines: The lines of the page, as far as they are cut.
        kept: The other lines of the body, growing.
        is_noise: For each part whether it is noise.
        end: The line behind the body's part.
    """
    found: list[int] = []
    for above, below in pairwise([*kept, end]):
        if below - above > 1:
            found += _found_between(lines, above, below, end, is_noise)
    return sorted({*kept, *found}) if found else kept


def _found_between(
    lines: Lines, above: int, below: int, end: int, is_noise: list[bool]
) -> Iterator[int]:
    """Yields the lines of links that are text between one line that is kept and the next."""
    tree = lines.tree
    gap = [
        i for i in range(above + 1, below)
        if not is_noise[tree.line_blocks[i]]
        # What a marker governs is worth less than its links.
        and lines.linked[i] > lines.own[i] and lines.worth[i] == -lines.linked[i] - 1
    ]  # fmt: skip
    yield from (i for i in gap if _leads_to_a_file(lines, i))
    is_last = below == end
    if is_last:
        gap = [i for n, i in enumerate(gap) if i == above + 1 + n]
    elif len(gap) < below - above - 1:
        return  # something else is cut, too: a place among the text tells nothing
    heads_others = heading_kind(lines.texts[above]) or promotes(lines.texts[above])
    if not gap or (heads_others and not ends_sentence(tree, gap[0])):
        return
    if len(gap) <= _MOST_ANNOUNCED and _announces(lines, above):
        yield from (i for i in gap if not _is_place(lines, i))
        return
    under_heading = tree.block_tags[tree.line_blocks[above]] in HEADINGS
    for i in gap:
        block = tree.line_blocks[i]
        is_heading = tree.block_tags[block] in HEADINGS and tree.block_lines[block] == i
        is_alone = len(gap) == 1 and tree.block_tags[block] not in _CELLS
        if _is_label(lines, i):
            continue
        if is_heading:
            if not is_last and i == below - 1 and (lines.worth[below] > 0 or _is_place(lines, i)):
                yield i
        elif is_alone and _names(lines, i) > 1:  # tags, but below a heading that says of what
            if under_heading and ends_sentence(tree, i):
                yield i
        elif is_alone and not is_last and (_is_like(tree, i, above) or _is_like(tree, i, below)):
            yield i


def _announces(lines: Lines, line: int) -> bool:
    """Whether a line ends in a colon, and is no label."""
    return lines.texts[line].endswith(_COLONS) and lines.own[line] >= _LEAST_ANNOUNCING_UNITS


def _is_label(lines: Lines, line: int) -> bool:
    """Whether a line of links is one of other pages by its words, or by a label before them."""
    tree = lines.tree
    start, end = tree.line_runs(line)
    first = next(run for run in range(start, end) if tree.anchor_of[run] >= 0)
    label = "".join(tree.texts[start:first]).strip().strip("[【(（").strip()
    text = tree.line_text(line)
    words = text.replace(_COLONS[1], _COLONS[0]).split(_COLONS[0], 1)[0]  # READ MORE: a title
    return label.endswith(_COLONS) or any(heading_kind(of) or promotes(of) for of in (text, words))


def _names(lines: Lines, line: int) -> int:
    """The number of links of a line with nothing but marks between them: names, or tags."""
    tree = lines.tree
    start, end = tree.line_runs(line)
    words = "".join(tree.texts[run] for run in range(start, end) if tree.anchor_of[run] < 0)
    return 0 if any(map(str.isalnum, words)) else len(_anchors(lines, line))


def _anchors(lines: Lines, line: int) -> set[int]:
    tree = lines.tree
    return {tree.anchor_of[run] for run in range(*tree.line_runs(line))} - {-1}


def _is_place(lines: Lines, line: int) -> bool:
    """Whether all links of a line lead to places of the page."""
    return all(lines.tree.anchors[n].href.startswith("#") for n in _anchors(lines, line))


def _leads_to_a_file(lines: Lines, line: int) -> bool:
    """Whether a line leads to a document: ``/doc/report.pdf``."""
    return lines.linked[line] >= TEASER_UNITS and any(
        _FILE.search(lines.tree.anchors[n].href) for n in _anchors(lines, line)
    )


def _is_like(tree: Tree, line: int, other: int) -> bool:
    """Whether two lines stand in one part, or in parts of one shape side by side."""
    one, two = tree.line_blocks[line], tree.line_blocks[other]
    shapes = {(tree.block_tags[block], tree.block_names[block]) for block in (one, two)}
    return one == two or (tree.block_parents[one] == tree.block_parents[two] and len(shapes) == 1)
