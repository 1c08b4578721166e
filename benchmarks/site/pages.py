"""The labelled whole sites as pages with gold: body text, links and images of template and body.

Gold comes from the selectors in the data. All tools read the text decoded by
``RawPage.from_bytes``.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from lxml import html as lxml_html

from benchmarks.kit.results import require_data
from benchmarks.kit.serving import labelled_sites
from crawlclean import RawPage
from crawlclean.cleaning.document.tree import CODE, HEADINGS, ROLES

_BLOCKS = HEADINGS | {tag for tag, role in ROLES.items() if role <= CODE} | {"br", "hr"}
_NO_TEXT = frozenset(("script", "style", "noscript", "template", "select", "textarea", "iframe"))


@dataclass(frozen=True, slots=True)
class Gold:
    """Gold of a page, by the selectors of its site.

    Attributes:
        body: Text of the body, one line a block; ``""`` without a body.
        links: (raw href, place) of each ``<a>``/``<area>`` with an href; the place is True in the
            template, False in the body, else None.
        images: (src, kind) of each ``<img>``; the kind is ``ad``, ``content`` or ``""``.
    """

    body: str
    links: list[tuple[str, bool | None]] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Site:
    """A whole site: its pages, and for each page whether it has a gold body."""

    name: str
    pages: list[RawPage]
    is_content: list[bool]
    selectors: dict[str, Any]
    known: dict[int, Gold] = field(default_factory=dict)

    def gold(self, number: int) -> Gold:
        """Returns the gold of a page, cached."""
        if number not in self.known:
            self.known[number] = gold_of(self.pages[number], self.selectors)
        return self.known[number]


@contextmanager
def whole_sites() -> Iterator[list[Site]]:
    """Yields all labelled sites, unpacked for the block (or from ``SITES_WWW``)."""
    data = require_data("sites")
    with TemporaryDirectory() as name:
        if "SITES_WWW" not in os.environ:
            with tarfile.open(data / "www.tar.xz") as archive:
                archive.extractall(name, filter="data")
            os.environ["SITES_WWW"] = str(Path(name) / "www")
        sys.path.insert(0, str(data))
        reader = importlib.import_module("siteroot")
        yield [_read(reader, name, site) for name, site in labelled_sites().items()]


def _read(reader: Any, name: str, site: dict[str, Any]) -> Site:
    root = reader.Site(name, os.environ["SITES_WWW"])
    pages: list[RawPage] = []
    is_content: list[bool] = []
    wanted = re.compile(site["gold"]["content"])
    for path in site["urls"]:
        file, _, query = path.partition("?")
        found = root.resolve(file, query)
        if not found or found[0] != "file" or not root.is_html(found[1]):
            continue
        body = (Path(root.root) / found[1]).read_bytes()
        pages.append(RawPage.from_bytes(f"http://{name}{path}", body))
        is_content.append(wanted.search(unquote(found[1])) is not None)
    return Site(name, pages, is_content, site["gold"])


def gold_of(page: RawPage, selectors: dict[str, Any]) -> Gold:
    """Reads the gold of a page with the selectors of its site."""
    root = lxml_html.document_fromstring(page.html.encode(), parser=html_parser())
    bodies = root.cssselect(selectors["body"])
    dropped = set(root.cssselect(selectors.get("drop") or "script"))
    template = set(root.cssselect(", ".join(selectors["tpl"])))
    inside = set(bodies)
    lines: list[list[str]] = [[]]
    for body in bodies:
        if not any(outer in inside for outer in body.iterancestors()):
            _text(body, dropped, lines)
    text = "\n".join(filter(None, (" ".join("".join(line).split()) for line in lines)))

    def place(element: Any) -> bool | None:
        for outer in (element, *element.iterancestors()):
            if outer in template or outer in dropped:
                return True if outer in template else None
            if outer in inside:
                return False
        return None

    links = [
        (element.get("href"), place(element))
        for element in root.iter("a", "area")
        if element.get("href") is not None
    ]
    ads: set[Any] = set()
    if "ads" in selectors:
        for element in root.cssselect(selectors["ads"]):
            ads.update([element] if element.tag == "img" else element.iter("img"))
        wanted = re.compile(selectors["ads_url"])
        for element in root.iter("img"):
            around = next(element.iterancestors("a"), None)
            target = around.get("href") or "" if around is not None else ""
            if wanted.search(element.get("src") or "") or wanted.search(target):
                ads.add(element)
    images = [
        (
            element.get("src") or "",
            "ad" if element in ads else "content" if place(element) is False else "",
        )
        for element in root.iter("img")
    ]
    return Gold(body=text, links=links, images=images)


def html_parser() -> Any:
    """Creates an lxml parser for pages of any depth."""
    return lxml_html.HTMLParser(encoding="utf-8", huge_tree=True)


def _text(element: Any, dropped: set[Any], lines: list[list[str]]) -> None:
    """Appends the visible text of an element to the lines; a block begins and ends a line."""
    if isinstance(element.tag, str) and element.tag not in _NO_TEXT and element not in dropped:
        is_block = element.tag in _BLOCKS
        if is_block:
            lines.append([])
        lines[-1].append(element.text or "")
        for child in element:
            _text(child, dropped, lines)
            lines[-1].append(child.tail or "")
        if is_block:
            lines.append([])
