"""The parts of a page that are noise: by their tags and names, as teasers, or hidden."""

from __future__ import annotations

from dataclasses import dataclass

from cleaning.document.tree import Tree
from cleaning.features.lines import Sums
from cleaning.features.parts import (
    NEVER_NOISE,
    TAG_KINDS,
    PartKind,
    kind_beside,
    kind_of_names,
    telling_names,
)
from cleaning.verdict import VerdictReason

# Looking up a member of an enumeration takes ten times as long as a name.
_USER, _WEAK, _NOISE = PartKind.USER, PartKind.WEAK, PartKind.NOISE
# A name is no evidence on a page where its parts hold this share of the page's own text
# together: builders of pages name every part a widget, layouts are named for their columns.
_WEAK_SHARE = 0.5
_NOISE_SHARE = 0.8  # the same for the stronger names; comments are never the body of an article


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
    tree: Tree, sums: Sums, cards: set[int] | None, title_line: int, *, by_names: bool = True
) -> Noise:
    """Finds the parts that are noise: by their names, as teasers, or inside a noise part.

    Exempt are parts that hold the title, and names that hold most of the page's own text together.

    Args:
        tree: The page.
        sums: The sums of its parts.
        cards: Its teasers; None for a thread, where neither they nor comments are noise.
        title_line: The line of its title, -1 without.
        by_names: Whether names are evidence.
    """
    tags, names, own = tree.block_tags, tree.block_names, sums.own
    holds_title = _parts_around(tree, title_line)
    kinds: dict[str, PartKind] = {"": PartKind.PLAIN}
    silent: frozenset[str] | None = None
    hidden = set(tree.hidden_blocks)
    looked_at = hidden | cards if cards else hidden
    comments: list[int] = []
    is_noise = [False] * len(tags)
    end = 1  # of the last part that is noise; the root is none
    for part, (tag, name) in enumerate(zip(tags, names, strict=True)):
        if part < end:
            continue
        kind = kinds.get(name)
        if kind is None:
            kind = kind_of_names(name) if by_names else PartKind.PLAIN
            if kind:
                if silent is None:
                    silent = _silent_names(tree, sums, is_thread=cards is None)
                if silent:
                    kind = max(kind_beside(each, silent) for each, _ in telling_names(name))
            kinds[name] = kind
        if not kind and tag not in TAG_KINDS and part not in looked_at:
            continue
        if cards and part in cards:
            is_one = part not in holds_title
        elif tag in NEVER_NOISE or part in holds_title or (cards is None and tag == "form"):
            continue  # forums put all posts into one form
        else:
            kind = max(TAG_KINDS.get(tag, kind), kind)
            if kind is _USER and cards is None:
                kind = _WEAK
            if kind <= _USER:
                if part not in hidden:
                    continue
                kind = _WEAK
            if kind is _WEAK:
                is_one = own[part] < _WEAK_SHARE * own[0]
            elif kind is _NOISE:
                is_one = own[part] < _NOISE_SHARE * own[0]
            else:
                is_one = cards is not None
                if is_one:
                    comments.append(part)
        if is_one:
            # Parts inside are skipped, for most of a page is noise.
            end = tree.block_ends[part]
            is_noise[part:end] = [True] * (end - part)
    return Noise(is_noise=is_noise, comments=comments, cards=cards)


def _silent_names(tree: Tree, sums: Sums, *, is_thread: bool) -> frozenset[str]:
    """The names that are no evidence on this page, without digits: ``{"has-profile"}``.

    Without digits, for each post may have a number of its own in its names.
    """
    units: dict[str, float] = {}
    ends: dict[str, int] = {}
    kinds: dict[str, PartKind] = {}
    own, tags = sums.own, tree.block_tags
    for part, names in enumerate(tree.block_names):
        if not names or not own[part] or tags[part] in NEVER_NOISE:
            continue
        for name, kind in telling_names(names):
            # Inside a part of the same name its text is counted already.
            if part >= ends.get(name, 0):
                units[name] = units.get(name, 0.0) + own[part]
                ends[name] = tree.block_ends[part]
                kinds[name] = kind
    least = {_USER: _WEAK_SHARE, _WEAK: _WEAK_SHARE, _NOISE: _NOISE_SHARE}
    return frozenset(
        name
        for name, held in units.items()
        if held >= least.get(kinds[name], 2.0) * own[0] and (is_thread or kinds[name] > _USER)
    )


def noise_rules(tree: Tree, noise: Noise) -> list[tuple[int, VerdictReason]]:
    """Returns the outermost parts that are noise, in order, each with the rule that found it."""
    found = []
    is_noise, parents = noise.is_noise, tree.block_parents
    cards = noise.cards or set()
    for part, (tag, names) in enumerate(zip(tree.block_tags, tree.block_names, strict=True)):
        if not is_noise[part] or is_noise[parents[part]]:
            continue
        by_tag, by_name = TAG_KINDS.get(tag, PartKind.PLAIN), kind_of_names(names)
        kind = max(by_tag, by_name)
        if part in cards:
            rule = VerdictReason.TEASER
        elif kind is PartKind.COMMENT:
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
