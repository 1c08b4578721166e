"""Where the places a host taught are on one page: one walk over its blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from cleaning.document.document import Document
from cleaning.document.tree import Tree
from cleaning.model.rules import Dropped, ImagePlace, LinkPlace, PostRule
from cleaning.model.site_model import SiteModel
from cleaning.records import NO_THREADS


@dataclass(slots=True)
class SitePlaces:
    """What a host taught about one page: its model, and the page's blocks at the model's places.

    Attributes:
        model: What the host taught.
        post_rule: How the page's posts are found; None where its URL is that of no thread.
        bodies: Blocks at each place of bodies, by its number in the body rule.
        dropped: Blocks that are left out there, each with why, by the same number.
        links: The place of links at a block.
        images: The place of images at a block.
        body: The block the body was found in by the site's rule, -1 elsewhere.
        left_out: Blocks in it that are not of the body.
    """

    model: SiteModel
    post_rule: PostRule | None = None
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


def find_places(document: Document, model: SiteModel) -> SitePlaces:
    """Finds a model's places on a page, and the rule for its posts."""
    rule = model.post_rule
    if rule is not None and model.url_kind(document.page.url) in NO_THREADS:
        rule = None
    meanings = model.index.meanings
    found = SitePlaces(model=model, post_rule=rule)
    for block, number in model.index.paths.find(document.tree):
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
