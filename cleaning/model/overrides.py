"""Overrides: what a person says of the pages of a host, as CSS and XPath.

An override is of one URL class, or of all pages of its host. Of ``body``, ``title``, ``author``,
``date`` and ``next`` the first selector that finds something on a page counts, those of the URL
class before those of the host; all of ``drop`` and ``keep`` count, for a line the first one that
has it. Where a selector finds nothing, the page is read as without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from crawlclean.cleaning.document.outline import Outline, named, selector, value_of
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.url_classes.rules import UrlRules, class_of
from crawlclean.cleaning.urls.patterns import patterns_of

MAX_BYTES = 32 * 1024  # of the overrides of a host, which are a part of its model
HOME = "/"  # the pattern of the root, whose class is ""


class Override(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a person says of the pages of one URL class, or of a host.

    A selector is XPath where it begins with ``/``, ``(`` or a function, else CSS. The smallest
    piece of a body is a line: it goes with the element that has more than half of its text.

    Attributes:
        pattern: URL class or group of classes (``/news/*.html``, ``/news/**``, a template of
            ``classes``; ``/``: the home page); ``""``: all pages of the host.
        body: Elements that are the body, instead of what was found.
        keep: Elements that belong to the body, too.
        drop: Elements that do not belong to the body.
        title: Element or text with the title.
        author: Elements or texts with the names of the authors.
        date: Element or text with the date of publication.
        next: Links to the next page of a text or a list, which are followed.
        kind: Kind of the pages; null: as they look.
        by: Who made it in the console, ``session 4f11``; ``""``: it stands in a crawl file.
    """

    pattern: str = ""
    body: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    kind: PageKind | None = None
    by: str = ""

    def selectors(self) -> Iterator[tuple[str, str]]:
        """Yields (field, selector) of each selector: ``("drop", "div.share")``."""
        for name in SELECTED:
            yield from ((name, each) for each in getattr(self, name))

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yields what ``selectors`` does, and the kind: ``("kind", "article")``."""
        yield from self.selectors()
        if self.kind:
            yield "kind", str(self.kind)

    def described(self) -> Iterator[str]:
        """Yields a line for each part: ``/news/*.html drop div.share``."""
        yield from (" ".join(filter(None, (self.pattern, *part))) for part in self.parts())

    def fits(self, url: str, rules: UrlRules) -> bool:
        """Whether it is about the page at a URL in normal form."""
        known = (class_of(url, rules) or HOME, *patterns_of(url))
        return not self.pattern or self.pattern in known


_LINES = ("body", "drop", "keep")
_ATTRIBUTES = {
    "title": ("content",),
    "author": ("content",),
    "date": ("datetime", "content"),
    "next": ("href",),
}
SELECTED = (*_LINES, *_ATTRIBUTES)


def check_overrides(overrides: Iterable[Override]) -> None:
    """Checks the overrides of one host.

    Raises:
        ConfigError: A selector is none, or they are too long.
    """
    found = tuple(overrides)
    for each in found:
        for _, text in each.selectors():
            selector(text)
    if len(msgspec.json.encode(found)) > MAX_BYTES:
        raise ConfigError(f"the overrides of a host take {MAX_BYTES >> 10} KB at most")


@dataclass(slots=True)
class Said:
    """What the overrides of a host say of one page.

    Attributes:
        lines: ``body``, ``keep``, ``drop`` -> line -> the selector that found it.
        values: ``title``, ``author``, ``date``, ``next`` -> the values that a selector found.
        by: Field -> the selector that found its values.
        kind: Kind of the page; None: as it looks.
        decided: Line -> the selector that brought it into the body or kept it out.
    """

    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)
    kind: PageKind | None = None
    decided: dict[int, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """The first value of a field, ``""`` without."""
        return next(iter(self.values.get(name, ())), "")


def overrides_of(overrides: Iterable[Override], url: str, rules: UrlRules) -> list[Override]:
    """Returns those about a page, by its URL in normal form.

    Those of its URL class come first, and of these what was said in the console.
    """
    found = [each for each in overrides if each.fits(url, rules)]
    return sorted(found, key=lambda each: (not each.pattern, not each.by))


def read_overrides(outline: Outline, overrides: Iterable[Override]) -> Said:
    """Returns what overrides say of one page.

    Args:
        outline: The elements of the page.
        overrides: Those about it, the first ones first (``overrides_of``).
    """
    said = Said()
    for each in overrides:
        said.kind = said.kind or each.kind
        for name, text in each.selectors():
            if name in said.by:
                continue
            found = outline.find(text)
            if name in _LINES:
                lines = {i: text for element in found for i in outline.lines_of(element)}
                if name == "body" and lines:
                    said.by[name] = text
                elif name != "body":
                    known = {i for x in ("drop", "keep") for i in said.lines.get(x, ())}
                    lines = dict.fromkeys(lines.keys() - known, text) | said.lines.get(name, {})
                said.lines[name] = lines
            elif values := [x for one in found if (x := value_of(one, *_ATTRIBUTES[name]))]:
                said.values[name], said.by[name] = values, text
    return said


_SPACES = re.compile(r"[ \t\r\n]+")
_SHOWN_CHARS = 60  # of a text that a selector looks for: enough to know it again


def selector_of_line(outline: Outline, line: int) -> str:
    """Returns a selector of the element whose text is one line of a page; ``""`` without one.

    By tag, classes and id where these are of no other line of the page, else by the text.
    """
    found = ""
    for element in outline.around(line):  # the outermost first
        if [*outline.lines_of(element)] != [line]:
            continue
        own = named(element)
        around = next(filter(None, map(named, element.iterancestors())), "")
        for text in (own, f"{around} {own}" if own and around else ""):
            if text and {i for x in outline.find(text) for i in outline.lines_of(x)} == {line}:
                return text
        # As normalize-space has it, to which a no-break space is no space.
        whole = " ".join(filter(None, _SPACES.split("".join(element.itertext()))))
        start = whole[:_SHOWN_CHARS].partition('"')[0]
        if start.strip() and not found:
            is_whole = start == whole
            test = "normalize-space() =" if is_whole else "starts-with(normalize-space(),"
            found = f'//{element.tag}[{test} "{start}"{"" if is_whole else ")"}]'
    return found
