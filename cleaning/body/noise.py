"""The parts of a page that are noise: by their tags and names, as teasers, or hidden."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median

from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import Lines, Sums
from crawlclean.cleaning.features.parts import (
    NEVER_NOISE,
    TAG_KINDS,
    PartKind,
    kind_of_names,
    telling_names,
)
from crawlclean.cleaning.features.sections import heading_kind
from crawlclean.cleaning.posts.parts import is_date
from crawlclean.cleaning.posts.runs import name_of
from crawlclean.cleaning.records import VerdictReason

# Looking up a member of an enumeration takes ten times as long as a name.
_USER, _WEAK, _NOISE = PartKind.USER, PartKind.WEAK, PartKind.NOISE
# A name is no evidence on a page where its parts hold this share of the page's own text
# together: builders of pages name every part a widget, layouts are named for their columns.
_WEAK_SHARE = 0.5
_JOINT_SHARE = 0.5  # most text that weak names take together; taking more, none is evidence
_NOISE_SHARE = 0.8  # the same for the stronger names; comments are never the body of an article
_OPENED_SHARE = 0.5  # of the text around a hidden part: with more hidden, a click shows it
_SLUG_WORD = re.compile(r"[^\W_]+")
_LEAST_SLUG_WORDS = 2  # "comments" names what a part is, "explicit-comments" what its text is about
_MAX_PASSES = 4  # over a page, each without the names that held too much in the one before
_NOISE_TAGS = frozenset(tag for tag, kind in TAG_KINDS.items() if kind is _NOISE)
_SHARES = {_USER: _WEAK_SHARE, _WEAK: _WEAK_SHARE, _NOISE: _NOISE_SHARE}


@dataclass(slots=True)
class Noise:
    """The parts of a page that are noise.

    Attributes:
        is_noise: Whether each part is noise.
        comments: The outermost parts that are comments, in order.
        cards: The teasers that were looked at; None where none were.
    """

    is_noise: list[bool]
    comments: list[int]
    cards: set[int] | None


def find_noise(
    tree: Tree, sums: Sums, cards: set[int] | None, held: Sequence[int], *, by_names: bool = True
) -> Noise:
    """Finds the parts that are noise: by their names, as teasers, or inside a noise part.

    Exempt are parts that hold the title or declared text, and names that hold most of the page's
    own text together.

    Args:
        tree: The page.
        sums: The sums of its parts.
        cards: Its teasers; None for a thread, where neither they nor comments are noise.
        held: Lines whose parts are no noise: the title's and declared ones, -1 for none.
        by_names: Whether names are evidence.
    """
    own = _own_beside_tags(tree, sums, held) if cards is not None else sums.own
    least: int = PartKind.USER if by_names else PartKind.COMMENT + 1
    silent: frozenset[str] = frozenset()
    for _ in range(_MAX_PASSES):
        marks = _Marks(own=own, silent=silent, least=least)
        noise = _mark(tree, sums, cards, held, marks)
        found = marks.silent_names()
        is_joint = cards is not None and marks.weak_units > _JOINT_SHARE * own[0]
        if is_joint and (silent or not found):
            least = _NOISE
        elif found:
            # Of two names around the same text, the inner one is met in the next pass.
            silent |= found
        else:
            break
    return noise


def _own_beside_tags(tree: Tree, sums: Sums, held: Sequence[int]) -> list[float]:
    """Own units of each part without those in parts that are noise by their tags.

    Names compete for this text: beside a long notice in a dialog, a part with nearly all else
    would look small.
    """
    tags, parents = tags_and_roles(tree), tree.block_parents
    outermost = [part for part, tag in enumerate(tags) if tag in _NOISE_TAGS and sums.own[part]]
    if not outermost:
        return sums.own
    own = sums.own.copy()
    around = set().union(*(_parts_around(tree, line) for line in held))
    end = 0
    for part in outermost:
        if part >= end and part not in around and _is_beside(sums, tags[part], part):
            end = tree.block_ends[part]
            outer = parents[part]
            while outer >= 0:
                own[outer] -= sums.own[part]
                outer = parents[outer]
    return own


def _is_beside(sums: Sums, tag: str, part: int) -> bool:
    """Whether a part that is noise by its tag leaves a page enough text.

    Beside a dialog links count too: a list of links beside a long notice is the page nonetheless.
    """
    own, linked = sums.own, sums.linked
    if tag == "dialog":
        return own[part] + linked[part] < _NOISE_SHARE * (own[0] + linked[0])
    return own[part] < _NOISE_SHARE * own[0]


@dataclass(slots=True)
class _Marks:
    """What names are evidence in one pass over a page, and what the pass took by them.

    Attributes:
        own: Own units of each part that the shares of names are of.
        silent: Names without digits that are no evidence.
        least: The least kind of a name that is evidence.
        units: Own units of the outermost parts that each name made noise, by name without digits.
        weak_units: Own units that names of the kind WEAK made noise.
    """

    own: list[float]
    silent: frozenset[str] = frozenset()
    least: int = PartKind.USER
    units: dict[str, float] = field(default_factory=dict)
    weak_units: float = 0.0
    _kinds: dict[str, PartKind] = field(default_factory=dict)
    _ends: dict[str, int] = field(default_factory=dict)

    def kind(self, names: str) -> PartKind:
        """The kind of a part by its names, as far as these are evidence."""
        kind = kind_of_names(names)
        if kind and self.silent:
            others = (kind for name, kind in telling_names(names) if name not in self.silent)
            kind = max(others, default=PartKind.PLAIN)
        return kind if kind >= self.least else PartKind.PLAIN

    def note(self, names: str, part: int, end: int, units: float) -> None:
        """Notes the text of a part that is noise by its names, or too much of the page for that."""
        for name, kind in telling_names(names):
            # Inside a part of the same name its text is counted already.
            if part >= self._ends.get(name, 0):
                self.units[name] = self.units.get(name, 0.0) + units
                self._ends[name] = end
                self._kinds[name] = kind

    def silent_names(self) -> frozenset[str]:
        """The names that hold so much of a page's own text that they are no evidence."""
        shares = {name: _SHARES.get(kind, 2.0) for name, kind in self._kinds.items()}
        return frozenset(n for n, held in self.units.items() if held >= shares[n] * self.own[0])


