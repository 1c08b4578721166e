"""Learns the URL rules of a host: sample, classes, kinds, duplicates, rules.

A crawl and a site model call the same function (ADR 20).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.classes import PageFacts, UrlClass, UrlSample, find_classes
from crawlclean.cleaning.url_classes.kinds import (
    TITLE_CHARS,
    Evidence,
    decide_kinds,
    own_lines,
    template_lines,
    weigh_classes,
)
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules
from crawlclean.cleaning.urls.shapes import shape_of, template_of_words

# Duplicate classes: URLs that are another form of the pages of a better class, proven on pages.
#
# Two pages are *equal* when nearly all own text of one stands on the other and one title is part of
# the other. Class A is a duplicate of class B when
#
# - at least ``MIN_SAME`` pages of A are equal to pages of B, and few pages of A have the title of a
#   page of B but another text; or
# - the server redirects nearly all pages of A to B.
#
# A word in a parameter that the better form lacks (``?view=print``) may mean something on few
# pages. It is left out only where no page of its class has another text, and no page links to two
# of its values (``?color=red``, ``?color=blue``).
#
# What stands in a slot that the better form does not need is proven for itself alone, unless it is
# another one on most pages: ``&page=1`` of ten threads says nothing of ``&page=2``. A parameter
# beside the id of the page (``&v=2``) needs ``LEAST_VARIED`` values for that.
#
# Canonical addresses are no proof, for on some sites all pages of a thread name the first one. They
# decide only which class is *better*: the class that canonical addresses point to; without them the
# class whose anchor texts are titles, then the one with fewer slots, then with more links.
#
# The URL of the better form is known when each of its slots that is no fixed word
#
# - is filled from one slot of the duplicate in all pairs, and the pairs differ there:
#   ``/print-{0}``;
# - or has one value in ``LEAST_PAIRS`` pairs or more, as the page number of a thread is 1.

# Kinds of pages worth having in their better form.
_KEPT = (UrlKind.THREAD, UrlKind.ARTICLE, UrlKind.INDEX, UrlKind.USER)
VARIED = 0.8  # values a page from which on any value is proven: ids of posts; pages repeat theirs
LEAST_VARIED = 5  # values of such a parameter: two pages may have the first and the third colour
LEAST_PAIRS = 5  # pairs of URLs with one value in a slot of the better form
_PLACEHOLDER = re.compile(r"\{[nwxs]\}")
Twin = tuple[str, str, int]
"""The better form of proven URLs, ``("/show?id={n}&page=1", "/show?id={0}", 9)``.

The template of the URLs, which are all or some of a class; path and query of the better form,
``{0}`` for their first slot, ``""`` when the slots do not give it; equal pages.
"""


MIN_SAME = 2  # fewest equal pages
SAME_SHARE = 0.6  # equal pages among the compared ones
MOVED_SHARE = 0.9  # redirected pages of a class that prove a duplicate without equal text
CONTAINED = 0.9  # share of a page's own text that stands on an equal page
MIN_UNITS = 20.0  # units of own text below which a page is not compared
KEY_LINES = 4  # longest lines of a page by which equal pages are looked up


@dataclass(slots=True)
class _Pairs:
    """Compared pages of two classes.

    Attributes:
        same: (URL, equal URL) of equal pages.
        pointing: Pages whose canonical address is in the other class.
        other: Pages with the title of a page there, but another text.
    """

    same: set[tuple[str, str]] = field(default_factory=set)
    pointing: int = 0
    other: int = 0


def find_twins(
    classes: Sequence[Evidence], kinds: Sequence[UrlKind | None]
) -> dict[int, list[Twin]]:
    """Finds the duplicate classes of a host; returns position -> better forms of its URLs.

    Args:
        classes: The classes of a host with their evidence.
        kinds: The kind of each class; only kinds of pages to read have duplicates.
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
        # A page that many others are equal to is a notice.
        if len({there for _, there in found.same}) >= MIN_SAME
        and len(found.same) >= SAME_SHARE * (len(found.same) + found.other)
        and _is_better(classes[j], classes[i], found, pairs.get((j, i), _Pairs()))
    ]
    choices = _find_choices(classes) if proven else set()
    twins: dict[int, list[Twin]] = {}
    better: dict[int, int] = {}
    for _, i, j in sorted(proven, reverse=True):
        if i == j or i in twins or kinds[j] not in _KEPT or not _may_go(classes[i], kinds[i]):
            continue
        if _leads_to(better, j, i):
            continue
        urls, form, same = classes[i].urls, classes[j].urls, sorted(pairs[i, j].same)
        target, used = _target(same, form)
        has_text = bool(classes[i].pages)
        is_one_path = urls.key.partition("?")[0] == form.key.partition("?")[0]
        if has_text and used and not target and is_one_path:
            continue  # other pages may have parameters without which no better form is known
        for template, count in _proven_templates(same, urls, used, has_text=has_text):
            added = _added(template, form.template, is_kept=bool(target))
            is_choice = any((urls.key, part) in choices for part in added)
            # A redirect has no text of its own.
            if not (added and has_text and (is_choice or pairs[i, j].other)):
                twins.setdefault(i, []).append((template, target, count))
                better[i] = j
    return twins


