"""Actions on topics, and on pages of a topic."""

from __future__ import annotations

from functools import partial

from cleaning.errors import NotFound
from cleaning.urls.normal_form import normalize, page_id
from storage.crawl_types import CrawlState
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Note,
    Plan,
    Safety,
    Subject,
    written,
)
from workers.operations.acting.running import background_notes, start_operation
from workers.operations.backends import existing_store, queue_side
from workers.operations.topics.topics import change_topic_state, crawl_of, find_topic

OPPOSITE = {CrawlState.PAUSED: "resume_topic", CrawlState.RUNNING: "pause_topic"}


def _crawl(settings: Settings, topic: str) -> str:
    """The crawl of a topic.

    Raises:
        NotFound: There is no such topic, or its crawl has not begun.
    """
    with existing_store(settings) as store:
        row = find_topic(store, topic)
        if crawl_of(store, topic) is None:
            raise NotFound(f"the crawl of topic {topic} has not begun: `topic {topic}` begins it")
        return row.crawl_id


def _plan_state(settings: Settings, asked: Asked) -> Plan:
    crawl = _crawl(settings, asked.target)
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is None:
            return Plan(facts={Fact.CRAWLS: 1}, notes=(Note.NOT_FETCHED_YET,))
        counts = side.frontier.counts_of([crawl]).get(crawl)
    if counts is None:
        return Plan(facts={Fact.CRAWLS: 1}, notes=(Note.NOT_FETCHED_YET,))
    facts = {
        Fact.CRAWLS: 1,
        Fact.WAITING: counts.pending,
        Fact.IN_FLIGHT: counts.in_flight,
        Fact.HOSTS: counts.hosts,
    }
    return Plan(facts=facts, notes=(Note.IN_FLIGHT_GO_ON,))


def _set_state(settings: Settings, asked: Asked, *, state: CrawlState) -> Done:
    _crawl(settings, asked.target)
    found = change_topic_state(settings, asked.target, state, who=asked.who)
    notes: tuple[Note, ...] = ()
    if found is CrawlState.FINISHED:
        notes = (Note.HAS_ENDED,)
    elif state is CrawlState.RUNNING and found is not CrawlState.RUNNING:
        notes = (Note.NOT_FETCHED_YET,)
    undo = written(OPPOSITE[state], asked.target)
    return Done(facts={Fact.CRAWLS: 1}, notes=notes, undo=undo)


def _plan_mark(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store:
        find_topic(store, asked.values.get("topic", ""))
        if store.records.get(page_id(normalize(asked.target))) is None:
            raise NotFound(f"{asked.target} is not stored")
    notes = (Note.TOPIC_JUDGES_ANEW, *background_notes(settings))
    return Plan(facts={Fact.PAGES: 1}, notes=notes)


def _mark(settings: Settings, asked: Asked, *, is_relevant: bool) -> Done:
    topic = asked.values.get("topic", "")
    with existing_store(settings) as store:
        find_topic(store, topic)
        page = store.topics.page(topic, page_id(normalize(asked.target)))
    word = "relevant" if is_relevant else "not-relevant"
    arguments = {"topic": topic, "url": asked.target, "word": word}
    done = start_operation(settings, "mark", asked, arguments)
    if page is None or page.mark is None or page.mark == is_relevant:
        return done  # a first mark is replaced, never taken off
    opposite = "mark_relevant" if page.mark else "mark_not_relevant"
    undo = written(opposite, asked.target, topic=topic)
    return Done(facts=done.facts, notes=done.notes, undo=undo)


TOPIC_ACTIONS = (
    Action(
        name="pause_topic",
        safety=Safety.REVERSIBLE,
        subject=Subject.TOPIC,
        plan=_plan_state,
        act=partial(_set_state, state=CrawlState.PAUSED),
    ),
    Action(
        name="resume_topic",
        safety=Safety.REVERSIBLE,
        subject=Subject.TOPIC,
        plan=_plan_state,
        act=partial(_set_state, state=CrawlState.RUNNING),
    ),
    Action(
        name="mark_relevant",
        safety=Safety.REVERSIBLE,
        subject=Subject.URL,
        plan=_plan_mark,
        act=partial(_mark, is_relevant=True),
        values=("topic",),
    ),
    Action(
        name="mark_not_relevant",
        safety=Safety.REVERSIBLE,
        subject=Subject.URL,
        plan=_plan_mark,
        act=partial(_mark, is_relevant=False),
        values=("topic",),
    ),
)
