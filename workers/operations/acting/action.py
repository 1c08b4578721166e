"""What an action of the console is: what it asks, what it would do in numbers, what it did."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qsl, urlencode

from cleaning.errors import ConfigError
from workers.config import Settings


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
    CASE = "case"


class Fact(StrEnum):
    """What is counted before and after an action."""

    CRAWLS = "crawls"
    URLS = "urls"
    HOSTS = "hosts"
    WAITING = "waiting"
    IN_FLIGHT = "in_flight"
    RECORDS = "records"
    OLDER_RECORDS = "older_records"
    FAILED = "failed"
    MODEL_VERSIONS = "model_versions"
    MODEL_VERSION = "model_version"
    CLASS_RECORDS = "class_records"
    CLASS_WAITING = "class_waiting"
    PAGES = "pages"
    CLASSES = "classes"
    CASES = "cases"
    LEASES = "leases"
    CLAIMS = "claims"
    SILENT_S = "silent_s"
    DONE = "done"
    OPERATION = "operation"
    RESPONSES = "responses"
    FREED_BYTES = "freed_bytes"
    POISON_PAGES = "poison_pages"
    COPIES = "copies"


class Note(StrEnum):
    """What else is said of an action, before or after it."""

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
    CASE_REPLACED = "case_replaced"  # the part is reported already
    AT_LEAST = "at_least"  # there was no time to count all
    ONE_REQUEST = "one_request"  # by the host's delay and robots.txt; a pause stays
    NEEDS_SPIDER = "needs_spider"  # at rest nothing fetches
    RECORDS_STAY = "records_stay"  # until newer ones are stored
    TO_BE_FETCHED = "to_be_fetched"  # it is only queued
    MORE_THAN_SIGN = "more_than_sign"  # re-cleaning takes pages from before the change, too
    SIGN_ENDS = "sign_ends"  # Now is silent about it until there are more
    ONE_FIRST = "one_first"  # each page may kill three workers
    NO_WAY_BACK_COPY = "no_way_back_copy"  # a copy of a page is deleted
    NO_WAY_BACK_RAW = "no_way_back_raw"  # without its response no page can be cleaned again


class Input(StrEnum):
    """What a person may type or choose on the confirm page."""

    WHY = "why"
    WORD = "word"
    WANTED = "wanted"
    SINCE = "since"
    WHICH = "which"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request for an action.

    Attributes:
        target: Its host, crawl, topic, URL, process or operation.
        values: Its other values, by the names in ``Action.values`` and ``Action.inputs``:
            ``{"template": "/news/{n}.html", "word": "forbid"}``.
        who: Who asks, for what keeps a name: ``session 4f11``.
    """

    target: str
    values: Mapping[str, str] = field(default_factory=dict)
    who: str = ""

    def number(self, name: str) -> int:
        """A value that is a number.

        Raises:
            ConfigError: It is none.
        """
        text = self.values.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise ConfigError(f"{name} is no number: {text}")
        return int(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What a verdict is about, for who says what is right.

    Attributes:
        subject: The part of the page: ``text``, ``title``.
        text: Its text or address; ``""`` of a field.
        was: What was found: ``navigation``.
        rule: The rule that decided; ``""`` of a field.
        choices: What may be right; empty: any words.
        wanted: What was said to be right; None: nobody has said so yet.
    """

    subject: str
    text: str
    was: str
    rule: str
    choices: Sequence[str] = ()
    wanted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an action would do.

    Attributes:
        facts: What it is about, in numbers of this moment.
        notes: What else there is to know.
        matter: The verdict that it is about; None: it is about none.
        chosen: Values that were not given, as the action would choose them: ``{"url": "http://..."}``.
    """

    facts: Mapping[Fact, int] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    matter: Matter | None = None
    chosen: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action did.

    Attributes:
        facts: In numbers.
        notes: What else there is to know.
        undo: What takes it back, by ``written``; ``""``: nothing does.
    """

    facts: Mapping[Fact, int] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    undo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action of console and API.

    Attributes:
        name: ``pause_host``.
        safety: How it is confirmed.
        subject: What its target is.
        plan: Returns what it would do; changes nothing.
        act: Does it.
        values: Names of values that it needs beside the target.
        inputs: What a person may type or choose.
        is_urgent: Whether it acts while the store cannot be written, too: what it ends may be what
            keeps the store locked.
    """

    name: str
    safety: Safety
    subject: Subject
    plan: Callable[[Settings, Asked], Plan]
    act: Callable[[Settings, Asked], Done]
    values: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    is_urgent: bool = False


def chosen_values(given: Mapping[str, str], plan: Plan) -> dict[str, str]:
    """The values of an action, those that were not given as its plan has chosen them."""
    return {name: text or plan.chosen.get(name, "") for name, text in given.items()}


def told(facts: Mapping[Fact, int], notes: Sequence[Note] = ()) -> str:
    """Facts and notes as a line of the audit: ``urls 1204; hosts 3; in_background``."""
    return "; ".join([*(f"{fact} {n}" for fact, n in facts.items()), *map(str, notes)])


def untold(text: str) -> tuple[dict[Fact, int], list[Note], str]:
    """The facts and notes of a line of the audit; and the text of a line that has none."""
    facts: dict[Fact, int] = {}
    notes: list[Note] = []
    for part in filter(None, text.split("; ")):
        found = re.fullmatch(r"(\w+) (\d{1,18})", part)
        if found and found[1] in set(Fact):
            facts[Fact(found[1])] = int(found[2])
        elif part in set(Note):
            notes.append(Note(part))
        else:
            return {}, [], text
    return facts, notes, ""


def written(name: str, target: str, **values: str) -> str:
    """An action as text: ``pin_class www.example.com template=%2Fa&word=``."""
    return f"{name} {target} {urlencode(values)}".rstrip()


def read_written(text: str) -> tuple[str, str, dict[str, str]]:
    """The (name, target, values) of an action that ``written`` has written."""
    name, _, rest = text.partition(" ")
    target, _, values = rest.partition(" ")
    return name, target, dict(parse_qsl(values, keep_blank_values=True))
