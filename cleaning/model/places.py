"""The places of a site model on one page, found by one walk over its blocks."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.model.rules import Dropped, ImagePlace, LinkPlace, PostRule
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import NO_THREADS
from crawlclean.cleaning.url_classes.rules import class_of


@dataclass(slots=True)
class SitePlaces:
    """The blocks of one page at the places of its host's model.

    Attributes:
        model: The site model.
        post_rule: The rule for the page's posts; None if its URL can be no thread.
        bodies: Number of a place in the body rule -> blocks at its path.
        dropped: Number of a place in the body rule -> block -> the rule that drops the block.
        links: Block -> the link place at its path.
        images: Block -> the image place at its path.
        body: The block of the body if found by the body rule, else -1.
        place: Number of the place in the body rule that the body is at, -1 without.
        trust: Share of the pages of the URL class whose body is at the place, 0..1.
        left_out: The blocks in it that are dropped.
        template_lines: Lines of the template that were cut from the ends of the page's own body.
    """

    model: SiteModel
    post_rule: PostRule | None = None
    bodies: dict[int, list[int]] = field(default_factory=dict)
    dropped: dict[int, dict[int, Dropped]] = field(default_factory=dict)
    links: dict[int, LinkPlace] = field(default_factory=dict)
    images: dict[int, ImagePlace] = field(default_factory=dict)
    body: int = -1
    place: int = -1
    trust: float = 0.0
    left_out: set[int] = field(default_factory=set)
    template_lines: list[int] = field(default_factory=list)

    def in_body(self, tree: Tree) -> list[bool]:
        """Returns for each block whether it belongs to the body that the body rule found."""
        inside = [False] * len(tree.block_tags)
        if self.body >= 0:
            first, ends = self.body, tree.block_ends
            inside[first : ends[first]] = [True] * (ends[first] - first)
            for block in self.left_out:
                if first < block < ends[first]:
                    inside[block : ends[block]] = [False] * (ends[block] - block)
        return inside


def find_places(document: Document, model: SiteModel) -> SitePlaces:
    """Finds the blocks of a page at a model's places, and the rule for its posts."""
    rule = model.post_rule
    if rule is not None and model.url_kind(document.page.url) in NO_THREADS:
        rule = None
    meanings = model.index.meanings
    alone = model.index.alone
    is_alone = bool(alone) and class_of(document.page.url) in alone
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
        if is_alone:
            continue
        if dropped is None:
            found.bodies.setdefault(place, []).append(block)
        else:
            found.dropped.setdefault(place, {})[block] = dropped
    return found
