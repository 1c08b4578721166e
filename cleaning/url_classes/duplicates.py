"""Classes that are other forms of the pages of a better class: their twins, proven on pages.

A page of one class is *the same* as one of another when nearly all text of its own stands on the
other and one title is part of the other. A class is a duplicate when at least ``min_same`` of its
pages are the same as pages of one better class, and not many that have the title of a page there
differ from it in text; or when the server redirects nearly all of them. Canonical addresses only
say which form is better: the later pages of a thread name the first as theirs on some sites.

The *better* class is the one the others point to; else the one whose links say titles; else the
one with fewer slots, then with more links.

Where the better form is can be told when each of its slots that is no fixed word is filled from
one slot of the duplicate in all pairs, and the pairs differ there; or when it is one value in many
pairs, as the page of a thread is 1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from cleaning.records import UrlKind
from cleaning.url_classes.classes import UrlClass
from cleaning.url_classes.evidence import TITLE_CHARS, Evidence, own_lines, template_lines
from cleaning.url_classes.sample import PageFacts
from cleaning.urls.shapes import shape_of

# Kinds of pages worth having in their better form.
_KEPT = (UrlKind.THREAD, UrlKind.ARTICLE, UrlKind.INDEX, UrlKind.USER)
LEAST_PAIRS = 5  # that have one value in a slot of the better form
_PLACEHOLDER = re.compile(r"\{[nwxs]\}")


MIN_SAME = 2  # pages that are the same, at least
SAME_SHARE = 0.6  # their share of the pages that could be
MOVED_SHARE = 0.9  # share of a class's pages that must redirect where that is the proof
CONTAINED = 0.9  # share of a page's own text that stands on its twin
MIN_UNITS = 20.0  # own text of a page that can be compared
KEY_LINES = 4  # longest lines by which twins are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A class (by position) that another is a duplicate of.

    Attributes:
        better: Position of the better class.
        target: Its path and query, ``{0}`` for the first slot of the duplicate; ``""`` when it
            cannot be told.
        proofs: Pages that were the same.
    """

    better: int
    target: str
    proofs: int


@dataclass(slots=True)
class _Pairs:
    """Two classes: addresses of pages that are the same, and how many pages differ."""

    same: set[tuple[str, str]] = field(default_factory=set)
    pointing: int = 0  # pages whose canonical address is there
    other: int = 0


def find_twins(classes: Sequence[Evidence], kinds: Sequence[UrlKind | None]) -> dict[int, Twin]:
    """The twins of the classes that are duplicates, by position.

    Args:
        classes: The classes of a host with their evidence.
        kinds: The kind of each; only pages that are worth keeping have other forms.
    """
    of_url = {found.url: i for i, one in enumerate(classes) for found in one.urls.found}
    pairs: dict[tuple[int, int], _Pairs] = defaultdict(_Pairs)
    proven: list[tuple[int, int, int]] = []
    for i, one in enumerate(classes):
        moved: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for page in one.urls.pages:
            there = of_url.get(page.moved_to or page.canonical_url, i)
            if page.moved_to:
                moved[there].add((page.url, page.moved_to))
            elif there != i:
                pairs[i, there].pointing += 1
        all_moved = sum(map(len, moved.values())) >= MOVED_SHARE * len(one.urls.pages)
        if all_moved:
            for j, found in moved.items():
                pairs[i, j].same |= found
                if len(found) >= MIN_SAME:
                    proven.append((len(found), i, j))
    _add_same_text(classes, pairs)
    proven += [
        (len(found.same), i, j)
        for (i, j), found in pairs.items()
        # Of many pages that are the same as one, that one is a notice.
        if len({there for _, there in found.same}) >= MIN_SAME
        and len(found.same) >= SAME_SHARE * (len(found.same) + found.other)
        and _is_better(classes[j], classes[i], found, pairs.get((j, i)))
    ]
    twins: dict[int, Twin] = {}
    for proofs, i, j in sorted(proven, reverse=True):
        if i == j or i in twins or kinds[j] not in _KEPT or not _may_go(classes[i], kinds[i]):
            continue
        if not _leads_to(twins, j, i):
            target = _target(sorted(pairs[i, j].same), classes[i].urls, classes[j].urls)
            twins[i] = Twin(better=j, target=target, proofs=proofs)
    return twins


