"""Block Markdown of a text (CommonMark with GFM tables): headings, lists, quotes, code, tables.

The blocks around a line decide its form. Only blocks inside the smallest part with all the lines
count, so that an article in the cell of a layout, or a post in the item of a list, begins at the
margin. The text is that of the plain body, white space apart.

* Headings keep their distances; the highest becomes level 2, below the page's title.
* One ``<br>`` is a line break; two, or one before an indented line, end a paragraph.
* The terms of a definition list are items in bold, the definitions items below them.
* Nesting deeper than ``_MAX_NESTING`` is flat: layouts nest so deep, texts do not.

``_Writer`` finds the form of each line, ``BlockWriter`` joins the blocks. Both are one walk over
the page. Cost: linear in the lines and the blocks around
them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from crawlclean.cleaning.document.tree import HEADINGS, STRONG, Tree
from crawlclean.cleaning.features.code_blocks import Code, find_code
from crawlclean.cleaning.features.lines import count_words
from crawlclean.cleaning.markdown.inline import (
    ANY_MARKUP,
    FIRST_MARKUP,
    InlineWriter,
    escape,
    image_of,
    longest_ticks,
    start_escaped,
)
from crawlclean.cleaning.records import Image, ImageKind, Link

# Tables of data: how they differ from layouts, and their cells as a grid.
#
# A table is a layout unless its cells are short and regular: rows of one width, few cells empty,
# none with code, headings or another table inside. Cells that span several columns or rows are
# followed by empty cells, so that every value stands under its heading.

_NO_CELLS = HEADINGS | {"pre", "blockquote", "form", "article"}
_MAX_COLUMNS = 60  # no person reads a wider table; a colspan may be any number
_MOST_UNITS = 120  # text units of one cell; more is a paragraph
_MEAN_UNITS = 25  # text units of a cell on average
_MOST_LINES = 8  # lines of one cell
_REGULAR_SHARE = 0.7  # share of the rows that have the commonest width
_FILLED_SHARE = 0.4  # share of the cells that have text


@dataclass(frozen=True, slots=True)
class Table:
    """A table of data.

    Attributes:
        before: Lines before the first cell: the caption.
        rows: Numbers of the lines of each cell, row by row; all rows have one width:
            ``[[[4], [5]], [[6], []]]``.
        after: Lines behind the last cell.
    """

    before: list[int]
    rows: list[list[list[int]]]
    after: list[int]


def innermost_tables(tree: Tree, root: int) -> set[int]:
    """Returns the tables inside a block that contain no table."""
    inside = tree.block_tags[root : tree.block_ends[root]]
    tables = [block for block, tag in enumerate(inside, root) if tag == "table"]
    return {
        table
        for table, behind in zip(tables, [*tables[1:], len(tree.block_tags)], strict=False)
        if behind >= tree.block_ends[table]
    }


def read_table(tree: Tree, table: int, lines: Sequence[int]) -> Table | None:
    """Returns a table of data, or None for a layout.

    Args:
        tree: The tree of the page.
        table: The block of a table that contains no table.
        lines: The lines of the text inside the table, in order.
    """
    tags, end = tree.block_tags, tree.block_ends[table]
    if not _NO_CELLS.isdisjoint(tags[table:end]):
        return None
    rows: list[list[int]] = []
    cells: list[int] = []
    inside = table  # the end of the last cell; a cell nested in a cell does not count
    for block in range(table + 1, end):
        if tags[block] == "tr":
            rows.append([])
        elif tags[block] in ("td", "th") and block >= inside:
            inside = tree.block_ends[block]
            if not rows:
                rows.append([])
            rows[-1].append(block)
            cells.append(block)
    if not cells:
        return None
    of_cell, before, after = _place(tree, cells, lines)
    if of_cell is None or not _are_short(tree, of_cell):
        return None
    grid = _grid(tree, rows, of_cell)
    return Table(before, grid, after) if grid and _is_regular(grid) else None


def _place(
    tree: Tree, cells: list[int], lines: Sequence[int]
) -> tuple[dict[int, list[int]] | None, list[int], list[int]]:
    """The lines of each cell, before the first and behind the last; None for lines between."""
    of_cell: dict[int, list[int]] = {}
    before: list[int] = []
    after: list[int] = []
    first, last = tree.block_lines[cells[0]], tree.line_end(cells[-1])
    for line in lines:
        block = tree.line_blocks[line]
        at = bisect_right(cells, block) - 1
        if at >= 0 and block < tree.block_ends[cells[at]]:
            of_cell.setdefault(cells[at], []).append(line)
        elif line < first:
            before.append(line)
        elif line >= last:
            after.append(line)
        else:
            return None, [], []
    return of_cell, before, after


def _are_short(tree: Tree, of_cell: dict[int, list[int]]) -> bool:
    """Whether no cell is a paragraph, and cells are short on average."""
    if any(len(lines) > _MOST_LINES for lines in of_cell.values()):
        return False
    cells = of_cell.values()
    units = [sum(count_words(tree.line_text(line)) for line in lines) for lines in cells]
    return max(units, default=0) <= _MOST_UNITS and sum(units) <= _MEAN_UNITS * max(len(units), 1)


def _grid(
    tree: Tree, rows: list[list[int]], of_cell: dict[int, list[int]]
) -> list[list[list[int]]]:
    """The rows with text, spans filled with empty cells; [] for more than 60 columns."""
    grid: list[list[list[int]]] = []
    above: dict[int, int] = {}  # column -> rows that a cell above still spans
    for row in rows:
        out: list[list[int]] = []
        below: dict[int, int] = {}
        cells = iter(row)
        while len(out) <= _MAX_COLUMNS:
            column = len(out)
            if column in above:
                if above[column] > 1:
                    below[column] = above[column] - 1
                out.append([])
                continue
            cell = next(cells, -1)
            if cell < 0:
                break
            columns, height = tree.spans.get(cell, (1, 1))
            for n in range(min(max(columns, 1), _MAX_COLUMNS)):
                if height > 1:
                    below[column + n] = height - 1
                out.append([] if n else of_cell.get(cell, []))
        else:
            return []
        above = below
        if any(out):
            grid.append(out)
    return grid


def _is_regular(grid: list[list[list[int]]]) -> bool:
    """Whether most rows have one width of two or more; fills shorter rows with empty cells."""
    widths = Counter(map(len, grid))
    width, rows = max(widths.items(), key=lambda item: (item[1], item[0]))
    filled = sum(bool(cell) for row in grid for cell in row)
    if (
        len(grid) < 2
        or width < 2
        or rows < _REGULAR_SHARE * len(grid)
        or filled < _FILLED_SHARE * sum(map(len, grid))
    ):
        return False
    most = max(widths)
    for row in grid:
        row += [[] for _ in range(most - len(row))]
    return True


def write_table(table: Table, cell_text: Callable[[int], str]) -> list[str]:
    """Returns the rows of a GFM pipe table, its head first: ``["| a | b |", "| --- | --- |"]``.

    Args:
        table: A table of data.
        cell_text: Returns the inline Markdown of a line.
    """
    rows = ["| " + " | ".join(_cell(cell, cell_text) for cell in row) + " |" for row in table.rows]
    return [rows[0], "|" + " --- |" * len(table.rows[0]), *rows[1:]]


def _cell(lines: list[int], cell_text: Callable[[int], str]) -> str:
    """The Markdown of a cell, its lines with ``<br>`` between them."""
    return "<br>".join(cell_text(line) for line in lines).replace("|", "\\|")


_MAX_NESTING = 8  # quotes and items in each other; layouts by lists nest deeper
_MAX_HEADING_CHARS = 300  # longer ones are text in the tag of a heading
_TOP_LEVEL = 2  # level 1 is the page's title
_RULE = "___"  # --- and *** would end a list item that begins with them
_FORMS = frozenset(("table", "blockquote", "li", "dt", "dd", *HEADINGS))
# Never the part with all lines: a list or table that holds the whole text is part of the text.
_NO_ROOT = frozenset(("table", "thead", "tbody", "tfoot", "tr", "ul", "ol", "dl", "pre", *HEADINGS))
_INDENTS = ("\u3000", "\xa0\xa0")
_CONTENT = ImageKind.CONTENT  # looking up an enum member takes ten times as long as a name


class Quote(NamedTuple):
    """A block quote, given by the number of its block."""

    block: int


class Item(NamedTuple):
    """An item of the list ``of``, both by their blocks; the number is None for bullets."""

    block: int
    of: int
    number: int | None = None


Chain = tuple[Quote | Item, ...]
"""The quotes and items around a line, the outermost first: ``(Quote(7), Item(12, of=11))``."""
_MOST_NUMBER = 999_999_999  # the greatest list number of CommonMark


class BlockWriter:
    """Joins blocks of Markdown with the indents, signs and blank rows between them."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._open: Chain = ()
        self._indents: list[str] = []  # for each open quote or item, in rows behind its first
        self._is_other: dict[int, bool] = {}  # list -> whether its sign is ``*`` or ``)``
        self._was_paragraph = False

    def add(self, chain: Chain, rows: list[str], is_paragraph: bool = False) -> None:
        """Adds a block.

        Args:
            chain: The quotes and items around the block, the outermost first.
            rows: Rows of the block without line breaks.
            is_paragraph: Whether an item may follow the block without a blank row.
        """
        self._was_paragraph, was_paragraph = is_paragraph, self._was_paragraph
        if not chain and not self._open:
            if self._rows:
                self._rows.append("")
            self._rows += rows
            return
        common = 0
        for one, other in zip(self._open, chain, strict=False):
            if one != other:
                break
            common += 1
        if self._rows and not (is_paragraph and was_paragraph and self._is_tight(chain, common)):
            self._rows.append("".join(self._indents[:common]).rstrip())
        signs = "".join(self._indents[:common])
        self._choose_signs(chain, common)
        del self._indents[common:]
        for part in chain[common:]:
            sign = self._sign(part)
            signs += sign
            self._indents.append(sign if isinstance(part, Quote) else " " * len(sign))
        indent = "".join(self._indents)
        self._rows.append((signs + rows[0]).rstrip())
        self._rows += [(indent + row).rstrip() for row in rows[1:]]
        self._open = chain

    def add_paragraph(self, text: str) -> bool:
        """Adds a paragraph of one row at the margin; False inside a quote or an item."""
        if self._open:
            return False
        self._was_paragraph = True
        if self._rows:
            self._rows.append("")
        self._rows.append(text)
        return True

    def text(self) -> str:
        """Returns all blocks, without a line break at the end."""
        return "\n".join(self._rows)

    def _is_tight(self, chain: Chain, common: int) -> bool:
        """Whether a block is an item right behind an item of its list or its outer item's text."""
        if common == len(chain):
            return False
        first = chain[common]
        if not isinstance(first, Item):
            return False
        if common < len(self._open):
            last = self._open[common]
            return isinstance(last, Item) and last.of == first.of
        # Only 1 may interrupt a paragraph.
        return common > 0 and isinstance(chain[common - 1], Item) and first.number in (None, 1)

    def _choose_signs(self, chain: Chain, common: int) -> None:
        """Gives a list right behind a list of its kind the other sign, which begins a new list."""
        for n, part in enumerate(chain[common:], common):
            if not isinstance(part, Item) or part.of in self._is_other:
                continue
            last = self._open[n] if n == common and n < len(self._open) else None
            self._is_other[part.of] = (
                isinstance(last, Item)
                and (last.number is None) == (part.number is None)
                and not self._is_other[last.of]
            )

    def _sign(self, part: Quote | Item) -> str:
        if isinstance(part, Quote):
            return "> "
        is_other = self._is_other[part.of]
        if part.number is None:
            return "* " if is_other else "- "
        return f"{min(part.number, _MOST_NUMBER)}{')' if is_other else '.'} "


