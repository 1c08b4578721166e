"""Topics as an operator changes them: create, edit, mark pages, pause, resume, list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, NotFound, PageError, ServiceError, StoreDamaged
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.topics.learner import LinkModel
from crawlclean.cleaning.topics.relevance import new_threshold, text_of
from crawlclean.cleaning.topics.topic import ExampleText, Topic, TopicSpec
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CRAWL_ID_RULE, CrawlState, is_crawl_id
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.topics import dated
from crawlclean.storage.topic_types import JudgedPage, StoredLinkModel, TopicRow, TopicState
from crawlclean.workers.answers.found_stories import parts_of
from crawlclean.workers.config import Settings
from crawlclean.workers.crawl_file.toml_lines import MAX_LIST_BYTES, read_text
from crawlclean.workers.jobs.topic_learning import reach_queue
from crawlclean.workers.jobs.topics import (
    TopicOrder,
    ask_for_images,
    examples_of,
    first_version,
    judge_anew,
    judgement_of,
    marked_example,
    next_version,
    order_of,
    stored_model,
    with_order,
)
from crawlclean.workers.operations.backends import Backends, existing_store
from crawlclean.workers.operations.controlling.crawl_states import change_state

# Reads the files of a topic: example pages, synonyms.
#
# An example is an HTML file, a text file whose first line is the title, a folder of such files, or
# the URL of a stored page.

# An article has a thousandth of it: a larger file was named by mistake.
MAX_EXAMPLE_BYTES = 16 << 20
MAX_EXAMPLES = 200
"""Example pages of a topic; three or four name a topic, each one costs 3 KB in every job."""
HTML = frozenset({".html", ".htm", ".xhtml"})
TEXT = frozenset({".txt", ".md"})
_SEPARATOR = re.compile(r"\s*[|,，、\t]\s*")


def read_examples(store: Store, given: Sequence[str]) -> list[ExampleText]:
    """Returns the example pages that a command names.

    Args:
        store: Holds the pages that are given by URL.
        given: Files, folders, URLs.

    Raises:
        ConfigError: One cannot be read, has no text, or there are too many; one line.
    """
    found: dict[str, ExampleText] = {}
    for each in given:
        for example in _examples(store, each):
            found[example.url] = example
            check_number(found)
    return list(found.values())


def check_number(examples: Sized) -> None:
    """Checks that a topic may have so many examples.

    Raises:
        ConfigError: It may not.
    """
    if len(examples) > MAX_EXAMPLES:
        raise ConfigError(f"more than {MAX_EXAMPLES} examples: a topic needs three or four")


def _examples(store: Store, given: str) -> Iterator[ExampleText]:
    path = Path(given)
    if "://" in given:
        yield _from_store(store, given)
    elif not path.is_dir():
        yield _from_file(path)
    else:
        files = sorted(each for each in path.iterdir() if each.suffix.lower() in HTML | TEXT)
        if not files:
            raise ConfigError(f"{path} has no .html and no .txt file")
        yield from map(_from_file, files)


def _from_store(store: Store, url: str) -> ExampleText:
    record = store.records.get(page_id(url))
    if record is None:
        raise ConfigError(f"{url} is not stored: give the page as a file")
    return _example(record.title, text_of(record), record.url)


def _from_file(path: Path) -> ExampleText:
    if path.suffix.lower() in HTML:
        return _from_html(path)
    title, _, text = read_text(path, MAX_EXAMPLE_BYTES).strip().partition("\n")
    return _example(title.strip(), text.strip() or title, str(path))


def _from_html(path: Path) -> ExampleText:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_EXAMPLE_BYTES + 1)
        if len(body) > MAX_EXAMPLE_BYTES:
            raise ConfigError(f"{path} is over {MAX_EXAMPLE_BYTES >> 20} MB")
        record = clean(RawPage.from_bytes("http://localhost/", body))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except PageError as error:
        raise ConfigError(f"{path}: {error}") from None
    return _example(record.title, text_of(record), str(path))


def _example(title: str, text: str, url: str) -> ExampleText:
    if not (title + text).strip():
        raise ConfigError(f"{url} has no text: an example needs a title or a body")
    return ExampleText(title=title, text=text, url=url)


def read_synonyms(path: Path) -> tuple[tuple[str, ...], ...]:
    """Returns the groups of a file of synonyms: one a line, ``电动车 | 新能源汽车``, # comments.

    Raises:
        ConfigError: The file cannot be read, or a line has one word alone.
    """
    groups = []
    for number, line in enumerate(read_text(path, MAX_LIST_BYTES).splitlines(), 1):
        text = line.partition("#")[0].strip()
        words = tuple(dict.fromkeys(filter(None, _SEPARATOR.split(text))))
        if text and len(words) < 2:
            raise ConfigError(
                f"{path}:{number}: one word alone: write a | b, words that mean the same"
            )
        if words:
            groups.append(words)
    return tuple(groups)


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
    with closing(open_store(settings.storage, create=True)) as store:
        row = store.topics.get(name)
        if row is not None:
            _changed(store, row, flags)
            return row
        crawl = store.crawls.get(name)
        if crawl is not None and crawl.state is not CrawlState.PURGED:
            raise ConfigError(f"{name} is an ordinary crawl: choose another name for the topic")
        return first_version(_new_order(name, flags), read_examples(store, flags.examples or ()))


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
        _catch_up(settings, store, find_topic(store, planned.name), judged)
        store.topics.set_state(planned.name, TopicState.RUNNING)


def _new_order(name: str, flags: TopicFlags) -> TopicOrder:
    if not flags.query:
        raise ConfigError(f'there is no topic {name}: create it with --seeds FILE --query "words"')
    spec = TopicSpec(name=name, **_given_words(flags))
    return TopicOrder(spec=spec, pages_per_hour=flags.pages_per_hour)


def _given_words(flags: TopicFlags) -> dict[str, Any]:
    """The fields of a ``TopicSpec`` that a command gives.

    Raises:
        ConfigError: The threshold is out of range, or the file of synonyms cannot be read.
    """
    threshold = flags.threshold
    if threshold is not None and not 0 < threshold <= 1:
        raise ConfigError(f"--threshold is {threshold}: a number above 0, at most 1")
    words = {
        "query": flags.query,
        "excluded": None if flags.exclude_words is None else tuple(flags.exclude_words),
        "synonyms": read_synonyms(flags.synonyms) if flags.synonyms else None,
        "threshold": threshold,
    }
    return {name: value for name, value in words.items() if value is not None}


def _changed(
    store: Store, row: TopicRow, flags: TopicFlags
) -> tuple[TopicOrder, list[ExampleText]] | None:
    """The order and examples of a topic with what a command gives; None when nothing changes."""
    old, known = order_of(row), _by_url(examples_of(row))
    spec = msgspec.structs.replace(old.spec, **_given_words(flags))
    pages_per_hour = old.pages_per_hour if flags.pages_per_hour is None else flags.pages_per_hour
    order = TopicOrder(spec=spec, pages_per_hour=pages_per_hour)
    marked = {url: each for url, each in known.items() if each.marked}
    examples = marked if flags.no_examples else known
    if flags.examples is not None:
        examples = examples | _by_url(read_examples(store, flags.examples)) | marked
        check_number(examples.keys() - marked.keys())
    return None if (order, examples) == (old, known) else (order, list(examples.values()))


def _by_url(examples: Iterable[ExampleText]) -> dict[str, ExampleText]:
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
            if (order.spec, examples) == (order_of(row).spec, list(examples_of(row))):
                return with_order(row, order)
            return next_version(row, order, examples)

        return _replace(settings, store, name, change, judged)


def mark_page(
    settings: Settings,
    name: str,
    url: str,
    judged: Callable[[int], None],
    *,
    is_relevant: bool | None,
) -> TopicRow:
    """Stores the user's word on a page, and teaches it; returns the new version of the topic.

    The page becomes an example, for or against, or with None ceases to be one; the threshold moves
    to where the user's marks are judged best; links are learned from the page again, five times as
    heavy.

    Raises:
        NotFound: There is no such topic, or no record of the page.
    """
    with existing_store(settings) as store:
        row = find_topic(store, name)
        record = store.records.get(page_id(url))
        if record is None:
            raise NotFound(f"{url} is not stored; `why {url}` shows its steps")
        set_mark(store, row, record, is_relevant)
        page = store.topics.page(name, record.page_id)
        if is_relevant and page is not None:
            ask_for_images(store, name, [page])
        own = [] if is_relevant is None else [marked_example(record, is_relevant=is_relevant)]

        def change(row: TopicRow) -> TopicRow:
            order = order_of(row)
            marks = [
                (page.judgement.relevance, bool(page.mark)) for page in store.topics.marked(name)
            ]
            threshold = new_threshold(order.spec.threshold, marks)
            spec = msgspec.structs.replace(order.spec, threshold=threshold)
            others = [each for each in examples_of(row) if each.url != record.url]
            order = msgspec.structs.replace(order, spec=spec)
            return next_version(row, order, [*others, *own])

        return _replace(settings, store, name, change, judged)


def set_mark(store: Store, row: TopicRow, record: CleanRecord, mark: bool | None) -> None:
    """Stores the user's word on a page, and judges it first where the topic has not met it."""
    is_known = store.topics.page(row.name, record.page_id) is not None
    for stored in () if is_known else store.urls.rows(record.page_id)[:1]:
        judged = JudgedPage(
            page_id=record.page_id,
            crawl_id=stored.crawl_id,
            url=record.url,
            host=record.host,
            title=record.title,
            fetched_at=record.fetched_at,
            at=dated(record),
            judgement=judgement_of(Topic.from_bytes(row.packed), record),
        )
        store.topics.judge([judged])
    store.topics.mark(row.name, record.page_id, mark, order_of(row).spec.threshold)


