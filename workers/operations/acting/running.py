"""Long actions: asked for by console or API, done by workers in slices, told step by step.

``run_operation`` is a job of RQ. The next slice goes on behind the waiting jobs of pages, where the
slice before it ended. A function with ``@work`` does one slice of its kind: it tells its ``Turn``,
and returns whether the work is finished; otherwise the next slice begins at the cursor.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from typing import Any

from msgspec import Struct

from crawlclean.cleaning.errors import NotFound, QueueUnavailable, ServiceError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.store.journal import Operation, OperationState
from crawlclean.storage.store.models import LearnReason
from crawlclean.storage.store.rows import from_microseconds, spec_from_json
from crawlclean.workers.context import Context, process_context
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.jobs.learning import learn_host
from crawlclean.workers.jobs.recleaning import reclean_records
from crawlclean.workers.operations.acting.action import Asked, Effect, Fact, Note, read_told, told
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.fetching_again import (
    EndedFilter,
    portions,
    record_state,
)
from crawlclean.workers.operations.controlling.purging import (
    STEP,
    purge as purge_target,
    raw_place,
)
from crawlclean.workers.operations.hosts.host_models import find_version
from crawlclean.workers.operations.topics.topics import (
    TopicFlags,
    edit_topic as change_topic,
    mark_page,
)
from crawlclean.workers.site_models import read_model

NO_CRAWL = (
    "no crawl runs on {data}: a long action is done by the workers of a crawl. Start one, or use "
    "the command `{command}`"
)
SLICE_S = 3.0
"""A slice ends after its step behind this time: pages wait for a worker no longer."""

PORTION = 20
"""Records re-cleaned and saved together."""

EXAMPLES = 3
"""Addresses of changed pages that are told."""

FIELD = "field."
"""Begins the key of a field of records that differs: ``field.body``."""

_URL = re.compile(r"https?://\S+")


class Detail(StrEnum):
    """What is counted."""

    CHANGED = "changed"  # records that were replaced
    WOULD_CHANGE = "would_change"  # records that re-cleaning would replace
    GONE = "gone"  # records that stay: their raw pages are gone
    OTHER_LAYOUT = "other_layout"  # records that stay: their pages are of before the change
    NOT_CLEANED = "not_cleaned"  # records that stay: re-cleaning them failed
    NEW_VERSION = "new_version"  # of a host's model, stored
    SAME_VERSION = "same_version"  # of a host's model: what was learned is equal to it
    TOPIC_VERSION = "topic_version"  # of a topic's model, with the mark
    DELETED_URLS = "deleted_urls"  # from the queue
    DELETED_RECORDS = "deleted_records"
    FREED_BYTES = "freed_bytes"


class ReadDetail(Struct, frozen=True, kw_only=True):
    """The line of an operation, read.

    Attributes:
        numbers: (key, number) each, in order: ``("would_change", 12)``.
        fields: (field of records, records in which it differs) each: ``("body", 10)``.
        urls: Examples.
        text: The line itself where it is a person's or an error's words; ``""`` otherwise.
    """

    numbers: Sequence[tuple[str, int]] = ()
    fields: Sequence[tuple[str, int]] = ()
    urls: Sequence[str] = ()
    text: str = ""


def read_detail(line: str) -> ReadDetail:
    """Reads the line of an operation; what ``told`` did not write is its text."""

    def is_key(word: str) -> bool:
        return word in set(Detail) or word.startswith(FIELD)

    found, urls, text = read_told(line, is_key, _URL.fullmatch)
    names = [(key.removeprefix(FIELD), n) for key, n in found.items() if key.startswith(FIELD)]
    numbers = [each for each in found.items() if not each[0].startswith(FIELD)]
    return ReadDetail(numbers=numbers, fields=names, urls=urls, text=text)


class Turn:
    """One slice.

    Attributes:
        context: Settings, queue and store.
        asked: The arguments of the operation.
        cursor: Where it begins; later: where the next slice begins.
        done: Units of work that are done.
        total: All units; 0: not known.
        detail: A line for a person.
        is_stopped: Whether somebody has asked to stop.
    """

    def __init__(
        self,
        context: Context,
        operation: Operation,
        asked: Mapping[str, Any],
        cursor: Mapping[str, Any],
    ) -> None:
        """Begins now."""
        self.context = context
        self.asked = asked
        self.cursor = dict(cursor)
        self.done, self.total, self.detail = operation.done, operation.total, operation.detail
        if not cursor:
            self.done = 0
        self.is_stopped = False
        self._seq = operation.seq
        self._until = time.monotonic() + SLICE_S

    def tell(self, done: int, total: int, detail: str, cursor: Mapping[str, Any]) -> bool:
        """Stores progress; returns whether to go on now."""
        self.done, self.total, self.detail = done, max(done, total), detail
        self.cursor = dict(cursor)
        operations = self.context.store.operations
        self.is_stopped = not operations.advance(self._seq, done, self.total, detail)
        return not self.is_stopped and time.monotonic() < self._until


WORK: dict[str, Callable[[Turn], bool]] = {}
COMMANDS: dict[str, str] = {}
"""What does the same at rest."""


def work(command: str) -> Callable[[Callable[[Turn], bool]], Callable[[Turn], bool]]:
    """Registers what does one slice of the kind of the function's name."""

    def register(do: Callable[[Turn], bool]) -> Callable[[Turn], bool]:
        WORK[do.__name__], COMMANDS[do.__name__] = do, command
        return do

    return register