def _mark(
    tree: Tree, sums: Sums, cards: set[int] | None, held: Sequence[int], marks: _Marks
) -> Noise:
    """Finds the parts that are noise, with names as far as ``marks`` has them as evidence."""
    tags, names, own = tags_and_roles(tree), tree.block_names, marks.own
    is_held = set().union(*(_parts_around(tree, line) for line in held))
    kinds: dict[str, PartKind] = {"": PartKind.PLAIN}
    hidden, opened = _hidden_parts(tree, sums)
    if cards is None:  # what hides in a post, is a spoiler or of the engine
        hidden, opened = hidden | opened, set()
    looked_at = hidden | cards if cards else hidden
    comments: list[int] = []
    is_noise = [False] * len(tags)
    end = 1  # of the last part that is noise; the root is none
    for part, (tag, name) in enumerate(zip(tags, names, strict=True)):
        if part < end:
            continue
        kind = kinds.get(name)
        if kind is None:
            kind = kinds[name] = marks.kind(name)
        if kind and _has_name_of_heading(tree, part):
            kind = PartKind.PLAIN
        if not kind and tag not in TAG_KINDS and part not in looked_at:
            continue
        if cards and part in cards:
            is_one = part not in is_held
        elif tag in NEVER_NOISE or part in is_held or (cards is None and tag == "form"):
            continue  # forums put all posts into one form
        else:
            by_name = kind
            if tag != "button" or not _opens(tree, part, opened):
                kind = max(TAG_KINDS.get(tag, kind), kind)
            if kind is _USER and cards is None:
                kind = _WEAK
            if kind <= _USER:
                if part not in hidden:
                    continue
                kind = _WEAK
            if kind is _WEAK:
                # A style hides searches and dialogs, and few bodies: nearly all of a page.
                share = _NOISE_SHARE if part in hidden and by_name < _WEAK else _WEAK_SHARE
                is_one = own[part] < share * own[0]
                if by_name is _WEAK and is_one and tag not in TAG_KINDS:
                    marks.weak_units += own[part]
            elif kind is _NOISE:
                is_one = (
                    _is_beside(sums, tag, part)
                    if tag in _NOISE_TAGS
                    else own[part] < _NOISE_SHARE * own[0]
                )
            else:
                is_one = cards is not None
                if is_one:
                    comments.append(part)
            if by_name and own[part]:
                marks.note(name, part, tree.block_ends[part], own[part])
        if is_one:
            # Parts inside are skipped, for most of a page is noise.
            end = tree.block_ends[part]
            is_noise[part:end] = [True] * (end - part)
    return Noise(is_noise=is_noise, comments=comments, cards=cards)


