"""The life of crawls: backends opened, taken over, begun, watched, ended.

`run` has one crawl (``one_crawl.py``), `sites` one for each site of a list, several at a time
(``many_crawls.py``). How a crawl begins, when it ends and why is the same for both. But `run` waits
for the learning of hosts before its crawl ends; `sites` ends a crawl without it, and begins it once
more when learning has found images.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crawlclean.cleaning.errors import NotFound, QueueUnavailable, ServiceError
from crawlclean.cleaning.urls.normal_form import host_of, normalize
from crawlclean.storage.crawl_types import CrawlCounts, CrawlRow, CrawlSpec, CrawlState
from crawlclean.storage.opening import join_or_start_queue, open_store
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import announce, check_owner, check_store
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.receivers import order_of
from crawlclean.workers.answers.crawls import EndedBy
from crawlclean.workers.config import Settings
from crawlclean.workers.crawl_file.crawl_file import CrawlFile
from crawlclean.workers.hooks.loading import load_hooks
from crawlclean.workers.jobs.images import catch_up, offer_due
from crawlclean.workers.operations.crawling.outcome import crawl_outcome
from crawlclean.workers.operations.crawling.recovery import Recovery, offer_again
from crawlclean.workers.processes.fleet import Fleet, fork_server
from crawlclean.workers.processes.fork_server import ForkServer
from crawlclean.workers.spoken import say

if TYPE_CHECKING:  # `run` imports no cleaner: its workers have one
    from crawlclean.cleaning.model.overrides import Override

T = TypeVar("T")

DRAIN_LIMIT_S = 120.0  # for pages in flight at a stop: what is left then is done by the next run
REPEATED_PAGES = 100  # a job has no more; a worker that was killed between store and queue left one
RECLEANING = "re-cleaning pages with new site models"
COUNTDOWN_S = 10  # a log has a line each time that the note changes


DRY_SHARE = 3
"""A topic crawl without limits ends when a third of all its records brought nothing: the longest
such run before 30 % of the pages was a fifth (sec, `make bench-topic`)."""


class End(NamedTuple):
    """End of a crawl.

    Attributes:
        by: The cause.
        why: Its line: ``--max-time reached``, ``""`` without URLs left.
        next: What `run` says behind it: ``the same command resumes``.
    """

    by: EndedBy
    why: str
    next: str = ""

    @property
    def line(self) -> str:
        """All of it: ``--max-time reached; the same command resumes``."""
        return f"{self.why}; {self.next}" if self.next else self.why


NO_URL_LEFT = End(EndedBy.DONE, "")
INTERRUPTED = End(EndedBy.SIGNAL, "interrupted; the same command resumes")
OUT_OF_TIME = End(EndedBy.LIMIT, "--max-time reached", "the same command resumes")
SPENT = End(EndedBy.LIMIT, "--max-pages reached", "the same command with a larger one resumes")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlBackends:
    """The backends of `run` and `sites`.

    Attributes:
        settings: Where the backends are, and everything else.
        server: The queue's embedded server; None when the queue is on a Redis server, or that of
            another run on the data folder, whose processes do the work.
        frontier: The queue.
        store: The store.
        forks: Starts the processes; None: each is an interpreter of its own.
    """

    settings: Settings
    server: EmbeddedServer | None
    frontier: Frontier
    store: Store
    forks: ForkServer | None = None

    @property
    def is_guest(self) -> bool:
        """Whether queue and processes are those of another run on the data folder."""
        return self.settings.storage.is_embedded and not self.server


@contextmanager
def open_backends(settings: Settings) -> Iterator[CrawlBackends]:
    """Starts the embedded server unless a Redis server is set; opens queue and store for a crawl.

    Raises:
        ServiceError: The data folder or a server cannot be used.
        ConfigError: A hook cannot be loaded.
    """
    # The fork server first: it must not share a lock or a connection.
    with fork_server(settings) as forks, _opened(settings, forks) as backends:
        yield backends


@contextmanager
def _opened(settings: Settings, forks: ForkServer | None) -> Iterator[CrawlBackends]:
    load_hooks(settings)  # before anything is fetched: workers would fail at their start
    server, frontier = join_or_start_queue(settings.storage, create=True)
    try:
        store = open_store(settings.storage, create=True)
        try:
            if isinstance(store, SqliteStore):
                store.check()
            backends = CrawlBackends(
                settings=settings, server=server, frontier=frontier, store=store, forks=forks
            )
            if not backends.is_guest:
                # The queue has them, too, unless it was lost.
                frontier.keep_paused(store.pauses.all())
                frontier.slow(*store.slowdowns.all())
                announce(settings.storage, frontier, store)
            yield backends
        finally:
            store.close()
    finally:
        frontier.close()
        if server:
            server.stop()


def with_backends(
    settings: Settings, tell: Callable[[str], None], work: Callable[[CrawlBackends, bool], T]
) -> T:
    """Does work with the backends of a crawl, and goes on with it when the run it had joined ends.

    Args:
        settings: Where the backends are.
        tell: Gets a line about another run.
        work: Gets the backends, and whether it goes on.

    Raises:
        ServiceError: The data folder or a server cannot be used.
        ConfigError: A hook cannot be loaded.
    """
    goes_on = False
    while True:
        with open_backends(settings) as backends:
            if backends.is_guest:
                tell("another run has the data folder: its processes crawl for this one, too")
            try:
                return work(backends, goes_on)
            except QueueUnavailable:
                if not backends.is_guest:
                    raise
        # Until other processes are started there is nothing to finish: a signal ends the command.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for signum in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        tell("the other run has ended: going on without it")
        goes_on = True


def use_overrides(
    backends: CrawlBackends,
    file: CrawlFile | None,
    seeds: Iterable[str],
    tell: Callable[[str], None],
) -> None:
    """Gives the hosts of a crawl file and of the seeds the overrides that the file has for them.

    Those made in the console stay. Where something changes, the records of the host are re-cleaned.

    Args:
        backends: Queue and store.
        file: The crawl file; without one nothing changes.
        seeds: URLs, whose hosts lose the overrides that do not stand in the file any more.
        tell: Gets a line for each host with other overrides.
    """
    if file is None:
        return
    from crawlclean.workers.jobs.learning import keep_overrides
    from crawlclean.workers.jobs.recleaning import reclean_all

    for host in sorted({*map(host_of, map(normalize, seeds)), *file.overrides}):
        own = file.overrides.get(host, ())

        def beside(
            before: tuple[Override, ...], own: tuple[Override, ...] = own
        ) -> tuple[Override, ...]:
            return (*own, *(each for each in before if each.by))

        about = keep_overrides(backends.store, host, beside, file.path.name)
        if about is not None:
            tell(
                say(
                    "{host} has other overrides: version {n} of its model",
                    host=host,
                    n=about.version,
                )
            )
            reclean_all(backends.frontier.learning, host, about.version)


def use_receivers(store: Store, file: CrawlFile | None) -> None:
    """Stores the receivers of a crawl file; removes those that stand in it no more."""
    if file is None:
        return
    source = file.path.name
    for each in store.receivers.all():
        if each.source == source and each.name not in file.receivers:
            store.receivers.put(each.name, order_of(each), source=source, is_off=True)
    for name, order in file.receivers.items():
        store.receivers.put(name, order, source=source)


# When crawls that keep fresh go on: what the status line shows.

READ_S = 5.0  # between two reads of the store, which other processes write


VisitWait = tuple[int, float | None]
"""What crawls that keep fresh wait for.

