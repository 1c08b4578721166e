"""What an action of console and API is, and the table of all of them.

An action is one generator, registered by its name::

    @action(Safety.REVERSIBLE, Subject.HOST, inputs=(Input.WHY,))
    def pause_host(backends, asked):
        yield Effect(facts, notes)              # what it would do; nothing is changed up to here
        change_state(...)
        return Effect({Fact.HOSTS: 1}, undo=written("resume_host", asked.target))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError, ServiceError
from crawlclean.storage.opening import open_store
from crawlclean.storage.store import journal as audit
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.operations.backends import Backends


class Safety(StrEnum):
    """How an action is confirmed."""

    REVERSIBLE = "reversible"  # a page says what it does; the result leads back
    COUNTED = "counted"  # the page says it in numbers of this moment
    TYPED = "typed"  # nothing brings it back: the name has to be typed


class Subject(StrEnum):
    """What the target of an action is."""

    HOST = "host"
    CRAWL = "crawl"
    TOPIC = "topic"
    URL = "url"
    PROCESS = "process"
    OPERATION = "operation"
    RECEIVER = "receiver"


class Fact(StrEnum):
    """What is counted before and after an action."""

    CRAWLS = "crawls"
    URLS = "urls"
    SEEDS = "seeds"
    HOSTS = "hosts"
    WAITING = "waiting"
    IN_FLIGHT = "in_flight"
    RECORDS = "records"
    OLDER_RECORDS = "older_records"
    FAILED = "failed"
    LEFT_OUT = "left_out"
    MODEL_VERSIONS = "model_versions"
    MODEL_VERSION = "model_version"
    CLASS_RECORDS = "class_records"
    CLASS_WAITING = "class_waiting"
    PAGES = "pages"
    CLASSES = "classes"
    LEASES = "leases"
    CLAIMS = "claims"
    SILENT_S = "silent_s"
    PAUSE_MS = "pause_ms"
    DONE = "done"
    OPERATION = "operation"
    RESPONSES = "responses"
    FREED_BYTES = "freed_bytes"
    WAITING_MESSAGES = "waiting_messages"


class Note(StrEnum):
    """What else is said of an action, before or after it."""

    NEEDS_RUN = "needs_run"  # no queue runs: the console starts no process, it tells the command
    WITH_RUN = "with_run"  # embedded: the run's processes crawl it, and end with the run
    BY_SERVERS = "by_servers"
    NEEDS_SPIDER_LATER = "needs_spider_later"  # servers without a spider: it waits for one
    FROM_NOW_ON = "from_now_on"  # spiders and workers need no restart; what waits stays
    LINKS_READ_AGAIN = "links_read_again"  # for the URLs that the old order left out
    COMMAND_WINS = "command_wins"  # the next `run` of the crawl sets what its options say
    NEVER_FASTER = "never_faster"  # the longest of all pauses wins
    ALL_CRAWLS = "all_crawls"  # it counts for every crawl that knows the host
    IN_FLIGHT_GO_ON = "in_flight_go_on"  # what is being fetched is finished
    NOT_FETCHED_YET = "not_fetched_yet"  # no crawl runs: the next run fetches
    NEEDS_CRAWL = "needs_crawl"  # embedded, at rest: its command does it
    NO_WORKER = "no_worker"  # no worker is heard: the operation waits for one
    IN_BACKGROUND = "in_background"  # a worker does it
    KILLS_AGAIN = "kills_again"  # workers died on the pages
    WILL_FAIL_AGAIN = "will_fail_again"  # 4xx, robots.txt: what failed is the page's fault
    NO_WAY_BACK = "no_way_back"
    STAYS_ENDED = "stays_ended"  # URLs that ended stay so; those found from now on are fetched
    PROCESS_MAY_LIVE = "process_may_live"  # its late results are refused
    TRY_FIRST = "try_first"  # a dry run shows what would change
    CHANGES_NOTHING = "changes_nothing"
    HAS_ENDED = "has_ended"
    TOPIC_JUDGES_ANEW = "topic_judges_anew"
    AT_LEAST = "at_least"  # there was no time to count all
    ONE_REQUEST = "one_request"  # by the host's delay and robots.txt; a pause stays
    NEEDS_SPIDER = "needs_spider"  # at rest nothing fetches
    RECORDS_STAY = "records_stay"  # until newer ones are stored
    TO_BE_FETCHED = "to_be_fetched"  # it is only queued
    MORE_THAN_SIGN = "more_than_sign"  # re-cleaning takes pages from before the change, too
    IN_LOG = "in_log"  # the log of messages shows how it went
    NO_WAY_BACK_RAW = "no_way_back_raw"  # without its response no page can be cleaned again


class Input(StrEnum):
    """What a person may type or choose on the confirm page."""

    WHY = "why"
    WORD = "word"
    SINCE = "since"
    WHICH = "which"
    DELAY = "delay"
    SLOTS = "slots"
    ADDRESS = "address"  # these are of receivers
    SIGNS = "signs"
    ENDED = "ended"
    STORIES = "stories"
    DIGEST = "digest"
    DIGEST_AT = "digest_at"
    ZONE = "zone"
    QUIET = "quiet"
    RED_PASSES = "red_passes"
    MOST_AN_HOUR = "most_an_hour"
    LANG = "lang"


class Asked(Struct, frozen=True, kw_only=True):
    """One request for an action.

    Attributes:
        target: Its host, crawl, topic, URL, process or operation.
        values: Its other values, by the names in ``Action.values`` and ``Action.inputs``:
            ``{"template": "/news/{n}.html", "word": "forbid"}``.
        who: Who asks, a session or a token: ``session 4f11``, ``token 4f11``.
        place: Where the request came from: ``127.0.0.1``.
    """

    target: str
    values: Mapping[str, str] = {}
    who: str = ""
    place: str = ""

    def get(self, name: str) -> str:
        """A value; ``""`` when it is not given."""
        return self.values.get(name, "")

    def number(self, name: str) -> int:
        """A value that is a number.

        Raises:
            ConfigError: It is none.
        """
        text = self.get(name)
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise ConfigError(f"{name} is not a number: {text}")
        return int(text)

    def ms(self, name: str) -> int | None:
        """A value in seconds as whole milliseconds, at most a day; None when it is not given.

        Raises:
            ConfigError: It is none.
        """
        text = self.get(name).strip()
        if not text:
            return None
        if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", text) or float(text) > 86_400:
            raise ConfigError(f"{name} is not a number of seconds: {text}")
        return round(float(text) * 1000)

    def time(self, name: str) -> datetime | None:
        """A value that is microseconds since 1970; None when it is not given.

        Raises:
            ConfigError: It is no time.
        """
        try:
            return from_microseconds(self.number(name)) if self.get(name) else None
        except (OverflowError, ValueError) as error:
            raise ConfigError(f"{self.get(name)} is not a time") from error


class Effect(Struct, frozen=True):
    """What an action would do, or did.

    Attributes:
        facts: In numbers of this moment.
        notes: What else there is to know.
        undo: What takes it back, by ``written``; ``""``: nothing does, or nothing is done yet.
        changes: Values that differ: name -> (before, after).
        command: What does it by hand; ``""``: it is not told.
        wrong: What is wrong with the values that were given; ``""``: nothing.
        is_ready: Whether it can be done; else values have to be given first, or nothing runs.
        fed: Waiting URLs of each class that only pages of a class to be forbidden lead to.
        chosen: Values and inputs that were not given, as the action would choose them: ``{"url":
            "http://..."}``.
    """

    facts: Mapping[Fact, int] = {}
    notes: Sequence[Note] = ()
    undo: str = ""
    fed: Mapping[str, int] = {}
    chosen: Mapping[str, str] = {}
    changes: Mapping[str, tuple[str, str]] = {}
    command: str = ""
    wrong: str = ""
    is_ready: bool = True


Steps = Generator[Effect, None, Effect]


class Action(Struct, frozen=True, kw_only=True):
    """An action of console and API.

    Attributes:
        name: ``pause_host``.
        safety: How it is confirmed.
        subject: What its target is.
        steps: Yields what it would do; goes on to do it, and returns what it did.
        values: Names of values that it needs beside the target.
        inputs: What a person may type or choose.
        secrets: Names of values that the audit does not keep.
        is_urgent: Whether it acts while the store cannot be written, too: what it ends may be what
            keeps the store locked.
    """

    name: str
    safety: Safety
    subject: Subject
    steps: Callable[[Backends, Asked], Steps]
    values: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    secrets: tuple[str, ...] = ()
    is_urgent: bool = False

    def plan(self, backends: Backends, asked: Asked) -> Effect:
        """What it would do, in numbers of this moment.

        Raises:
            NotFound: There is no such target.
            ConfigError: A value is wrong.
        """
        with closing(self.steps(backends, asked)) as steps:
            return next(steps)

    def act(self, backends: Backends, asked: Asked) -> Effect:
        """Does it."""
        steps = self.steps(backends, asked)
        next(steps)
        try:
            next(steps)
        except StopIteration as end:
            done: Effect = end.value
            return done
        raise AssertionError(f"{self.name} yields twice")


ACTIONS: dict[str, Action] = {}
"""Every action by its name; ``actions`` imports the files that fill it."""


def action(
    safety: Safety, subject: Subject, *, values: tuple[str, ...] = (),
    inputs: tuple[Input, ...] = (), secrets: tuple[str, ...] = (), is_urgent: bool = False,
    name: str = "", **bound: object,
) -> Callable[[Callable[..., Steps]], Callable[..., Steps]]:  # fmt: skip
    """Registers a generator as an action, as ``name`` or under its own; ``bound`` are arguments."""

    def register(steps: Callable[..., Steps]) -> Callable[..., Steps]:
        own = name or steps.__name__
        ACTIONS[own] = Action(
            name=own, safety=safety, subject=subject, values=values, inputs=inputs, secrets=secrets,
            is_urgent=is_urgent, steps=lambda backends, asked: steps(backends, asked, **bound),
        )  # fmt: skip
        return steps

    return register


def told(facts: Mapping[Any, int], rest: Sequence[str] = ()) -> str:
    """Numbers, then notes or examples, as one line: ``urls 1204; hosts 3; in_background``."""
    return "; ".join([*(f"{fact} {n}" for fact, n in facts.items()), *map(str, rest)])


def read_told(
    line: str, is_key: Callable[[str], bool], is_rest: Callable[[str], object]
) -> tuple[dict[str, int], list[str], str]:
    """The (numbers, rest, text) of a line of ``told``; any other line is its own text alone.

    Args:
        line: ``urls 1204; hosts 3; in_background``.
        is_key: Whether a word is the name of a number: ``urls``.
        is_rest: Whether a part is a note or an example.
    """
    numbers, rest = {}, []
    for part in filter(None, line.split("; ")):
        key, _, n = part.partition(" ")
        if is_key(key) and re.fullmatch(r"[0-9]{1,18}", n):
            numbers[key] = int(n)
        elif is_rest(part):
            rest.append(part)
        else:
            return {}, [], line
    return numbers, rest, ""


def untold(line: str) -> tuple[dict[Fact, int], list[Note], str]:
    """The facts and notes of a line of the audit; and the text of a line that has none."""
    numbers, rest, text = read_told(line, set(Fact).__contains__, set(Note).__contains__)
    return {Fact(key): n for key, n in numbers.items()}, [Note(each) for each in rest], text


def written(name: str, target: str, **values: str) -> str:
    """An action as text: ``pin_class www.example.com template=%2Fa&word=``."""
    return f"{name} {target} {urlencode(values)}".rstrip()


def read_written(text: str) -> tuple[str, str, dict[str, str]]:
    """The (name, target, values) of an action that ``written`` has written."""
    name, _, rest = text.partition(" ")
    target, _, values = rest.partition(" ")
    return name, target, dict(parse_qsl(values, keep_blank_values=True))


# Does an action between its two rows of the audit, and keeps what was refused.

ERROR = "error: "
REFUSED = "refused: the console is read-only"
MOST_CHARS = 2_000
"""Of each text in a row of the audit."""

URGENT_S = 2.0
"""So long an urgent action waits for a store that another process keeps locked: a worker that was
stopped within a transaction keeps it until it is killed."""


def perform(
    backends: Backends,
    action: Action,
    asked: Asked,
    expected: str,
    begun: Callable[[int], object],
) -> int:
    """Does an action; returns the number of its row of the audit.

    The row is there before the action acts, and says afterwards what happened; of a process that
    dies meanwhile the row has no end. An error of the action is its end. Of an urgent action whose
    store is locked the row comes afterwards.

    Args:
        backends: Queue and store.
        action: The action.
        asked: What it is asked for.
        expected: What the person was told that it would do, in numbers.
        begun: Called with the number of the row before the action acts.

    Raises:
        ServiceError: The store is away: nothing was done, or the row has no end.
    """
    row = _row(action.name, asked, expected)
    seq = _begun(backends, action, row)
    if seq is not None:
        begun(seq)
    did, undo = _ending(backends, action, asked)
    with backends.store() as store:
        if seq is None:
            seq = store.audit.begin(row)
            begun(seq)
        store.audit.end(seq, did, undo)
    return seq


def _begun(backends: Backends, action: Action, row: audit.Action) -> int | None:
    """The number of a new row; None: the store is locked, and the action does not wait for it."""
    try:
        patience_s = URGENT_S if action.is_urgent else None
        storage = backends.settings.storage
        with closing(open_store(storage, patience_s=patience_s)) as store:
            return store.audit.begin(row)
    except ServiceError as error:
        if action.is_urgent and error.retryable:
            return None
        raise


def _ending(backends: Backends, action: Action, asked: Asked) -> tuple[str, str]:
    """Does an action; returns (what happened, what takes it back) for its row."""
    try:
        done = action.act(backends, asked)
    except ServiceError as error:
        return f"{ERROR}{error}"[:MOST_CHARS], ""
    return told(done.facts, done.notes) or "done 1", done.undo


def keep_refusal(backends: Backends, name: str, asked: Asked) -> None:
    """Stores that a read-only console was asked for an action; nothing where no store is."""
    with suppress(ServiceError), backends.store() as store:  # none yet, or away
        store.audit.end(store.audit.begin(_row(name, asked, "")), REFUSED)


def _row(name: str, asked: Asked, expected: str) -> audit.Action:
    secrets = ACTIONS[name].secrets if name in ACTIONS else ()
    given = {key: text for key, text in asked.values.items() if text and key not in secrets}
    values = urlencode(given)
    return audit.Action(
        who=asked.who,
        place=asked.place,
        action=name[:100],
        target=asked.target[:MOST_CHARS],
        asked="; ".join(filter(None, (values[:MOST_CHARS], expected[:MOST_CHARS]))),
    )


def read_asked(text: str) -> tuple[dict[str, str], str]:
    """The (values, what the person was told) of a row of the audit."""
    values, _, expected = text.partition("; ")
    return (dict(parse_qsl(values)), expected) if "=" in values else ({}, text)
