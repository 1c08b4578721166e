"""`sites`: a list of sites, each a crawl of its own, several at a time; a report of each."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cleaning.errors import ConfigError, InvalidUrl, NotFound, ServiceError
from cleaning.records import HostStats
from cleaning.source.urls import host_of
from storage.absence import Absence
from storage.base import CrawlCounts, CrawlRow, CrawlSpec, CrawlState, UrlState
from storage.embedded import EmbeddedServer
from storage.frontier import Frontier
from storage.host_statistics import merge_stats
from storage.opening import open_store, start_queue
from storage.store import Store
from workers.commands.printing import print_json, printable, table
from workers.commands.recover import lost_crawls, recovering
from workers.commands.run import DRAIN_LIMIT_S, crawl_spec
from workers.config import Settings
from workers.fleet import Fleet
from workers.images import catch_up, offer_due
from workers.progress import PLAIN_LINE_S, Progress, duration

LOOK_S = 0.5
WHY_CHARS = 80
MAX_LIST_BYTES = 16 << 20
INTERRUPTED = "interrupted; the same command resumes"
SPENT = "--max-pages reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What became of one site.

    Attributes:
        url: Where it begins.
        crawl: Name of its crawl.
        state: ``finished``, or ``stopped`` with something left to do.
        why: What ended it, ``""`` when nothing was left.
        records: Pages with a record.
        failed: Pages without.
        body_chars: Characters of all bodies.
        noise_share: Share of noise among the links, 0..1.
        model_version: Version in use of the model of the URL's host, 0 without.
        seconds: It took now; 0 for a site that was done before.
    """

    url: str
    crawl: str
    state: str
    why: str
    records: int
    failed: int
    body_chars: int
    noise_share: float
    model_version: int
    seconds: float


@dataclass(slots=True)
class _Site:
    """A site that is crawled now."""

    spec: CrawlSpec
    begun: float
    why: str = ""
    drained_by: float | None = None


def sites(settings: Settings, path: Path, at_once: int, *, fresh: bool, as_json: bool) -> int:
    """Crawls every site of a list to its end or limit; 1 when none has a record.

    Args:
        settings: Limits, of each site.
        path: One URL a line; empty lines and what follows ``#`` are no sites.
        at_once: Sites that are crawled at a time.
        fresh: Start over those that were done or begun before.
        as_json: Print the reports as JSON lines.

    Raises:
        ConfigError: The list cannot be read, or holds something else.
        ServiceError: The data folder or a server cannot be used.
    """
    if at_once < 1:
        raise ConfigError(f"--at-once is {at_once}: at least 1 is needed")
    specs = [crawl_spec(settings, [url], "") for url in read_list(settings, path)]
    server, frontier = start_queue(settings.storage)
    try:
        store = open_store(settings.storage, create=True)
        try:
            took = _Sites(settings, specs, at_once, server, frontier, store).go(fresh=fresh)
            reports = list(_reports(store, specs, took))
        finally:
            store.close()
    finally:
        frontier.close()
        if server:
            server.stop()
    if as_json:
        for each in reports:
            print_json(asdict(each))
    else:
        sys.stdout.write(_as_text(reports))
    return 0 if any(each.records for each in reports) else 1


