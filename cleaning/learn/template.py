"""What repeats on the pages of a host: its template's lines and places, and its links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from crawlclean.cleaning.learn.views import PathTable, Sample
from crawlclean.cleaning.model.paths import checksum_of
from crawlclean.cleaning.model.rules import (
    ImagePlace,
    LinkPlace,
    PageSet,
    Template,
    TemplateText,
)
from crawlclean.cleaning.model.site_model import CLASS_PAGES, CLASS_SHARE, class_masks
from crawlclean.cleaning.papers.noise import score_redundancy
from crawlclean.cleaning.records import Image, ImageKind, Link, LinkKind

# The template of a host: repeated lines and parts, and the ends of titles.
#
# Absolute counts decay with more pages, because lists and keywords repeat the text of articles; so
# a line is template by its share of the pages that have its path (``views.Repeats``), and in the
# model by its share of all pages or of those of one URL class. Cost: linear in the lines.

MODEL_SHARE = 0.3  # share of all pages from which a line is kept in the model
TITLE_SHARE = 0.2  # share of the pages whose titles have an affix
MAX_LINES = 1000  # lines in a model
MAX_AFFIXES = 12  # prefixes, and suffixes, of titles in a model
LEAST_AROUND = 2  # pages that leave a line out of a body of other text, if it is not of bodies


_WIDE = r"[^\x00-\x7f]"
# An underscore or hyphen inside a Latin word is no separator.
_MARK = re.compile(rf"\s[-–—|·•:_]+\s|\s*[|｜»«]+\s*|--+|(?<={_WIDE})[-–—_]+|[-–—_]+(?={_WIDE})")


def learn_template(sample: Sample) -> Template:
    """Returns the repeated lines, and the ends of titles."""
    prefixes, suffixes = _affixes([one.tree.title for one in sample.views])
    lines = _lines(sample)
    return Template(
        lines=lines,
        own=_own(sample, {line.text for line in lines}),
        title_prefixes=prefixes,
        title_suffixes=suffixes,
    )


def _lines(sample: Sample) -> tuple[TemplateText, ...]:
    """The lines on many pages, wherever they stand."""
    pages: dict[str, int] = {}
    for number, one in enumerate(sample.views):
        if not sample.repeats.copies[number]:
            for text in one.texts:
                pages[text] = pages.get(text, 0) | 1 << number
    least = max(2, MODEL_SHARE * len(sample.views))
    classes = [
        (mask, CLASS_SHARE * mask.bit_count())
        for mask in class_masks(one.page.url for one in sample.views).values()
        if mask.bit_count() >= CLASS_PAGES
    ]
    often = {
        text: on
        for text, on in pages.items()
        if on.bit_count() >= least or any((on & mask).bit_count() >= few for mask, few in classes)
    }
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


def _texts(pages: dict[str, int], least: float, most: int) -> tuple[TemplateText, ...]:
    """The texts on at least ``least`` pages, page ``i`` as bit ``i``, the most frequent first."""
    often = [text for text, on in pages.items() if on.bit_count() >= least]
    often.sort(key=lambda text: (-pages[text].bit_count(), text))
    return tuple(TemplateText(text=text, on=PageSet(pages[text])) for text in often[:most])


def _affixes(titles: Sequence[str]) -> tuple[tuple[TemplateText, ...], tuple[TemplateText, ...]]:
    """The frequent prefixes and suffixes of titles with their marks: ``山城网 - ``, ``_山城网``."""
    prefixes: dict[str, int] = {}
    suffixes: dict[str, int] = {}
    for number, title in enumerate(titles):
        for mark in _MARK.finditer(title):
            if mark.start() > 0 and mark.end() < len(title):
                prefix, suffix = title[: mark.end()], title[mark.start() :]
                prefixes[prefix] = prefixes.get(prefix, 0) | 1 << number
                suffixes[suffix] = suffixes.get(suffix, 0) | 1 << number
    least = max(2, TITLE_SHARE * len(titles))
    return _texts(prefixes, least, MAX_AFFIXES), _texts(suffixes, least, MAX_AFFIXES)


# Link and image places: the kind of the links at each path of a host, and the URLs that repeat.
#
# Each page alone votes for the kind of the links at a path, so chance errors cancel. The paths of
# related links become the related rule.
#
# The redundancy of a URL is the share m2 of paper 3 (Li, Jia, He, Shi 2006, eq. 3): the share of
# the host's pages that have the URL. The printed form counts the page itself; here the page is left
# out, (df - 1) / (N - 1), which is undefined for one page. The host is the page's, not the URL's:
# most images are stored elsewhere.

LEAST_PAGES = 2  # pages with links at a path
LEAST_COUNT = 3  # links at a path
LEAST_SHARE = 0.7  # share of the commonest kind at a path
MAX_PLACES = 400  # places of links, and of images, in a model
# The paper's threshold is missing in our copy; .2 gave P .995 on labelled pages.
MIN_REPEAT_SHARE = 0.2


@dataclass(slots=True)
class Votes:
    """The links or images at one path.

    Attributes:
        kinds: Number of links by kind.
        addresses: URL -> the pages that have it here, page ``i`` as bit ``i``.
        on: The pages with links here, page ``i`` as bit ``i``: 0b101 for pages 0 and 2.
    """

    kinds: Counter[LinkKind | ImageKind] = field(default_factory=Counter)
    addresses: dict[str, int] = field(default_factory=dict)
    on: int = 0

    def repeats(self) -> float:
        """Returns the mean m2 of the URLs by the pages that have them here; 0 for one page.

        A URL in a different list on every page does not repeat in any of the lists.
        """
        others = self.on.bit_count() - 1
        counts = [on.bit_count() for on in self.addresses.values()]
        seen = sum(counts)
        return sum(n * (n - 1) for n in counts) / (seen * others) if seen and others else 0.0


_Place = TypeVar("_Place", LinkPlace, ImagePlace)


def learn_places(
    pages: Iterable[Iterable[tuple[int, Link | Image]]],
    table: PathTable,
    place: Callable[..., _Place],
) -> tuple[_Place, ...]:
    """Returns the paths whose links or images are mostly of one kind, sorted by path.

    Args:
        pages: The links or images of each page, each with its path: ``[[(41, link)], []]``.
        table: All paths of the sample.
        place: Makes the place of a path.
    """
    votes: dict[int, Votes] = {}
    for number, links in enumerate(pages):
        for path, link in links:
            mine = votes.setdefault(path, Votes())
            mine.kinds[link.kind] += 1
            mine.on |= 1 << number
            if link.url:
                mine.addresses[link.url] = mine.addresses.get(link.url, 0) | 1 << number
    found = []
    for path, mine in votes.items():
        kind, count = max(mine.kinds.items(), key=lambda item: (item[1], item[0]))
        pages_here, all_here = mine.on.bit_count(), mine.kinds.total()
        if pages_here < LEAST_PAGES or all_here < LEAST_COUNT or count < LEAST_SHARE * all_here:
            continue
        made = place(
            path=table.path(path),
            kind=kind,
            share=round(count / all_here, 4),
            repeats=round(mine.repeats(), 4),
            on=PageSet(mine.on),
        )
        found.append(made)
    found.sort(key=lambda made: (-made.on.bit_count(), made.path))
    return tuple(sorted(found[:MAX_PLACES], key=lambda made: made.path))


def find_repeats(pages: Sequence[Iterable[str]]) -> dict[str, float]:
    """Returns the URLs with m2 above the threshold: ``{"http://a.example/ad.gif": 0.4167}``.

    Args:
        pages: The URLs of each page, ``""`` for none.
    """
    counts = Counter(url for urls in pages for url in set(urls) if url)
    found = {}
    for url, count in sorted(counts.items()):
        share = score_redundancy(count, len(pages), counts_itself=False)
        if share is not None and share > MIN_REPEAT_SHARE and count > 1:
            found[url] = round(share, 4)
    return found
