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

from cleaning.url_classes.page_facts import PageFacts
from cleaning.url_classes.sample import Found, Stratum, UrlSample
from cleaning.urls.shapes import Shape, shape_of, template_of, word_slots

_Fixed = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """When a word makes a class of its own.

    Attributes:
        max_values: So many different words in one slot are a class each.
        min_found: URLs of the sample for each of them, in the mean.
        max_single: So many addresses that differ in their first word, or in one of the query, are
            a class each all the same.
        min_urls: URLs a word needs where there are more.
        min_share: Share it needs of what it is split from; ``many_times`` is enough instead.
        many_times: As many times the URLs of the median word.
        max_classes: Of a host; those with the most URLs stay.
    """

    max_values: int = 16
    min_found: float = 3.0
    max_single: int = 12
    min_urls: float = 5.0
    min_share: float = 0.02
    many_times: float = 10.0
    max_classes: int = 600


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
    found: list[Found] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """URLs with the same words."""

    words: tuple[str, ...]
    count: float = 0.0
    links: int = 0
    found: list[Found] = field(default_factory=list)
    pages: list[PageFacts] = field(default_factory=list)


def find_classes(sample: UrlSample, params: Params | None = None) -> list[UrlClass]:
    """The classes of a sample, the largest first; each of its URLs is in one at most."""
    chosen = params or Params()
    rows: dict[str, dict[tuple[str, ...], _Row]] = defaultdict(dict)
    for stratum in sample.strata():
        _add_rows(rows[stratum.key], stratum)
    classes = []
    for key, by_words in rows.items():
        if not by_words:
            continue
        in_path = len(word_slots(key.partition("?")[0]))
        for fixed, together in _split(list(by_words.values()), 0, in_path, (), chosen):
            classes.append(_class_of(key, fixed, together))
    classes.sort(key=lambda found: (-found.count, found.template))
    return classes[: chosen.max_classes]


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
    rows: list[_Row], slot: int, in_path: int, fixed: _Fixed, params: Params
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
    if len(by_word) > params.max_values or (
        slot < in_path and found < params.min_found * len(by_word)
    ):
        relative = min(
            params.min_share * sum(counts.values()),
            params.many_times * median(counts.values()),
        )
        least = max(params.min_urls, relative)
    rest = {word: same for word, same in by_word.items() if counts[word] < least}
    are_single = all(counts[word] <= 1 for word in rest)
    is_open = slot == 0 or slot >= in_path  # deeper down, single words are those of a section
    if len(rest) == 1 or (is_open and are_single and len(rest) <= params.max_single):
        rest = {}
    for word, same in sorted(by_word.items()):
        if word not in rest:
            yield from _split(same, slot + 1, in_path, (*fixed, (slot, word)), params)
    if rest:
        together = [row for _, same in sorted(rest.items()) for row in same]
        yield from _split(together, slot + 1, in_path, fixed, params)


def _class_of(key: str, fixed: _Fixed, rows: list[_Row]) -> UrlClass:
    slots = word_slots(key)
    in_shape = tuple((slots[i], word) for i, word in fixed)
    found = [one for row in rows for one in row.found]
    some = shape_of(found[0].url) if found else Shape(key, ())
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
