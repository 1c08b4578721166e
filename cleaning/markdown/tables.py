"""Tables of data: how they differ from layouts, and their cells as a grid.

A table is a layout unless its cells are short and regular: rows of one width, few cells empty, none
with code, headings or another table inside. Cells that span several columns or rows are followed by
empty cells, so that every value stands under its heading.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import count_words

_NO_CELLS = HEADINGS | {"pre", "blockquote", "form", "article"}
_MAX_COLUMNS = 60
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
    units = 0.0
    for lines in of_cell.values():
        if len(lines) > _MOST_LINES:
            return False
        here = sum(count_words(tree.line_text(line)) for line in lines)
        if here > _MOST_UNITS:
            return False
        units += here
    return units <= _MEAN_UNITS * max(len(of_cell), 1)


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