URLs that wait to be visited again, because they are due; and seconds until the next URL is due, 0
or more, None: none has a next visit.
"""


class NextVisit:
    """When the next URL of crawls is due, read from the store every few seconds."""

    def __init__(self, frontier: Frontier, store: Store) -> None:
        self._frontier = frontier
        self._store = store
        self._read_at = float("-inf")
        self._due_at: datetime | None = None
        self._clock: tuple[datetime, float] | None = None  # the queue's clock at our time

    def wait(self, crawls: Iterable[tuple[CrawlSpec, CrawlCounts]]) -> VisitWait | None:
        """Returns what crawls wait for, together; None when none of them keeps fresh."""
        fresh = [(spec.crawl_id, counts) for spec, counts in crawls if spec.keep_fresh]
        if not fresh:
            return None
        now = time.monotonic()
        if now - self._read_at >= READ_S:
            self._read_at = now
            with suppress(ServiceError):  # it is shown, and decides nothing
                due = [self._store.revisits.next_due(crawl_id) for crawl_id, _ in fresh]
                self._due_at = min((at for at in due if at is not None), default=None)
                self._clock = self._frontier.revisits.server_time(), now
        left_s = None
        if self._due_at is not None and self._clock is not None:
            at, read = self._clock
            left_s = max(0.0, (self._due_at - at).total_seconds() - (now - read))
        return sum(counts.revisits for _, counts in fresh), left_s


def finishing_note(until: float) -> str:
    """Says what a crawl that ends waits for, and how long: ``until`` is of the monotonic clock."""
    left = max(0.0, until - time.monotonic())
    seconds = COUNTDOWN_S * math.ceil(left / COUNTDOWN_S)
    return f"finishing what is in flight, {seconds} s at most; Ctrl-C again ends at once"


def state_at_end(spec: CrawlSpec, counts: CrawlCounts) -> CrawlState:
    """Returns the state of a crawl that no process works on; one that keeps fresh never ends."""
    return CrawlState.STOPPED if counts.open or spec.keep_fresh else CrawlState.FINISHED


@dataclass(slots=True)
class Crawl:
    """A crawl under way.

    Attributes:
        spec: The crawl.
        begun: When it began, by ``time.monotonic``.
        end: Its end, ``NO_URL_LEFT`` while nothing ends it early.
        drained_by: When its pages in flight are given up, once it ends early.
        judged: Records that a topic crawl had judged when the newest relevant one came; None
            before the first look.
        relevant: Its relevant records at this time.
    """

    spec: CrawlSpec
    begun: float
    end: End = NO_URL_LEFT
    drained_by: float | None = None
    judged: int | None = None
    relevant: int = 0


class Crawls:
    """Some crawls that share their processes: what `run` and `sites` have in common."""

    waits_to_learn: bool
    """Whether a crawl goes on while hosts are learned: re-cleaning may find images."""

    def __init__(self, backends: CrawlBackends, tell: Callable[[str], None]) -> None:
        """Starts nothing yet; ``tell`` gets one line about a step or a problem."""
        self._backends = backends
        self._settings = backends.settings
        self._frontier = backends.frontier
        self._store = backends.store
        self._tell = tell
        self._fleet = Fleet(
            backends.settings, backends.server, backends.frontier, self._tell, backends.forks
        )
        self._rows: dict[str, CrawlRow] = {}  # the crawls as the store had them before
        self._open: dict[str, Crawl] = {}
        self._took: dict[str, tuple[End, float]] = {}  # crawl -> (end, seconds)
        self._counts: dict[str, CrawlCounts] = {}  # crawl -> its last counts, ended or not
        self._next = NextVisit(self._frontier, self._store)
        self._is_starting = True

    def _take_over(self, crawls: Sequence[str], *, fresh: bool) -> None:
        """Takes queue and store from an earlier run, which may have been killed.

        Stops the crawls that it left running, and truncates half-written archive files; but not on
        a Redis server, which other runs may be using.

        Raises:
            StorageError: Another living queue runs one of the crawls, or the store is older than
                the queue.
        """
        frontier, store, server = self._frontier, self._store, self._backends.server
        check_owner(self._settings.storage, frontier, store, crawls, self._tell)
        if not fresh:  # before the archive is cut to what this store knows
            for name in crawls:
                check_store(frontier, store.urls, name)
        if not server:
            return
        if isinstance(store, SqliteStore):
            store.repair_archive()
            if fault := store.archive_fault():
                self._tell(fault)
        if server.notice:
            self._tell(server.notice)
        frontier.hold_for_disk(is_full=False)
        frontier.forget_damage()
        frontier.expire_sessions()
        for name in frontier.crawl_ids():
            if frontier.counts(name).state is CrawlState.RUNNING:
                frontier.set_state(name, CrawlState.STOPPED)
                store.crawls.put(frontier.spec(name), CrawlState.STOPPED)
        server.let_crawls_join()

    def _records_before(self, crawls: Collection[str]) -> int:
        """Returns the stored records of crawls that go on; tells if the queue is older."""
        self._store.statistics.refresh()
        outcome = crawl_outcome(self._store, crawls)
        counts = self._frontier.counts_of(crawls)
        again = outcome.records - sum(each.stored for each in counts.values())
        if again > REPEATED_PAGES * self._settings.workers.count:
            self._tell(f"the queue is older than its store: {again} stored pages may be done again")
        return outcome.all_records

    def _recover(self, wanted: Mapping[str, CrawlSpec], told: str = "") -> list[CrawlRow]:
        """Rebuilds those of the wanted crawls that the queue has lost; returns all that it has.

        Args:
            wanted: Crawls of this run by name.
            told: A line for each of them.
        """
        recovery = Recovery(self._settings, self._store, self._frontier, self._tell)
        lost = recovery.lost_crawls()
        for row in lost:
            if spec := wanted.get(row.spec.crawl_id):
                if told:
                    self._tell(told)
                recovery.recover(replace(row, spec=spec))
        return lost

    def _begin(self, spec: CrawlSpec, *, fresh: bool) -> tuple[int, int]:
        """Opens a crawl; returns (URLs, images) that earlier runs left out and this one follows."""
        name = spec.crawl_id
        if fresh:  # forgets the URLs that an earlier run left waiting; its records stay
            if name in self._frontier.crawl_ids():
                self._frontier.purge(name)
            self._store.spills.forget(name)
            self._store.images.forget_due(name)
        # Before the crawl runs: housekeepers stop what is not of their queue.
        queue = self._frontier.queue_id()
        self._store.crawls.give_to(name, queue)
        self._frontier.open_crawl(spec)
        row = self._rows.get(name)
        offered = images = 0
        if row and row.state is not CrawlState.PURGED:
            offered = offer_again(self._backends, row, spec, self._tell)
        if not fresh:
            images = catch_up(self._store, self._frontier, spec)
            images += offer_due(self._store, self._frontier, spec)
        self._store.crawls.put(spec, CrawlState.RUNNING, queue=queue)
        self._rows.pop(name, None)  # a site may be opened again
        self._open[name] = Crawl(spec, time.monotonic())
        return offered, images

    def _look_at(self, crawl: Crawl) -> bool:
        """Ends a crawl that has no URL left, or has reached a limit; returns whether it did."""
        name = crawl.spec.crawl_id
        try:
            counts = self._counts[name] = self._frontier.counts(name)
            if not self._has_ended(crawl, counts):
                return False
            self._write_end(crawl.spec, counts)
        except NotFound:
            crawl.end = End(EndedBy.PURGE, "it was purged")
        del self._open[name]
        return True

    def _write_end(self, spec: CrawlSpec, counts: CrawlCounts) -> CrawlSpec:
        """Writes into queue and store that a crawl is FINISHED, or STOPPED with open URLs.

        Returns:
            The crawl as operators have changed it.

        Raises:
            NotFound: The crawl was purged.
        """
        spec = self._frontier.spec(spec.crawl_id)
        state = state_at_end(spec, counts)
        self._frontier.revisits.forget(spec.crawl_id)  # the store knows when they are due
        self._frontier.set_state(spec.crawl_id, state)
        self._store.crawls.put(spec, state)
        if state is CrawlState.FINISHED:
            self._store.spills.forget(spec.crawl_id)
        return spec

    def _has_ended(self, crawl: Crawl, counts: CrawlCounts) -> bool:
        spec, learning = crawl.spec, self.waits_to_learn and self._frontier.learning.count() > 0
        is_over = counts.open == 0 or counts.is_spent
        if is_over and offer_due(self._store, self._frontier, spec):
            return False
        if crawl.drained_by is None:
            crawl.end = self._reason_to_stop(crawl, counts, is_learning=learning)
            if crawl.end.why:
                self._frontier.set_state(spec.crawl_id, CrawlState.STOPPED)
                crawl.drained_by = time.monotonic() + DRAIN_LIMIT_S
        if counts.open == 0 and not learning and not spec.keep_fresh:
            is_told = self.waits_to_learn and crawl.end.by is EndedBy.SIGNAL
            crawl.end = crawl.end if is_told else NO_URL_LEFT
            return True
        interrupts = self._fleet.interrupts
        is_idle = counts.in_flight == 0 and (not learning or interrupts)
        return crawl.drained_by is not None and (
            bool(is_idle)
            or interrupts > 1
            or self._fleet.disk.is_full
            or time.monotonic() > crawl.drained_by
        )

    def _reason_to_stop(self, crawl: Crawl, counts: CrawlCounts, *, is_learning: bool) -> End:
        spec = crawl.spec
        if self._fleet.interrupts:
            return INTERRUPTED
        limit_s = self._settings.crawl.max_time_s
        if limit_s is not None and time.monotonic() - crawl.begun >= limit_s:
            return OUT_OF_TIME
        if counts.is_spent and not spec.keep_fresh and not (spec.images and is_learning):
            return SPENT
        if counts.state is CrawlState.STOPPED and self._fleet.has_other_owner():
            raise QueueUnavailable("another run has taken the data folder over")
        if counts.state is CrawlState.STOPPED:  # a paused one waits here for `crawl resume`
            return End(EndedBy.STOP, "stopped by an operator")
        if is_learning or spec.keep_fresh:
            return NO_URL_LEFT
        if why_dry := self._why_dry(crawl):
            return End(EndedBy.LIMIT, why_dry)
        if counts.state is CrawlState.RUNNING and counts.pending and not counts.in_flight:
            paused = self._frontier.paused_urls(spec.crawl_id)
            if sum(paused.values()) >= counts.pending:
                return End(EndedBy.PAUSE, "only paused hosts are left")
        return NO_URL_LEFT

    def _why_dry(self, crawl: Crawl) -> str:
        """Why a topic crawl without limits brings no more; ``""`` while it does."""
        spec, config = crawl.spec, self._settings.crawl
        if not spec.topic or spec.max_pages is not None or config.max_time_s is not None:
            return ""
        judged, relevant = self._frontier.topics.harvest(spec.crawl_id)
        if relevant != crawl.relevant or crawl.judged is None:
            crawl.judged, crawl.relevant = judged, relevant
        dry = judged - crawl.judged
        if dry < max(config.dry_after, judged / DRY_SHARE):
            return ""
        return (
            f"none of the last {dry:,} records is relevant; the same command goes on, and "
            "--dry-after N, --max-pages or --max-time say when it ends"
        )

    def _why_nothing_comes(self) -> str:
        """Why no page comes: for the disk, or because processes start; ``""``: for neither."""
        if self._fleet.disk.note:
            return f"{self._fleet.disk.note}: waiting"
        self._is_starting = self._is_starting and not self._frontier.has_spiders()
        return self._fleet.starting_note if self._is_starting else ""

    def _why_queue_waits(self) -> str:
        """Why nothing is taken from the queue; ``""``: its server takes what is written."""
        try:
            return "queue memory full, waiting" if self._frontier.is_memory_full() else ""
        except QueueUnavailable as error:
            return f"{str(error).rstrip('.')}: waiting"
