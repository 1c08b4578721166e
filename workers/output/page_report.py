"""What is held of a page, as lines for people: its story, verdicts on a text, and by topics."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.records import Verdict, VerdictReason
from crawlclean.workers.answers.schema import member_meanings
from crawlclean.workers.answers.topics import FoundConcept, StoryLine, ToldBy, TopicVerdict

# Stories as lines for people.

MOST_SHOWN = 8  # lines of a story that fit below those of the page


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


# The verdict on a text in lines for a person.

MOST_LINES = 3  # of one text


def verdict_text(verdict: Verdict) -> Iterator[str]:
    """Yields ``cut as navigation: in a part of noise by its tag (nav.menu)``, place and text."""
    what = "kept" if verdict.is_kept else "cut"
    meaning = member_meanings(VerdictReason)[verdict.reason.value]
    by = f" ({verdict.by})" if verdict.by else ""
    yield f"{what} as {verdict.kind}: {meaning}{by}{_scores(verdict)}"
    yield f"  {verdict.path}"
    lines = verdict.text.split("\n")
    yield from (f"    {line}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"    ... {counted(len(lines) - MOST_LINES, 'more line')}"


def _scores(verdict: Verdict) -> str:
    if verdict.score is None:
        return ""
    against = "" if verdict.against is None else f" against {verdict.against:.4g}"
    return f", {verdict.score:.4g}{against}"


# What a topic holds of a page, as lines for people.


def verdict_lines(found: TopicVerdict) -> Iterator[str]:
    """Yields relevance, words, examples, mark and link of a judged page."""
    verdict = "relevant" if found.is_relevant else "not relevant"
    by_user = ", by your mark" if found.mark is not None else ""
    yield (
        f"  topic {found.topic}: {verdict}{by_user}; relevance {found.relevance:.2f} "
        f"(from {found.threshold:g} on), version {found.version}"
    )
    if found.excluded:
        yield f"    excluded by {', '.join(found.excluded)}"
    if found.is_list:
        yield "    an index page: its relevance counts half"
    words = "; ".join(map(_concept, found.concepts))
    yield f"    query {found.query:.2f}: {words}"
    if found.examples is not None:
        nearest = f", nearest {found.nearest}" if found.nearest else ""
        like = f": {' '.join(found.terms)}" if found.terms else ""
        yield f"    examples {found.examples:.2f}{like}{nearest}"
    if found.marks is not None:
        yield f"    your marks {found.marks:+.2f}"
    if found.link is not None:
        parts = ", ".join(f"{part.name} {part.weight:+.2f}" for part in found.link_parts)
        learned = f"; learned in batch {found.learned_in}" if found.learned_in else ""
        yield f"    link {found.link:.2f} by today's weights: {parts}{learned}"


def _concept(concept: FoundConcept) -> str:
    if not concept.share:
        return f"{concept.name} not found"
    where = [f"{concept.name}"]
    where += ["in the title"] if concept.in_title else []
    where += [f"{concept.count} in the body"] if concept.count else []
    return " ".join((where[0], ", ".join(where[1:]))) + f" ({concept.share:.2f})"
