"""The classes of a host's URLs: one shape, and the words that stay the same in it.

A slot of digits, mixed characters or escapes is a wildcard always. A slot of words splits a shape
into a class for each word where these are few (``thread``, ``forum``); where they are many (slugs,
names) only those of many URLs are apart, and the others share one class with a wildcard there.
Splitting goes from left to right, so that what stands behind a word is compared among its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from cleaning.url_classes.sample import FoundUrl, PageFacts, Stratum, UrlSample
from cleaning.urls.shapes import UrlShape, shape_of, template_of, word_slots

_Fixed = tuple[tuple[int, str], ...]


# When a word makes a class of its own.
MAX_VALUES = 16  # so many different words in one slot are a class each
MIN_FOUND = 3.0  # URLs of the sample for each of them, in the mean
MAX_SINGLE = 12  # so many URLs that differ in their first word, or in the query, are classes, too
MIN_URLS = 5.0  # URLs a word needs where there are more words
MIN_SHARE = 0.02  # its share of what is split; ``MANY_TIMES`` is enough instead
MANY_TIMES = 10.0  # as many times the URLs of the median word
MAX_CLASSES = 600  # of a host; those with the most URLs stay


@dataclass(slots=True, kw_only=True)
class UrlClass:
    """URLs of one template.

    Attributes:
        template: The shape with its fixed words, ``/thread-{n}.html``.
        key: The shape.
        fixed: The fixed words by slot.
        count: How many URLs it has, by estimate on large hosts.
        links: How often they were found.
        found: Those in the sample.
        pages: What those that were fetched say.
    """

    template: str
    key: str
    fixed: _Fixed
    count: float = 0.0
    links: int = 0
    found: list[FoundUrl] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """URLs with the same words."""

    words: tuple[str, ...]
    count: float = 0.0
    links: int = 0
    found: list[FoundUrl] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)


def find_classes(sample: UrlSample) -> list[UrlClass]:
    """The classes of a sample, the largest first; each of its URLs is in one at most."""
    rows: dict[str, dict[tuple[str, ...], _Row]] = defaultdict(dict)
    for stratum in sample.strata():
        _add_rows(rows[stratum.key], stratum)
    classes = []
    for key, by_words in rows.items():
        if not by_words:
            continue
        in_path = len(word_slots(key.partition("?")[0]))
        for fixed, together in _split(list(by_words.values()), 0, in_path, ()):
            classes.append(_class_of(key, fixed, together))
    classes.sort(key=lambda found: (-found.count, found.template))
    return classes[:MAX_CLASSES]


def _add_rows(rows: dict[tuple[str, ...], _Row], stratum: Stratum) -> None:
    slots = word_slots(stratum.key)

    def row_of(url: str) -> _Row:
        words = stratum.words
        if words is None:
            values = shape_of(url).values
            words = tuple([values[i] for i in slots])
        row = rows.get(words)
        if row is None:
            row = rows[words] = _Row(words)
        return row

    for _, found in sorted(stratum.found.items()):
        row = row_of(found.url)
        row.count += stratum.scale
        row.links += round(found.links * stratum.scale)
        row.found.append(found)
    for _, page in sorted(stratum.pages.items()):
        row_of(page.url).pages.append(page)
    if stratum.words is not None and stratum.found:
        rows[stratum.words].links = stratum.links


def _split(
    rows: list[_Row], slot: int, in_path: int, fixed: _Fixed
) -> Iterator[tuple[_Fixed, list[_Row]]]:
    """The classes of one shape's rows: what is fixed in each, and its rows."""
    if slot == len(rows[0].words):
        yield fixed, rows
        return
    by_word: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_word[row.words[slot]].append(row)
    counts = {word: sum(row.count for row in same) for word, same in by_word.items()}
    found = sum(len(row.found) for row in rows)
    least = 0.0
    if len(by_word) > MAX_VALUES or (slot < in_path and found < MIN_FOUND * len(by_word)):
        relative = min(
            MIN_SHARE * sum(counts.values()),
            MANY_TIMES * median(counts.values()),
        )
        least = max(MIN_URLS, relative)
    rest = {word: same for word, same in by_word.items() if counts[word] < least}
    are_single = all(counts[word] <= 1 for word in rest)
    is_open = slot == 0 or slot >= in_path  # deeper down, single words are those of a section
    if len(rest) == 1 or (is_open and are_single and len(rest) <= MAX_SINGLE):
        rest = {}
    for word, same in sorted(by_word.items()):
        if word not in rest:
            yield from _split(same, slot + 1, in_path, (*fixed, (slot, word)))
    if rest:
        together = [row for _, same in sorted(rest.items()) for row in same]
        yield from _split(together, slot + 1, in_path, fixed)


def _class_of(key: str, fixed: _Fixed, rows: list[_Row]) -> UrlClass:
    slots = word_slots(key)
    in_shape = tuple((slots[i], word) for i, word in fixed)
    found = [one for row in rows for one in row.found]
    some = shape_of(found[0].url) if found else UrlShape(key, ())
    is_fixed = {i for i, _ in in_shape}
    template = template_of(some, tuple(i in is_fixed for i in range(len(some.values))))
    return UrlClass(
        template=template,
        key=key,
        fixed=in_shape,
        count=sum(row.count for row in rows),
        links=sum(row.links for row in rows),
        found=found,
        pages=[page for row in rows for page in row.pages],
    )
