"""The verdict on every text of a page, from the decisions that ``clean`` takes.

The page is cleaned once, and the steps note which rule cut which line; nothing is judged a second
time. A block of text is a run of neighbouring lines of one block element with one verdict: an
element whose ``<br>`` separate a caption from a request to follow an account is two blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.code_blocks import find_code
from crawlclean.cleaning.features.lines import Attempt, Lines, Trail
from crawlclean.cleaning.features.sections import heading_kind
from crawlclean.cleaning.images.captions import lines_of_captions
from crawlclean.cleaning.model.paths import step_of
from crawlclean.cleaning.model.rules import DropReason
from crawlclean.cleaning.model.site_model import SiteModel, SitePlaces
from crawlclean.cleaning.page import Reading, read
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    Link,
    LinkKind,
    Verdict,
    VerdictKind,
    VerdictReason,
)

# The kind of a text that was cut: by its own links where it is links, else by the rule.

_OF_LINK = {
    LinkKind.BODY: VerdictKind.LINKS,
    LinkKind.RELATED: VerdictKind.RELATED,
    LinkKind.NAVIGATION: VerdictKind.NAVIGATION,
    LinkKind.FUNCTION: VerdictKind.NAVIGATION,
    LinkKind.AD: VerdictKind.ADVERTISING,
    LinkKind.HOT: VerdictKind.HOT,
    LinkKind.TAG: VerdictKind.TAGS,
    LinkKind.LEGAL: VerdictKind.LEGAL,
    LinkKind.OTHER: VerdictKind.LINKS,
}
_OF_REASON = {
    VerdictReason.HIDDEN_PART: VerdictKind.HIDDEN,
    VerdictReason.TEASER: VerdictKind.LINKS,
    VerdictReason.COMMENT_PART: VerdictKind.COMMENTS,
    VerdictReason.BEHIND_COMMENTS: VerdictKind.COMMENTS,
    VerdictReason.DISCLAIMER: VerdictKind.LEGAL,
    VerdictReason.REPEATED: VerdictKind.REPEAT,
    VerdictReason.LINK_LIST: VerdictKind.LINKS,
    VerdictReason.LINK_LINE: VerdictKind.LINKS,
    VerdictReason.PROMOTION: VerdictKind.ADVERTISING,
    VerdictReason.BEHIND_PROMOTION: VerdictKind.ADVERTISING,
    VerdictReason.NO_LINKS_BELOW: VerdictKind.RELATED,
    VerdictReason.ABOUT_TEXT: VerdictKind.ABOUT,
    VerdictReason.ABOUT_POST: VerdictKind.ABOUT,
    VerdictReason.POST_TEMPLATE: VerdictKind.TEMPLATE,
    VerdictReason.POST_SUBJECT: VerdictKind.REPEAT,
    VerdictReason.POST_LINK: VerdictKind.LINKS,
    VerdictReason.HOST_REPEATS: VerdictKind.TEMPLATE,
    VerdictReason.HOST_LINKS: VerdictKind.LINKS,
    VerdictReason.HOST_COMMENTS: VerdictKind.COMMENTS,
    VerdictReason.HOST_ABOUT: VerdictKind.ABOUT,
    VerdictReason.HOST_LINE: VerdictKind.TEMPLATE,
    VerdictReason.OVERRIDE_CUT: VerdictKind.OTHER,
}
_OF_TAG = {"nav": VerdictKind.NAVIGATION, "footer": VerdictKind.LEGAL}
_OF_MARKER = {
    "related": VerdictKind.RELATED,
    "maybe": VerdictKind.RELATED,
    "comment": VerdictKind.COMMENTS,
    "author": VerdictKind.ABOUT,
}
# Rules that decide by what the text is; its links cannot change that.
_SURE = frozenset((VerdictReason.HIDDEN_PART, VerdictReason.COMMENT_PART, VerdictReason.REPEATED))


def kind_of_cut(reason: VerdictReason, linked: LinkKind | None, by: str) -> VerdictKind:
    """Returns the kind of a text that a rule cut.

    Args:
        reason: The rule.
        linked: The kind of most of its linked text; None for a text that is not mostly links.
        by: Step of the part (``nav.menu``), or text of the marker, that decided; ``""`` without.
    """
    if linked is not None and reason not in _SURE:
        return _OF_LINK[linked]
    if reason is VerdictReason.PART_TAG:
        return _OF_TAG.get(by.partition(".")[0], VerdictKind.OTHER)
    if reason is VerdictReason.MARKER:
        return _OF_MARKER.get(heading_kind(by), VerdictKind.OTHER)
    return _OF_REASON.get(reason, VerdictKind.OTHER)


def kind_of_links(tree: Tree, links: Sequence[Link], line: int) -> LinkKind | None:
    """Returns the kind of most of the linked text of a line; None without links."""
    chars: dict[LinkKind, int] = {}
    for run in range(*tree.line_runs(line)):
        anchor = tree.anchor_of[run]
        if 0 <= anchor < len(links):
            kind = links[anchor].kind
            chars[kind] = chars.get(kind, 0) + len(tree.texts[run])
    return max(chars, key=chars.__getitem__, default=None)


# The rule that decided on each line of a page, read from the notes of the search for its body.

_MAX_PATH_CHARS = 400  # of a verdict's path: a page may nest a thousand parts
_MAX_BY_CHARS = 120  # of a step or a marker in a verdict; a name may be any length
_OF_DROPPED = {
    DropReason.REPEATS: VerdictReason.HOST_REPEATS,
    DropReason.LINKS: VerdictReason.HOST_LINKS,
    DropReason.LINE_NUMBERS: VerdictReason.HOST_LINE_NUMBERS,
    DropReason.COMMENTS: VerdictReason.HOST_COMMENTS,
    DropReason.ABOUT_BODY: VerdictReason.HOST_ABOUT,
}


class Reason(NamedTuple):
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
        self.lines: Lines = trail.lines or Lines(tree, [], [], [], [])
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
        thread = body.thread
        self._others = {i for post in thread.posts for i in post.others} if thread else set()
        self._left_out = self._outermost(places.left_out) if places is not None else []

    def of(self, line: int) -> Reason:
        """Returns the rule that kept or cut a line."""
        decided = self._places.said.decided if self._places is not None else {}
        if line in decided and line != self._body.title_line:
            is_kept = line in self._is_kept
            rule = VerdictReason.OVERRIDE if is_kept else VerdictReason.OVERRIDE_CUT
            return Reason(rule, by=decided[line][:_MAX_BY_CHARS])
        if line in self._is_kept:
            return self._kept(line)
        if self._body.source is BodySource.SITE:
            return self._not_at_place(line)
        if self._places is not None and line in self._places.template_lines:
            return Reason(VerdictReason.HOST_LINE)
        if line == self._body.title_line:
            return Reason(VerdictReason.TITLE_LINE)
        if line in self._found:
            return self._found_and_cut(line)
        return self._cut(line)

    def _found_and_cut(self, line: int) -> Reason:
        """The rule that cut a line from the lines of a container or a place."""
        is_above = line < self._body.first
        return Reason(VerdictReason.ABOUT_TEXT if is_above else VerdictReason.LINE_NUMBERS)

    def _kept(self, line: int) -> Reason:
        source, worth = self._body.source, self._attempt.worth
        if line in self._body.lead:
            return Reason(VerdictReason.LEAD)
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
        if line == self._body.title_line:
            return Reason(VerdictReason.TITLE_LINE)
        if places.body <= block < self._tree.block_ends[places.body]:
            return self._found_and_cut(line)
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


class _Line(NamedTuple):
    """The verdict on one line, and the post that has it; the fields are those of ``Verdict``."""

    kind: VerdictKind
    reason: Reason
    in_body: bool
    post: int


def verdicts(page: RawPage, model: SiteModel | None = None) -> tuple[Verdict, ...]:
    """Returns why each text of a page was kept or cut, in document order.

    The first one is the title of the record, if it has one. Each visible text is in one verdict;
    the texts with ``in_body`` are the body of the record, those with ``post`` its posts.

    Args:
        page: The decoded page.
        model: The model of the page's host, or None.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    return explain(page, model)[1]


