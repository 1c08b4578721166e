"""Titles and kinds of pages against the labels of sites, forums and articles.

Dates and authors are measured by the public corpora: ``public.py``.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from benchmarks.forum.labelled import forums
from benchmarks.kit.serving import labelled_sites
from benchmarks.kit.sources import site_pages
from benchmarks.page.body import labelled_pages
from crawlclean import RawPage, WarningKind, clean
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.source import decode
from crawlclean.cleaning.features.lines import plain_title
from crawlclean.cleaning.urls.normal_form import host_of

_EPOCH = datetime.fromtimestamp(0, UTC)
_ARTICLES = ("gne", "magic-article", "aeb")
# Page kinds by label of forums and sites; other labels have no page kind.
_KINDS = {
    "article": "article", "thread": "thread", "thread_alt": "thread", "board": "index",
    "index": "index", "user": "other", "search": "other", "login": "other", "post": "other",
}  # fmt: skip
_PAGES_OF_TYPE = 12  # of a forum
_PAGES_OF_SITE = 30


def measure(_only_ours: bool = False) -> dict[str, Any]:
    """Returns the shares of right titles."""
    return {"metadata": {"titles": _titles()}}


def measure_kinds(_only_ours: bool = False) -> dict[str, Any]:
    """Returns page kinds found by labelled type, and false NEEDS_JAVASCRIPT warnings."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    warned = 0
    for kind, page in _pages_of_kinds():
        record = clean(page)
        found[kind][record.kind] += 1
        warned += any(x.kind is WarningKind.NEEDS_JAVASCRIPT for x in record.warnings)
    kinds = {
        name: {
            "pages": sum(by_kind.values()),
            "right": round(by_kind[_KINDS[name.rpartition(" ")[2]]] / sum(by_kind.values()), 4),
            "found": dict(by_kind),
        }
        for name, by_kind in sorted(found.items())
    }
    return {"kinds": {"types": kinds, "warned_of_scripts": warned}}


def _page(html: str, url: str) -> RawPage:
    return RawPage(url=url, host=host_of(url), fetched_at=_EPOCH, html=html, encoding="utf-8")


def _titles() -> dict[str, Any]:
    """Returns the share of right titles, ours and <title>; spaces and punctuation ignored."""
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for name, kind, gold, page in _labelled_titles():
        if kind == "article" or kind.startswith("thread"):
            wanted = plain_title(gold)
            raw = plain_title(parse(page.html).title)
            found[name].append((plain_title(clean(page).title) == wanted, raw == wanted))
    return {
        name: {
            "pages": len(rows),
            "right": round(sum(ours for ours, _ in rows) / len(rows), 4),
            "whole_title_right": round(sum(raw for _, raw in rows) / len(rows), 4),
        }
        for name, rows in sorted(found.items())
    }


def _labelled_titles() -> Iterator[tuple[str, str, str, RawPage]]:
    for name, kind, gold, page in _forum_pages():
        if gold:
            yield name, kind, gold, page
    for name, kind, page in _site_pages():
        gold = _heading(name, page.html) if kind == "article" else ""
        if gold:
            yield name, kind, gold, page


def _pages_of_kinds() -> Iterator[tuple[str, RawPage]]:
    for page in labelled_pages():
        if page["set"] in (*_ARTICLES, "magic-forum"):
            kind = "thread" if page["set"] == "magic-forum" else "article"
            yield f"{page['set']} {kind}", _page(page["html"], page["url"])
    for _, kind, _, raw in _forum_pages():
        if kind in _KINDS:
            yield f"forum {kind}", raw
    for _, kind, raw in _site_pages():
        yield f"site {kind}", raw


def _forum_pages() -> Iterator[tuple[str, str, str, RawPage]]:
    """Yields (forum, type, title or "", page) for the first pages of each type."""
    for forum, rows in forums():
        seen: Counter[str] = Counter()
        for row in rows:
            if row.get("html"):
                seen[row["type"]] += 1
                if seen[row["type"]] <= _PAGES_OF_TYPE:
                    title = (row.get("gold") or {}).get("title") or ""
                    yield forum, row["type"], title, _page(row["html"], row["url"])


def _site_pages() -> Iterator[tuple[str, str, RawPage]]:
    """Yields (site, kind, page) for a sample of the whole sites."""
    by_kind = defaultdict(list)
    for page in site_pages():
        if page.kind and page.path.endswith((".html", ".htm", ".asp")):
            by_kind[page.site, page.kind].append(page)
    chance = random.Random(2)  # noqa: S311 - a sample
    for (site, kind), pages in sorted(by_kind.items()):
        pages.sort(key=lambda page: page.path)
        for page in chance.sample(pages, min(len(pages), _PAGES_OF_SITE)):
            raw = _page(decode(page.body).html, f"http://{site}/{page.path}")
            yield site, "article" if kind == "content" else kind, raw


def _heading(site: str, html: str) -> str:
    """Returns the text of the labelled title element of a site's page, or ""."""
    from lxml import etree
    from lxml.cssselect import CSSSelector

    parser = etree.HTMLParser(encoding="utf-8")
    root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    found = CSSSelector(labelled_sites()[site]["gold"]["title"])(root)
    return " ".join("".join(found[0].itertext()).split()) if found else ""
