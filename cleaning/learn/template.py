"""What repeats on the pages of a host: its template's lines and places, and its links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawlclean.cleaning.learn.views import PathTable, Sample, View, page_mask
from crawlclean.cleaning.model.paths import checksum_of
from crawlclean.cleaning.model.rules import (
    ImagePlace,
    LinkPlace,
    PageSet,
    Template,
    TemplatePart,
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


# Link and image places: the kind of the links at each path of a host, and the URLs that repeat.
#
# Each page alone votes for the kind of the links at a path, so chance errors cancel. The paths of
# related links, with the headings above them, become the related rule.
#
# The redundancy of a URL is the share m2 of paper 3 (Li, Jia, He, Shi 2006, eq. 3): the share of
# the host's pages that have the URL. The printed form counts the page itself; here the page is left
# out, (df - 1) / (N - 1), which is undefined for one page. The host is the page's, not the URL's:
# most images are stored elsewhere.

LEAST_PAGES = 2  # pages with links at a path
LEAST_COUNT = 3  # links at a path
LEAST_SHARE = 0.7  # share of the commonest kind at a path
HEADING_CHARS = 40  # longest heading of related links
MAX_HEADINGS = 20  # headings of related links in a model
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

    kinds: Counter[str] = field(default_factory=Counter)
    addresses: dict[str, int] = field(default_factory=dict)
    on: int = 0

    @property
    def count(self) -> int:
        """Number of links."""
        return self.kinds.total()

    def repeats(self) -> float:
        """Returns the mean m2 of the URLs by the pages that have them here; 0 for one page.

        A URL in a different list on every page does not repeat in any of the lists.
        """
        others = self.on.bit_count() - 1
        counts = [on.bit_count() for on in self.addresses.values()]
        seen = sum(counts)
        return sum(n * (n - 1) for n in counts) / (seen * others) if seen and others else 0.0


PageLinks = tuple[int, list[tuple[int, Link]], list[tuple[int, Image]]]
"""A page, its links and its images with the path around each: ``(3, [(41, link)], [])``."""


def learn_link_places(
    pages: Iterable[PageLinks],
    table: PathTable,
) -> tuple[LinkPlace, ...]:
    """Returns the paths whose links are mostly of one kind, sorted by path.

    Args:
        pages: The links of each page with their paths.
        table: All paths of the sample.
    """
    votes: dict[int, Votes] = {}
    for number, links, _ in pages:
        for path, link in links:
            _vote(votes, path, link.kind, link.url, number)
    return tuple(
        LinkPlace(path=name, kind=LinkKind(kind), share=share, repeats=repeats, on=PageSet(on))
        for name, kind, share, repeats, on in _decided(votes, table)
    )


def learn_image_places(
    pages: Iterable[PageLinks],
    table: PathTable,
) -> tuple[ImagePlace, ...]:
    """Returns the paths whose images are mostly of one kind, sorted by path."""
    votes: dict[int, Votes] = {}
    for number, _, images in pages:
        for path, image in images:
            _vote(votes, path, image.kind, image.url, number)
    return tuple(
        ImagePlace(path=name, kind=ImageKind(kind), share=share, repeats=repeats, on=PageSet(on))
        for name, kind, share, repeats, on in _decided(votes, table)
    )


def related_headings(views: list[View], pages: Iterable[PageLinks]) -> tuple[TemplateText, ...]:
    """Returns the lines right above related links on several pages, the most frequent first.

    Args:
        views: The sample.
        pages: The links of each page with their paths.
    """
    seen: dict[str, int] = {}
    for number, links, _ in pages:
        tree = views[number].tree
        last = -1
        for i, (path, link) in enumerate(links):
            is_first = link.kind is LinkKind.RELATED and path != last
            last = path if link.kind is LinkKind.RELATED else -1
            start = tree.anchors[i].start
            if not is_first or not 0 < start < len(tree.line_of):
                continue
            above = tree.line_of[start] - 1
            text = views[number].texts[above] if above >= 0 else ""
            if 0 < len(text) <= HEADING_CHARS and not views[number].linked[above]:
                seen[text] = seen.get(text, 0) | 1 << number
    order = sorted(seen, key=lambda text: (-seen[text].bit_count(), text))
    least = LEAST_PAGES
    return tuple(
        TemplateText(text=text, on=PageSet(seen[text]))
        for text in order[:MAX_HEADINGS]
        if seen[text].bit_count() >= least
    )


def _vote(votes: dict[int, Votes], path: int, kind: str, url: str, page: int) -> None:
    """Adds one link of a page to the votes at its path."""
    mine = votes.get(path)
    if mine is None:
        mine = votes[path] = Votes()
    mine.kinds[kind] += 1
    mine.on |= 1 << page
    if url:
        mine.addresses[url] = mine.addresses.get(url, 0) | 1 << page


def _decided(votes: dict[int, Votes], table: PathTable) -> list[tuple[str, str, float, float, int]]:
    """(path, kind, share of the kind, mean m2, pages) of the paths with a majority.

    Such as ``("html/body/div.side", "hot", 0.9, 0.75, 0b101)``.
    """
    found = []
    for path, mine in votes.items():
        kind, count = max(mine.kinds.items(), key=lambda item: (item[1], item[0]))
        pages = mine.on.bit_count()
        if pages >= LEAST_PAGES and mine.count >= LEAST_COUNT and count >= LEAST_SHARE * mine.count:
            share = round(count / mine.count, 4)
            repeats = round(mine.repeats(), 4)
            found.append((-pages, table.path(path), kind, share, repeats, mine.on))
    return sorted(row[1:] for row in sorted(found)[:MAX_PLACES])


def find_repeats(addresses_of_pages: Iterable[frozenset[str]]) -> dict[str, float]:
    """Returns the URLs with m2 above the threshold: ``{"http://a.example/ad.gif": 0.4167}``.

    Args:
        addresses_of_pages: The URLs of each page.
    """
    shares = shares_of(addresses_of_pages)
    return {
        url: round(share, 4) for url, share in sorted(shares.items()) if share > MIN_REPEAT_SHARE
    }


def shares_of(addresses_of_pages: Iterable[frozenset[str]]) -> dict[str, float]:
    """Returns m2 of each URL that several pages have; {} for one page."""
    counts: Counter[str] = Counter()
    pages = 0
    for addresses in addresses_of_pages:
        counts.update(addresses)
        pages += 1
    shares = {
        url: score_redundancy(count, pages, counts_itself=False)
        for url, count in counts.items()
        if count > 1
    }
    return {url: share for url, share in shares.items() if share is not None}
