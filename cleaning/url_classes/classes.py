"""The URL classes of a host: one shape, with the words that are fixed in the class.

Slots of digits, mixed characters or escapes are always wildcards. A slot of words splits a shape:

- few different words (``thread``, ``forum``): one class each;
- many (slugs, names): one class for each word with many URLs; the others share a class with a
  wildcard there.

Splitting goes from left to right: the words behind a fixed word are compared within its class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from crawlclean.cleaning.url_classes.sample import FoundUrl, PageFacts, Stratum, UrlSample
from crawlclean.cleaning.urls.shapes import UrlShape, shape_of, template_of, word_slots

_Fixed = tuple[tuple[int, str], ...]
"""Fixed words by slot: ``((0, "thread"),)``."""

MAX_VALUES = 16  # most different words of a slot that are a class each ...
MIN_FOUND = 3.0  # ... with so many sampled URLs a word, in the mean
MAX_SINGLE = 12  # most words with one URL, first in the path or in the query, that are classes
MIN_URLS = 5.0  # URLs of a word that is a class among many words, and of these two the smaller:
MIN_SHARE = 0.02  # its share of the URLs
MANY_TIMES = 10.0  # its URLs over those of the median word
MAX_CLASSES = 600  # of a host; those with the most URLs stay


@dataclass(slots=True, kw_only=True)
class UrlClass:
    """The URLs of one template.

    Attributes:
        template: The shape with its fixed words, ``/thread-{n}.html``.
        key: The shape, ``/{w}-{n}.html``.
        fixed: The fixed words by slot, ``((0, "thread"),)``.
        count: Number of its URLs, estimated on large hosts.
        links: Links to its URLs.
        found: Its sampled URLs.
        pages: The facts of its fetched pages.
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
    """URLs of one shape with the same words."""

    words: tuple[str, ...]
    count: float = 0.0
    links: int = 0
    found: list[FoundUrl] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)


def find_classes(sample: UrlSample) -> list[UrlClass]:
    """Finds the classes of a sample, largest first; a sampled URL is in one class at most."""
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
    """Adds the URLs and pages of a stratum to the rows of their shape, by words."""
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
    """Splits the rows of one shape into classes: (fixed words, rows) of each.

    Args:
        rows: Rows with the same words before ``slot``.
        slot: Number of the word slot to split by.
        in_path: Word slots of the path; the rest are in the query.
        fixed: Fixed words before ``slot``.
    """
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
    is_open = slot == 0 or slot >= in_path  # deeper down, single words belong to a section
    if len(rest) == 1 or (is_open and are_single and len(rest) <= MAX_SINGLE):
        rest = {}
    for word, same in sorted(by_word.items()):
        if word not in rest:
            yield from _split(same, slot + 1, in_path, (*fixed, (slot, word)))
    if rest:
        together = [row for _, same in sorted(rest.items()) for row in same]
        yield from _split(together, slot + 1, in_path, fixed)


def _class_of(key: str, fixed: _Fixed, rows: list[_Row]) -> UrlClass:
    """Builds the class of some rows with the same fixed words."""
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
