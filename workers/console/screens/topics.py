"""Topics in a list; one topic: its stories to read and to mark, and what tunes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

from flask import Response, g, request, url_for
from werkzeug.datastructures import MultiDict

from crawlclean.workers.answers.topics import FoundStory
from crawlclean.workers.console.holding import topic_sentence
from crawlclean.workers.console.routes import (
    MOST_ROWS,
    Console,
    Page,
    asked_limit,
    asked_number,
    asked_place,
    own_path,
    render,
    see,
)
from crawlclean.workers.console.screens.acting import marking
from crawlclean.workers.console.screens.pages.pages import checked_id
from crawlclean.workers.console.screens.series import panel
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.parts import Part, Place
from crawlclean.workers.operations.topics.reading import (
    FEED_STORIES,
    Shown,
    feed_of,
    find_picture,
    find_topic_page,
    list_topic_stories,
    note_read,
    read_day,
)
from crawlclean.workers.operations.topics.reports import last_days
from crawlclean.workers.operations.topics.stories import find_story
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.operations.topics.watching import (
    TopicDetails,
    find_topic_details,
    list_entries,
)
from crawlclean.workers.output.charts import Column, Line, bars, harvest_lines

STORIES = 20
"""Stories of a part: a person reads no more at a sitting, and each costs two milliseconds."""
SPANS = (0, 1, 7, 30, 365)
"""Days that a person may choose from; 0: any time."""
MOST_DAYS = 36_500  # a century
PICTURE_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox"}
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
    """The stories of a topic, to be read; with ``page=`` of the address one of them."""
    asked, only = _filters(), request.args.get("page", "")
    details = find_topic_details(console.backends, topic)
    part: Part[FoundStory] = Part(items=())
    if not only:
        limit = min(asked_limit(), STORIES) if "limit" in request.args else STORIES
        part = list_topic_stories(
            console.backends, topic, after=asked_place(), limit=limit, **asked
        )
    elif story := find_topic_page(console.backends, topic, only):
        part = Part(items=(story,))
    days = last_days(details.figures.report) if details.figures else []
    columns = [
        Column(
            values=(day.stories,),
            title=str(say(g.language, "topics.of_day", n=day.stories, day=day.day)),
            to=f"{url_for('show_topic', topic=topic)}?day={day.day}",
        )
        for day in days
    ]
    return render(
        "topic.html",
        details=details,
        row=details.row,
        asked=asked,
        asked_for=asked != _filters(MultiDict()),
        only=only,
        shown=get_args(Shown),
        spans=SPANS,
        page=part,
        days=days,
        timeline=bars(columns),
        marking=partial(marking, console, topic),
        threshold=details.order.spec.threshold,
    )


def _filters(given: MultiDict[str, str] | None = None) -> dict[str, Any]:
    """What of a topic is asked for by the address, as arguments of ``list_topic_stories``."""
    given = request.args if given is None else given
    return {
        "show": given["show"] if given.get("show") in get_args(Shown) else "stories",
        "host": given.get("host", "").strip().lower(),
        "day": read_day(given.get("day", "").strip()),
        "days": max(0, min(MOST_DAYS, given.get("days", 0, type=int))),
        "words": given.get("words", "").strip(),
        "unread": given.get("unread") == "1",
    }


def show_topic_feed(console: Console, topic: str) -> Response:
    """The stories that the same address without ``.atom`` shows, as an Atom feed."""
    stories = list_topic_stories(console.backends, topic, limit=FEED_STORIES, **_filters()).items
    feed = feed_of(console.backends, topic, stories, request.url)
    response = Response(feed, 200, content_type="application/atom+xml; charset=utf-8")
    response.add_etag(weak=True)
    response.make_conditional(request)
    return response


def read_topic(console: Console, topic: str) -> Page:
    """Notes which pages were read."""
    if console.actions is None:
        return render("read_only.html"), 403
    pages = request.form.get("pages", "").split()[:MOST_ROWS]
    note_read(console.backends, topic, pages)
    return see(own_path(request.form.get("to", "/")))


def show_picture(console: Console, topic: str, image: str) -> Page:
    """A stored image of a topic's crawl; its bytes decide what it is."""
    body, kind = find_picture(console.backends, topic, checked_id(image))
    return Response(body, 200, PICTURE_HEADERS, content_type=kind)


def show_topic_tuning(console: Console, topic: str) -> Page:
    """What tunes a topic: query, budget, weights, yields of hosts."""
    details = find_topic_details(console.backends, topic)
    charted = panel(console, f":{details.row.crawl_id}")
    return render("topic_tuning.html", **_live(details), **charted)


def live_topic(console: Console, topic: str) -> Page:
    """The figures of one topic."""
    return render("topic_live.html", **_live(find_topic_details(console.backends, topic)))


def _live(details: TopicDetails) -> dict[str, object]:
    told = topic_sentence(details)
    curve: Sequence[Line] = ()
    hosts: Sequence[object] = ()
    if details.figures:
        report = details.figures.report
        hosts = report.hosts[:MOST_HOSTS]
        names = [str(say(g.language, f"topics.{each}")) for each in ("stories", "relevant")]
        curve = harvest_lines(report.harvest, names)
    words = say(g.language, f"topic_now.{told.key}", **told.values)
    return {
        "details": details,
        "row": details.row,
        "told": told,
        "words": words,
        "curve": curve,
        "hosts": hosts,
    }


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
