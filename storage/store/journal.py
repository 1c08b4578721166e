"""What happened and what was done: events, actions, long actions, and figures over time."""

from __future__ import annotations

import math
import re
import sys
import time
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.cleaning.messages import stored
from crawlclean.storage.store.ports import Member, Scan
from crawlclean.storage.store.rows import (
    NumberedRows,
    RowType,
    compress,
    decompress,
    from_microseconds,
    to_microseconds,
)

# What happened to crawls, hosts and processes, in one list.
#
# The store writes the events of what it keeps: a crawl's state (``crawls.py``), a host's model and
# changes (``models.py``), pauses (``hosts.py``). The housekeeper writes those of
# processes, `crawl recover` its own. The newest 20,000 are kept; a purge deletes none.

KEPT_EVENTS = 20_000
"""Events kept, the newest: some 5 MB."""
REPEATS = 32
"""Newest events of its host that a dated one is compared with: a repeated job writes it once."""


class EventKind(StrEnum):
    """What happened."""

    CRAWL = "crawl"  # a crawl has another state
    DRIFT = "drift"  # a host changed
    MODEL = "model"  # a host has another version of its model
    NOT_LEARNED = "not_learned"  # a host was not learned, because its jobs died
    PAUSED = "paused"  # an operator paused a host
    RESUMED = "resumed"  # an operator ended the pause
    SLOWED = "slowed"  # an operator slowed a host down, or ended that
    DIED = "died"  # a process died; its work was given to others
    TRAP = "trap"  # a URL class was stopped as a spider trap
    POISON = "poison"  # pages were set aside, because they kill workers
    RECOVERED = "recovered"  # a crawl was rebuilt from the store
    AWAY = "away"  # queue or store were away, and are back
    SEEN = "seen"  # of older versions: somebody had seen pages of a host that kill workers


class Event(Struct, frozen=True, kw_only=True):
    """One event.

    Attributes:
        kind: What happened.
        text: A line for a person: ``version 3, drift: 14 of 20 pages do not fit``.
        host: Its host; ``""``: none.
        crawl_id: Its crawl; ``""``: none.
        link: What it is about, by kind: the model version (``3``), the new state of the crawl
            (``finished``), the process (``machine.4711``); ``""``: nothing more.
        at: When; None while it is added: now.
        seq: Its number, from 1; 0 while it is added.
    """

    kind: EventKind
    text: str
    host: str = ""
    crawl_id: str = ""
    link: str = ""
    at: datetime | None = None
    seq: int = 0


class Events(NumberedRows[Event]):
    """The member ``events``; ``read`` takes values of ``kind``, ``host`` and ``crawl_id``."""

    table, kept = "events", KEPT_EVENTS
    rows = RowType(Event, "event", line="text")

    def add(self, event: Event) -> int:
        """Stores an event; returns its number.

        An event with a time that is among the newest of its host already is not stored again.
        """
        if event.at is not None:
            for known in self.read(limit=REPEATS, host=event.host):
                if replace(known, seq=0) == event:
                    return known.seq
        return self._add(event if event.at else replace(event, at=datetime.now(UTC)))


class WithEvents(Member):
    """A member whose changes are events."""

    @cached_property
    def _events(self) -> Events:
        return Events(self._ports)


# Who did what by console or API: rows are added and completed, never changed or deleted singly.
#
# An action writes its row before it acts, and completes it afterwards: an action whose process died
# is seen as one without an end. The newest 100,000 are kept.

KEPT_ACTIONS = 100_000
"""Actions kept, the newest: some 30 MB."""


class Action(Struct, frozen=True, kw_only=True):
    """An action of a person or a program.

    Attributes:
        who: A session or a token: ``password``, ``token 4f11``.
        place: Where it came from: ``127.0.0.1``.
        action: Its name: ``pause_host``.
        target: What it was for: ``www.example.com``.
        asked: What the confirm page said would happen: ``1,204 URLs of 3 hosts``.
        did: What happened, or the error; None: it has not ended.
        undo: What takes it back: ``resume_host www.example.com``; ``""``: nothing does.
        at: When it was asked; None while it is added: now.
        seq: Its number, from 1; 0 while it is added.
    """

    who: str
    place: str
    action: str
    target: str
    asked: str = ""
    did: str | None = None
    undo: str = ""
    at: datetime | None = None
    seq: int = 0


