"""The parts of a body's block that the host's pages drop, as far as they stand on this page."""

from __future__ import annotations

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.model.paths import checksum_of, line_key
from crawlclean.cleaning.model.rules import Dropped, DropReason

LEAST_TEXT_CHARS = 40  # least text outside headings of a body that is no list
# Most text of a dropped part: so many times its text on other pages, and so many characters more.
_MORE_TIMES = 2.0
_MORE_CHARS = 200
_KNOWN_SHARE = 0.7  # share of a paragraph's text that is of known lines


def find_left_out(tree: Tree, body: int, dropped: dict[int, Dropped]) -> set[int]:
    """Returns the dropped parts of a block, less those with far more text than on other pages.

    A list of links with more text outside links than in them is kept, too; so are paragraphs and
    nameless parts with other lines.
    """
    found = set()
    for block, part in dropped.items():
        first, last = tree.block_lines[block], tree.line_end(block)
        if not (body < block < tree.block_ends[body] and first < last):
            continue
        if part.lines and not _has_lines(tree, range(first, last), part.lines):
            continue
        is_list = part.reason is DropReason.LINKS
        most = _MORE_TIMES * part.most_chars + _MORE_CHARS
        if is_list:
            most = min(most, max(part.most_chars, LEAST_TEXT_CHARS))
        start, end = tree.line_starts[first], tree.line_runs(last - 1)[1]
        if part.reason is not DropReason.COMMENTS and sum(map(len, tree.texts[start:end])) > most:
            runs = zip(tree.texts[start:end], tree.anchor_of[start:end], strict=True)
            sizes = [(len("".join(text.split())), anchor >= 0) for text, anchor in runs]
            own = sum(size for size, is_linked in sizes if not is_linked)
            if own > most and not (is_list and own <= sum(size for size, _ in sizes) / 2):
                continue
        found.add(block)
    return found


def _has_lines(tree: Tree, lines: range, known: tuple[int, ...]) -> bool:
    """Whether most text of some lines is in lines that are known by their checksums."""
    whole = here = 0
    for i in lines:
        text = tree.line_text(i)
        whole += len(text)
        here += len(text) if checksum_of(line_key(text)) in known else 0
    return here >= _KNOWN_SHARE * whole