def _may_go(one: Evidence, kind: UrlKind | None) -> bool:
    return one.urls.template != "/" and kind in (None, *_KEPT, UrlKind.DUPLICATE)


def _add_same_text(classes: Sequence[Evidence], pairs: dict[tuple[int, int], _Pairs]) -> None:
    is_template = template_lines(classes)
    pages: list[tuple[int, PageFacts, dict[int, float]]] = []
    holding: dict[int, list[int]] = defaultdict(list)
    titled: dict[str, list[int]] = defaultdict(list)
    for i, one in enumerate(classes):
        for page in one.pages:
            lines = own_lines(page, is_template)
            if sum(lines.values()) >= MIN_UNITS:
                for line in lines:
                    holding[line].append(len(pages))
                if page.title:
                    titled[page.title].append(len(pages))
                pages.append((i, page, lines))
    for n, (i, page, lines) in enumerate(pages):
        near = {m for line in list(lines)[:KEY_LINES] for m in holding[line]}
        near.update(titled.get(page.title, ()))
        units = sum(lines.values())
        best: dict[int, tuple[bool, str]] = {}
        for m in sorted(near):
            j, other, there = pages[m]
            if m == n or i == j or not _same_title(page.title, other.title):
                continue
            shared = sum(mine for line, mine in lines.items() if line in there)
            is_same = shared >= CONTAINED * units
            if j not in best or is_same > best[j][0]:
                best[j] = (is_same, other.url)
        for j, (is_same, url) in best.items():
            if is_same:
                pairs[i, j].same.add((page.url, url))
            else:
                pairs[i, j].other += 1


def _same_title(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= TITLE_CHARS and shorter in longer


def _is_better(one: Evidence, than: Evidence, pairs: _Pairs, back: _Pairs | None) -> bool:
    """Whether the first is the form to keep."""
    pointing_back = back.pointing if back is not None else 0
    if pairs.pointing != pointing_back:
        return pairs.pointing > pointing_back
    return _worth(one) > _worth(than)


def _worth(one: Evidence) -> tuple[bool, int, int, str]:
    slots = len(_PLACEHOLDER.findall(one.urls.key))
    return one.is_titled, -slots, one.urls.links, one.urls.template


def _leads_to(twins: dict[int, Twin], start: int, end: int) -> bool:
    while start != end and start in twins:
        start = twins[start].better
    return start == end


def _target(same: Sequence[tuple[str, str]], one: UrlClass, better: UrlClass) -> str:
    """Where the better form stands, as the duplicate's slots; ``""`` when the pairs do not tell."""
    read = [(shape_of(a), b, shape_of(b)) for a, b in same]
    values = [(a.values, b.values) for a, _, b in read if a.key == one.key and b.key == better.key]
    fixed = dict(better.fixed)
    source: dict[int, int] = {}
    for slot in range(len(values[0][1]) if values else 0):
        if slot in fixed:
            continue
        theirs = {b[slot] for _, b in values}
        fitting = [i for i in range(len(values[0][0])) if all(a[i] == b[slot] for a, b in values)]
        if fitting and len(theirs) > 1:
            source[slot] = fitting[0]
        elif len(theirs) == 1 and len(values) >= LEAST_PAIRS:
            fixed[slot] = theirs.pop()
        else:
            return ""
    if not source:
        return ""
    example = min(b for _, b, _ in read)
    return _in_order(example, source, fixed)


def _in_order(example: str, source: dict[int, int], fixed: dict[int, str]) -> str:
    """The template of the better form with the parameters in the order of an example."""
    path, _, named = shape_of(example).key.partition("?")
    slots = iter(range(len(source) + len(fixed)))

    def fill(_: re.Match[str]) -> str:
        slot = next(slots)
        return fixed[slot] if slot in fixed else "{" + str(source[slot]) + "}"

    filled = _PLACEHOLDER.sub(fill, path)
    parts = {part.partition("=")[0]: _PLACEHOLDER.sub(fill, part) for part in named.split("&")}
    if not named:
        return filled
    shown = []
    for part in example.partition("?")[2].replace(";", "&").split("&"):
        name, mark, _ = part.partition("=")
        known = parts.get(re.sub("[0-9]+", "0", name)) if mark else None
        if known is None:
            return ""  # a parameter that is no pair of name and value
        shown.append(f"{name}={known.partition('=')[2]}")
    return f"{filled}?{'&'.join(shown)}"