class Audit(NumberedRows[Action]):
    """The member ``audit``."""

    table, rows, kept = "audit", RowType(Action, "action"), KEPT_ACTIONS

    def begin(self, action: Action) -> int:
        """Stores an action before it acts; returns its number."""
        return self._add(replace(action, at=datetime.now(UTC), did=None))

    def end(self, seq: int, did: str, undo: str = "") -> bool:
        """Completes an action; False when it was completed before, or is not kept any more."""
        where = {"seq": seq, "did": None}
        return bool(self._tables.change("audit", where, {"did": did, "undo": undo}))


# Long actions of console and API, with progress: workers do them (``queue/jobs.py``).
#
# The job tells how far it is by ``advance``, whose answer says whether somebody has asked to stop.
# The newest 1,000 are kept.

KEPT_OPERATIONS = 1_000
"""Operations kept, the newest."""


class OperationState(StrEnum):
    """How far an operation is."""

    WAITING = "waiting"  # no process has begun it
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"  # somebody asked to stop
    FAILED = "failed"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen."""
        return self in (OperationState.DONE, OperationState.STOPPED, OperationState.FAILED)


class Operation(Struct, frozen=True, kw_only=True):
    """A long action.

    Attributes:
        kind: Its name: ``retry``.
        target: What it is for, ``news``.
        who: Who asked for it.
        asked: Its arguments as JSON text: ``{"crawl": "news", "reason": "timeout"}``.
        state: How far it is.
        done: Units of work that are done.
        total: All units; 0: not known.
        detail: What it has done so far, as numbers by key (``would_change 12; field.body 10``)
            and examples; or its error, in words.
        begun_at: When it was asked for; None while it is added: now.
        moved_at: When it advanced last; a running one that is silent for a minute is dead.
        is_stopping: Whether somebody has asked to stop.
        seq: Its number, from 1; 0 while it is added.
    """

    kind: str
    target: str
    who: str
    asked: str = "{}"
    state: OperationState = OperationState.WAITING
    done: int = 0
    total: int = 0
    detail: str = ""
    begun_at: datetime | None = None
    moved_at: datetime | None = None
    is_stopping: bool = False
    seq: int = 0


class Operations(NumberedRows[Operation]):
    """The member ``operations``."""

    table, kept = "operations", KEPT_OPERATIONS
    rows = RowType(Operation, "operation", line="detail")

    def add(self, operation: Operation) -> int:
        """Stores an operation that waits; returns its number."""
        now = datetime.now(UTC)
        return self._add(replace(operation, begun_at=now, moved_at=now))

    def advance(self, seq: int, done: int, total: int, detail: str = "") -> bool:
        """Stores progress; returns whether to go on: False after ``stop``, or when it has ended."""
        values = {"state": OperationState.RUNNING.value, "done": done, "total": total}
        goes_on = {"seq": seq, "is_stopping": 0, "state": _OPEN}
        return self._change(goes_on, {**values, "detail": detail})

    def stop(self, seq: int) -> bool:
        """Asks an operation to stop; False when it has ended. One that waits ends at once."""
        waiting = {"seq": seq, "state": OperationState.WAITING.value}
        stopped = {"state": OperationState.STOPPED.value, "is_stopping": 1}
        if self._change(waiting, stopped):
            return True
        return self._change({"seq": seq, "state": _OPEN}, {"is_stopping": 1})

    def end(self, seq: int, state: OperationState, detail: str) -> bool:
        """Ends an operation; False when it has ended before."""
        ended = {"state": state.value, "detail": stored(detail)}
        return self._change({"seq": seq, "state": _OPEN}, ended)

    def unfinished(self) -> list[Operation]:
        """Every operation that has not ended, oldest first."""
        wanted = Scan("operations", self.rows.columns, {"state": _OPEN}, ("seq",))
        return [self.rows.read(row) for row in self._tables.scan(wanted)]

    def _change(self, where: dict[str, Any], values: dict[str, Any]) -> bool:
        moved = {**values, "moved_at": time.time_ns() // 1000}
        return bool(self._tables.change("operations", where, moved))


_OPEN = [OperationState.WAITING.value, OperationState.RUNNING.value]


# Figures over time, for charts: one sample a minute of everything, of crawls and of hosts.
#
# | step | a sample is | kept |
# |---|---|---|
# | 60 s | the figures of a minute | two days |
# | 900 s | mean and most of a quarter's gauges, sums of its flows, its last totals | 40 days |
# | 86,400 s | the same of a day (UTC) | three years |
#
# A housekeeper stores each minute's sample unless another has (insert or ignore), so any number of
# them agree. When an hour, a day or a year of samples is full, its rows become one *block*, which
# is inserted or ignored, too. So each of the ranges that charts show is a few rows, all found by
# key.
#
# A name ends with what the figure is of: ``pending_urls`` of everything, ``pending_urls:news`` of a
# crawl, ``pending_urls@www.example.com`` of a host. In a row each crawl and host is packed alone:
# who reads one unpacks no other. The busiest are kept, as many as ``MOST_KEPT`` says, in every row:
# a year of 10,000 hosts takes the room of a year of 200.
#
# A counter is stored as the total since the queue began. A fall means that the queue began anew:
# ``per_second`` draws it as a gap.

MINUTE_S, QUARTER_S, HOUR_S, DAY_S = 60, 900, 3600, 86_400  # seconds of the units

BLOCKS: Final[Mapping[int, int]] = {MINUTE_S: 60, QUARTER_S: 96, DAY_S: 366}
"""Samples of a block by step: an hour, a day, a year of 366 days counted from 1970."""
KEPT_S: Final[Mapping[int, int]] = {
    MINUTE_S: 2 * DAY_S,
    QUARTER_S: 40 * DAY_S,
    DAY_S: 3 * 366 * DAY_S,
}
"""How long samples are kept by step; a block goes as a whole."""
LATE = {QUARTER_S: 8, DAY_S: 3}
"""Samples of longer steps that are made up for after a pause of all housekeepers."""
FINER = {QUARTER_S: MINUTE_S, DAY_S: QUARTER_S}
MOST = ".most"
"""Ends the name of the most of a gauge in a longer step: ``bytes_in_flight.most``."""
MOST_KEPT: Final[Mapping[str, int]] = {":": 100, "@": 200}
"""Crawls and hosts of a row, those with the most answers: 300 that are busy for three years take
60 MB in all steps together, and reading a day of one of them 2 ms."""
_OF = re.compile("[:@]")
_ZSTD = b"\x28\xb5\x2f\xfd"  # how a row of version 0.3 begins, which has no crawls and hosts
_GAP = math.nan


class Figure(StrEnum):
    """The name of a figure, with what it is: a line for Prometheus."""

    meaning: str

    def __new__(cls, name: str, meaning: str = "") -> Self:
        """Makes a member of its value and its meaning."""
        figure = str.__new__(cls, name)
        figure._value_ = name
        figure.meaning = meaning
        return figure


class Gauge(Figure):
    """A figure that rises and falls; the other names are counters (``queue/counters.py``)."""

    PAGES_IN_FLIGHT = "pages_in_flight", "URLs that wait for workers, or whose pages are cleaned"
    BYTES_IN_FLIGHT = "bytes_in_flight", "their compressed bytes"
    JOBS = "jobs", "jobs that wait for a worker"
    OLDEST_JOB_S = "oldest_job_s", "age of the oldest job that waits"
    LEASES_HELD = "leases_held", "URLs that spiders have leased"
    OLDEST_LEASE_S = "oldest_lease_s", "age of the oldest lease"
    CLAIMS_HELD = "claims_held", "jobs that workers have claimed"
    OLDEST_CLAIM_S = "oldest_claim_s", "age of the oldest claim"
    READY_HOSTS = "ready_hosts", "hosts that may be asked now"
    QUEUED_HOSTS = "queued_hosts", "hosts that have URLs"
    PAUSED_HOSTS = "paused_hosts", "hosts that an operator paused"
    STOPPED_CLASSES = "stopped_classes", "classes of URLs that are stopped as traps"
    LEARNING = "learning", "hosts that wait to be learned or cleaned again"
    MEMORY_BYTES = "memory_bytes", "memory of the queue's server"
    MEMORY_LIMIT_BYTES = "memory_limit_bytes", "its limit, 0 without one"
    FREE_BYTES = "free_bytes", "free bytes of the data folder's disk"
    SPIDERS = "spiders", "spiders that live"
    WORKERS = "workers", "workers that live"
    RUNNING_CRAWLS = "running_crawls", "crawls that run"
    PENDING_URLS = "pending_urls", "URLs that wait to be fetched"
    SPILLED_URLS = "spilled_urls", "of them in the store"


_GAUGES = frozenset(map(str, Gauge))


class Flow(Figure):
    """What is counted in each step, of everything, of a crawl, of a host."""

    ANSWERS_2XX = "answers_2xx", "requests answered with a status 2xx"
    ANSWERS_3XX = "answers_3xx", "requests answered with a redirect or 304"
    ANSWERS_4XX = "answers_4xx", "requests answered with a status 4xx"
    ANSWERS_5XX = "answers_5xx", "requests answered with a status 5xx"
    ANSWERS_NONE = "answers_none", "requests without a usable answer"
    RESPONSE_MS = "response_ms", "milliseconds from requests to the ends of their answers"
    RECORDS = "new_records", "URLs that ended with a record"
    FAILED = "new_failures", "URLs that ended with a failure"
    CLEANING_MS = "cleaning_time_ms", "milliseconds of worker time spent on cleaning"
    JUDGED = "judged", "records judged for the topic of their crawl"
    RELEVANT = "relevant", "of these records, relevant ones"


ANSWERS: Final = tuple(flow for flow in Flow if flow.startswith("answers_"))
BOUNDS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, math.inf)
"""Upper bounds of times in a histogram: Prometheus' usual ones, to the longest that is usual."""
ANSWERED_IN: Final = tuple(f"answered_in_{bound:g}" for bound in BOUNDS_S)
"""Names of the counts of answers by time, a bound each: ``answered_in_0.25``."""
CLEANED_IN: Final = tuple(f"cleaned_in_{bound:g}" for bound in BOUNDS_S)
BUSY = "busy"
"""How busy a crawl or a host was, in the queue's totals: its answers, the older the fewer."""
_FLOWS = frozenset((*map(str, Flow), *ANSWERED_IN, *CLEANED_IN))


