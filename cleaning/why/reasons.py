"""The rule that decided on each line of a page, read from the notes of the search for its body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import Lines
from crawlclean.cleaning.features.trail import Attempt, Trail
from crawlclean.cleaning.model.paths import step_of
from crawlclean.cleaning.model.places import SitePlaces
from crawlclean.cleaning.model.rules import DropReason
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.verdict import VerdictReason

_MAX_PATH_CHARS = 400
_MAX_BY_CHARS = 120
_OF_DROPPED = {
    DropReason.REPEATS: VerdictReason.HOST_REPEATS,
    DropReason.LINKS: VerdictReason.HOST_LINKS,
    DropReason.LINE_NUMBERS: VerdictReason.HOST_LINE_NUMBERS,
    DropReason.COMMENTS: VerdictReason.HOST_COMMENTS,
    DropReason.ABOUT_BODY: VerdictReason.HOST_ABOUT,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a line was kept or cut; the fields are those of ``Verdict``."""

    rule: VerdictReason
    score: float | None = None
    against: float | None = None
    by: str = ""


class Paths:
    """The paths of a page's blocks, as site models write them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[int, str] = {-1: "", 0: "html"}

    def step(self, block: int) -> str:
        """Returns the step of a block: ``div.sidebar``."""
        return step_of(self._tree.block_tags[block], self._tree.block_names[block])[:_MAX_BY_CHARS]

    def of(self, block: int) -> str:
        """Returns the path of a block; of one over 400 characters the beginning."""
        known, parents = self._known, self._tree.block_parents
        waiting = []
        while block not in known:
            waiting.append(block)
            block = parents[block]
        path = known[block]
        for inner in reversed(waiting):
            longer = f"{path}/{self.step(inner)}"
            path = known[inner] = longer if len(longer) <= _MAX_PATH_CHARS else path
        return path


class Reasons:
    """The reasons for one page's lines.

    Args:
        tree: The page.
        body: Its body.
        places: The site model's places on it; None without a model.
        trail: The notes of the search.
    """

    def __init__(self, tree: Tree, body: Body, places: SitePlaces | None, trail: Trail) -> None:
        self._tree, self._body, self._places = tree, body, places
        self._trail = trail
        self.paths = Paths(tree)
        self.lines: Lines = trail.lines or Lines(texts=[], own=[], linked=[], worth=[])
        attempt = trail.chosen
        self._attempt = attempt or Attempt(noise=[])
        self._is_kept = frozenset(body.lines)
        self._found = frozenset(self._attempt.kept)  # with the lines that number lines of code
        worth = self._attempt.worth
        running = [i for i in body.lines if worth and worth[i] > 0]
        self._running = (running[0], running[-1]) if running else (-1, -1)
        self._noise = self._outermost(part for part, _ in self._attempt.noise)
        self._rule_of_noise = dict(self._attempt.noise)
        self._list = self._outermost(self._attempt.link_lists)
        self._best = self._best_around()
        self._others = self._beside_posts()
        self._left_out = self._parts_left_out()

    def of(self, line: int) -> Reason:
        """Returns the rule that kept or cut a line."""
        if line in self._is_kept:
            return self._kept(line)
        if self._body.source is BodySource.SITE:
            return self._not_at_place(line)
        if self._places is not None and line in self._places.template_lines:
            return Reason(VerdictReason.HOST_LINE)
        if line == self._body.title_line:
            return Reason(VerdictReason.TITLE_LINE)
        if line in self._found:
            return Reason(VerdictReason.LINE_NUMBERS)
        return self._cut(line)

    def _kept(self, line: int) -> Reason:
        source, worth = self._body.source, self._attempt.worth
        if source is BodySource.SITE and self._places is not None:
            path = self.paths.of(self._places.body)
            return Reason(VerdictReason.AT_PLACE, score=self._places.trust, by=path)
        if not worth:
            is_first = line in self._attempt.first_post
            return Reason(VerdictReason.FIRST_POST if is_first else VerdictReason.POST_TEXT)
        if worth[line] > 0:
            is_plain = source is BodySource.PLAIN_LINES
            rule = VerdictReason.PLAIN_TEXT if is_plain else VerdictReason.RUNNING_TEXT
            return Reason(rule, score=worth[line])
        first, last = self._running
        is_between = first < line < last
        return Reason(VerdictReason.BETWEEN_TEXT if is_between else VerdictReason.NEAR_TEXT)

    def _cut(self, line: int) -> Reason:
        """The rule that cut a line from the page's own body."""
        attempt, block = self._attempt, self._tree.line_blocks[line]
        noise = self._noise[block]
        if noise >= 0:
            return Reason(self._rule_of_noise[noise], by=self.paths.step(noise))
        rule = attempt.cut.get(line)
        if rule is None and attempt.container >= 0:
            rule = self._trail.all_attempts.get(line)
        if rule is not None:
            marker = attempt.by.get(line, -1)
            by = self._tree.line_text(marker)[:_MAX_BY_CHARS] if marker >= 0 else ""
            return Reason(rule, by=by)
        if attempt.container < 0:
            is_beside = line in self._others
            return Reason(VerdictReason.ABOUT_POST if is_beside else VerdictReason.OUTSIDE_POSTS)
        own, linked = self.lines.own[line], self.lines.linked[line]
        if self._list[block] >= 0:
            by = self.paths.step(self._list[block])
            return Reason(VerdictReason.LINK_LIST, score=linked, against=own, by=by)
        if linked > own:
            return Reason(VerdictReason.LINK_LINE, score=linked, against=own)
        return Reason(
            VerdictReason.OUTSIDE_CONTAINER,
            score=self._best[block],
            against=attempt.weights[attempt.container],
            by=self.paths.of(attempt.container),
        )

    def _not_at_place(self, line: int) -> Reason:
        """The rule of the site model that cut a line."""
        places, block = self._places, self._tree.line_blocks[line]
        if places is None:
            return self._cut(line)
        part = self._left_out[block]
        if part >= 0:
            dropped = places.dropped[places.place][part]
            share = dropped.on.bit_count() / max(places.model.page_count, 1)
            return Reason(_OF_DROPPED[dropped.reason], score=share, by=self.paths.step(part))
        if places.body <= block < self._tree.block_ends[places.body]:
            return Reason(VerdictReason.LINE_NUMBERS)
        if line == self._body.title_line:
            return Reason(VerdictReason.TITLE_LINE)
        by = self.paths.of(places.body)
        return Reason(VerdictReason.OUTSIDE_PLACE, score=places.trust, by=by)

    def _outermost(self, parts: Iterable[int]) -> list[int]:
        """For each block the outermost of some parts around it, -1 outside."""
        found = [-1] * len(self._tree.block_tags)
        for part in sorted(parts):
            if found[part] < 0:
                end = self._tree.block_ends[part]
                found[part:end] = [part] * (end - part)
        return found

    def _best_around(self) -> list[float]:
        """For each block the worth of the best part around it that does not hold the container."""
        weights, container = self._attempt.weights, self._attempt.container
        if not weights:
            return []
        parents = self._tree.block_parents
        around = set()
        block = container
        while block >= 0:
            around.add(block)
            block = parents[block]
        best = [0.0] * len(weights)
        for block, weight in enumerate(weights):
            if block not in around:
                parent = parents[block]
                best[block] = weight if parent in around else max(weight, best[parent])
        return best

    def _beside_posts(self) -> frozenset[int]:
        """The lines of posts beside their texts."""
        thread = self._body.thread
        return frozenset(i for post in thread.posts for i in post.others) if thread else frozenset()

    def _parts_left_out(self) -> list[int]:
        """For each block the part that the site model drops from the body there, -1 for none."""
        places = self._places
        return self._outermost(places.left_out) if places is not None else []