def background_notes(backends: Backends) -> tuple[Note, ...]:
    """What to say of a long action at this moment: that a worker does it, or that none is there."""
    with backends.queue_side() as side:
        if side.frontier is None:
            return (Note.NEEDS_CRAWL,)
        has_hands = bool(side.frontier.now().of_role(ProcessRole.WORKER))
    return (Note.IN_BACKGROUND,) if has_hands else (Note.NO_WORKER,)


def start_operation(
    backends: Backends,
    kind: str,
    asked: Asked,
    arguments: Mapping[str, Any],
    total: int = 0,
    *,
    may_wait: bool = False,
) -> Effect:
    """Stores a long action and gives it to the workers.

    Args:
        backends: Queue and store.
        kind: A key of ``WORK``.
        asked: The action that is asked for.
        arguments: What the work needs, as JSON values.
        total: Units of work; 0: not known.
        may_wait: Whether it waits at rest: the next crawl does it.

    Raises:
        NotFound: No crawl runs on the data folder; the message names the command for this case.
    """
    operation = Operation(
        kind=kind,
        target=asked.target,
        who=asked.who,
        asked=json.dumps(dict(arguments), ensure_ascii=False),
        total=total,
    )
    with ExitStack() as opened:
        try:
            frontier = opened.enter_context(backends.queue())
        except NotFound:
            if may_wait:
                seq = opened.enter_context(backends.store()).operations.add(operation)
                return Effect({Fact.OPERATION: seq}, (Note.NEEDS_CRAWL,))
            command = COMMANDS[kind].format(**arguments)
            for flag in ("host", "reason") if kind == "retry" else ():
                command += f" --{flag} {arguments[flag]}" if arguments[flag] else ""
            data = backends.settings.storage.data
            raise NotFound(NO_CRAWL.format(data=data, command=command)) from None
        seq = opened.enter_context(backends.store()).operations.add(operation)
        frontier.operations.enqueue(seq)
    return Effect({Fact.OPERATION: seq}, background_notes(backends))


def run_operation(seq: int, job_id: str, cursor: dict[str, Any]) -> None:
    """Runs a job: does the next slice of an operation, and enqueues the slice after it.

    An error that may pass leaves the operation to the housekeeper; any other ends it.

    Args:
        seq: Number of the operation.
        job_id: This job; an older one than the newest does nothing.
        cursor: Where the slice begins; empty at the beginning.
    """
    context = process_context()
    operations, jobs = context.store.operations, context.frontier.operations
    operation = operations.get(seq)
    if operation is None or operation.state.has_ended or not jobs.is_newest(seq, job_id):
        return
    turn = Turn(context, operation, json.loads(operation.asked), cursor)
    try:
        turn.tell(turn.done, operation.total, operation.detail, cursor)
        is_finished = not turn.is_stopped and WORK[operation.kind](turn)
    except QueueUnavailable:
        return  # the parent logs the outage; the housekeeper enqueues the operation again
    except ServiceError as error:
        if error.retryable:
            return
        operations.end(seq, OperationState.FAILED, str(error))
    else:
        if not (is_finished or turn.is_stopped):
            jobs.enqueue(seq, turn.cursor)
            return
        state = OperationState.DONE if is_finished else OperationState.STOPPED
        operations.end(seq, state, turn.detail)
    jobs.forget(seq)


