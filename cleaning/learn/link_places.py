"""What links and images at each place of a host are: the pages alone vote, chance errors cancel.

A place whose links are there on many pages is template; the kinds the pages alone give its links
decide which. Places of related links make the related rule, with the headings above them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cleaning.learn.params import PlaceParams
from cleaning.learn.views import PathTable, View
from cleaning.model.rules import ImagePlace, LinkPlace, TemplateText
from cleaning.records import Image, ImageKind, Link, LinkKind


@dataclass(slots=True)
class Votes:
    """What was seen at one path: kinds, the pages of each address there, all pages."""

    kinds: Counter[str] = field(default_factory=Counter)
    addresses: dict[str, int] = field(default_factory=dict)
    on: int = 0

    @property
    def count(self) -> int:
        """How many there were."""
        return self.kinds.total()

    def repeats(self) -> float:
        """Mean share m2 of the addresses, by the pages that have them here; 0 for one page.

        Related links that stand in another list on every page do not repeat in theirs.
        """
        others = self.on.bit_count() - 1
        counts = [on.bit_count() for on in self.addresses.values()]
        seen = sum(counts)
        return sum(n * (n - 1) for n in counts) / (seen * others) if seen and others else 0.0


Found = tuple[int, list[tuple[int, Link]], list[tuple[int, Image]]]
"""Number of a page; its links and its images, each with the path of the block around it."""


def learn_link_places(
    pages: Iterable[Found],
    table: PathTable,
    params: PlaceParams | None = None,
) -> tuple[LinkPlace, ...]:
    """The paths whose links are mostly of one kind, sorted by path.

    Args:
        pages: The links of each page with their paths.
        table: The paths.
        params: The default thresholds when None.
    """
    params = params or PlaceParams()
    votes: dict[int, Votes] = {}
    for number, links, _ in pages:
        for path, link in links:
            _vote(votes, path, link.kind, link.url, number)
    return tuple(
        LinkPlace(path=name, kind=LinkKind(kind), share=share, repeats=repeats, on=on)
        for name, kind, share, repeats, on in _decided(votes, table, params)
    )


def learn_image_places(
    pages: Iterable[Found],
    table: PathTable,
    params: PlaceParams | None = None,
) -> tuple[ImagePlace, ...]:
    """The same of images."""
    params = params or PlaceParams()
    votes: dict[int, Votes] = {}
    for number, _, images in pages:
        for path, image in images:
            _vote(votes, path, image.kind, image.url, number)
    return tuple(
        ImagePlace(path=name, kind=ImageKind(kind), share=share, repeats=repeats, on=on)
        for name, kind, share, repeats, on in _decided(votes, table, params)
    )


def related_headings(
    views: list[View], pages: Iterable[Found], params: PlaceParams | None = None
) -> tuple[TemplateText, ...]:
    """The lines above blocks of related links that several pages have, most frequent first.

    Args:
        views: The sample.
        pages: The links of each page with their paths.
        params: The default thresholds when None.
    """
    params = params or PlaceParams()
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
            if 0 < len(text) <= params.heading_chars and not views[number].linked[above]:
                seen[text] = seen.get(text, 0) | 1 << number
    order = sorted(seen, key=lambda text: (-seen[text].bit_count(), text))
    least = params.least_pages
    return tuple(
        TemplateText(text=text, on=seen[text])
        for text in order[: params.max_headings]
        if seen[text].bit_count() >= least
    )


def _vote(votes: dict[int, Votes], path: int, kind: str, url: str, page: int) -> None:
    mine = votes.get(path)
    if mine is None:
        mine = votes[path] = Votes()
    mine.kinds[kind] += 1
    mine.on |= 1 << page
    if url:
        mine.addresses[url] = mine.addresses.get(url, 0) | 1 << page


def _decided(
    votes: dict[int, Votes], table: PathTable, params: PlaceParams
) -> list[tuple[str, str, float, float, int]]:
    """(path, kind, its share, mean share m2, pages) of the places with a majority."""
    found = []
    for path, mine in votes.items():
        kind, count = max(mine.kinds.items(), key=lambda item: (item[1], item[0]))
        pages = mine.on.bit_count()
        if (
            pages >= params.least_pages
            and mine.count >= params.least_count
            and count >= params.least_share * mine.count
        ):
            share = round(count / mine.count, 4)
            repeats = round(mine.repeats(), 4)
            found.append((-pages, table.path(path), kind, share, repeats, mine.on))
    return sorted(row[1:] for row in sorted(found)[: params.max_places])
