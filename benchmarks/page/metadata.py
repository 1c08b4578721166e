"""Author and date against declared metadata; title, language and page kind against labels.

No data has labels of authors and dates, so declared metadata (JSON-LD, ``<meta>``) is the gold: it
is removed from the page, and the author and date found in the visible text are compared with it.
Titles are compared with the labels of sites and forums, languages with the labels of pages.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from benchmarks.forum.labelled import forums
from benchmarks.kit.serving import labelled_sites
from benchmarks.kit.sources import NO_URL, site_pages
from benchmarks.page.body import labelled_pages
from crawlclean import CleanRecord, RawPage, WarningKind, clean
from crawlclean.cleaning.document.document import Declared, read_declared
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.source import decode
from crawlclean.cleaning.features.lines import plain_title
from crawlclean.cleaning.metadata.byline import clean_names
from crawlclean.cleaning.metadata.dates import read_declared_dates, zone_of
from crawlclean.cleaning.urls.normal_form import host_of

_DATA = re.compile(r"<script[^>]{0,200}ld\+json[^>]{0,200}>.*?</script>", re.S | re.I)
_META = re.compile(r"<meta\b[^>]{0,3000}>", re.I)
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
    """Returns agreement with declared authors and dates, coverage, titles and languages."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for page in labelled_pages():
        if page["set"] in _ARTICLES:
            _count(page, counts["zh" if page["lang"] == "zh" else "other"])
    return {"metadata": {"articles": {k: dict(v) for k, v in counts.items()}, "titles": _titles()}}


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


def _count(page: dict[str, Any], count: Counter[str]) -> None:
    url, html = page["url"], page["html"]
    record = clean(_page(html, url))
    hidden = clean(_page(_META.sub("", _DATA.sub("", html)), url))
    declared = read_declared(parse(html), NO_URL, "utf-8")
    count["pages"] += 1
    count["with_author"] += record.author is not None
    count["with_date"] += record.published_at is not None
    if page["lang"] in ("zh", "ja-ko"):
        count["language_right"] += record.language in page["lang"].replace("ja-ko", "ja ko").split()
    _count_date(record, hidden, declared, count)
    _count_author(hidden, declared, count)


def _count_date(
    record: CleanRecord, hidden: CleanRecord, declared: Declared, count: Counter[str]
) -> None:
    language = record.language
    first = next(read_declared_dates(declared, zone_of(language), language), None)
    if first is None:
        return
    count["dates_declared"] += 1
    if hidden.published_at is not None:
        count["dates_found"] += 1
        count["dates_right"] += (
            hidden.published_at.date() == first.when.date()
            or hidden.published_at.astimezone(UTC).date() == first.when.astimezone(UTC).date()
        )


def _count_author(hidden: CleanRecord, declared: Declared, count: Counter[str]) -> None:
    names = {x.lower() for name in declared.data.authors for x in clean_names(name)}
    if not names:
        return
    count["authors_declared"] += 1
    if hidden.author is not None:
        count["authors_found"] += 1
        count["authors_right"] += any(name in hidden.author.lower() for name in names)


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
