"""What text repeats on the pages of a host: lines at their places, parts, ends of titles.

Absolute counts decay with more pages, for lists and keywords repeat what articles say; so a line
counts as template by its share of the pages that have its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cleaning.learn.views import PathTable, View, on_pages
from cleaning.model.rules import Template, TemplatePart, TemplateText

_WIDE = r"[^\x00-\x7f]"
# An underscore or hyphen in a Latin word is the word's own.
_MARK = re.compile(rf"\s[-–—|·•:_]+\s|\s*[|｜»«]+\s*|--+|(?<={_WIDE})[-–—_]+|[-–—_]+(?={_WIDE})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """When something repeats.

    Attributes:
        line_share: Share of the pages that have its path, from which a line repeats there.
        model_share: Share of all pages from which a line is kept in the model.
        part_share: Share of a part's text that repeats, from which it is template.
        title_share: Share of the pages whose titles end alike.
        max_lines: Most lines in a model; their longest has ``line_chars`` characters.
        line_chars: See above.
        max_parts: Most parts in a model.
        max_affixes: Most ends of titles.
    """

    line_share: float = 0.5
    model_share: float = 0.3
    part_share: float = 0.7
    title_share: float = 0.2
    max_lines: int = 1000
    line_chars: int = 200
    max_parts: int = 300
    max_affixes: int = 12


class Repeats:
    """Which lines repeat at which places of a sample.

    Attributes:
        copies: For each page whether it says what another says; such pages repeat no template.

    Args:
        views: The sample, its paths numbered.
        copies: The same.
        params: The default thresholds when None.
    """

    def __init__(self, views: list[View], copies: list[bool], params: Params | None = None) -> None:
        self._params = params or Params()
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
        return count > 1 and count >= self._params.line_share * self._pages[path]


def learn_template(
    views: list[View], table: PathTable, repeats: Repeats, params: Params | None = None
) -> Template:
    """What repeats, for the model and to be explained.

    Args:
        views: The sample, its paths numbered.
        table: Its paths.
        repeats: What repeats where.
        params: The default thresholds when None.
    """
    params = params or Params()
    prefixes, suffixes = _affixes([one.tree.title for one in views], params)
    return Template(
        lines=_lines(views, repeats.copies, params),
        parts=_parts(views, table, repeats, params),
        title_prefixes=prefixes,
        title_suffixes=suffixes,
    )


def _lines(views: list[View], copies: list[bool], params: Params) -> tuple[TemplateText, ...]:
    pages: dict[str, list[int]] = {}
    for number, one in enumerate(views):
        if copies[number]:
            continue
        for text in set(one.texts):
            if len(text) <= params.line_chars:
                pages.setdefault(text, []).append(number)
    least = max(2, params.model_share * len(views))
    return _texts(pages, least, params.max_lines)


def _texts(pages: dict[str, list[int]], least: float, most: int) -> tuple[TemplateText, ...]:
    """The texts of enough pages, those of most pages first."""
    often = [text for text, numbers in pages.items() if len(numbers) >= least]
    often.sort(key=lambda text: (-len(pages[text]), text))
    return tuple(TemplateText(text=text, on=on_pages(pages[text])) for text in often[:most])


def _parts(
    views: list[View], table: PathTable, repeats: Repeats, params: Params
) -> tuple[TemplatePart, ...]:
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
            and repeated[path] >= params.part_share * chars[path]
        ):
            is_inside[path] = True
            found.append((-pages[path].bit_count(), table.path(path), path))
    return tuple(
        TemplatePart(path=name, share=round(repeated[path] / chars[path], 4), on=pages[path])
        for _, name, path in sorted(found)[: params.max_parts]
    )


def _affixes(
    titles: Iterable[str], params: Params
) -> tuple[tuple[TemplateText, ...], tuple[TemplateText, ...]]:
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
    least = max(2, params.title_share * count)
    most = params.max_affixes
    return _texts(prefixes, least, most), _texts(suffixes, least, most)
