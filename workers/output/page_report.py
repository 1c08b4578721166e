"""What is held of a page, as lines for people: its story, verdicts on a text, and by topics."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from crawlclean.cleaning.lexicon import minute
from crawlclean.cleaning.records import Verdict, VerdictReason
from crawlclean.workers.answers.schema import member_meanings
from crawlclean.workers.answers.topics import FoundConcept, StoryLine, ToldBy, TopicVerdict
from crawlclean.workers.spoken import counted, is_chinese, say, term

# Stories as lines for people.

MOST_SHOWN = 8  # lines of a story that fit below those of the page


def story_lines(found: StoryLine) -> Iterator[str]:
    """A line about a story, and one for each of its pages."""
    yield say("story {story}: {count}", story=found.story, count=_count(found))
    if found.title:
        yield f'  "{found.title}"'
    for page in () if found.pages is UNSET else found.pages:
        chars = say("{n} characters", n=page.body_chars)
        yield f"  {minute(page.at)}  {page.url}  {chars}{_marks(found, page)}"


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
    named = _marked(found, url, say(" and "))
    own = say(", this page is the {named}", named=named) if named else ""
    yield say("story {story}, {count}{own}", story=found.story, count=_count(found), own=own)
    for page in shown:
        yield f"  {page.url}{_marks(found, page)}"
    if len(others) > len(shown):
        more = len(others) - len(shown)
        yield "  " + say("and {n} more: `stories {story}`", n=more, story=found.story)


def _count(found: StoryLine) -> str:
    urls, hosts = counted(found.url_count, "URL"), counted(found.host_count, "host")
    return say("{urls} of {hosts}", urls=urls, hosts=hosts)


def _marks(found: StoryLine, page: ToldBy) -> str:
    """``", earliest, longest"``, or ``""``."""
    marks = _marked(found, page.url, say(", "))
    return say(", ") + marks if marks else ""


def _marked(found: StoryLine, url: str, between: str) -> str:
    """What a page of a story is: ``earliest and longest``, or ``""``."""
    names = {"earliest": found.earliest, "longest": found.longest}
    return between.join(say(name) for name, head in names.items() if head.url == url)


# The verdict on a text in lines for a person.

MOST_LINES = 3  # of one text


def verdict_text(verdict: Verdict) -> Iterator[str]:
    """Yields ``cut as navigation: in a part of noise by its tag (nav.menu)``, place and text."""
    meaning = member_meanings(VerdictReason)[verdict.reason.value]
    if is_chinese():
        meaning = term("rule", verdict.reason.value)
    yield say(
        "kept as {kind}: {why}{by}{scores}"
        if verdict.is_kept
        else "cut as {kind}: {why}{by}{scores}",
        kind=term("verdict", verdict.kind),
        why=meaning,
        by=say(" ({detail})", detail=verdict.by) if verdict.by else "",
        scores=_scores(verdict),
    )
    yield f"  {verdict.path}"
    lines = verdict.text.split("\n")
    yield from (f"    {line}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"    ... {counted(len(lines) - MOST_LINES, 'more line')}"


def _scores(verdict: Verdict) -> str:
    if verdict.score is None:
        return ""
    if verdict.against is None:
        return say(", {score:.4g}", score=verdict.score)
    return say(", {score:.4g} against {other:.4g}", score=verdict.score, other=verdict.against)


# What a topic holds of a page, as lines for people.


def verdict_lines(found: TopicVerdict) -> Iterator[str]:
    """Yields relevance, words, examples, mark and link of a judged page."""
    yield "  " + say(
        "topic {found.topic}: {verdict}{by_user}; relevance {found.relevance:.2f} "
        "(from {found.threshold:g} on), version {found.version}",
        found=found,
        verdict=say("relevant") if found.is_relevant else say("not relevant"),
        by_user=say(", by your mark") if found.mark is not None else "",
    )
    if found.excluded:
        yield "    " + say("excluded by {words}", words=say(", ").join(found.excluded))
    if found.is_list:
        yield "    " + say("an index page: its relevance counts half")
    words = "; ".join(map(_concept, found.concepts))
    yield "    " + say("query {share:.2f}: {words}", share=found.query, words=words)
    if found.examples is not None:
        nearest = say(", nearest {example}", example=found.nearest) if found.nearest else ""
        like = f": {' '.join(found.terms)}{nearest}" if found.terms else nearest
        yield "    " + say("examples {share:.2f}{like}", share=found.examples, like=like)
    if found.marks is not None:
        yield "    " + say("your marks {weight:+.2f}", weight=found.marks)
    if found.link is not None:
        parts = ", ".join(f"{part.name} {part.weight:+.2f}" for part in found.link_parts)
        if found.learned_in:
            parts += say("; learned in batch {n}", n=found.learned_in)
        told = "link {share:.2f} by today's weights: {parts}"
        yield "    " + say(told, share=found.link, parts=parts)


def _concept(concept: FoundConcept) -> str:
    if not concept.share:
        return say("{word} not found", word=concept.name)
    where = [say("in the title")] if concept.in_title else []
    where += [say("{n} in the body", n=concept.count)] if concept.count else []
    return f"{concept.name} {say(', ').join(where)} ({concept.share:.2f})"
