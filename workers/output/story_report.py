"""Stories as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.workers.answers.stories import StoryLine, ToldBy

MOST_SHOWN = 8


def story_lines(found: StoryLine) -> Iterator[str]:
    """A line about a story, and one for each of its pages."""
    yield f"story {found.story}: {_count(found)}"
    if found.title:
        yield f'  "{found.title}"'
    for page in () if found.pages is UNSET else found.pages:
        yield f"  {minute(page.at)}  {page.url}  {page.body_chars} characters{_marks(found, page)}"


def told_also_by(found: StoryLine, url: str) -> Iterator[str]:
    """Which other URLs tell the story of a page: a line with their number, then some of them.

    The earliest and the longest page are always among them.

    Args:
        found: The story with its pages.
        url: The page's own URL.
    """
    pages = [] if found.pages is UNSET else list(found.pages)
    others = [page for page in pages if page.url != url]
    marked = [page for page in others if _marks(found, page)]
    plain = [page for page in others if not _marks(found, page)]
    shown = [*marked, *plain][:MOST_SHOWN]
    own = next((_marks(found, page) for page in pages if page.url == url), "")
    own = f", this page is the{own.removeprefix(',').replace(',', ' and')}" if own else ""
    yield f"story {found.story}, {_count(found)}{own}"
    for page in shown:
        yield f"  {page.url}{_marks(found, page)}"
    if len(others) > len(shown):
        yield f"  and {len(others) - len(shown)} more: `stories {found.story}`"


def _count(found: StoryLine) -> str:
    hosts = counted(found.host_count, "host")
    return f"{counted(found.url_count, 'URL')} of {hosts}"


def _marks(found: StoryLine, page: ToldBy) -> str:
    """``", earliest, longest"``, or ``""``."""
    names = {"earliest": found.earliest, "longest": found.longest}
    return "".join(f", {name}" for name, head in names.items() if head.url == page.url)