def _hidden_parts(tree: Tree, sums: Sums) -> tuple[set[int], set[int]]:
    """The parts that a style hides for good, and those that a click or a script shows.

    The second ones stand below text that is shown, and hold most of the text around them: answers
    below questions, panels of tabs, a text below its beginning, what a script moves to its place.
    """
    if not tree.hidden_blocks:
        return set(), set()
    own, parents = sums.own, tree.block_parents
    units = [0.0] * len(own)
    end = 0
    for part in tree.hidden_blocks:
        if part >= end:
            units[part], end = own[part], tree.block_ends[part]
    for part in range(len(own) - 1, 0, -1):
        units[parents[part]] += units[part]
    around = [0] * len(own)  # the smallest part around each one that shows some text
    for part in range(1, len(own)):
        outer = parents[part]
        around[part] = outer if units[outer] < own[outer] else around[outer]
    opened = {
        part for part in tree.hidden_blocks
        if own[part]
        and units[around[part]] > _OPENED_SHARE * own[around[part]]
        and tree.block_lines[around[part]] < tree.block_lines[part]
    }  # fmt: skip
    return set(tree.hidden_blocks) - opened, opened


def _opens(tree: Tree, button: int, opened: set[int]) -> bool:
    """Whether a button is the heading of a part that a click shows, or stands in a heading."""
    around = tree.block_tags[tree.block_parents[button]]
    return around in HEADINGS or tree.block_ends[button] in opened


def tags_and_roles(tree: Tree) -> list[str]:
    """Returns the tag of each block, for a landmark the tag that its role stands for."""
    if not tree.landmarks:
        return tree.block_tags
    tags = tree.block_tags.copy()
    for block, tag in tree.landmarks.items():
        if tags[block] != "body":
            tags[block] = tag
    return tags


def _has_name_of_heading(tree: Tree, part: int) -> bool:
    """Whether a name of a part is its heading: ``respond-to-review-comments``.

    Documents name their sections so, for links to them. Headings of lists of other pages are none.
    """
    first = tree.block_lines[part]
    if first == tree.line_end(part) or tree.block_tags[tree.line_blocks[first]] not in HEADINGS:
        return False
    text = tree.line_text(first)
    words = _SLUG_WORD.findall(text.lower())
    slugs = (_SLUG_WORD.findall(name.lower()) for name in tree.block_names[part].split())
    return any(
        len(slug) >= _LEAST_SLUG_WORDS and slug == words[: len(slug)] for slug in slugs
    ) and not heading_kind(text)


