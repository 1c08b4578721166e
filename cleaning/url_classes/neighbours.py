"""The kind of a class that has no evidence of its own, from the classes beside it.

In this order:

1. *Next pages*: its links say numbers or the same few words, its words hold those of a class of
   topics or lists, and its URLs begin with the values of URLs of that class.
2. *Variants*: the same path and no other words in the query; of several the one whose parameters
   differ least.
3. *Shape*: nearly all classes of its shape that have a kind have the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cleaning.records import UrlKind
from cleaning.url_classes.evidence import Evidence
from cleaning.urls.shapes import shape_of

_PAGED = (UrlKind.THREAD, UrlKind.ARTICLE, UrlKind.INDEX)
_WILD = re.compile(r"(?:[^/?&=]*\{[nwxs]\}[^/?&=]*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """When a neighbour's kind counts.

    Attributes:
        page_links: Share of URLs found by a number or by a word that many of the class have.
        begun: Share of URLs that begin with the values of the other class.
        max_compared: URLs of a class that are compared.
        of_shape: Classes of one shape with a kind that may say it for the others.
        of_shape_share: Share of them that must be of one kind.
    """

    page_links: float = 0.8
    begun: float = 0.6
    max_compared: int = 100
    of_shape: int = 3
    of_shape_share: float = 0.75


def inherit_kinds(
    classes: Sequence[Evidence], kinds: list[UrlKind | None], params: Params | None = None
) -> None:
    """Fills in the kinds that are None, where a neighbour says them."""
    chosen = params or Params()
    known = [i for i, kind in enumerate(kinds) if kind is not None]
    missing = [i for i, kind in enumerate(kinds) if kind is None]
    found: dict[int, UrlKind] = {}
    starts = {i: _values(classes[i]) for i in known if kinds[i] in _PAGED}
    by_path: dict[str, list[int]] = {}
    of_shape: dict[str, Counter[UrlKind]] = {}
    loose = [_loose(one.urls.template) for one in classes]
    for i in known:
        by_path.setdefault(loose[i][0], []).append(i)
        of_shape.setdefault(classes[i].urls.key, Counter())[kinds[i] or UrlKind.OTHER] += 1
    for i in missing:
        near = next(
            (j for j in starts if _continues(classes[i], classes[j], starts[j], chosen)), -1
        )
        if near < 0:
            near = _variant(i, by_path.get(loose[i][0], ()), loose, kinds)
        if near >= 0:
            found[i] = kinds[near] or UrlKind.OTHER
            continue
        same = of_shape.get(classes[i].urls.key, Counter())
        if same.total() >= chosen.of_shape:
            kind, times = same.most_common(1)[0]
            if times >= chosen.of_shape_share * same.total():
                found[i] = kind
    for i, kind in found.items():
        kinds[i] = kind


def _values(one: Evidence) -> frozenset[tuple[str, ...]]:
    """The values of the slots that are no fixed words, of each URL."""
    fixed = {slot for slot, _ in one.urls.fixed}
    return frozenset(_wild(found.url, fixed) for found in one.urls.found)


def _wild(url: str, fixed: set[int]) -> tuple[str, ...]:
    return tuple(value for i, value in enumerate(shape_of(url).values) if i not in fixed)


def _continues(
    one: Evidence, first: Evidence, starts: frozenset[tuple[str, ...]], params: Params
) -> bool:
    """Whether a class is that of later pages of another."""
    words = {word for _, word in one.urls.fixed}
    if not {word for _, word in first.urls.fixed} <= words or not one.urls.found:
        return False
    count = len(next(iter(starts), ()))
    fixed = {slot for slot, _ in one.urls.fixed}
    compared = one.urls.found[: params.max_compared]
    if not count or len(_wild(compared[0].url, fixed)) <= count:
        return False
    shared = Counter(text for found in compared for text in found.texts)
    paged = sum(any(text.isdigit() or shared[text] > 2 for text in f.texts) for f in compared)
    begun = sum(_wild(found.url, fixed)[:count] in starts for found in compared)
    numbered = any(text.isdigit() for text in shared)
    return (
        numbered
        and paged >= params.page_links * len(compared)
        and begun >= params.begun * len(compared)
    )


def _variant(
    one: int,
    others: Sequence[int],
    loose: Sequence[tuple[str, dict[str, str], frozenset[str]]],
    kinds: Sequence[UrlKind | None],
) -> int:
    """The class of one path that differs least in its parameters; -1 when none is a variant."""
    _, words, names = loose[one]
    best, least = -1, 0
    for i in others:
        _, known, their_names = loose[i]
        if any(words.get(name) != word for name, word in known.items()):
            continue
        # Another word is another page of the same thing only where that is a list.
        if len(words) > len(known) and kinds[i] is not UrlKind.INDEX:
            continue
        differing = len(names ^ their_names)
        if best < 0 or differing < least:
            best, least = i, differing
    return best


def _loose(template: str) -> tuple[str, dict[str, str], frozenset[str]]:
    """(path with wildcards joined, fixed words of the query by name, its names) of a template."""
    path, _, query = template.partition("?")
    words = {}
    names = set()
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        names.add(name)
        if "{" not in part and (value or "=" not in part):
            words[name] = value
    joined = _WILD.sub(lambda match: _joined(match[0]), path)
    return joined, words, frozenset(names)


def _joined(segment: str) -> str:
    fixed = re.sub(r"[^A-Za-z{}]*\{[nwxs]\}[^A-Za-z{}]*", "*", segment)
    return re.sub(r"\*+", "*", fixed)