def explain(
    page: RawPage, model: SiteModel | None = None
) -> tuple[CleanRecord, tuple[Verdict, ...]]:
    """Returns the record of a page as ``clean`` gives it, and its verdicts.

    Args:
        page: The decoded page.
        model: The model of the page's host, or None.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    reading, verdicts = explain_reading(page, model)
    return reading.record, verdicts


def explain_reading(
    page: RawPage, model: SiteModel | None = None
) -> tuple[Reading, tuple[Verdict, ...]]:
    """Returns what ``explain`` does, with all that the record was made of."""
    trail = Trail()
    reading = read(page, model, trail=trail)
    found = [*_Judge(reading, trail).blocks()]
    if title := reading.record.title:
        places = reading.places
        said = places.said.by.get("title", "")[:_MAX_BY_CHARS] if places is not None else ""
        verdict = Verdict(
            path="html/head/title",
            block=-1,
            line=-1,
            lines=0,
            text=title,
            kind=VerdictKind.TITLE,
            reason=VerdictReason.OVERRIDE if said else VerdictReason.TITLE,
            by=said,
        )
        found.insert(0, verdict)
    return reading, tuple(found)


class _Judge:
    """Puts together the verdicts of one page."""

    def __init__(self, reading: Reading, trail: Trail) -> None:
        self._record = reading.record
        self._tree: Tree = reading.document.tree
        self._body: Body = reading.body
        self._places: SitePlaces | None = reading.places
        self._reasons = Reasons(self._tree, reading.body, reading.places, trail)
        self._is_kept = frozenset(reading.body.lines)
        thread = reading.body.thread
        # Which post of the record has which line.
        self._post_of: dict[int, int] = {}
        self._quotes: set[int] = set()
        if self._record.posts and thread is None:
            self._post_of = dict.fromkeys(reading.body.lines, 0)
        elif self._record.posts and thread is not None:
            for number, place in enumerate(thread.posts):
                self._quotes.update(place.quotes)
                self._post_of |= dict.fromkeys((*place.texts, *place.quotes), number)
        self._captions = lines_of_captions(self._tree, self._record.images)
        self._code = self._numbered_code()

    def blocks(self) -> Iterator[Verdict]:
        """Yields the verdicts on the visible texts in document order."""
        blocks, count = self._tree.line_blocks, len(self._tree.line_starts)
        first = 0
        while first < count:
            if first in self._code:
                end, code, numbers = self._code[first]
                one = self._of(first)
                yield self._verdict(first, end, one, code)
                cut = _Line(VerdictKind.OTHER, Reason(VerdictReason.LINE_NUMBERS), False, -1)
                yield self._verdict(first, end, cut, numbers)
                first = end
                continue
            block, one = blocks[first], self._of(first)
            end = first + 1
            while (
                end < count
                and blocks[end] == block
                and end not in self._code
                and self._of(end) == one
            ):
                end += 1
            text = "\n".join(map(self._tree.line_text, range(first, end)))
            yield self._verdict(first, end, one, text)
            first = end

    def _verdict(self, first: int, end: int, one: _Line, text: str) -> Verdict:
        block, reason = self._tree.line_blocks[first], one.reason
        return Verdict(
            path=self._reasons.paths.of(block),
            block=block,
            line=first,
            lines=end - first,
            text=text,
            kind=one.kind,
            reason=reason.rule,
            in_body=one.in_body,
            post=one.post,
            score=reason.score,
            against=reason.against,
            by=reason.by,
        )

    def _of(self, line: int) -> _Line:
        """The verdict on a line."""
        in_body, post = line in self._is_kept, self._post_of.get(line, -1)
        if line in self._quotes and post >= 0:
            return _Line(VerdictKind.QUOTE, Reason(VerdictReason.POST_QUOTE), in_body, post)
        reason = self._reasons.of(line)
        if in_body or post >= 0:
            if not in_body:
                reason = Reason(VerdictReason.POST_TEXT)
            kind = VerdictKind.POST if post >= 0 else VerdictKind.BODY
            return _Line(kind, reason, in_body, post)
        if line in self._captions:
            return _Line(VerdictKind.CAPTION, Reason(VerdictReason.CAPTION), False, -1)
        if reason.rule is VerdictReason.TITLE_LINE:
            return _Line(VerdictKind.HEADLINE, reason, False, -1)
        lines = self._reasons.lines
        linked = (
            kind_of_links(self._tree, self._record.links, line)
            if lines.linked[line] > lines.own[line]
            else None
        )
        kind = kind_of_cut(reason.rule, linked, reason.by)
        return _Line(kind, reason, False, -1)

    def _numbered_code(self) -> dict[int, tuple[int, str, str]]:
        """First line -> (line behind, code, numbers) of code whose numbers are not in the body."""
        found = {}
        tree, lines = self._tree, self._body.lines
        for code in find_code(tree, lines) if tree.code_blocks or tree.marks else ():
            first, last = lines[code.start], lines[code.end - 1]
            shown = "\n".join(tree.texts[tree.line_starts[first] : tree.line_runs(last)[1]])
            has_gap = last - first != code.end - 1 - code.start
            if has_gap or "".join(shown.split()) == "".join(code.text.split()):
                continue
            numbers = (row.split(maxsplit=1)[0] for row in shown.split("\n") if row.strip())
            found[first] = last + 1, code.text, " ".join(numbers)
        return found