def read_list(settings: Settings, path: Path) -> list[str]:
    """The URLs of a list, each once, in order.

    Raises:
        ConfigError: The file cannot be read, is empty, or a line is no address.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
        lines = data.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{path} is no UTF-8 text") from None
    if len(data) > MAX_LIST_BYTES:
        raise ConfigError(f"{path} is over {MAX_LIST_BYTES >> 20} MB: split it")
    urls: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        url = "" if line.lstrip().startswith("#") else line.partition(" #")[0].strip()
        if not url:
            continue
        try:
            [seed] = crawl_spec(settings, [url], "").seeds
        except (InvalidUrl, ConfigError) as error:
            raise ConfigError(f"{path}:{number}: {error}") from None
        urls[seed] = None
    if not urls:
        raise ConfigError(f"{path} names no site: write one URL a line")
    return list(urls)


class _Sites:
    """All crawls of a list, from the first process to the last."""

    def __init__(
        self,
        settings: Settings,
        specs: Sequence[CrawlSpec],
        at_once: int,
        server: EmbeddedServer | None,
        frontier: Frontier,
        store: Store,
    ) -> None:
        self._settings = settings
        self._specs = specs
        self._at_once = at_once
        self._server = server
        self._frontier = frontier
        self._store = store
        self._progress = Progress()
        self._fleet = Fleet(settings, server, frontier, self._progress.say)
        self._absence = Absence("queue")
        self._open: dict[str, _Site] = {}
        self._took: dict[str, tuple[str, float]] = {}
        self._shown = time.monotonic()

    def go(self, *, fresh: bool) -> dict[str, tuple[str, float]]:
        """(why it ended, seconds) of every crawl."""
        waiting = deque(self._prepare(fresh=fresh))
        if waiting:
            try:
                self._fleet.start()
                self._crawl(waiting, fresh=fresh)
            finally:
                self._fleet.stop()
            self._store.refresh_statistics()
        for spec in waiting:
            self._took[spec.crawl_id] = (INTERRUPTED, 0.0)
        return self._took

    def _prepare(self, *, fresh: bool) -> list[CrawlSpec]:
        """The crawls that are to do, in the order of the list."""
        mine = {spec.crawl_id: spec for spec in self._specs}
        if self._server:
            self._frontier.hold_for_disk(is_full=False)
            self._frontier.expire_sessions()
            for name in self._frontier.crawl_ids():
                if self._frontier.counts(name).state is CrawlState.RUNNING:  # its run was killed
                    self._frontier.set_state(name, CrawlState.STOPPED)
                    self._store.put_crawl(self._frontier.spec(name), CrawlState.STOPPED)
        rows = () if fresh else self._store.crawls()
        done = [row.spec.crawl_id for row in rows if self._is_done(row, mine)]
        for name in done:
            self._took[name] = ("", 0.0)
        to_do = [spec for name, spec in mine.items() if name not in self._took]
        if not fresh:
            self._recover({spec.crawl_id: spec for spec in to_do})
        self._progress.say(
            f"{len(to_do)} sites into {self._settings.storage.data}, {self._at_once} at a time"
            + (f"; {len(done)} are finished, --fresh starts them over" if done else "")
        )
        return to_do

    def _is_done(self, row: CrawlRow, mine: Mapping[str, CrawlSpec]) -> bool:
        """Whether nothing is left to do of a crawl of the list, images of its pages included."""
        spec = mine.get(row.spec.crawl_id)
        if spec is None or row.state is not CrawlState.FINISHED:
            return False
        return not spec.images or (row.spec.images and not self._is_due(spec))

    def _is_due(self, spec: CrawlSpec) -> bool:
        """Whether images of a crawl became content and are not offered yet."""
        return spec.images and bool(self._store.due_images(spec.crawl_id, 1))

    def _recover(self, wanted: dict[str, CrawlSpec]) -> None:
        """Rebuilds what the queue has lost."""
        with recovering(self._settings, self._store, self._frontier, self._progress.say) as tools:
            recovery, rebuilding = tools
            for row in lost_crawls(self._store, rebuilding):
                if row.spec.crawl_id in wanted:
                    recovery.recover(replace(row, spec=wanted[row.spec.crawl_id]))

    def _crawl(self, waiting: deque[CrawlSpec], *, fresh: bool) -> None:
        """Keeps ``at_once`` crawls going until none is left, or somebody interrupts."""
        looked = 0.0
        while waiting or self._open or self._is_learning() or self._reopen(waiting):
            self._fleet.wait()
            interrupts = self._fleet.interrupts
            if time.monotonic() - looked < LOOK_S and not interrupts:
                continue
            looked = time.monotonic()
            try:
                self._fleet.look_after()
                while waiting and len(self._open) < self._at_once and not interrupts:
                    self._begin(waiting[0], fresh=fresh and waiting[0].crawl_id not in self._took)
                    waiting.popleft()
                for site in list(self._open.values()):
                    self._look_at(site)
                self._show(len(waiting))
            except ServiceError as error:
                is_full = self._fleet.disk.is_full
                if not error.retryable or interrupts > 1 or (interrupts and is_full):
                    raise
                if not self._server:  # of its own server's end the keeper tells
                    self._absence.notice(error)
                continue
            self._absence.end()
            if interrupts and not self._open:
                return

    def _is_learning(self) -> bool:
        """Whether pages are still cleaned again with what their sites have taught."""
        try:
            return not self._fleet.interrupts and self._frontier.learning.count() > 0
        except ServiceError as error:
            if not error.retryable:
                raise
            return True  # the next look tells

    def _reopen(self, waiting: deque[CrawlSpec]) -> bool:
        """Lets sites wait again whose images became content after their end; whether there are."""
        ended = {name for name, (why, _) in self._took.items() if why in ("", SPENT)}
        try:
            waiting.extend(s for s in self._specs if s.crawl_id in ended and self._is_due(s))
        except ServiceError as error:
            if not error.retryable:
                raise
            return True  # the next look tells
        return bool(waiting)

    def _begin(self, spec: CrawlSpec, *, fresh: bool) -> None:
        name = spec.crawl_id
        if fresh:
            if name in self._frontier.crawl_ids():
                self._frontier.purge(name)
            self._store.forget_tail(name)
            self._store.forget_due_images(name)
        self._frontier.open_crawl(spec)
        if not fresh:
            catch_up(self._store, self._frontier, spec)
            offer_due(self._store, self._frontier, spec)
        self._store.put_crawl(spec, CrawlState.RUNNING)
        self._open[name] = _Site(spec, time.monotonic())

    def _look_at(self, site: _Site) -> None:
        """Ends a crawl that has nothing left to do, or has reached a limit."""
        name = site.spec.crawl_id
        try:
            counts = self._frontier.counts(name)
            is_over = counts.open == 0 or counts.is_spent
            if is_over and offer_due(self._store, self._frontier, site.spec):
                return
            if site.drained_by is None:
                site.why = self._reason_to_stop(site, counts)
                if site.why:
                    self._frontier.set_state(name, CrawlState.STOPPED)
                    site.drained_by = time.monotonic() + DRAIN_LIMIT_S
            is_drained = site.drained_by is not None and (
                counts.in_flight == 0
                or self._fleet.interrupts > 1
                or self._fleet.disk.is_full
                or time.monotonic() > site.drained_by
            )
            if counts.open and not is_drained:
                return
            state = CrawlState.STOPPED if counts.open else CrawlState.FINISHED
            self._frontier.set_state(name, state)
            self._store.put_crawl(site.spec, state)
            if state is CrawlState.FINISHED:
                site.why = ""
                self._store.forget_tail(name)
        except NotFound:
            site.why = "it was purged"
        del self._open[name]
        took = time.monotonic() - site.begun + self._took.get(name, ("", 0.0))[1]
        self._took[name] = (site.why, round(took, 1))
        self._progress.say(
            printable(f"{site.spec.seeds[0]}: {site.why or 'done'}, {duration(took)}")
        )

    def _reason_to_stop(self, site: _Site, counts: CrawlCounts) -> str:
        if self._fleet.interrupts:
            return INTERRUPTED
        limit_s = self._settings.crawl.max_time_s
        if limit_s is not None and time.monotonic() - site.begun >= limit_s:
            return "--max-time reached"
        if counts.is_spent:
            return SPENT
        return "stopped by an operator" if counts.state is CrawlState.STOPPED else ""

    def _show(self, waiting: int) -> None:
        now = time.monotonic()
        if now - self._shown < PLAIN_LINE_S or not self._open:
            return
        self._shown = now
        counts = []
        for name in self._open:
            with suppress(NotFound):
                counts.append(self._frontier.counts(name))
        note = f", {self._fleet.disk.note}: waiting" if self._fleet.disk.note else ""
        self._progress.say(
            f"sites: {len(self._took)} done, {len(self._open)} now, {waiting} to come; those now: "
            f"fetched {sum(c.fetched for c in counts)}, cleaned {sum(c.stored for c in counts)}, "
            f"waiting {sum(c.pending for c in counts)}{note}"
        )


def _reports(
    store: Store, specs: Sequence[CrawlSpec], took: Mapping[str, tuple[str, float]]
) -> Iterator[SiteReport]:
    states = {row.spec.crawl_id: row.state for row in store.crawls()}
    for spec in specs:
        name, seed = spec.crawl_id, spec.seeds[0]
        why, seconds = took[name]
        stats = merge_stats(store.hosts(name) or [HostStats(host=host_of(seed))])
        records = stats.pages_by_state.get(str(UrlState.RECORD), 0)
        failures = [] if records or why else store.failures(name, limit=1)
        for failure in failures:
            why = " ".join(f"{failure.reason}: {failure.detail}".split())
        yield SiteReport(
            url=seed,
            crawl=name,
            state=str(states.get(name, CrawlState.PURGED)),
            why=why,
            records=records,
            failed=stats.pages_by_state.get(str(UrlState.FAILED), 0),
            body_chars=stats.body_chars,
            noise_share=round(stats.noise_share, 3),
            model_version=store.newest_model_version(host_of(seed)),
            seconds=seconds,
        )


def _as_text(reports: Sequence[SiteReport]) -> str:
    rows = [("SITE", "STATE", "RECORDS", "FAILED", "BODY CHARS", "NOISE", "MODEL", "TIME", "WHY")]
    for each in reports:
        rows.append(
            (
                each.url,
                each.state,
                f"{each.records:,}",
                f"{each.failed:,}",
                f"{each.body_chars:,}",
                f"{each.noise_share:.0%}",
                str(each.model_version or "-"),
                duration(each.seconds) if each.seconds else "-",
                each.why[:WHY_CHARS] or "-",
            )
        )
    finished = sum(each.state == CrawlState.FINISHED for each in reports)
    records = sum(each.records for each in reports)
    return table(rows) + f"{finished} of {len(reports)} sites finished, {records:,} records\n"
