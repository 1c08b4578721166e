"""Author, date and language of a page; its title comes before, for its links (``page_title``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cleaning.body.body import Body
from cleaning.document.raw_page import RawPage
from cleaning.document.tree import Tree
from cleaning.metadata.author import find_author
from cleaning.metadata.byline import Byline
from cleaning.metadata.dates import zone_of
from cleaning.metadata.declared import Declared
from cleaning.metadata.language import find_language
from cleaning.metadata.published import find_published
from cleaning.records import PageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Attributes: author (or None), published_at (aware, or None), language (or None)."""

    author: str | None
    published_at: datetime | None
    language: str | None


def extract_metadata(
    tree: Tree, declared: Declared, body: Body, lines: Byline, page: RawPage, kind: PageKind
) -> Metadata:
    """Author, date of publication and language of a parsed page.

    Index pages and others have neither author nor date: what stands there is of other pages.

    Args:
        tree: The parsed page.
        declared: What it says about itself.
        body: Its body.
        lines: The lines about it.
        page: Its address, host and time of fetch.
        kind: What it is.
    """
    language = find_language(tree, declared, body.text)
    if kind not in (PageKind.ARTICLE, PageKind.THREAD):
        return Metadata(author=None, published_at=None, language=language)
    return Metadata(
        author=find_author(tree, declared, lines, page.host, language),
        published_at=find_published(
            tree, declared, lines, page.url, zone_of(language), page.fetched_at, language
        ),
        language=language,
    )