def noise_rules(tree: Tree, noise: Noise) -> list[tuple[int, VerdictReason]]:
    """Returns the outermost parts that are noise, in order, each with the rule that found it."""
    found = []
    is_noise, parents = noise.is_noise, tree.block_parents
    cards, comments = noise.cards or set(), set(noise.comments)
    for part, (tag, names) in enumerate(zip(tags_and_roles(tree), tree.block_names, strict=True)):
        if not is_noise[part] or is_noise[parents[part]]:
            continue
        by_tag, by_name = TAG_KINDS.get(tag, PartKind.PLAIN), kind_of_names(names)
        kind = max(by_tag, by_name)
        if part in cards:
            rule = VerdictReason.TEASER
        elif kind is PartKind.COMMENT or part in comments:
            rule = VerdictReason.COMMENT_PART
        elif kind is PartKind.PLAIN or (kind is _USER and noise.cards is not None):
            rule = VerdictReason.HIDDEN_PART
        else:
            rule = VerdictReason.PART_NAME if by_name >= by_tag else VerdictReason.PART_TAG
        found.append((part, rule))
    return found


def _parts_around(tree: Tree, line: int) -> set[int]:
    """The parts that hold a line, from its block to the root; none for line -1."""
    found = set()
    part = tree.line_blocks[line] if line >= 0 else -1
    while part >= 0:
        found.add(part)
        part = tree.block_parents[part]
    return found


# Replies to the text of a page: like parts side by side behind it, each with a date and a text.
#
# Comments, opinions of buyers and answers often have more text than what they are about. Their
# names differ from site to site; their structure does not: parts of one tag and name, each with a
# short line that holds a date. Posts of a thread and entries of a diary have this structure, too,
# but no text that is much longer stands before them, and teasers of a list, but these have linked
# headings.

_LEAST_REPLIES = 3  # two like parts with dates may be a text and its continuation
_DATE_UNITS = 20  # longest line about a reply
_MAX_DATES = 2  # in one reply: it may have an answer; a section with more holds others
_REPLY_SHARE = 0.7  # of like parts that have a date and a text
_LEAST_TEXT_UNITS = 4  # of running text in a reply
# What stands around replies (their heading, a mean, filters) is theirs up to this many times their
# text; a page with hardly anything else is about them.
_AROUND_TIMES = 1.5
_MAX_SHARE = 0.9  # of the page's text in replies: above it the page is about them
# Least units of text between the title and the replies, in all and in times of the middle reply:
# questions with answers and first posts of threads are no longer than that. On pages of products,
# whose descriptions may be short lists, less is enough.
_LEAST_BEFORE_UNITS = 20
_BEFORE_TIMES, _BEFORE_TIMES_OF_PRODUCT = 4.0, 0.5  # in times of the middle reply
# Least share of the text from the first reply to the last that is in replies: what a manual has on
# each function, with its version, stands between paragraphs.
_LEAST_SPAN_SHARE = 0.5
_NO_REPLY = frozenset(("p", "td", "th", "html", "body", "main"))


def mark_replies(lines: Lines, noise: Noise, held: Sequence[int]) -> None:
    """Marks the replies to the text of a page as noise, as comments are.

    Args:
        tree: The page.
        lines: Its lines.
        sums: The sums of its parts.
        noise: Its parts that are noise; gets the replies, too.
        held: Lines whose parts are no noise, -1 for none: the title's first, then declared ones.
    """
    tree, sums = lines.tree, lines.sums
    groups = [group for group in _groups(tree, sums, noise.is_noise) if _are_replies(lines, group)]
    if not groups:
        return
    texts = [
        own if own > linked and not noise.is_noise[block] else 0.0
        for own, linked, block in zip(lines.own, lines.linked, tree.line_blocks, strict=True)
    ]
    before = list(accumulate(texts, initial=0.0))
    times = _times(tree)
    for group in groups:
        units = sum(sums.own[part] for part in group)
        if units >= _MAX_SHARE * sums.own[0] or any(_holds(tree, part, held) for part in group):
            continue
        long = before[tree.block_lines[group[0]]] - before[held[0] + 1]
        middle = median(sums.running[part] for part in group)
        if long < max(_LEAST_BEFORE_UNITS, times * middle):
            continue
        spans = [(tree.block_lines[part], tree.line_end(part)) for part in group]
        whole = before[spans[-1][1]] - before[spans[0][0]]
        if sum(before[end] - before[start] for start, end in spans) < _LEAST_SPAN_SHARE * whole:
            continue
        around = tree.block_parents[group[0]]
        parts = group
        while around > 0 and sums.own[around] <= _AROUND_TIMES * units:
            if _holds(tree, around, held):
                break
            parts = [around]
            around = tree.block_parents[around]
        for part in parts:
            end = tree.block_ends[part]
            noise.is_noise[part:end] = [True] * (end - part)
        noise.comments += parts
    noise.comments.sort()