def _added(template: str, better: str, *, is_kept: bool) -> list[str]:
    """The words of a template's query that a better one of the same path lacks: ``["view=print"]``.

    Args:
        template: Of the duplicate.
        better: Of the better form.
        is_kept: Whether all else is the same: ``id=7&view=all`` and ``id=7&view=print``.
    """
    path, _, query = template.partition("?")
    better_path, _, kept = better.partition("?")
    names = [] if is_kept else [part.partition("=")[0] for part in kept.split("&")]
    return [
        part
        for part in (query.split("&") if path == better_path else ())
        if not (_PLACEHOLDER.search(part) or part in kept.split("&"))
        and part.partition("=")[0] not in names
    ]


def _find_choices(classes: Sequence[Evidence]) -> set[tuple[str, str]]:
    """(shape, parameter) of URLs that a page links to with several values: ``color=red``."""
    choices: set[tuple[str, str]] = set()
    for page in (page for one in classes for page in one.pages):
        shown: dict[tuple[str, str], set[str]] = defaultdict(set)
        for url, _ in page.links:
            for part in url.partition("?")[2].split("&"):
                shown[shape_of(url).key, part.partition("=")[0]].add(part)
        for (key, _), parts in shown.items():
            choices.update((key, part) for part in parts if len(parts) > 1)
    return choices


def _proven_templates(
    same: Sequence[tuple[str, str]], one: UrlClass, used: Collection[int], *, has_text: bool
) -> list[tuple[str, int]]:
    """Returns (template, equal pages) of the URLs of a class that equal pages prove.

    Args:
        same: (URL, equal URL) of equal pages.
        one: The duplicate class.
        used: Its slots that fill the better form.
        has_text: Whether its pages are no redirects.
    """
    values = [shape_of(url).values for url, _ in same]
    known = {*used, *(slot for slot, _ in one.fixed)}
    in_path = len(_PLACEHOLDER.findall(one.key.partition("?")[0]))
    first_added = in_path if used and has_text else len(values[0])
    repeated = [
        slot
        for slot, found in enumerate(zip(*values, strict=True))
        if slot not in known
        and len(set(found)) < max(VARIED * len(values), LEAST_VARIED * (slot >= first_added))
    ]
    counts = Counter(tuple((slot, each[slot]) for slot in repeated) for each in values)
    return [
        (template_of_words(one.key, (*one.fixed, *words)), count)
        for words, count in counts.items()
        if count >= MIN_SAME
    ]


def _may_go(one: Evidence, kind: UrlKind | None) -> bool:
    """Whether a class may be refused as a duplicate: never the home page, forms or searches."""
    return one.urls.template != "/" and kind in (None, *_KEPT, UrlKind.DUPLICATE)


