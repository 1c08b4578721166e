"""Code blocks in a page: lines as in the source, without line numbers.

Code is the text of a ``<pre>``, or of neighbouring ``<div>`` with nothing but ``<code>``, as some
highlighters write it. Line numbers are found by counting: whole lines 1, 2, 3 beside the code, or a
number at the beginning of each of its lines. A ``<pre>`` of Chinese sentences is prose whose line
breaks count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from crawlclean.cleaning.document.tree import MONOSPACE, Tree

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|sourceCode)[-: ]\s*([\w+#.-]{1,20})"
    r"|brush:\s*([\w+#.-]{1,20})"
)
# Highlighters that name the language as a class of its own.
_PLAIN_LANGUAGE = re.compile(
    r"(?:^|\s)(?:syntaxhighlighter|highlight|hljs|prettyprint|codehilite|src)\s+([\w+#-]{1,20})"
)
_NO_LANGUAGES = frozenset(
    (
        "", "none", "plain", "plaintext", "text", "txt", "nohighlight", "linenums", "highlighter",
        "wrapper",
    )
)  # fmt: skip
_NAMED_LEVELS = 6  # parts around the code that may name its language
_BESIDE_LEVELS = 5  # parts up to the one that holds the code and its numbers
_NUMBERS = re.compile(r"\d{1,6}(?:\s+\d{1,6})*")
_NUMBERED_LINE = re.compile(r"[ \t]{0,8}(\d{1,6})(?:[ \t.:|]|$)")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef\u3000-\u303f]")
_LEAST_NUMBERED = 3  # rows; two that begin with 1 and 2 may be code


@dataclass(frozen=True, slots=True)
class Code:
    """One code block: ``lines[start:end]`` of the searched lines.

    Attributes:
        start: Index of its first line.
        end: Index behind its last line.
        block: The block around it.
        text: The source, without blank lines at its ends.
        language: Language by class name, lower case (``python``); ``""`` for none.
        is_prose: Whether it is text with line breaks instead.
    """

    start: int
    end: int
    block: int
    text: str
    language: str
    is_prose: bool


def find_code(tree: Tree, lines: list[int]) -> list[Code]:
    """Finds the code blocks among the given lines, in order."""
    found = []
    for start, end, block in _pieces(tree, lines):
        text = _without_numbers(_source(tree, lines[start:end]))
        if not text.strip():
            continue
        language = _language(tree, block)
        first, last = tree.line_starts[lines[start]], tree.line_runs(lines[end - 1])[1]
        is_prose = (
            not language
            and not any(tree.marks.get(run, 0) & MONOSPACE for run in range(first, last))
            and 2 * len(_WIDE.findall(text)) > len("".join(text.split()))
        )
        found.append(Code(start, end, block, text, language, is_prose))
    return found


def drop_line_numbers(tree: Tree, lines: list[int]) -> list[int]:
    """Removes the lines that only number the lines of code beside them."""
    pieces = _pieces(tree, lines)
    if not pieces:
        return lines
    dropped: set[int] = set()
    of_code = [(start, end) for start, end, _ in pieces if not _counts(tree, lines[start:end])]
    for start, end, _ in pieces:
        if _counts(tree, lines[start:end]) and any(
            _is_beside(tree, lines[start], lines[first]) for first, _ in _near(of_code, start)
        ):
            dropped.update(range(start, end))
    for start, end in of_code:
        for first, last in (
            _run_of_numbers(tree, lines, start, -1),
            _run_of_numbers(tree, lines, end - 1, 1),
        ):
            if (
                last - first > 1
                and _is_beside(tree, lines[first], lines[start])
                and _counts(tree, lines[first:last])
            ):
                dropped.update(range(first, last))
    return [line for n, line in enumerate(lines) if n not in dropped] if dropped else lines


def _pieces(tree: Tree, lines: list[int]) -> list[tuple[int, int, int]]:
    """(first, behind the last, block) of each code block, as indices of the lines."""
    has_marks = any(bits & MONOSPACE for bits in set(tree.marks.values()))
    if not tree.code_blocks and not has_marks:
        return []
    outer: list[int] = []
    for block in tree.code_blocks:
        if not outer or block >= tree.block_ends[outer[-1]]:
            outer.append(block)
    pieces: list[tuple[int, int, int]] = []
    last = -1
    for n, line in enumerate(lines):
        block = tree.line_blocks[line]
        at = bisect_right(outer, block) - 1
        if at >= 0 and block < tree.block_ends[outer[at]]:
            code = outer[at]
        elif has_marks and tree.block_tags[block] == "div" and _is_monospace(tree, line):
            code = tree.block_parents[block]
        else:
            last = -1
            continue
        if code == last:
            pieces[-1] = pieces[-1][0], n + 1, code
        else:
            pieces.append((n, n + 1, code))
            last = code
    codes = set(outer)
    return [piece for piece in pieces if piece[2] in codes or piece[1] - piece[0] > 1]


def _is_monospace(tree: Tree, line: int) -> bool:
    """Whether a line is nothing but monospace text outside links."""
    start, end = tree.line_runs(line)
    marks, anchors = tree.marks, tree.anchor_of
    return all(marks.get(run, 0) & MONOSPACE and anchors[run] < 0 for run in range(start, end))


def _source(tree: Tree, lines: list[int]) -> str:
    """The text of lines as in the source; a block ends a line where the text does not."""
    pieces: list[str] = []
    for line in lines:
        start, end = tree.line_runs(line)
        if (
            pieces
            and not pieces[-1].endswith("\n")
            and not tree.texts[start].lstrip(" \t\xa0").startswith("\n")
        ):
            pieces.append("\n")
        pieces += tree.texts[start:end]
    rows = (
        "".join(pieces).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").split("\n")
    )
    return "\n".join(row.rstrip() for row in rows).strip("\n")


def _without_numbers(text: str) -> str:
    """Removes the numbers that count lines from their beginnings."""
    rows = text.split("\n")
    if len(rows) < _LEAST_NUMBERED:
        return text
    numbers = [int(match[1]) for row in rows if (match := _NUMBERED_LINE.match(row))]
    if len(numbers) < len(rows) or numbers != list(range(numbers[0], numbers[0] + len(rows))):
        return text
    return "\n".join(_NUMBERED_LINE.sub("", row, count=1) for row in rows)


def _counts(tree: Tree, lines: list[int]) -> bool:
    """Whether lines hold nothing but consecutive numbers."""
    numbers: list[int] = []
    for line in lines:
        text = tree.line_text(line)
        if not _NUMBERS.fullmatch(text):
            return False  # the first of most code
        numbers += map(int, text.split())
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _run_of_numbers(tree: Tree, lines: list[int], at: int, step: int) -> tuple[int, int]:
    """(first, behind the last) of the lines of one number each, before or behind a line."""
    n = at + step
    while (
        0 <= n < len(lines)
        and len(tree.line_text(lines[n])) <= 6
        and tree.line_text(lines[n]).isdecimal()
    ):
        n += step
    return (n + 1, at) if step < 0 else (at + 1, n)


def _near(pieces: list[tuple[int, int]], start: int) -> list[tuple[int, int]]:
    """The code blocks right before and behind a line."""
    at = bisect_right(pieces, (start, start))
    return pieces[max(at - 1, 0) : at + 1]


def _is_beside(tree: Tree, line: int, other: int) -> bool:
    """Whether two lines stand in one small part."""
    parts = {tree.line_blocks[line]}
    block = tree.line_blocks[line]
    for _ in range(_BESIDE_LEVELS):
        block = tree.block_parents[block]
        if block <= 0 or tree.block_tags[block] == "body":
            break
        parts.add(block)
    block = tree.line_blocks[other]
    for _ in range(_BESIDE_LEVELS + 1):
        if block in parts:
            return True
        block = tree.block_parents[block]
        if block <= 0:
            break
    return False


def _language(tree: Tree, block: int) -> str:
    """The language in the class names of a code block, or of the parts around it: ``python``."""
    names = [tree.code_names.get(block, "")]
    for _ in range(_NAMED_LEVELS):
        names.append(tree.block_names[block])
        block = tree.block_parents[block]
        if block <= 0 or tree.block_tags[block] in ("body", "article", "main"):
            break
    for pattern in (_LANGUAGE, _PLAIN_LANGUAGE):
        for name in names:
            match = pattern.search(name)
            language = (match[match.lastindex or 0] if match else "").lower().rstrip(";")
            if language not in _NO_LANGUAGES:
                return language
    return ""


def text_of(tree: Tree, lines: list[int]) -> str:
    """Returns lines as plain text, one line a paragraph; code keeps its lines and indentation."""
    pieces: list[str] = []
    done = 0
    for code in find_code(tree, lines):
        pieces += map(tree.line_text, lines[done : code.start])
        rows = (row for row in code.text.split("\n") if row.strip())
        pieces += (" ".join(row.split()) for row in rows) if code.is_prose else rows
        done = code.end
    pieces += map(tree.line_text, lines[done:])
    return "\n".join(pieces)