def find_topic(store: Store, name: str) -> TopicRow:
    """Returns a stored topic.

    Raises:
        NotFound: There is none of this name; the message names those that are stored.
    """
    row = store.topics.get(name)
    if row is None:
        known = ", ".join(store.topics.crawls()) or "there is none"
        raise NotFound(Message("no_topic", name, known))
    return row


def seen_topics(backends: Backends, stored: Iterable[TopicRow]) -> list[TopicRow]:
    """Returns stored topics with the states that they have now: a killed run stored no end."""
    rows = list(stored)
    dead = {row.crawl_id for row in rows if row.state is TopicState.RUNNING}
    try:
        if dead:
            with backends.queue() as frontier:
                # A process that has the folder works on it, or is about to; a server stays.
                if backends.settings.storage.is_embedded or frontier.is_fetching():
                    found = frontier.counts_of(dead).items()
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
        old = find_topic(store, name)
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
    _loosen(store, Topic.from_bytes(new.packed))
    _catch_up(settings, store, new, judged)
    return new


def _catch_up(
    settings: Settings, store: Store, row: TopicRow, judged: Callable[[int], None]
) -> None:
    """Judges stored pages by a topic's newest version, and lets it change what waits.

    If no queue runs, the topic's next run ranks what waits.
    """
    topic = Topic.from_bytes(row.packed)
    while done := judge_anew(store, topic):
        judged(done)
    # A queue that is away is told of it by the next run.
    with Backends(settings) as backends, suppress(ServiceError), backends.queue_side() as side:
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
    backends: Backends, name: str, state: CrawlState, *, who: str = ""
) -> CrawlState:
    """Pauses or resumes a topic and its crawl; returns the state of the crawl afterwards.

    Args:
        backends: Queue and store.
        name: Of the topic.
        state: RUNNING resumes, PAUSED pauses.
        who: Who asks for it: ``root@machine``.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        row = find_topic(store, name)
        is_running = state is CrawlState.RUNNING
        new = TopicState.RUNNING if is_running else TopicState.PAUSED
        store.topics.set_state(name, new, "" if is_running else "paused by an operator")
    return change_state(backends, row.crawl_id, state, who=who).state


# Which stored pages a user should mark: those that the topic is least sure about.

MOST_PAGES = 500
"""As many marks as teach at once; more than a person marks in a sitting."""
CANDIDATES = 10
"""Pages that are looked at for each page that is listed: most sites hold many pages alike."""
HOST_SHARE = 0.2
"""Of the listed pages that one host may have while other hosts have pages."""


def pages_to_mark(backends: Backends, name: str, limit: int) -> list[JudgedPage]:
    """Returns the pages whose relevance is nearest to the topic's threshold.

    Index pages are left out, because a list teaches nothing; of pages that tell one story one is
    taken, and a host has a fifth of the pages unless others have too few.

    Args:
        backends: The store.
        name: Of the topic.
        limit: At most so many pages, 1..500.

    Raises:
        ConfigError: The number is out of range.
        NotFound: There is no such topic.
    """
    if not 1 <= limit <= MOST_PAGES:
        raise ConfigError(f"--to-mark {limit}: a number from 1 to {MOST_PAGES}")
    with backends.store() as store:
        threshold = order_of(find_topic(store, name)).spec.threshold
        nearest = store.topics.nearest(name, threshold, CANDIDATES * limit)
        return spread(nearest, limit, lambda page: store.stories.id_of(page.page_id))


def spread(
    nearest: Sequence[JudgedPage], limit: int, story_of: Callable[[JudgedPage], str | None]
) -> list[JudgedPage]:
    """Returns the first pages of a list, spread over hosts and stories, in the list's order.

    Args:
        nearest: Pages without a mark, the least sure one first.
        limit: At most so many are returned.
        story_of: Returns the story of a page; None: it is alone.
    """
    most = max(1, round(HOST_SHARE * limit))
    hosts: Counter[str] = Counter()
    stories: set[str] = set()
    taken: list[int] = []
    others: list[int] = []
    for place, page in enumerate(nearest):
        if len(taken) == limit:
            break
        if _is_list(page):
            continue
        story = story_of(page)
        if story is not None and story in stories:
            continue
        if story is not None:
            stories.add(story)
        (taken if hosts[page.host] < most else others).append(place)
        hosts[page.host] += 1
    chosen = sorted(taken + others[: limit - len(taken)])
    return [nearest[place] for place in chosen]


def _is_list(page: JudgedPage) -> bool:
    with suppress(StoreDamaged):  # of another version of this program
        return parts_of(page.judgement).is_list
    return False
