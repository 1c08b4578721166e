"""JSON of this moment, which only the console's API gives: what crawls, what holds it back.

The fields of a type are the fields of its object, and the docstring of the type is their
documentation (``docs/api.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from crawlclean.storage.live_state import Claim, Process, QueueNow, WaitReason
from crawlclean.storage.store.overview import FailureCause
from crawlclean.workers.answers.crawls import CrawlLine, UnknownUrl, UrlTrace
from crawlclean.workers.answers.topics import StoryLine, TopicVerdict


class HeldBack(Struct, frozen=True, kw_only=True):
    """The one thing that holds the crawls back, or that nothing does.

    Attributes:
        level: ``bad``: somebody has to act; ``warn``: slower than it could be; ``ok``: as fast as
            politeness permits; ``rest``: nothing runs.
        cause: Its name: ``queue_away``, ``no_worker``, ``full_speed``. A later version may know
            more of them.
        text: The same in words for a person.
    """

    level: str
    cause: str
    text: str


class QueueAnswer(Struct, frozen=True, kw_only=True):
    """The queue at this moment.

    Attributes:
        state: ``answers``; ``at_rest``: no crawl runs in the data folder; ``away``: its server
            does not answer.
        why: Why it could not be asked, in words for a person; ``""`` when it answers.
        queue: The queue; null unless it answers.
    """

    state: str
    why: str
    queue: QueueNow | None


class SeriesAnswer(Struct, frozen=True, kw_only=True):
    """Figures over time. Value number n of each is of the step that begins n steps after ``since``.

    Attributes:
        since: When the first step begins.
        until: The last step begins before.
        step_s: Seconds of a step.
        fetched: Requests per second that ended, with an answer or without; none for robots.txt.
        fetched_day_before: The same a day earlier, of minutes alone.
        answers_2xx: Of them, those with a status 2xx.
        answers_3xx: Those with a redirect, or 304.
        answers_4xx: Those with a status 4xx.
        answers_5xx: Those with a status 5xx.
        answers_none: Those without a usable answer.
        p50_s: Seconds from a request to the end of its answer, that half of them took at most.
        p95_s: Seconds that 95 % of them took at most.
        records: URLs per second that ended with a record.
        failed: URLs per second that ended with a failure.
        waiting: URLs that wait to be fetched; of a host those in memory.
        backlog: Answers that wait for workers, or that are cleaned; not of a host.
        harvest: Share of the judged records that are relevant, 0..1; of topics and their hosts.
        relevant: Relevant records per second.
        oldest_job_s: Age of the oldest job that waits; of everything alone, as the next two.
        memory_bytes: Memory of the queue's server.
        free_bytes: Free bytes of the data folder's disk.
    """

    since: datetime
    until: datetime
    step_s: int
    fetched: Sequence[float | None]
    fetched_day_before: Sequence[float | None]
    answers_2xx: Sequence[float | None]
    answers_3xx: Sequence[float | None]
    answers_4xx: Sequence[float | None]
    answers_5xx: Sequence[float | None]
    answers_none: Sequence[float | None]
    p50_s: Sequence[float | None]
    p95_s: Sequence[float | None]
    records: Sequence[float | None]
    failed: Sequence[float | None]
    waiting: Sequence[float | None]
    backlog: Sequence[float | None]
    harvest: Sequence[float | None]
    relevant: Sequence[float | None]
    oldest_job_s: Sequence[float | None]
    memory_bytes: Sequence[float | None]
    free_bytes: Sequence[float | None]


class ProcessAnswer(Struct, frozen=True, kw_only=True):
    """A process, and what it works on.

    Attributes:
        process: The process.
        is_silent: Whether it was not heard for 20 s, or has lost a job by its silence.
        is_lost: Whether it was not heard for a minute, did not say that it ends, and nobody has
            declared it dead.
        jobs: Jobs that it holds, the oldest first.
        leases: URLs that it fetches or is about to fetch.
    """

    process: Process
    is_silent: bool
    is_lost: bool
    jobs: tuple[Claim, ...]
    leases: int


class SharedQueue(Struct, frozen=True, kw_only=True):
    """One of the queues that run crawls of the store.

    Attributes:
        queue: Its id: 32 hex digits.
        place: Where it is, without a password: ``redis://db1:6379/0``.
        heard_at: When its housekeeper was last heard.
        silent_s: Seconds since then.
        is_alive: Whether it was heard in the last minute.
        is_own: Whether it is the queue of this console.
        crawls: Crawls that it runs.
    """

    queue: str
    place: str
    heard_at: datetime
    silent_s: float
    is_alive: bool
    is_own: bool
    crawls: int


class DiskSpace(Struct, frozen=True, kw_only=True):
    """The disk of the data folder.

    Attributes:
        free_bytes: Free for the program.
        total_bytes: Its size.
    """

    free_bytes: int
    total_bytes: int


class LookedAt(Struct, frozen=True, kw_only=True):
    """What was looked at, before anything is called fine.

    Attributes:
        crawls: Crawls that run, all of them.
        hosts: Hosts of these crawls, all of them.
        in_trouble: Those of them that have a sign.
        oldest_s: Age of the oldest of the figures that they were judged by, seconds.
    """

    crawls: int = 0
    hosts: int = 0
    in_trouble: int = 0
    oldest_s: float = 0.0


class SignAnswer(Struct, frozen=True, kw_only=True):
    """Something that somebody should look at.

    Attributes:
        kind: What is wrong: ``refuses``, ``seed``, ``still``. A later version may know more.
        level: ``bad``: somebody has to act; ``warn``: somebody should look; ``info``: it is as it
            should be; ``ok``: it is mended.
        host: Its host; ``""``: none.
        crawl: Its crawl; ``""``: none, or every one.
        target: The process, the URL class or the seed; ``""``: the host or crawl.
        since: When it began; null: not known.
        text: What is wrong, in words for a person.
        page: Path of the console's page that shows it.
        offers: Actions that mend it, in the order in which they are done (`GET /actions`).
    """

    kind: str
    level: str
    host: str
    crawl: str
    target: str
    since: datetime | None
    text: str
    page: str
    offers: tuple[str, ...]


class NowAnswer(Struct, frozen=True, kw_only=True):
    """What crawls at this moment.

    Attributes:
        at: The moment, by the clock of the console.
        held_back: What holds the crawls back.
        looked: What was looked at.
        queue: The queue.
        why_no_store: Why the store could not be asked; ``""`` when it could.
        running: Crawls that run.
        pending: URLs that wait in running crawls.
        rates: Events per second of the last half minute by counter, ``{"records": 3.5}``; empty
            at the first question.
        waits: Examined hosts of running crawls by what they wait for.
        crawls: Those of signs first, then running ones, then the newest, at most eight; `GET
            /crawls` has all.
        causes: The most frequent causes of failures, at most eight.
        disk: The disk of the data folder; null with servers.
        as_of: When the store's figures were computed; null: they are of this moment.
    """

    at: datetime
    held_back: HeldBack
    looked: LookedAt
    queue: QueueAnswer
    why_no_store: str
    running: int
    pending: int
    rates: dict[str, float]
    waits: dict[WaitReason, int]
    crawls: tuple[CrawlLine, ...]
    causes: tuple[FailureCause, ...]
    disk: DiskSpace | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlHistory:
    """What became of a URL: the lines of `why`, in one object.

    Attributes:
        url: The URL.
        traces: Its way through each crawl that knows it.
        not_taken: Why the crawls did not take it, when none knows it.
        topics: What topics hold of the page.
        story: Its story, when other pages tell it too.
    """

    url: str
    traces: tuple[UrlTrace, ...]
    not_taken: tuple[UnknownUrl, ...]
    topics: tuple[TopicVerdict, ...]
    story: StoryLine | None
