"""What text repeats on the pages of a host: lines at their places, parts, ends of titles.

Absolute counts decay with more pages, for lists and keywords repeat what articles say; so a line
counts as template by its share of the pages that have its place.

Pages with the body of another page (*copies*: session ids in URLs, interstitials, error pages)
have one text at many URLs and no template, so they are found first and left out. Two pages are
copies when nearly all of one's body is in the other's, line by line. Cost: linear in the lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from cleaning.learn.views import PathTable, View, on_pages
from cleaning.model.rules import PageSet, Template, TemplatePart, TemplateText

COPY_SHARE = 0.8  # of a body that is in that of another page
MAX_HOLDERS = 20  # pages a line is looked for on; one on more is of the template
LINE_SHARE = 0.5  # share of the pages that have its path, from which a line repeats there
MODEL_SHARE = 0.3  # share of all pages from which a line is kept in the model
PART_SHARE = 0.7  # share of a part's text that repeats, from which it is template
TITLE_SHARE = 0.2  # share of the pages whose titles end alike
MAX_LINES = 1000  # in a model ...
LINE_CHARS = 200  # ... the longest of them
MAX_PARTS = 300  # in a model
MAX_AFFIXES = 12  # ends of titles


def find_copies(views: list[View]) -> list[bool]:
    """For each page whether one before it has its body.

    Args:
        views: The sample.
    """
    holders: dict[str, list[int]] = {}
    found = []
    for number, one in enumerate(views):
        lines = {
            text: own + linked
            for text, own, linked, is_kept in zip(
                one.texts, one.own, one.linked, one.kept, strict=True
            )
            if is_kept
        }
        common: Counter[int] = Counter()
        for text, size in lines.items():
            for page in holders.get(text, ()):
                common[page] += size
        most = max(common.values(), default=0)
        is_copy = most > 0 and most >= COPY_SHARE * sum(lines.values())
        found.append(is_copy)
        if not is_copy:
            for text in lines:
                pages = holders.setdefault(text, [])
                if len(pages) < MAX_HOLDERS:
                    pages.append(number)
    return found


_WIDE = r"[^\x00-\x7f]"
# An underscore or hyphen in a Latin word is the word's own.
_MARK = re.compile(rf"\s[-–—|·•:_]+\s|\s*[|｜»«]+\s*|--+|(?<={_WIDE})[-–—_]+|[-–—_]+(?={_WIDE})")


class Repeats:
    """Which lines repeat at which places of a sample.

    Attributes:
        copies: For each page whether it says what another says; such pages repeat no template.

    Args:
        views: The sample, its paths numbered.
        copies: The same.
    """

    def __init__(self, views: list[View], copies: list[bool]) -> None:
        self.copies = copies
        self._counts: dict[tuple[int, str], int] = {}
        self._pages: dict[int, int] = {}  # that have lines directly at a path
        for one, is_copy in zip(views, copies, strict=True):
            if is_copy:
                continue
            blocks, paths = one.tree.line_blocks, one.paths
            keys = {(paths[block], text) for block, text in zip(blocks, one.texts, strict=True)}
            for key in keys:
                self._counts[key] = self._counts.get(key, 0) + 1
            for path in {path for path, _ in keys}:
                self._pages[path] = self._pages.get(path, 0) + 1

    def count(self, path: int, text: str) -> int:
        """Pages that have the line there."""
        return self._counts.get((path, text), 0)

    def holds(self, path: int, text: str) -> bool:
        """Whether most of the pages that have the place have the line there."""
        count = self._counts.get((path, text), 0)
        return count > 1 and count >= LINE_SHARE * self._pages[path]


def learn_template(views: list[View], table: PathTable, repeats: Repeats) -> Template:
    """What repeats, for the model and to be explained.

    Args:
        views: The sample, its paths numbered.
        table: Its paths.
        repeats: What repeats where.
    """
    prefixes, suffixes = _affixes([one.tree.title for one in views])
    return Template(
        lines=_lines(views, repeats.copies),
        parts=_parts(views, table, repeats),
        title_prefixes=prefixes,
        title_suffixes=suffixes,
    )


def _lines(views: list[View], copies: list[bool]) -> tuple[TemplateText, ...]:
    pages: dict[str, list[int]] = {}
    for number, one in enumerate(views):
        if copies[number]:
            continue
        for text in set(one.texts):
            if len(text) <= LINE_CHARS:
                pages.setdefault(text, []).append(number)
    least = max(2, MODEL_SHARE * len(views))
    return _texts(pages, least, MAX_LINES)


def _texts(pages: dict[str, list[int]], least: float, most: int) -> tuple[TemplateText, ...]:
    """The texts of enough pages, those of most pages first."""
    often = [text for text, numbers in pages.items() if len(numbers) >= least]
    often.sort(key=lambda text: (-len(pages[text]), text))
    return tuple(TemplateText(text=text, on=on_pages(pages[text])) for text in often[:most])


def _parts(views: list[View], table: PathTable, repeats: Repeats) -> tuple[TemplatePart, ...]:
    """The outermost paths most of whose text repeats."""
    chars = [0] * len(table.steps)
    repeated = [0] * len(table.steps)
    pages: list[int] = [0] * len(table.steps)
    for number, one in enumerate(views):
        bit = 1 << number
        for i, block in enumerate(one.tree.line_blocks):
            path = one.paths[block]
            size = one.own[i] + one.linked[i]
            chars[path] += size
            pages[path] |= bit
            if repeats.holds(path, one.texts[i]):
                repeated[path] += size
    for path in range(len(chars) - 1, 0, -1):
        parent = table.parents[path]
        chars[parent] += chars[path]
        repeated[parent] += repeated[path]
        pages[parent] |= pages[path]
    is_inside = [False] * len(chars)
    found = []
    for path in range(1, len(chars)):
        if is_inside[table.parents[path]]:
            is_inside[path] = True
        elif (
            chars[path]
            and pages[path].bit_count() > 1
            and repeated[path] >= PART_SHARE * chars[path]
        ):
            is_inside[path] = True
            found.append((-pages[path].bit_count(), table.path(path), path))
    return tuple(
        TemplatePart(
            path=name, share=round(repeated[path] / chars[path], 4), on=PageSet(pages[path])
        )
        for _, name, path in sorted(found)[:MAX_PARTS]
    )


def _affixes(titles: Iterable[str]) -> tuple[tuple[TemplateText, ...], tuple[TemplateText, ...]]:
    """What titles begin and end with, marks included; of each title any number of its segments."""
    prefixes: dict[str, list[int]] = {}
    suffixes: dict[str, list[int]] = {}
    count = 0
    for number, title in enumerate(titles):
        count += 1
        for mark in _MARK.finditer(title):
            if mark.start() > 0 and mark.end() < len(title):
                prefixes.setdefault(title[: mark.end()], []).append(number)
                suffixes.setdefault(title[mark.start() :], []).append(number)
    least = max(2, TITLE_SHARE * count)
    most = MAX_AFFIXES
    return _texts(prefixes, least, most), _texts(suffixes, least, most)