def _add_same_text(classes: Sequence[Evidence], pairs: dict[tuple[int, int], _Pairs]) -> None:
    """Adds the equal pages of all classes to ``pairs``.

    A page is compared with pages of other classes that share one of its longest lines or its title.
    """
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
    """Whether one title is part of the other, and long enough to mean something."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= TITLE_CHARS and shorter in longer


def _is_better(one: Evidence, than: Evidence, pairs: _Pairs, back: _Pairs) -> bool:
    """Whether ``one`` is the form to keep."""
    return (pairs.pointing, _worth(one)) > (back.pointing, _worth(than))


def _worth(one: Evidence) -> tuple[bool, int, int, str]:
    """Sort key of classes; the greater is the better form."""
    slots = len(_PLACEHOLDER.findall(one.urls.key))
    return one.is_titled, -slots, one.urls.links, one.urls.template


def _leads_to(better: dict[int, int], start: int, end: int) -> bool:
    """Whether following better classes from ``start`` arrives at ``end``: a circle."""
    while start != end and start in better:
        start = better[start]
    return start == end


def _target(same: Sequence[tuple[str, str]], better: UrlClass) -> tuple[str, Collection[int]]:
    """Returns (better form, slots of the duplicate that fill it), ``("/t-{0}-1.html", [0])``.

    Where its slots do not give the better form it is ``""``.

    Args:
        same: (URL, equal URL) of equal pages.
        better: The better class.
    """
    values = [(shape_of(a).values, shape_of(b).values) for a, b in same]
    fixed = dict(better.fixed)
    source: dict[int, int] = {}
    is_known = True
    for slot in range(len(values[0][1])):
        if slot in fixed:
            continue
        theirs = {b[slot] for _, b in values}
        fitting = [i for i in range(len(values[0][0])) if all(a[i] == b[slot] for a, b in values)]
        if fitting and len(theirs) > 1:
            source[slot] = fitting[0]
        elif len(theirs) == 1 and len(values) >= LEAST_PAIRS:
            fixed[slot] = theirs.pop()
        else:
            is_known = False
    if not source or not is_known:
        return "", source.values()
    return _in_order(min(b for _, b in same), source, fixed), source.values()


def _in_order(example: str, source: dict[int, int], fixed: dict[int, str]) -> str:
    """Returns the better form with its query in the order of an example: ``/v?tid={0}&page=1``.

    Args:
        example: A URL of the better class.
        source: Slot of the better form -> slot of the duplicate that fills it.
        fixed: Slot of the better form -> its one value.
    """
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


MAX_EXAMPLE_CHARS = 120  # one example must not take the room of many rules
MAX_RULES_CHARS = 48 * 1024  # all templates, twins and examples: their JSON stays below 64 KB


def learn_url_rules(facts: Iterable[PageFacts], urls: Iterable[str] = ()) -> UrlRules:
    """Learns the URL rules of a host; the order of pages and URLs does not matter.

    Args:
        facts: The facts of fetched pages, their links included.
        urls: More URLs of the host in normal form, fetched or not.
    """
    sample = UrlSample()
    links: Counter[tuple[str, str]] = Counter()
    for page in facts:
        sample.add_page(page)
        links.update(page.links)
    for (url, text), times in links.items():
        sample.add_link(url, text, times)
    for url in urls:
        sample.add_link(url)
    return rules_of(sample)


def rules_of(sample: UrlSample) -> UrlRules:
    """Learns the rules of a sample; classes with the most URLs come first."""
    classes = weigh_classes(find_classes(sample))
    kinds = decide_kinds(classes)
    twins = find_twins(classes, kinds)
    rules: list[UrlRule] = []
    room = MAX_RULES_CHARS
    for i, (one, kind) in enumerate(zip(classes, kinds, strict=True)):
        found = [(UrlKind.DUPLICATE, *twin) for twin in twins.get(i, ())]
        if kind is not None and one.urls.template not in [template for _, template, *_ in found]:
            found.append((kind, one.urls.template, "", _count_pages(one, kind)))
        for kind_there, template, target, pages in found:
            rule = UrlRule(
                kind=kind_there,
                template=template,
                twin=target,
                urls=round(one.urls.count),
                pages=pages,
                named=round(one.named, 2),
                numbered=round(one.numbered, 2),
                example=_example(one.urls),
            )
            room -= len(rule.template) + len(rule.twin) + len(rule.example) + 60
            if room < 0:
                return UrlRules(rules)
            rules.append(rule)
    return UrlRules(rules)


def _count_pages(one: Evidence, kind: UrlKind | None) -> int:
    """The pages that prove a kind; all redirects of a class to one login page prove it, too."""
    if kind is UrlKind.DUPLICATE:
        return 0
    if kind is UrlKind.LOGIN and not one.pages:
        targets = {page.moved_to.partition("?")[0] for page in one.urls.pages}
        return len(one.urls.pages) if len(targets) == 1 else 0
    return len(one.pages)


def _example(urls: UrlClass) -> str:
    """Path and query of the shortest URL of a class: ``/thread-170-1-1.html``."""
    url = min((found.url for found in urls.found), key=lambda url: (len(url), url), default="")
    return url[max(url.find("/", url.find("//") + 2), 0) :][:MAX_EXAMPLE_CHARS]
