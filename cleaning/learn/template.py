"""The template of a host: repeated lines and parts, and the ends of titles.

Absolute counts decay with more pages, because lists and keywords repeat the text of articles; so a
line is template by its share of the pages that have its path (``views.Repeats``), and in the model
by its share of all pages or of those of one URL class. Cost: linear in the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawlclean.cleaning.learn.views import Sample, page_mask
from crawlclean.cleaning.model.paths import checksum_of
from crawlclean.cleaning.model.rules import PageSet, Template, TemplatePart, TemplateText
from crawlclean.cleaning.model.site_model import CLASS_PAGES, CLASS_SHARE, class_masks

MODEL_SHARE = 0.3  # share of all pages from which a line is kept in the model
PART_SHARE = 0.7  # share of repeated text from which a part is template
TITLE_SHARE = 0.2  # share of the pages whose titles have an affix
MAX_LINES = 1000  # lines in a model
MAX_PARTS = 300  # parts in a model
MAX_AFFIXES = 12  # prefixes, and suffixes, of titles in a model
LEAST_AROUND = 2  # pages that leave a line out of a body of other text, if it is not of bodies


_WIDE = r"[^\x00-\x7f]"
# An underscore or hyphen inside a Latin word is no separator.
_MARK = re.compile(rf"\s[-–—|·•:_]+\s|\s*[|｜»«]+\s*|--+|(?<={_WIDE})[-–—_]+|[-–—_]+(?={_WIDE})")


def learn_template(sample: Sample) -> Template:
    """Returns the repeated lines, the outermost repeated parts, and the ends of titles."""
    prefixes, suffixes = _affixes([one.tree.title for one in sample.views])
    lines = _lines(sample)
    return Template(
        lines=lines,
        own=_own(sample, {line.text for line in lines}),
        parts=_parts(sample),
        title_prefixes=prefixes,
        title_suffixes=suffixes,
    )


def _lines(sample: Sample) -> tuple[TemplateText, ...]:
    """The lines on many pages, wherever they stand."""
    pages: dict[str, list[int]] = {}
    for number, one in enumerate(sample.views):
        if sample.repeats.copies[number]:
            continue
        for text in set(one.texts):
            pages.setdefault(text, []).append(number)
    least = max(2, MODEL_SHARE * len(sample.views))
    classes = [
        (mask, CLASS_SHARE * mask.bit_count())
        for mask in class_masks(one.page.url for one in sample.views).values()
        if mask.bit_count() >= CLASS_PAGES
    ]
    often: dict[str, list[int]] = {}
    for text, numbers in pages.items():
        if len(numbers) < least:
            on = page_mask(numbers)
            if not any((on & mask).bit_count() >= few for mask, few in classes):
                continue
        often[text] = numbers
    return _texts(often, 2, MAX_LINES)


def _own(sample: Sample, often: set[str]) -> tuple[int, ...]:
    """Checksums of the repeated lines that bodies keep, or that no page shows to be around them.

    A page has a voice if its body has a line of its own: where a footer is the whole body, nothing
    else was there to be found.
    """
    around: dict[str, int] = {}
    inside: dict[str, int] = {}
    for one in sample.views:
        body = {text for text, is_kept in zip(one.texts, one.kept, strict=True) if is_kept}
        if body <= often:
            continue
        for text in often.intersection(one.texts):
            votes = inside if text in body else around
            votes[text] = votes.get(text, 0) + 1
    return tuple(
        sorted(
            checksum_of(text)
            for text in often
            if around.get(text, 0) < max(LEAST_AROUND, inside.get(text, 0))
        )
    )


def _texts(pages: dict[str, list[int]], least: float, most: int) -> tuple[TemplateText, ...]:
    """The texts on at least ``least`` pages, the most frequent first."""
    often = [text for text, numbers in pages.items() if len(numbers) >= least]
    often.sort(key=lambda text: (-len(pages[text]), text))
    return tuple(TemplateText(text=text, on=page_mask(pages[text])) for text in often[:most])


def _parts(sample: Sample) -> tuple[TemplatePart, ...]:
    """The outermost paths most of whose text repeats."""
    table, repeats = sample.table, sample.repeats
    chars = [0] * len(table.steps)
    repeated = [0] * len(table.steps)
    pages: list[int] = [0] * len(table.steps)
    for number, one in enumerate(sample.views):
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
    """The frequent prefixes and suffixes of titles with their marks: ``山城网 - ``, ``_山城网``."""
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
