"""Link and image places: the kind of the links at each path of a host, and the URLs that repeat.

Each page alone votes for the kind of the links at a path, so chance errors cancel. The paths of
related links, with the headings above them, become the related rule.

The redundancy of a URL is the share m2 of paper 3 (Li, Jia, He, Shi 2006, eq. 3): the share of the
host's pages that have the URL. The printed form counts the page itself; here the page is left out,
(df - 1) / (N - 1), which is undefined for one page. The host is the page's, not the URL's: most
images are stored elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawlclean.cleaning.learn.views import PathTable, View
from crawlclean.cleaning.model.rules import ImagePlace, LinkPlace, PageSet, TemplateText
from crawlclean.cleaning.papers.noise import score_redundancy
from crawlclean.cleaning.records import Image, ImageKind, Link, LinkKind

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
