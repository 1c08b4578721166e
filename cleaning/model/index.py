"""A site model made ready to be asked: once for a model, not once for a page."""

from __future__ import annotations

from cleaning.model.paths import PathIndex
from cleaning.model.rules import (
    BodyRule,
    ClassShares,
    Dropped,
    Expected,
    ImagePlace,
    LinkPlace,
    Noise,
    RelatedRule,
    Template,
)

OFTEN = 0.5  # share of the pages from which a line is template wherever it stands

Meaning = tuple[int, Dropped | None] | LinkPlace | ImagePlace
"""What stands at a path: a place of bodies by its number, or what is left out there; links; images.
"""


class SiteIndex:
    """What ``clean`` asks of a model.

    Attributes:
        paths: All paths of the model.
        meanings: What stands at each, by its number.
        often: Keys of the lines on most pages, two at least.
        classes: For each place of bodies the pages it explains by URL class.
        threads: Pages with posts by URL class.
        suffixes: What titles end with, the longest first.
        prefixes: What they begin with.
        frame: Addresses of links on most pages.
        shares: How the URL classes of the sample fit.
        single: The same of all classes that the sample has one page of, together.
    """

    def __init__(
        self,
        bodies: BodyRule,
        template: Template,
        noise: Noise,
        related: RelatedRule,
        page_count: int,
        expected: Expected,
    ) -> None:
        paths: list[str] = []
        self.meanings: list[Meaning] = []
        for number, place in enumerate(bodies.places):
            paths.append(place.path)
            self.meanings.append((number, None))
            for dropped in place.dropped:
                paths.append(dropped.path)
                self.meanings.append((number, dropped))
        links = (*noise.link_places, *related.places)
        paths += [place.path for place in links] + [place.path for place in noise.image_places]
        self.meanings += [*links, *noise.image_places]
        self.paths = PathIndex(path.split("/") for path in paths)
        least = max(2, OFTEN * page_count)
        self.often = frozenset(line.text for line in template.lines if line.on.bit_count() >= least)
        self.classes = [dict(place.classes) for place in bodies.places]
        self.threads = dict(bodies.threads)
        self.suffixes = sorted((each.text for each in template.title_suffixes), key=_by_length)
        self.prefixes = sorted((each.text for each in template.title_prefixes), key=_by_length)
        self.frame = frame_of(noise)
        self.shares = {each.pattern: each for each in expected.classes}
        single = [each for each in expected.classes if each.pages == 1]
        self.single = ClassShares(
            pattern="",
            pages=len(single),
            at_place=sum(each.at_place for each in single),
            framed=sum(each.framed for each in single),
        )


def frame_of(noise: Noise) -> frozenset[str]:
    """Addresses of the links on most pages."""
    return frozenset(url for url, share in noise.links.items() if share >= OFTEN)


def _by_length(text: str) -> tuple[int, str]:
    return -len(text), text
