"""The sentence of a topic: what keeps it from finding stories, or how many it finds.

As in ``holding.py``: a list of rules, of which the first that holds is the sentence.
"""

from __future__ import annotations

from collections.abc import Callable

from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.console.holding import Level, Sentence
from crawlclean.workers.operations.topics.reports import TopicFigures
from crawlclean.workers.operations.topics.watching import TopicDetails

LATELY = 300
"""Pages of the crawl that are its last ones: a share of fewer says little."""

FALLS = 1 / 3
"""Of the share over all pages: less among the last ones is a falling harvest."""

Rule = Callable[[TopicDetails, TopicFigures], Sentence | None]


def topic_sentence(details: TopicDetails) -> Sentence:
    """Returns the first sentence that holds."""
    entry = details.entry
    if entry.state is TopicState.PAUSED:
        return Sentence(Level.WARN, "paused")
    failing = [each for each in details.receivers if each.failing_since]
    if failing:
        return Sentence(Level.BAD, f"{failing[0].kind}_fails", {"error": failing[0].last_error})
    if entry.figures is None:
        return Sentence(Level.REST, "reading")
    for rule in RULES:
        if found := rule(details, entry.figures):
            return found
    return _harvests(entry.figures)


def _no_page(_: TopicDetails, figures: TopicFigures) -> Sentence | None:
    return None if figures.report.topic.pages else Sentence(Level.REST, "no_page")


def _ended(details: TopicDetails, figures: TopicFigures) -> Sentence | None:
    if details.entry.state is not TopicState.ENDED:
        return None
    report = figures.report
    return Sentence(Level.REST, "ended", {"n": report.stories, "pages": report.topic.pages})


def _outdated(_: TopicDetails, figures: TopicFigures) -> Sentence | None:
    outdated = figures.report.topic.outdated
    return Sentence(Level.WARN, "outdated", {"n": outdated}) if outdated else None


def _none_relevant(_: TopicDetails, figures: TopicFigures) -> Sentence | None:
    line = figures.report.topic
    return None if line.relevant else Sentence(Level.WARN, "none_relevant", {"n": line.pages})


def _spent(details: TopicDetails, figures: TopicFigures) -> Sentence | None:
    most = details.max_pages
    if most is None or figures.report.budget.pages < most:
        return None
    return Sentence(Level.WARN, "spent", {"n": most})


def _nothing_waits(_: TopicDetails, figures: TopicFigures) -> Sentence | None:
    return Sentence(Level.WARN, "nothing_waits") if figures.report.waiting == 0 else None


def _harvests(figures: TopicFigures) -> Sentence:
    pages, stories = lately(figures)
    report = figures.report
    over_all = report.stories / report.topic.pages
    values = {
        "pages": pages,
        "n": stories,
        "share": f"{stories / pages:.0%}" if pages else "–",
        "over_all": f"{over_all:.0%}",
    }
    if not pages:
        return Sentence(Level.OK, "others", {"n": report.stories})
    if pages >= LATELY and stories / pages < FALLS * over_all:
        return Sentence(Level.WARN, "falls", values)
    return Sentence(Level.OK, "harvests", values)


def lately(figures: TopicFigures) -> tuple[int, int]:
    """(pages, first pages of stories) of the last steps of the crawl: ``LATELY`` pages or more."""
    pages = stories = 0
    for step in reversed(figures.report.harvest):
        if pages >= LATELY:
            break
        pages += step.pages
        stories += step.stories
    return pages, stories


RULES: tuple[Rule, ...] = (
    _no_page,
    _ended,
    _outdated,
    _none_relevant,
    _spent,
    _nothing_waits,
)