@work("crawl retry {crawl}")
def retry(turn: Turn) -> bool:
    """Offers failed URLs of a crawl again, by page id."""
    asked = turn.asked
    wanted = EndedFilter(
        failed=True,
        host=asked["host"],
        reasons=frozenset({FailureReason(asked["reason"])}) if asked["reason"] else frozenset(),
        status=asked["status"],
        until=from_microseconds(asked["until"]),
    )
    return _offer(turn, [asked["crawl"]], wanted)


@work("crawl refetch {target}")
def fetch_again(turn: Turn) -> bool:
    """Offers stored pages again, crawl by crawl, by page id."""
    asked = turn.asked
    wanted = EndedFilter(
        failed=False,
        host=asked["host"],
        since=None if asked["since"] is None else from_microseconds(asked["since"]),
        until=from_microseconds(asked["until"]),
        no_body=asked["no_body"],
    )
    return _offer(turn, asked["crawls"], wanted)


def _offer(turn: Turn, crawls: Sequence[str], wanted: EndedFilter) -> bool:
    queue, store = turn.context.frontier, turn.context.store
    first = turn.cursor.get("crawl", 0)
    for number, crawl in enumerate(crawls[first:], first):
        after = turn.cursor.get("after", "") if number == first else ""
        for found, last in portions(store, crawl, wanted, after):
            reopened = queue.reopen(crawl, found)
            if reopened:
                record_state(queue, store, crawl)
            cursor = {"crawl": number, "after": last}
            if not turn.tell(turn.done + reopened, turn.total, "", cursor):
                return False
    return True


@work("crawl drop-raw {target}")
def drop_raw(turn: Turn) -> bool:
    """Drops archived responses of a crawl or a host."""
    context = turn.context
    with Backends(context.settings) as backends:
        crawl, host = raw_place(backends, context.store, turn.asked["target"])
    *_, frees = context.store.raw_space(crawl, host)
    before: int = turn.cursor.setdefault("frees", frees)
    while dropped := context.store.drop_raw(crawl, host, STEP):
        if not turn.tell(turn.done + dropped, turn.total, turn.detail, turn.cursor):
            *_, left = context.store.raw_space(crawl, host)
            turn.tell(
                turn.done,
                turn.total,
                told({Detail.FREED_BYTES: max(0, before - left)}),
                turn.cursor,
            )
            return False
    turn.tell(turn.done, turn.total, told({Detail.FREED_BYTES: before}), turn.cursor)
    return True


@work("model learn {host}")
def learn(turn: Turn) -> bool:
    """Learns a host from its archive, in one step."""
    learned = learn_host(turn.context.store, turn.asked["host"], LearnReason.ASKED)
    key = Detail.NEW_VERSION if learned.is_new else Detail.SAME_VERSION
    turn.tell(1, 1, told({key: learned.about.version}), turn.cursor)
    return True


@work("model reclean {host}")
def reclean(turn: Turn) -> bool:
    """Re-cleans the records of a host that older versions of its model made."""
    return _reclean(turn, save=True)


@work("model reclean {host} --dry-run")
def try_reclean(turn: Turn) -> bool:
    """Compares the records of a host with what its model makes of their pages; saves nothing."""
    return _reclean(turn, save=False)