def _times(tree: Tree) -> float:
    """How many times the middle reply the text before replies is on such a page."""
    is_of_product = tree.metas.get("og:type", "").startswith("product") or any(
        '"Product' in each for each in tree.scripts.data
    )
    return _BEFORE_TIMES_OF_PRODUCT if is_of_product else _BEFORE_TIMES


def _groups(tree: Tree, sums: Sums, is_noise: list[bool]) -> list[list[int]]:
    """The groups of like parts side by side of which enough have a text, in order."""
    tags, parents = tree.block_tags, tree.block_parents
    texts = Counter(
        [
            parent
            for parent, tag, units, is_out in zip(
                parents, tags, sums.running, is_noise, strict=True
            )
            if units >= _LEAST_TEXT_UNITS and not is_out and tag not in _NO_REPLY
        ]
    )
    found = []
    for parent, count in texts.items():
        if count < _LEAST_REPLIES:
            continue
        groups: dict[tuple[str, str], list[int]] = {}
        for part in tree.children(parent):
            has_text = sums.own[part] + sums.linked[part] > 0
            if has_text and tags[part] not in _NO_REPLY and not is_noise[part]:
                tag, names = name_of(tags[part], tree.block_names[part])
                groups.setdefault((tag, names.partition(" ")[0]), []).append(part)
        found += [group for group in groups.values() if len(group) >= _LEAST_REPLIES]
    return found


def _are_replies(lines: Lines, group: list[int]) -> bool:
    """Whether most of those parts that have a date or a text have both."""
    sums = lines.sums
    count = replies = 0
    most_others = (1 - _REPLY_SHARE) * len(group)
    for part in group:
        dates, has_text = _dates(lines, part), sums.running[part] >= _LEAST_TEXT_UNITS
        count += dates > 0 or has_text
        is_text = has_text and sums.linked[part] < sums.own[part]
        replies += is_text and 1 <= dates <= _MAX_DATES
        if count - replies > most_others:
            return False
    return replies >= max(_LEAST_REPLIES, _REPLY_SHARE * count)


def _dates(lines: Lines, part: int) -> int:
    """The number of short lines with a date in a part, up to one too many.

    A part with a linked heading has too many.
    """
    tree = lines.tree
    dates = 0
    for i in range(tree.block_lines[part], tree.line_end(part)):
        if tree.block_tags[tree.line_blocks[i]] in HEADINGS:
            if lines.linked[i] > lines.own[i]:
                return _MAX_DATES + 1
        elif lines.own[i] + lines.linked[i] <= _DATE_UNITS:
            # A date inside a sentence is of what the sentence tells.
            dates += lines.worth[i] <= 0 and is_date(tree.line_text(i))
            if dates > _MAX_DATES:
                break
    return dates


def _holds(tree: Tree, part: int, held: Sequence[int]) -> bool:
    """Whether one of some lines lies in a part."""
    return any(tree.block_lines[part] <= line < tree.line_end(part) for line in held)
