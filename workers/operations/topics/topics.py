"""Topics as an operator changes them: create, edit, mark pages, pause, resume, list.

More than 400 lines: each change goes through the same version, judges anew and reaches the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.topics.learner import LinkModel
from crawlclean.cleaning.topics.relevance import Mark, new_threshold
from crawlclean.cleaning.topics.topic import DEFAULT_THRESHOLD, ExampleText, Topic, TopicSpec
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CRAWL_ID_RULE, CrawlState, is_crawl_id
from crawlclean.storage.opening import join_queue, open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import JudgedPage, StoredLinkModel, TopicRow, TopicState
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.topic_ranking import reach_queue
from crawlclean.workers.jobs.topic_rows import (
    TopicOrder,
    ask_for_images,
    examples_of,
    first_version,
    judge_anew,
    marked_example,
    next_version,
    order_of,
    with_order,
)
from crawlclean.workers.jobs.topics import judgement_of, stored_model
from crawlclean.workers.operations.backends import existing_store, queue_side
from crawlclean.workers.operations.controlling.crawl_states import change_state
from crawlclean.workers.operations.topics.examples import check_number, read_examples, read_synonyms

if TYPE_CHECKING:  # the queue's client is slow to import, and most answers do without
    from crawlclean.storage.queue.frontier import Frontier

EDITS = 5
"""Tries of an edit that another process overtakes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFlags:
    """What a command gives of a topic; None: not given.

    Attributes:
        query: The query.
        examples: Files, folders and URLs of example pages.
        exclude_words: Words that make a page irrelevant.
        synonyms: File of synonyms.
        threshold: Relevance from which a page is relevant, 0..1.
        pages_per_hour: Pages that the crawl shall spend an hour.
        no_examples: Whether the examples so far are forgotten; marked pages stay.
    """

    query: str | None = None
    examples: Sequence[str] | None = None
    exclude_words: Sequence[str] | None = None
    synonyms: Path | None = None
    threshold: float | None = None
    pages_per_hour: float | None = None
    no_examples: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is given."""
        return self == TopicFlags()


def planned_topic(settings: Settings, name: str, flags: TopicFlags) -> TopicRow:
    """Returns the row of a stored topic, or the one that a new topic will have; stores nothing.

    Raises:
        ConfigError: The name is of an ordinary crawl, a new topic has no query, or what is given is
            wrong.
    """
    if not is_crawl_id(name):
        raise ConfigError(f"{name!r} is not a topic name: {CRAWL_ID_RULE}")
    store = open_store(settings.storage, create=True)
    try:
        row = store.topics.get(name)
        if row is not None:
            _changed(store, row, flags)
            return row
        crawl = store.crawls.get(name)
        if crawl is not None and crawl.state is not CrawlState.PURGED:
            raise ConfigError(f"{name} is an ordinary crawl: choose another name for the topic")
        return first_version(_new_order(name, flags), read_examples(store, flags.examples or ()))
    finally:
        store.close()


def begin_topic(
    settings: Settings, planned: TopicRow, flags: TopicFlags, judged: Callable[[int], None]
) -> None:
    """Creates the topic of a run, or gives it what the command gives; completes a killed edit.

    Args:
        settings: Where store and queue are.
        planned: As ``planned_topic`` returned it.
        flags: What the command gives.
        judged: Called with the number of pages judged anew of each slice.
    """
    with existing_store(settings) as store:
        if not store.topics.create(planned) and not flags.is_empty:
            edit_topic(settings, planned.name, flags, judged)
        row = _existing(store, planned.name)
        topic = Topic.from_bytes(row.packed)
        while done := judge_anew(store, topic):
            judged(done)
        store.topics.set_state(planned.name, TopicState.RUNNING)
        _reach_queue(settings, store, row)


def _new_order(name: str, flags: TopicFlags) -> TopicOrder:
    if not flags.query:
        raise ConfigError(f'there is no topic {name}: create it with --seeds FILE --query "words"')
    spec = TopicSpec(
        name=name,
        query=flags.query,
        synonyms=read_synonyms(flags.synonyms) if flags.synonyms else (),
        excluded=tuple(flags.exclude_words or ()),
        threshold=_threshold(flags.threshold),
    )
    return TopicOrder(spec=spec, pages_per_hour=flags.pages_per_hour)


def _threshold(given: float | None) -> float:
    if given is not None and not 0 < given <= 1:
        raise ConfigError(f"--threshold is {given}: a number above 0, at most 1")
    return DEFAULT_THRESHOLD if given is None else given


def _changed(
    store: Store, row: TopicRow, flags: TopicFlags
) -> tuple[TopicOrder, list[ExampleText]] | None:
    """The order and examples of a topic with what a command gives; None when nothing changes."""
    old, examples = order_of(row), list(examples_of(row))
    spec = old.spec
    if flags.query is not None:
        spec = msgspec.structs.replace(spec, query=flags.query)
    if flags.exclude_words is not None:
        spec = msgspec.structs.replace(spec, excluded=tuple(flags.exclude_words))
    if flags.synonyms is not None:
        spec = msgspec.structs.replace(spec, synonyms=read_synonyms(flags.synonyms))
    if flags.threshold is not None:
        spec = msgspec.structs.replace(spec, threshold=_threshold(flags.threshold))
    order = msgspec.structs.replace(old, spec=spec)
    if flags.pages_per_hour is not None:
        order = msgspec.structs.replace(order, pages_per_hour=flags.pages_per_hour)
    marked = _by_url([each for each in examples if each.marked])
    if flags.no_examples:
        examples = list(marked.values())
    if flags.examples is not None:
        given = _by_url(read_examples(store, flags.examples))
        both = _by_url(examples) | given | marked
        check_number(both.keys() - marked.keys())
        examples = list(both.values())
    is_same = order == old and _by_url(examples) == _by_url(examples_of(row))
    return None if is_same else (order, examples)


def _by_url(examples: Sequence[ExampleText]) -> dict[str, ExampleText]:
    return {each.url: each for each in examples}


def edit_topic(
    settings: Settings, name: str, flags: TopicFlags, judged: Callable[[int], None]
) -> TopicRow:
    """Changes a topic, and judges its stored pages anew; returns the new version.

    The weights of links stay, half as sure. A killed edit is completed by the topic's next run.

    Args:
        settings: Where store and queue are.
        name: Of the topic.
        flags: What changes.
        judged: Called with the number of pages of each slice.

    Raises:
        ConfigError: Nothing is given, or what is given is wrong.
        NotFound: There is no such topic.
    """
    if flags.is_empty:
        raise ConfigError("--edit changes nothing: give --query, --examples, --threshold ...")
    with existing_store(settings) as store:

        def change(row: TopicRow) -> TopicRow:
            changed = _changed(store, row, flags)
            if changed is None:
                return row
            order, examples = changed
            is_reworded = order.spec != order_of(row).spec
            if is_reworded or _by_url(examples) != _by_url(examples_of(row)):
                return next_version(row, order, examples)
            return with_order(row, order)

        return _replace(settings, store, name, change, judged)


def mark_page(
    settings: Settings, name: str, url: str, judged: Callable[[int], None], *, is_relevant: bool
) -> TopicRow:
    """Stores the user's word on a page, and teaches it; returns the new version of the topic.

    The page becomes an example, for or against; the threshold moves to where the user's marks are
    judged best; links are learned from the page again, five times as heavy.

    Raises:
        NotFound: There is no such topic, or no record of the page.
    """
    with existing_store(settings) as store:
        row = _existing(store, name)
        record = store.records.get(page_id(url))
        if record is None:
            raise NotFound(f"{url} is not stored; `why {url}` shows its steps")
        if store.topics.page(name, record.page_id) is None:
            _judge_first(store, row, record.page_id)
        store.topics.mark(name, record.page_id, mark=is_relevant)
        page = store.topics.page(name, record.page_id)
        if is_relevant and page is not None:
            ask_for_images(store, name, [page])
        example = marked_example(record, is_relevant=is_relevant)

        def change(row: TopicRow) -> TopicRow:
            order = order_of(row)
            marks = [
                Mark(page.judgement.relevance, bool(page.mark))
                for page in store.topics.marked(name)
            ]
            threshold = new_threshold(order.spec.threshold, marks)
            spec = msgspec.structs.replace(order.spec, threshold=threshold)
            others = [each for each in examples_of(row) if each.url != example.url]
            order = msgspec.structs.replace(order, spec=spec)
            return next_version(row, order, [*others, example])

        return _replace(settings, store, name, change, judged)


def _judge_first(store: Store, row: TopicRow, page: str) -> None:
    """Judges a page that the topic has not met: another crawl has stored it."""
    record = store.records.get(page)
    stored = store.urls.rows(page)
    if record is None or not stored:
        return
    judged = JudgedPage(
        page_id=page,
        crawl_id=stored[0].crawl_id,
        url=record.url,
        host=record.host,
        title=record.title,
        fetched_at=record.fetched_at,
        judgement=judgement_of(Topic.from_bytes(row.packed), record),
    )
    store.topics.judge([judged])


def _existing(store: Store, name: str) -> TopicRow:
    row = store.topics.get(name)
    if row is None:
        known = ", ".join(store.topics.versions()) or "there is none"
        raise NotFound(f"no topic is named {name}; topics: {known}")
    return row


def find_topic(store: Store, name: str) -> TopicRow:
    """Returns a stored topic.

    Raises:
        NotFound: There is none of this name; the message names those that are stored.
    """
    return _existing(store, name)


def seen_topics(
    settings: Settings,
    stored: Iterable[TopicRow],
    queue: Callable[[], AbstractContextManager[Frontier]] | None = None,
) -> list[TopicRow]:
    """Returns stored topics with the states that they have now: a killed run stored no end.

    Args:
        settings: Where the queue is.
        stored: The topics.
        queue: Opens the queue of a running crawl; None: it is opened here.
    """
    rows = list(stored)
    names = [row.crawl_id for row in rows if row.state is TopicState.RUNNING]
    dead = set(names)
    try:
        if names:
            with queue() if queue else closing(join_queue(settings.storage)) as frontier:
                # A process that has the folder works on it, or is about to; a server stays.
                if settings.storage.is_embedded or frontier.is_fetching():
                    found = frontier.counts_of(names).items()
                    dead = {name for name, each in found if each.state is CrawlState.STOPPED}
    except NotFound:  # no process has the data folder
        pass
    except ServiceError:  # nobody can tell
        return rows
    note = "no process runs it; `topic {}` goes on with it"
    return [
        replace(row, state=TopicState.ENDED, note=note.format(row.name))
        if row.state is TopicState.RUNNING and row.crawl_id in dead
        else row
        for row in rows
    ]


def _replace(
    settings: Settings,
    store: Store,
    name: str,
    change: Callable[[TopicRow], TopicRow],
    judged: Callable[[int], None],
) -> TopicRow:
    """Stores the next version of a topic, loosens its weights, judges its pages anew.

    Raises:
        ServiceError: Other processes change the topic all the time.
    """
    for _ in range(EDITS):
        old = _existing(store, name)
        new = change(old)
        if new is old:
            return old
        if new.version == old.version:  # no page is judged by what has changed
            if store.topics.set_order(old, new.spec):
                return new
        elif store.topics.replace(new):
            break
    else:
        raise ServiceError(f"other commands change topic {name} all the time: try again")
    topic = Topic.from_bytes(new.packed)
    _loosen(store, topic)
    while done := judge_anew(store, topic):
        judged(done)
    _reach_queue(settings, store, new)
    return new


def _reach_queue(settings: Settings, store: Store, row: TopicRow) -> None:
    """Lets a changed topic change what waits, if the queue runs; else its next run does."""
    with suppress(ServiceError), queue_side(settings, at_rest=False) as side:
        if side.frontier is not None:
            reach_queue(store, side.frontier, row)


def _loosen(store: Store, topic: Topic) -> None:
    """Stores the link model for an edited topic: the same weights, half as sure."""
    newest = store.topics.model(topic.name)
    model: LinkModel = stored_model(store, topic).loosened().with_words(topic.vocabulary)
    stored = StoredLinkModel(
        topic=topic.name,
        version=(newest.version if newest else 0) + 1,
        learned_at=datetime.now(UTC),
        packed=model.to_bytes(),
        is_marked=True,
    )
    if newest is not None and not newest.is_marked:
        store.topics.mark_learned(newest)
    store.topics.add_model(stored)  # or a learner was first: its batch was of the older words


def change_topic_state(
    settings: Settings, name: str, state: CrawlState, *, who: str = ""
) -> CrawlState:
    """Pauses or resumes a topic and its crawl; returns the state of the crawl afterwards.

    Args:
        settings: Where store and queue are.
        name: Of the topic.
        state: RUNNING resumes, PAUSED pauses.
        who: Who asks for it: ``root@machine``.

    Raises:
        NotFound: There is no such topic.
    """
    with existing_store(settings) as store:
        row = _existing(store, name)
        is_running = state is CrawlState.RUNNING
        new = TopicState.RUNNING if is_running else TopicState.PAUSED
        store.topics.set_state(name, new, "" if is_running else "paused by an operator")
    return change_state(settings, row.crawl_id, state, who=who).state


def end_topic(settings: Settings, name: str, note: str) -> None:
    """Stores that a topic's run has ended, and why, unless an operator paused the topic."""
    with suppress(NotFound), existing_store(settings) as store:
        row = store.topics.get(name)
        if row is not None and row.state is TopicState.RUNNING:
            store.topics.set_state(name, TopicState.ENDED, note)