def _reclean(turn: Turn, *, save: bool) -> bool:
    host, version, store = turn.asked["host"], turn.asked["version"], turn.context.store
    model = read_model(find_version(store, host, version))
    hooks = HookCalls(turn.context.hooks)
    counts = dict.fromkeys(("changed", "gone", "kept", "failed"), 0)
    cursor: dict[str, Any] = {"after": ["", ""], **counts, "fields": {}, "urls": [], **turn.cursor}
    records = store.hosts.versions(host, tuple(cursor["after"]))
    while portion := list(islice(records, PORTION)):
        older = [each for each in portion if each.model_version < version]
        part = reclean_records(store, older, model, save=save, examples=EXAMPLES, hooks=hooks)
        counts = {"changed": part.changed, "kept": part.outdated, "gone": part.unarchived}
        for name, n in (counts | {"failed": len(part.failed)}).items():
            cursor[name] += n
        for name, n in part.by_field.items():
            cursor["fields"][name] = cursor["fields"].get(name, 0) + n
        cursor["urls"] = [*cursor["urls"], *(each.before.url for each in part.examples)][:EXAMPLES]
        cursor["after"] = [portion[-1].page_id, portion[-1].crawl_id]
        if not turn.tell(turn.done + len(older), turn.total, _result(cursor, save=save), cursor):
            return False
    return True


def _result(cursor: Mapping[str, Any], *, save: bool) -> str:
    """``changed 12; field.body 10; field.title 2; gone 3; http://...``."""
    names = sorted(cursor["fields"].items(), key=lambda each: (-each[1], each[0]))
    numbers = {str(Detail.CHANGED if save else Detail.WOULD_CHANGE): cursor["changed"]}
    numbers |= {f"{FIELD}{name}": n for name, n in names}
    stay = {Detail.GONE: "gone", Detail.OTHER_LAYOUT: "kept", Detail.NOT_CLEANED: "failed"}
    numbers |= {str(key): cursor[name] for key, name in stay.items() if cursor[name]}
    return told(numbers, cursor["urls"])


@work("crawl purge {target}")
def purge(turn: Turn) -> bool:
    """Deletes a crawl, or a host in every crawl, in one step: it cannot be stopped."""
    with Backends(turn.context.settings) as backends:
        done = purge_target(backends, turn.asked["target"], keep_records=False)
    numbers = {str(Detail.DELETED_URLS): done.urls, str(Detail.DELETED_RECORDS): done.records}
    turn.tell(1, 1, told(numbers), turn.cursor)
    return True


@work("topic {topic} --edit")
def edit_topic(turn: Turn) -> bool:
    """Changes the words of a topic, and judges its pages anew."""
    asked = turn.asked

    def tell(judged: int) -> None:
        turn.tell(turn.done + judged, 0, "", turn.cursor)

    flags = TopicFlags(
        query=asked.get("query"),
        exclude_words=asked["exclude_words"].split() if "exclude_words" in asked else None,
        threshold=float(asked["threshold"]) if "threshold" in asked else None,
        pages_per_hour=float(asked["pages_per_hour"]) if "pages_per_hour" in asked else None,
    )
    row = change_topic(turn.context.settings, asked["topic"], flags, tell)
    turn.tell(turn.done, turn.done, told({Detail.TOPIC_VERSION: row.version}), turn.cursor)
    return True


@work("crawl recover {crawl} --force")
def widen(turn: Turn) -> bool:
    """Offers what the order of a crawl left out before it was changed, in one step."""
    from crawlclean.workers.operations.crawling.recovery import offer_again

    store, crawl = turn.context.store, turn.asked["crawl"]
    row = store.crawls.get(crawl)
    if row is None:
        raise NotFound(Message("no_crawl", crawl))
    before = replace(row, spec=spec_from_json(turn.asked["before"]))
    offered = offer_again(turn.context, before, turn.context.frontier.spec(crawl), lambda _: None)
    turn.tell(offered, offered, "", turn.cursor)
    return True


WORDS = {True: "relevant", False: "not-relevant", None: "unmark"}
"""Marks as options of `topic`."""


@work("topic {topic} --{word} {url}")
def mark(turn: Turn) -> bool:
    """Teaches a topic a person's word on a page, the last one, and judges its pages anew."""
    asked = turn.asked
    page = turn.context.store.topics.page(asked["topic"], page_id(normalize(asked["url"])))

    def tell(judged: int) -> None:
        turn.tell(turn.done + judged, 0, "", turn.cursor)

    row = mark_page(
        turn.context.settings,
        asked["topic"],
        asked["url"],
        tell,
        is_relevant=page.mark if page else None,
    )
    turn.tell(turn.done, turn.done, told({Detail.TOPIC_VERSION: row.version}), turn.cursor)
    return True
