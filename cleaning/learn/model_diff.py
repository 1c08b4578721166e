"""Differences between two models of a host, and between two records of a page, as text.

A page is re-cleaned only if a new model changes its verdicts; the lines here are what a person
checks them by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawlclean.cleaning.lexicon import counted
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord

_MAX_SHOWN = 40  # differences of one kind that are listed
_NEAR = 0.05  # shares that differ by less count as equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The differences between two records of one page.

    Attributes:
        body: Whether the bodies or the posts differ.
        kind: Whether the page kinds differ.
        title: Whether the titles differ.
        links: Number of links whose kinds differ.
        images: Number of images whose kinds differ.
    """

    body: bool = False
    kind: bool = False
    title: bool = False
    links: int = 0
    images: int = 0

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return self.body or self.kind or self.title or bool(self.links or self.images)


def change_of(before: CleanRecord, after: CleanRecord) -> Change:
    """Compares two records of one page, whatever models made them."""
    return Change(
        body=before.body != after.body or before.posts != after.posts,
        kind=before.kind is not after.kind,
        title=before.title != after.title,
        links=_different([link.kind for link in before.links], [link.kind for link in after.links]),
        images=_different(
            [image.kind for image in before.images], [image.kind for image in after.images]
        ),
    )


def _different(before: list[object], after: list[object]) -> int:
    """Number of positions at which two lists of kinds differ."""
    longer = abs(len(before) - len(after))
    return longer + sum(a is not b for a, b in zip(before, after, strict=False))


def differences(old: SiteModel, new: SiteModel) -> tuple[str, ...]:
    """Returns one line for each difference of a newer model, bodies first; () for equal models.

    Such as ``bodies stand at: + html/body/div.article`` and ``URL classes: 3 more``.
    """
    lines: list[str] = []

    def compare(name: str, named: Callable[[SiteModel], set[str]]) -> None:
        lines.extend(_sets(name, named(old), named(new)))

    if old.page_count != new.page_count:
        lines.append(f"learned from {counted(new.page_count, 'page')}, was {old.page_count}")
    compare("bodies stand at", lambda model: {place.path for place in model.body_rule.places})
    compare(
        "left out of bodies",
        lambda model: {
            f"{each.path} ({each.reason})"
            for place in model.body_rule.places
            for each in place.dropped
        },
    )
    if old.post_rule != new.post_rule:
        lines.append("posts are found by another rule")
    compare("titles end with", lambda model: {t.text for t in model.template.title_suffixes})
    compare("titles begin with", lambda model: {t.text for t in model.template.title_prefixes})
    compare(
        "links of one kind at",
        lambda model: {
            f"{place.path} ({place.kind})"
            for place in (*model.noise.link_places, *model.related_rule.places)
        },
    )
    compare("template", lambda model: set(map(repr, model.index.often)))
    for name, before, after in (
        ("links that repeat", old.noise.links, new.noise.links),
        ("images that repeat", old.noise.images, new.noise.images),
    ):
        lines += _sets(name, set(before), set(after))
        moved = sum(abs(before[url] - after[url]) >= _NEAR for url in before.keys() & after.keys())
        if moved:
            lines.append(f"{name}: {moved} with another share")
    compare(
        "URL classes",
        lambda model: {f"{rule.template} ({rule.kind})" for rule in model.url_rules},
    )
    compare("overrides", lambda model: {line for x in model.overrides for line in x.described()})
    return tuple(lines)


def _sets(name: str, before: set[str], after: set[str]) -> list[str]:
    """One line for each member that came (``+``) or went (``-``), 40 of each at most."""
    gone, come = sorted(before - after), sorted(after - before)
    lines = [f"{name}: + {each}" for each in come[:_MAX_SHOWN]]
    lines += [f"{name}: - {each}" for each in gone[:_MAX_SHOWN]]
    more = len(come[_MAX_SHOWN:]) + len(gone[_MAX_SHOWN:])
    return [*lines, f"{name}: {more} more"] if more else lines


def describe(model: SiteModel) -> tuple[str, ...]:
    """Returns one line for each rule of a model, with the number of pages that taught it.

    Such as ``bodies stand at html/body/div.article on 61 of 80 pages``.
    """
    count = model.page_count
    lines = [
        f"version {model.version}, learned from {count} pages, newest {model.learned_at:%Y-%m-%d}"
    ]
    for place in model.body_rule.places:
        lines.append(f"bodies stand at {place.path} on {place.on.bit_count()} of {count} pages")
        lines += [
            f"  without {d.path.removeprefix(place.path)} "
            f"({d.reason}, {counted(d.on.bit_count(), 'page')})"
            for d in place.dropped
        ]
    if model.post_rule is not None:
        lines.append(f"posts are found by a rule of {counted(model.post_rule.pages, 'page')}")
    template, often = model.template, model.index.often
    lines += [
        f"titles end with {each.text!r} on {counted(each.on.bit_count(), 'page')}"
        for each in template.title_suffixes
    ]
    lines += [
        f"template: {line.text!r} on {counted(line.on.bit_count(), 'page')}"
        for line in [line for line in template.lines if line.text in often][:_MAX_SHOWN]
    ]
    lines.append(
        f"repeated: {counted(len(model.noise.links), 'link')} and "
        f"{counted(len(model.noise.images), 'image')}; links of one kind at "
        + counted(len(model.noise.link_places) + len(model.related_rule.places), "place")
    )
    lines += [
        f"related links at {place.path} ({counted(place.on.bit_count(), 'page')})"
        for place in model.related_rule.places
    ]
    lines.append(counted(len(model.url_rules), "URL class"))
    lines += [f"overrides: {line}" for each in model.overrides for line in each.described()]
    return tuple(lines)


def explain(model: SiteModel, text: str) -> tuple[str, ...]:
    """Returns one line, with its pages, for each template text that contains a text or is in it."""
    found = []
    for each in (*model.template.lines, *model.template.title_suffixes):
        if _is_like(each.text, text.strip()):
            pages = model.pages(each.on)
            shown = ", ".join(pages[:5]) + (" ..." if len(pages) > 5 else "")
            found.append(f"{each.text!r} on {len(pages)} of {model.page_count} pages: {shown}")
    return tuple(found)


def is_left_out(model: SiteModel, text: str) -> bool:
    """Whether a line like the text is left out before and behind the other lines of a body."""
    return any(_is_like(each, text.strip()) for each in model.index.often)


def _is_like(line: str, text: str) -> bool:
    """Whether one of two texts contains the other."""
    return bool(line and text) and (line in text or text in line)
