"""The verdict on a text in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from crawlclean.cleaning.lexicon import counted
from crawlclean.cleaning.records import Verdict, VerdictReason
from crawlclean.workers.answers.schema import member_meanings

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