def in_time(names: Sequence[str], seconds: float) -> str:
    """The name of the count that a time belongs to: ``answered_in_0.25`` for 0.2 s."""
    return names[bisect_left(BOUNDS_S, seconds)]


class OfCrawl(StrEnum):
    """Figures of a running crawl that signs are judged by; its name follows: ``fetched:news``."""

    FETCHED = "fetched:"  # requests that ended
    PENDING = f"{Gauge.PENDING_URLS}:"
    JUDGED = f"{Flow.JUDGED}:"
    RELEVANT = f"{Flow.RELEVANT}:"


class Series(Struct, frozen=True, kw_only=True):
    """Samples of some names at equal distances; a missing value is NaN.

    Attributes:
        step_s: 60, 900 or 86,400.
        start: Time of the first sample; one of 900 s has the quarter that begins then.
        values: Values by name, all of one length.
    """

    step_s: int
    start: datetime
    values: Mapping[str, Sequence[float]]

    def per_second(self, name: str) -> list[float]:
        """The rate of a counter in each step but the first; NaN where it fell or is missing."""
        totals = self.values[name]
        rises = (new - old for old, new in pairwise(totals))
        return [rise / self.step_s if rise >= 0 else _GAP for rise in rises]


class Samples(Member):
    """The member ``samples``."""

    def add(self, at: datetime, values: Mapping[str, float]) -> bool:
        """Stores the sample of a minute; False when there is one.

        The first of a quarter or a day also makes the samples of longer steps, and blocks.

        Args:
            at: A time in the minute.
            values: Gauges and flows by their names, and totals of counters.
        """
        minute = _seconds(at) // MINUTE_S * MINUTE_S
        if not self._add(MINUTE_S, 1, minute, {name: [x] for name, x in values.items()}):
            return False
        for step, finer in FINER.items():
            if minute % step == 0:
                self._summarize(step, finer, minute)
        for step, slots in BLOCKS.items():
            if minute % max(step, HOUR_S) == 0:
                self._fill_blocks(step, slots, minute)
        return True

    def read(self, names: Iterable[str], step_s: int, since: datetime, until: datetime) -> Series:
        """Samples of a time, by key.

        Args:
            names: Gauges (with ``.most``, not of minutes), flows and counters, of crawls and hosts
                with their names: ``pending_urls:news``, ``answers_2xx@www.example.com``.
            step_s: 60, 900 or 86,400.
            since: The first sample is the one that this time is in.
            until: The last sample is before this.
        """
        first = _seconds(since) // step_s * step_s
        count = max(0, -(-(_seconds(until) - first) // step_s))
        wanted = {name: array("d", [_GAP]) * count for name in names}
        count = count if wanted else 0
        for at, slots, values in self._rows(step_s, first, count, wanted):
            place = (at - first) // step_s
            low, high = max(0, place), min(count, place + slots)
            for name in wanted.keys() & values.keys():
                wanted[name][low:high] = values[name][low - place : high - place]
        return Series(step_s=step_s, start=from_microseconds(first * 1_000_000), values=wanted)

    def _rows(
        self, step: int, first: int, count: int, names: Collection[str] | None = None
    ) -> Iterator[tuple[int, int, Mapping[str, array[float]]]]:
        """Yields (time, samples, values) of blocks, then of single samples; None: all names."""
        slots, end = BLOCKS[step], first + count * step
        width = slots * step
        blocks = range(first // width * width, end, width)
        found = self._get([(step, slots, at) for at in blocks], names)
        yield from found
        packed = {at for at, _, _ in found}
        single = [at for at in range(first, end, step) if at // width * width not in packed]
        yield from self._get([(step, 1, at) for at in single], names)

    def _get(
        self, keys: Sequence[tuple[int, int, int]], names: Collection[str] | None
    ) -> list[tuple[int, int, Mapping[str, array[float]]]]:
        found = self._tables.get("samples", keys, ("vals",))
        return [
            (key[2], key[1], _unpack(found[key][0], key[1], names)) for key in keys if key in found
        ]

    def _add(self, step: int, slots: int, at: int, values: Mapping[str, Sequence[float]]) -> int:
        row = {"step": step, "slots": slots, "at": at, "vals": _pack(_busiest(values))}
        return self._tables.add("samples", [row])

    def _summarize(self, step: int, finer: int, now: int) -> None:
        """Makes the samples of a longer step that ended before ``now`` and are missing."""
        first = now - LATE[step] * step
        known = [(at, at + slots * step) for at, slots, _ in self._rows(step, first, LATE[step])]
        for start in range(first, now, step):
            if any(begin <= start < end for begin, end in known):
                continue
            values: dict[str, list[float]] = {}
            for at, _, found in self._rows(finer, start, step // finer):
                low, high = max(0, (start - at) // finer), (start + step - at) // finer
                for name, part in found.items():
                    is_there = (x for x in part[low:high] if not math.isnan(x))
                    values.setdefault(name, []).extend(is_there)
            if values:
                self._add(step, 1, start, dict(_summary(values)))

    def _fill_blocks(self, step: int, slots: int, now: int) -> None:
        """Makes blocks of the single samples of a step, and deletes blocks that are too old."""
        width = slots * step
        order = ("at",)
        single = Scan("samples", ("at", "vals"), {"step": step, "slots": 1}, order)
        blocks: dict[int, dict[int, Mapping[str, array[float]]]] = {}
        for at, vals in self._tables.scan(single):
            if at // width * width + width <= now:
                blocks.setdefault(at // width * width, {})[at] = _unpack(vals, 1)
        for start, rows in blocks.items():
            names = {name for values in rows.values() for name in values}
            gaps = array("d", [_GAP])
            ats = range(start, start + width, step)
            block = {
                name: [rows[at].get(name, gaps)[0] if at in rows else _GAP for at in ats]
                for name in sorted(names)
            }
            self._add(step, slots, start, block)
            self._tables.delete("samples", {"step": step, "slots": 1, "at": list(rows)})
        old = Scan("samples", order, {"step": step, "slots": slots}, order)
        gone = [row[0] for row in self._tables.scan(old) if row[0] + width <= now - KEPT_S[step]]
        if gone:
            self._tables.delete("samples", {"step": step, "slots": slots, "at": gone})


def _of(name: str) -> str:
    """What a name is of: ``:news``, ``@www.example.com``, ``""`` of everything."""
    found = _OF.search(name)
    return name[found.start() :] if found else ""


def _busiest(values: Mapping[str, Sequence[float]]) -> dict[str, dict[str, Sequence[float]]]:
    """Figures by what they are of: those of everything, and of crawls and hosts the busiest."""
    found: dict[str, dict[str, Sequence[float]]] = {"": {}}
    answers: dict[str, float] = {}
    for name, each in values.items():
        of = _of(name)
        figure = name[: len(name) - len(of)]
        found.setdefault(of, {})[figure] = each
        if of:
            some = (x for x in each if not math.isnan(x)) if figure in ANSWERS else ()
            answers[of] = answers.get(of, 0) + math.fsum(some)
    for kind, most in MOST_KEPT.items():
        for of in sorted((of for of in answers if of[0] == kind), key=lambda of: -answers[of])[
            most:
        ]:
            del found[of]
    return found


def _summary(values: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, list[float]]]:
    """The sample of a longer step: mean and most of gauges, sums of flows, last totals."""
    for name, found in values.items():
        of = _of(name)
        figure = name[: len(name) - len(of)]
        if not found:
            continue
        if figure.endswith(MOST):
            yield name, [max(found)]
        elif figure in _GAUGES:
            yield name, [math.fsum(found) / len(found)]
            if f"{figure}{MOST}{of}" not in values:
                yield f"{figure}{MOST}{of}", [max(found)]
        elif figure in _FLOWS:
            yield name, [math.fsum(found)]
        else:
            yield name, [found[-1]]


def _seconds(at: datetime) -> int:
    return to_microseconds(at) // 1_000_000


def _pack(values: Mapping[str, Mapping[str, Sequence[float]]]) -> bytes:
    r"""MessagePack of packed figures by what they are of, ``{"": ..., ":news": ...}``; each zstd.

    Names, a line each, an empty line, then their doubles, little-endian, name by name:
    ``b"jobs\nrecords\n\n"`` and 2 x 60 doubles are a block of an hour.
    """
    packed = {}
    for of, figures in values.items():
        doubles = array("d")
        for each in figures.values():
            doubles.extend(each)
        if sys.byteorder == "big":
            doubles.byteswap()
        head = "".join(f"{name}\n" for name in figures).encode() + b"\n"
        packed[of] = compress(head + doubles.tobytes())
    return msgspec.msgpack.encode(packed)


def _unpack(
    packed: Any, slots: int, wanted: Collection[str] | None = None
) -> dict[str, array[float]]:
    """The doubles of the wanted names, None: of all.

    Raises:
        StoreDamaged: This program never wrote these bytes.
    """
    row = bytes(packed)
    try:
        parts = {"": row} if row.startswith(_ZSTD) else _PARTS.decode(row)
        wanted_of = None if wanted is None else set(map(_of, wanted))
        found = {}
        for of, part in parts.items():
            if wanted_of is not None and of not in wanted_of:
                continue
            head, _, tail = decompress(part).partition(b"\n\n")
            names = head.decode().split("\n") if head.strip() else []
            doubles = array("d")
            doubles.frombytes(tail)
            if sys.byteorder == "big":
                doubles.byteswap()
            if len(doubles) != slots * len(names):
                raise StoreDamaged("a stored sample cannot be read: its length is wrong")
            for n, name in enumerate(names):
                if wanted is None or name + of in wanted:
                    found[name + of] = doubles[n * slots : (n + 1) * slots]
    except DAMAGE as error:
        raise StoreDamaged(f"a stored sample cannot be read: {error}") from error
    return found


_PARTS = msgspec.msgpack.Decoder(dict[str, bytes])
