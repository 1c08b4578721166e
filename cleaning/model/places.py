"""Where the places a host taught are on one page: one walk over its blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from cleaning.document.tree import Tree
from cleaning.model.rules import Dropped, ImagePlace, LinkPlace
from cleaning.model.site_model import SiteModel


@dataclass(slots=True)
class SitePlaces:
    """The blocks of a page at the places of a model.

    Attributes:
        bodies: Blocks at each place of bodies, by its number in the body rule.
        dropped: Blocks that are left out there, each with why, by the same number.
        links: The place of links at a block.
        images: The place of images at a block.
        body: The block the body was found in by the site's rule, -1 elsewhere.
        left_out: Blocks in it that are not of the body.
    """

    bodies: dict[int, list[int]] = field(default_factory=dict)
    dropped: dict[int, dict[int, Dropped]] = field(default_factory=dict)
    links: dict[int, LinkPlace] = field(default_factory=dict)
    images: dict[int, ImagePlace] = field(default_factory=dict)
    body: int = -1
    left_out: set[int] = field(default_factory=set)

    def in_body(self, tree: Tree) -> list[bool]:
        """For each block of the page whether it is of the body, which the site's rule found."""
        inside = [False] * len(tree.block_tags)
        if self.body >= 0:
            first, ends = self.body, tree.block_ends
            inside[first : ends[first]] = [True] * (ends[first] - first)
            for block in self.left_out:
                if first < block < ends[first]:
                    inside[block : ends[block]] = [False] * (ends[block] - block)
        return inside


def find_places(tree: Tree, model: SiteModel) -> SitePlaces:
    """Where a model's places are in a page."""
    meanings = model.index.meanings
    found = SitePlaces()
    for block, number in model.index.paths.find(tree):
        meaning = meanings[number]
        if isinstance(meaning, LinkPlace):
            found.links[block] = meaning
            continue
        if isinstance(meaning, ImagePlace):
            found.images[block] = meaning
            continue
        place, dropped = meaning
        if dropped is None:
            found.bodies.setdefault(place, []).append(block)
        else:
            found.dropped.setdefault(place, {})[block] = dropped
    return found
