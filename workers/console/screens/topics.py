"""Topics in a list; one topic, its pages with their marks, its stories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import get_args

from flask import g, request

from crawlclean.workers.console.charts import Line
from crawlclean.workers.console.holding import topic_sentence
from crawlclean.workers.console.routes import (
    Console,
    Page,
    asked_limit,
    asked_number,
    asked_place,
    render,
)
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.parts import Place
from crawlclean.workers.operations.topics.reports import StoryOrder, last_days
from crawlclean.workers.operations.topics.stories import find_story
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.operations.topics.verdicts import parts_of
from crawlclean.workers.operations.topics.watching import (
    TopicDetails,
    Which,
    find_topic_details,
    list_entries,
    list_topic_pages,
    list_topic_stories,
    newest_figures,
)

MOST_HOSTS = 20
"""Rows of a panel; the best hosts come first."""
STORY_PAGES = 50
"""Rows of a part, as in other lists."""
STORY_S = 30.0
"""How old a story may be: one of a thousand pages takes 40 ms to read."""


def show_topics(console: Console) -> Page:
    """The list, by name."""
    return render("topics.html", page=list_entries(console.backends, _behind(), asked_limit()))


def live_topics(console: Console) -> Page:
    """The rows of the list."""
    return render("topics_live.html", page=list_entries(console.backends, _behind(), asked_limit()))


def _behind() -> Place | None:
    behind = request.args.get("after", "")
    return (0, behind) if behind else None


def show_topic(console: Console, topic: str) -> Page:
    """One topic."""
    return render(
        "topic.html",
        parts_of=parts_of,
        **_live(find_topic_details(console.backends, topic)),
    )


def live_topic(console: Console, topic: str) -> Page:
    """The figures of one topic."""
    return render("topic_live.html", **_live(find_topic_details(console.backends, topic)))


def _live(details: TopicDetails) -> dict[str, object]:
    told = topic_sentence(details)
    shown: dict[str, object] = {"curve": (), "days": (), "first_day": "", "hosts": ()}
    if details.figures:
        report = details.figures.report
        steps, days = report.harvest, last_days(report)
        shown = {
            # Over the pages of the crawl, added up.
            "curve": _lines(
                [0, *accumulate(step.stories for step in steps)],
                [0, *accumulate(step.stories + step.copies for step in steps)],
            ),
            "days": _lines(
                [day.stories for day in days], [day.stories + day.copies for day in days]
            )
            if days
            else (),
            "first_day": days[0].day if days else "",
            "hosts": report.hosts[:MOST_HOSTS],
        }
    words = say(g.language, f"topic_now.{told.key}", **told.values)
    return {"details": details, "row": details.row, "told": told, "words": words, **shown}


def _lines(stories: Sequence[int], relevant: Sequence[int]) -> Sequence[Line]:
    names = [str(say(g.language, f"topics.{each}")) for each in ("stories", "relevant")]
    return [
        Line(name=names[0], values=stories),
        Line(name=names[1], values=relevant, style=2, is_dashed=True),
    ]


def show_topic_pages(console: Console, topic: str) -> Page:
    """Judged pages of a topic, with what can be said of them."""
    asked = request.args.get("show", "")
    which = next((each for each in Which if each.value == asked), Which.RELEVANT)
    threshold, page = list_topic_pages(console.backends, topic, which, asked_place(), asked_limit())
    return render(
        "topic_pages.html",
        topic=topic,
        page=page,
        threshold=threshold,
        which=which,
        all_which=list(Which),
        parts_of=parts_of,
    )


def show_topic_stories(console: Console, topic: str) -> Page:
    """The stories of a topic that several pages tell."""
    by: StoryOrder = "newest" if request.args.get("sort") == "newest" else "largest"
    figures = newest_figures(console.backends, topic)
    page = None
    if figures is not None:
        page = list_topic_stories(console.backends, topic, by, asked_place(), asked_limit())
    return render(
        "topic_stories.html",
        topic=topic,
        page=page,
        count=figures.story_count if figures else 0,
        by=by,
        orders=get_args(StoryOrder),
    )


def show_topic_story(console: Console, topic: str, story: str) -> Page:
    """One story with a part of its URLs."""
    backends, start = console.backends, asked_number() or 0
    with backends.store() as store:
        find_topic(store, topic)
    found = backends.remembered(("story", story), STORY_S, partial(find_story, backends, story))
    pages = list(found.pages or ())[start : start + STORY_PAGES]
    behind = start + len(pages)
    return render(
        "topic_story.html",
        topic=topic,
        line=found,
        pages=pages,
        after=str(behind) if behind < found.url_count else "",
    )