class _Place(NamedTuple):
    """The form of a line: the quotes and items around it, its heading or table (-1 for none)."""

    chain: Chain = ()
    leaf: int = -1


def write_markdown(
    tree: Tree, lines: Sequence[int], links: Sequence[Link], images: Sequence[Image]
) -> str:
    """Returns lines of a page as Markdown, ``""`` without lines.

    Args:
        tree: The tree of the page.
        lines: Numbers of the lines of a body or a post, growing.
        links: The page's links, one for each of the first anchors of the tree.
        images: The page's images, one for each of the first pictures; only CONTENT is shown.
    """
    return _Writer(tree, lines, links, images).write() if lines else ""


class _Writer:
    """Writes the lines of one body or post."""

    def __init__(
        self, tree: Tree, lines: Sequence[int], links: Sequence[Link], images: Sequence[Image]
    ) -> None:
        self._tree, self._lines = tree, list(lines)
        self._inline = InlineWriter(tree, links)
        self._out = BlockWriter()
        self._root = _root(tree, self._lines)
        self._places = {self._root: _Place()}
        self._innermost: set[int] | None = None
        self._tables: dict[int, Table] = {}
        self._numbers: dict[int, int] = {}
        self._terms: dict[int, Item] = {}
        self._codes = {code.start: code for code in find_code(tree, self._lines)}
        self._rules = set(tree.rules)
        # The highest heading around the lines becomes level 2.
        blocks = {tree.line_blocks[line] for line in self._lines}
        leaves = {self._place(block).leaf for block in sorted(blocks)} - {-1}
        levels = [int(tag[1]) for leaf in leaves if (tag := tree.block_tags[leaf]) in HEADINGS]
        self._shift = _TOP_LEVEL - min(levels, default=_TOP_LEVEL)
        # line -> (run, Markdown) of the images inside the line
        self._inside: dict[int, list[tuple[int, str]]] = {}
        # index in self._lines -> (block, Markdown) of the images before the line
        self._between: dict[int, list[tuple[int, str]]] = {}
        self._place_images(images)

    def write(self) -> str:
        """Returns the Markdown of all lines."""
        lines, blocks, codes = self._lines, self._tree.line_blocks, self._codes
        between, rules, places = self._between, self._rules, self._places
        margin, count, write_plain = places[self._root], len(lines), self._write_plain
        n = 0
        while n < count:
            block = blocks[lines[n]]
            place = places[block]  # the constructor has found those of all lines
            if n in between:
                self._write_images(n)
            if rules and lines[n] in rules:
                self._write_rule(n, place)
            # Most lines are paragraphs of plain text at the margin.
            if (
                place is margin
                and n not in codes
                and (n + 1 == count or blocks[lines[n + 1]] != block)
                and write_plain(lines[n])
            ):
                n += 1
                continue
            begun = n
            if place.leaf >= 0:
                n = self._write_leaf(n, place)
            elif n in codes:
                n = self._write_code(codes[n])
            else:
                n = self._write_paragraph(n, place)
            if self._between:
                for behind in range(begun + 1, n):
                    self._write_images(behind)
        self._write_images(n)
        return self._out.text()

    def _write_plain(self, line: int) -> bool:
        """Writes a line of one run without markup as a paragraph; False for any other line."""
        tree = self._tree
        starts = tree.line_starts
        start = starts[line]
        end = starts[line + 1] if line + 1 < len(starts) else len(tree.texts)
        if end - start != 1 or tree.anchor_of[start] >= 0 or start in tree.marks:
            return False
        if line in self._inside:
            return False
        text = tree.line_text(line)
        if ANY_MARKUP(text) or text[:1] in FIRST_MARKUP:
            return False
        return self._out.add_paragraph(text) and self._inline.count(text)

    def _block(self, n: int) -> int:
        return self._tree.line_blocks[self._lines[n]]

    # --- the blocks around a line ------------------------------------------------------------

    def _place(self, block: int) -> _Place:
        """The form of text directly in a block, by the block and the blocks around it."""
        places = self._places
        if block in places:
            return places[block]
        tags, parents = self._tree.block_tags, self._tree.block_parents
        path: list[int] = []
        while block not in places:
            path.append(block)
            block = parents[block]
        place = places[block]
        for inner in reversed(path):
            # Most blocks have no form in Markdown.
            if tags[inner] in _FORMS and place.leaf < 0:
                place = self._inside_of(inner, place)
            places[inner] = place
        return place

    def _inside_of(self, block: int, place: _Place) -> _Place:
        """The form of text in a block whose parent has the form ``place``."""
        tag = self._tree.block_tags[block]
        if tag in HEADINGS:
            return _Place(place.chain, block)
        if tag == "table":
            return _Place(place.chain, block) if self._is_data(block) else place
        if len(place.chain) >= _MAX_NESTING:
            return place
        parent = self._tree.block_parents[block]
        part: Quote | Item
        if tag == "blockquote":
            part = Quote(block)
        elif tag == "li":
            is_numbered = self._tree.block_tags[parent] == "ol"
            part = Item(block, parent, self._number(block, parent) if is_numbered else None)
        elif tag == "dt":
            part = self._terms[parent] = Item(block, parent)
        else:
            last = place.chain[-1] if place.chain else None
            if self._tree.block_tags[parent] == "dd" and isinstance(last, Item):
                # The parser nests a <dd> in the <dd> before it that is still open.
                return _Place((*place.chain[:-1], Item(block, last.of)))
            term = self._terms.get(parent)
            if term is not None:  # a definition is an item of a list below its term
                return _Place((*place.chain, term, Item(block, -term.block)))
            part = Item(block, parent)
        return _Place((*place.chain, part))

    def _number(self, item: int, parent: int) -> int:
        """The number of an item of an ``<ol>``."""
        if item not in self._numbers:
            number = self._tree.list_starts.get(parent, 1)
            for child in self._tree.children(parent):
                if self._tree.block_tags[child] == "li":
                    self._numbers[child] = number
                    number += 1
        return self._numbers[item]

    def _is_data(self, table: int) -> bool:
        """Whether a table is data and no layout; its cells are kept."""
        if self._innermost is None:
            self._innermost = innermost_tables(self._tree, self._root)
        if table not in self._innermost:
            return False
        tree, lines = self._tree, self._lines
        first = bisect_left(lines, tree.block_lines[table])
        behind = bisect_left(lines, tree.line_end(table))
        end = tree.block_ends[table]
        inside = [line for line in lines[first:behind] if table <= tree.line_blocks[line] < end]
        data = read_table(tree, table, inside)
        if data is not None:
            self._tables[table] = data
        return data is not None

    # --- images ------------------------------------------------------------------------------

    def _place_images(self, images: Sequence[Image]) -> None:
        """Notes which images stand inside a line, and which between lines."""
        tree, lines = self._tree, self._lines
        said = {tree.line_text(line) for line in lines} if images else set()
        for image, picture in zip(images, tree.pictures, strict=False):
            if image.kind is not _CONTENT or not image.url:
                continue
            is_said = image.caption in said  # a caption that is a line of the body stands once
            text = image_of(image.alt if is_said else image.caption or image.alt, image.url)
            run = picture.run
            line = tree.line_of[run] if run < len(tree.texts) else len(tree.line_starts)
            n = bisect_left(lines, line)
            if n < len(lines) and lines[n] == line and tree.line_starts[line] < run:
                self._inside.setdefault(line, []).append((run, text))
            else:
                self._between.setdefault(n, []).append((picture.block, text))

    def _write_images(self, n: int) -> None:
        """Writes the images before the n-th line, each as a paragraph."""
        for block, text in self._between.get(n, ()):
            is_inside = self._root <= block < self._tree.block_ends[self._root]
            chain = self._place(block).chain if is_inside else ()
            self._out.add(chain, [text], is_paragraph=True)

    # --- blocks ------------------------------------------------------------------------------

    def _write_rule(self, n: int, place: _Place) -> None:
        """Writes the ``<hr>`` between two adjacent lines."""
        lines = self._lines
        if n == 0 or lines[n - 1] + 1 != lines[n]:
            return
        before = self._place(self._block(n - 1))
        if place.leaf >= 0 and place.leaf == before.leaf:
            return
        pairs = zip(before.chain, place.chain, strict=False)
        both = takewhile(lambda pair: pair[0] == pair[1], pairs)
        self._out.add(tuple(part for part, _ in both), [_RULE])

    def _write_leaf(self, n: int, place: _Place) -> int:
        """Writes a heading or a table; returns the index behind it."""
        tree, lines = self._tree, self._lines
        end = n + 1
        while end < len(lines) and self._place(self._block(end)).leaf == place.leaf:
            end += 1
        tag = tree.block_tags[place.leaf]
        if tag == "table":
            table = self._tables[place.leaf]
            for line in table.before:
                self._out.add(place.chain, [self._text(line)], is_paragraph=True)
            self._out.add(place.chain, write_table(table, self._bare))
            for line in table.after:
                self._out.add(place.chain, [self._text(line)], is_paragraph=True)
            return end
        text = " ".join(self._inline.plain(line) for line in lines[n:end])
        if len(text) > _MAX_HEADING_CHARS:
            for line in lines[n:end]:
                self._out.add(place.chain, [self._text(line)], is_paragraph=True)
            return end
        level = min(int(tag[1]) + self._shift, 6)
        bare = text.rstrip("#")
        if bare != text and (not bare or bare.endswith(" ")):
            text = f"{bare}\\{text[len(bare) :]}"  # closing # would not be shown
        self._out.add(place.chain, ["#" * level + " " + text])
        return end

    def _write_code(self, code: Code) -> int:
        """Writes a piece of code; returns the index behind it."""
        chain = self._place(code.block).chain if code.block > self._root else ()
        rows = code.text.split("\n")
        if code.is_prose:
            for paragraph in _paragraphs(rows):
                texts = [start_escaped(escape(row)) for row in paragraph]
                self._out.add(chain, _broken(texts), is_paragraph=True)
        else:
            fence = "`" * max(3, longest_ticks(code.text) + 1)
            self._out.add(chain, [f"{fence}{code.language}", *rows, fence])
        return code.end

    def _write_paragraph(self, n: int, place: _Place) -> int:
        """Writes lines with single line breaks between them; returns the index behind the last."""
        tree, lines = self._tree, self._lines
        is_term = bool(place.chain) and tree.block_tags[place.chain[-1].block] == "dt"
        marks = STRONG if is_term else 0
        rows = [self._text(lines[n], marks)]
        end = n + 1
        while end < len(lines) and self._continues(end):
            rows.append(self._text(lines[end], marks))
            end += 1
        self._out.add(place.chain, _broken(rows), is_paragraph=True)
        return end

    def _continues(self, n: int) -> bool:
        """Whether a line is in the paragraph of the line before."""
        tree, line = self._tree, self._lines[n]
        breaks = tree.breaks
        return (
            tree.line_blocks[self._lines[n - 1]] == tree.line_blocks[line]
            and self._lines[n - 1] + 1 == line
            and n not in self._codes
            and n not in self._between
            and line not in self._rules
            and bisect_right(breaks, line) - bisect_left(breaks, line) == 1
            and not tree.texts[tree.line_starts[line]].lstrip(" \t\r\n").startswith(_INDENTS)
        )

    def _text(self, line: int, marks: int = 0) -> str:
        """Inline Markdown of a line that begins a row."""
        return self._inline.line(line, self._inside.get(line, ()), marks)

    def _bare(self, line: int) -> str:
        """Inline Markdown of a line inside a cell."""
        return self._inline.line(line, self._inside.get(line, ()), is_start=False)


def _root(tree: Tree, lines: Sequence[int]) -> int:
    """The smallest block around all lines that is no part of a list, a table or a heading."""
    blocks = [tree.line_blocks[line] for line in lines]
    block, last = min(blocks), max(blocks)
    while block > 0 and (last >= tree.block_ends[block] or tree.block_tags[block] in _NO_ROOT):
        block = tree.block_parents[block]
    return block


def _broken(rows: list[str]) -> list[str]:
    """Rows with the mark of a hard line break, a backslash, behind each but the last."""
    return [f"{row}\\" for row in rows[:-1]] + rows[-1:]


def _paragraphs(rows: Sequence[str]) -> list[list[str]]:
    """Paragraphs of prose in a ``<pre>``: one begins after a blank row and at an indented row."""
    found: list[list[str]] = []
    is_new = True
    for row in rows:
        text = " ".join(row.split())
        if not text:
            is_new = True
            continue
        if is_new or row.startswith(("\u3000", "  ")):
            found.append([])
        found[-1].append(text)
        is_new = False
    return found
