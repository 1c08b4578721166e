"""Kind, author, date and language of a page; its title comes before, for its links (``title``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cleaning.body.page_body import Body
from cleaning.document.document import Document
from cleaning.metadata.author import find_author
from cleaning.metadata.byline import Byline
from cleaning.metadata.dates import zone_of
from cleaning.metadata.language import find_language
from cleaning.metadata.page_kind import decide_kind
from cleaning.metadata.published import find_published
from cleaning.records import Link, PageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a page is and who wrote it.

    Attributes:
        kind: One text, posts on one thing, a list of others, or something else.
        author: Names, such as ``张三、李四``, or None.
        published_at: Aware, or None.
        language: BCP 47 primary tag, such as ``zh``, or None.
    """

    kind: PageKind
    author: str | None
    published_at: datetime | None
    language: str | None


def read_metadata(document: Document, body: Body, links: tuple[Link, ...]) -> Metadata:
    """Kind, author, date of publication and language of a page.

    Index pages and others have neither author nor date: what stands there is of other pages.

    Args:
        document: The parsed page.
        body: Its body.
        links: Its links with their kinds.
    """
    page, tree, declared = document.page, document.tree, document.declared
    lines = Byline(tree, body)
    kind = decide_kind(document, body, lines, links)
    language = find_language(tree, declared, body.text)
    if kind not in (PageKind.ARTICLE, PageKind.THREAD):
        return Metadata(kind=kind, author=None, published_at=None, language=language)
    return Metadata(
        kind=kind,
        author=find_author(tree, declared, lines, page.host, language),
        published_at=find_published(
            tree, declared, lines, page.url, zone_of(language), page.fetched_at, language
        ),
        language=language,
    )
