"""The queue for workers, the housekeeper and the command line (blocking client).

The spider's side is ``fetch_queue.py``. Both run the scripts in ``lua/``, which make every change
of state; the keys and their fields are listed at the head of ``lua/shared/lib.lua``.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from crawlclean.cleaning.errors import ConfigError, NotFound, StorageError
from crawlclean.cleaning.messages import stored
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.storage.crawl_types import (
    CrawlCounts,
    CrawlSpec,
    CrawlState,
    Discovery,
    QueuedPage,
    Step,
    UrlRow,
    UrlState,
)
from crawlclean.storage.live_state import SILENT_S, QueueNow
from crawlclean.storage.queue.clients import (
    Arg,
    Scripts,
    open_client,
    open_quiet,
    queue_ms,
    raises_queue_errors,
)
from crawlclean.storage.queue.entries import (
    chunks,
    crawl_fields,
    fingerprint,
    offer_args,
    pending_pattern,
    pending_since,
    read_counts,
    read_log,
    read_page,
    read_pause,
)
from crawlclean.storage.queue.jobs import JobQueue, LearningQueue, OperationJobs
from crawlclean.storage.queue.live import (
    HostWaits,
    Processes,
    Tallies,
    Tally,
    add_tally,
    read_now,
)
from crawlclean.storage.queue.maintenance import (
    Maintenance,
)
from crawlclean.storage.queue.overflow import Overflow, TopicModel
from crawlclean.storage.queue.revisits import Revisits
from crawlclean.storage.queue.topic_ranks import TopicRanks, owner_of
from crawlclean.storage.queue.url_classes import UrlClassLedger
from crawlclean.storage.store.crawls import Spills
from crawlclean.storage.store.hosts import Pause, Slowdown
from crawlclean.storage.store.rows import spec_from_json, to_microseconds

ADD_CHUNK = 1000  # URLs or hosts of one call: the server answers others in between
REOPEN_CHUNK = 200  # URLs of one script, each with all its fields: the server stops for it
TRIAL_MS = 300_000
"""A trial that no spider took until then waits like the host's other URLs."""
CLAIM_TTL_MS = round(SILENT_S * 1000)
NO_BLAME = "!"
MARK_TTL_S = 3600  # of a job whose worker and housekeeper are both gone
QUEUE_ID = "cc:queue"


@raises_queue_errors
class Frontier:
    """The queue of every crawl. Methods raise ``QueueUnavailable`` while the server is away.

    ``classes`` are the URL classes, ``learning`` the jobs of learning and re-cleaning, ``revisits``
    ended URLs that are due again, ``waits`` what hosts wait for, ``topics`` what topic crawls need
    beside, ``processes`` who works on the queue, ``tallies`` what was fetched and cleaned by host,
    ``operations`` the jobs of long actions, ``maintenance`` puts lost crawls into the queue.
    """

    def __init__(self, redis_url: str) -> None:
        self._client = open_client(redis_url)
        self._quiet = open_quiet(self._client)
        self._scripts = Scripts(self._client)
        self._jobs = JobQueue(self._client)
        self.classes = UrlClassLedger(self._client, self._scripts)
        self.learning = LearningQueue(self._client, self._scripts)
        self.revisits = Revisits(self._client, self._scripts)
        self.waits = HostWaits(self._client, self._scripts)
        self.topics = TopicRanks(self._client, self._scripts)
        self.processes = Processes(self._client, self._scripts)
        self.tallies = Tallies(self._client, self._scripts)
        self.operations = OperationJobs(self._client)
        self.maintenance = Maintenance(self._client, self._scripts)

    def hold_for_disk(self, *, is_full: bool) -> None:
        """Stops leasing while the store's disk is full, or resumes it; pages in flight wait."""
        if is_full:
            self._client.hset("cc:flight", "disk", "1")
        else:
            self._client.hdel("cc:flight", "disk")

    def report_damage(self, message: str) -> None:
        """Stores that the store's database is damaged, for `run` to end: no page can be stored."""
        self._client.hset("cc:flight", "damage", message)

    def forget_damage(self) -> None:
        """Deletes what ``report_damage`` stored in an earlier run."""
        self._client.hdel("cc:flight", "damage")

    def damage(self) -> str:
        """What ``report_damage`` stored; ``""``: the database is well."""
        return (self._client.hget("cc:flight", "damage") or b"").decode("utf-8", "replace")

    def is_memory_full(self) -> bool:
        """Whether nothing is leased because the server's memory is over the watermark.

        Raises:
            QueueUnavailable: The server takes no writes: its memory is full, or it is a replica.
        """
        self._client.setrange("cc:none", 0, "")  # changes nothing, and is refused as writes are
        return bool(self._client.hexists("cc:flight", "memory"))

    # Who a queue is. A Redis server that lost its data, or that was replaced, has another id: it is
    # another queue. Stores name queues by these ids (``storage/store/crawls.py``).

    def queue_id(self, *, make: bool = True) -> str:
        """The id of this queue, 32 hex digits, made once and kept in it.

        Args:
            make: Whether to make one where there is none (``""``): the users of readers may not.
        """
        found = self._client.get(QUEUE_ID)
        if found is None and make:
            self._client.set(QUEUE_ID, uuid.uuid4().hex, nx=True)  # another process may be first
            found = self._client.get(QUEUE_ID)
        return (found or b"").decode()

    def server_run(self) -> str:
        """The run of this queue's server, which a restart changes: 40 hex digits."""
        return str(self._client.info("server").get("run_id", ""))

    # Crawls

    def open_crawl(self, spec: CrawlSpec) -> None:
        """Creates a crawl or changes its limits, sets it running, and offers its seeds.

        Sitemaps are read unless the crawl is limited to its seeds. Revisits that an earlier run
        left waiting are forgotten: the store has those that are due by now.
        """
        self.revisits.forget(spec.crawl_id)
        self.maintenance.create_crawl(spec, crawl_fields(spec, CrawlState.RUNNING))
        self.add(spec.crawl_id, [Discovery(url=url, rank=0) for url in spec.seeds])
        self._touch_hosts(spec.crawl_id)
        self._scripts("set_state", spec.crawl_id, "")

    def change_order(self, spec: CrawlSpec) -> None:
        """Changes the order of a crawl, whose state stays, and offers its seeds.

        Raises:
            NotFound: No such crawl.
        """
        fields = crawl_fields(spec, self.counts(spec.crawl_id).state)
        del fields["state"]  # another process may change it in between
        self.maintenance.create_crawl(spec, fields)
        self.add(spec.crawl_id, [Discovery(url=url, rank=0) for url in spec.seeds])
        self._touch_hosts(spec.crawl_id)
        self._scripts("set_state", spec.crawl_id, "")

    def add(self, crawl_id: str, discoveries: Sequence[Discovery]) -> int:
        """Offers URLs; returns how many are new.

        Raises:
            NotFound: No such crawl.
        """
        return sum(self.offer(crawl_id, discoveries))

    def offer(self, crawl_id: str, discoveries: Sequence[Discovery]) -> list[bool]:
        """Offers URLs; returns which are new. Chunks of 1,000 keep the server answering.

        Raises:
            NotFound: No such crawl.
        """
        marks: list[bool] = []
        for run in chunks(discoveries, ADD_CHUNK):
            args: list[Arg] = [crawl_id]
            for discovery in run:
                args += offer_args(discovery)
            new: bytes | None = self._scripts("add", *args)
            if new is None:
                raise NotFound(f"no crawl {crawl_id} in the queue")
            marks += [mark == ord("1") for mark in new]
        return marks

    def crawl_ids(self) -> list[str]:
        """Every crawl in the queue."""
        return sorted(c.decode() for c in self._client.smembers("cc:crawls"))

    def spec(self, crawl_id: str) -> CrawlSpec:
        """The order of a crawl.

        Raises:
            NotFound: No such crawl.
        """
        packed = self._client.hget(f"cc:c:{crawl_id}", "spec")
        if packed is None:
            raise NotFound(f"no crawl {crawl_id} in the queue")
        return spec_from_json(packed)

    def counts(self, crawl_id: str) -> CrawlCounts:
        """A crawl's URLs by state, now.

        Raises:
            NotFound: No such crawl.
        """
        found = self.counts_of([crawl_id])
        if not found:
            raise NotFound(f"no crawl {crawl_id} in the queue")
        return found[crawl_id]

    def counts_of(self, crawl_ids: Collection[str]) -> dict[str, CrawlCounts]:
        """Many crawls' URLs by state, now, by one request; a crawl that is unknown is left out."""
        with self._client.pipeline() as pipe:
            for crawl_id in crawl_ids:
                pipe.hgetall(f"cc:c:{crawl_id}")
                pipe.scard(f"cc:h:{crawl_id}")
            rows = pipe.execute() if crawl_ids else []
            pairs = zip(crawl_ids, rows[::2], rows[1::2], strict=True)
            return {crawl_id: read_counts(c, hosts) for crawl_id, c, hosts in pairs if c}

    def overflow(
        self,
        spills: Spills,
        max_pending_urls: int = 0,
        model_of: Callable[[str], TopicModel | None] = lambda _crawl: None,
    ) -> Overflow:
        """What moves URLs between this queue and a store.

        Args:
            spills: The store's spills.
            max_pending_urls: Pending URLs of all crawls in the server's memory; 0: as many as fit
                into a quarter of its memory limit.
            model_of: The link model of a topic crawl, which ranks its spills anew; None: no model.
        """
        return Overflow(self._client, self._scripts, spills, max_pending_urls, model_of)

    def now(self) -> QueueNow:
        """What the queue and its processes do at this moment."""
        return read_now(self._client, self._scripts)

    def set_state(self, crawl_id: str, state: CrawlState) -> None:
        """Pauses, stops or resumes a crawl.

        Raises:
            NotFound: No such crawl.
        """
        if not self._scripts("set_state", crawl_id, str(state)):
            raise NotFound(f"no crawl {crawl_id} in the queue")
        if state is CrawlState.RUNNING:
            self._touch_hosts(crawl_id)

    def is_fetching(self) -> bool:
        """Whether a living spider fetches the URLs of running crawls."""
        now_ms = queue_ms(self._client)
        return bool(self._client.zcount("cc:spiders", f"({now_ms}", "+inf"))

    def has_spiders(self) -> bool:
        """Whether a spider has asked for URLs and is not known to be dead."""
        return bool(self._client.zcount("cc:spiders", "(0", "+inf"))

    def keep_paused(self, pauses: Sequence[Pause]) -> None:
        """Pauses hosts, known to a crawl or not: those of a queue that was lost.

        A host that is paused already keeps its time, who, and why.
        """
        with self._client.pipeline() as pipe:
            for pause in pauses:
                noted = [to_microseconds(pause.since), pause.who, pause.why]
                pipe.hset(f"cc:g:{pause.host}", "paused", "1")
                pipe.persist(f"cc:g:{pause.host}")
                pipe.hsetnx("cc:paused", pause.host, json.dumps(noted))
            pipe.execute()

    def slow(self, *slowdowns: Slowdown) -> None:
        """Slows hosts down, known to a crawl or not, from their next request on."""
        for each in slowdowns:
            least, most = ("-" if n is None else n for n in (each.delay_ms, each.slots))
            self._scripts("slow", each.host, f"{least} {most}")

    def end_slow(self, host: str) -> None:
        """Asks a host as its crawls and its robots.txt have it, from the next request on."""
        self._scripts("slow", host, "")

    def resume_host(self, host: str) -> None:
        """Resumes requests to a paused host.

        Raises:
            NotFound: No crawl knows the host.
        """
        if not self.crawls_of(host):
            raise NotFound(f"no crawl knows the host {host}")
        self._client.hdel(f"cc:g:{host}", "paused")
        self._client.hdel("cc:paused", host)
        self._touch([host])

    def paused_hosts(self) -> list[str]:
        """Every paused host, sorted."""
        return [pause.host for pause in self.pauses()]

    def pauses(self) -> list[Pause]:
        """Every paused host with who paused it and why, by host; ``crawls`` is empty."""
        found = self._client.hgetall("cc:paused")
        with self._client.pipeline(transaction=False) as pipe:
            for host in found:
                pipe.hexists(b"cc:g:" + host, "paused")
            marks = pipe.execute() if found else []
        pauses = [read_pause(*each) for each in found.items()]
        paired = zip(pauses, marks, strict=True)
        return sorted((each for each, is_on in paired if is_on), key=lambda each: each.host)

    def paused_urls(self, crawl_id: str) -> dict[str, int]:
        """Pending URLs of each paused host of a crawl: ``{"example.com": 12}``, none with 0."""
        found = {host: self.pending_of(crawl_id, host) for host in self.paused_hosts()}
        return {host: pending for host, pending in found.items() if pending}

    def pending_of(self, crawl_id: str, host: str) -> int:
        """Number of a host's URLs that wait in a crawl, those in the store included."""
        of = f"{crawl_id}:{host}"
        with self._client.pipeline() as pipe:
            pipe.zcard(f"cc:q:{of}")
            pipe.zcard(f"cc:r:{of}")
            pipe.zrange(f"cc:t:{of}", 0, -1)
            waiting, again, spills = pipe.execute()
            spilled = self._client.hmget(f"cc:tn:{crawl_id}", spills) if spills else []
        return int(waiting) + int(again) + sum(int(count or 0) for count in spilled)

    def crawls_of(self, host: str) -> list[str]:
        """The crawls that have seen a host."""
        crawls = self.crawl_ids()
        with self._client.pipeline(transaction=False) as pipe:
            for crawl in crawls:
                pipe.sismember(f"cc:h:{crawl}", host)
            known = pipe.execute() if crawls else []
        return [crawl for crawl, there in zip(crawls, known, strict=True) if there]

    def hosts(self, crawl_id: str) -> list[str]:
        """Every host a crawl has seen."""
        return sorted(h.decode() for h in self._client.sscan_iter(f"cc:h:{crawl_id}", count=1000))

    def _touch_hosts(self, crawl_id: str) -> None:
        for part in chunks(self.hosts(crawl_id), ADD_CHUNK):
            with self._client.pipeline(transaction=False) as pipe:
                for host in part:
                    pipe.zadd(f"cc:gc:{host}", {crawl_id: 0}, nx=True)
                pipe.execute()
            self._touch(part)

    def _touch(self, hosts: Sequence[str]) -> None:
        # Score 0: lease.lua examines the host now, and reads its clock before it leases.
        if not hosts:
            return
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zadd("cc:ready", dict.fromkeys(hosts, 0), nx=True)
            pipe.publish("cc:wake", "1")
            pipe.execute()

    def purge(self, crawl_id: str, host: str = "") -> int:
        """Deletes a crawl, or one of its hosts; returns the number of its URLs.

        Raises:
            NotFound: No such crawl.
        """
        counts = self.counts(crawl_id)
        if host:
            return self.maintenance.purge_pages(crawl_id, host)
        self.maintenance.purge_crawl(crawl_id)
        return counts.open + counts.done

    def receipts(self, crawl_id: str) -> dict[str, int]:
        """The last pages that ended, at most 64, with the ends of their stored responses.

        ``{"4f11...": 1700000000000}``, ms since 1970 UTC; none of an unknown crawl.
        """
        lines = self._client.lrange(f"cc:a:{crawl_id}", 0, -1)  # the newest first
        pairs = (line.decode().split(" ") for line in reversed(lines))
        return {page_id: int(stored_ms) for page_id, stored_ms in pairs}

    def forget_receipts(self, crawl_id: str) -> None:
        """Deletes the receipts of a crawl, before pages of the crawl are deleted in the store."""
        self._client.delete(f"cc:a:{crawl_id}")

    def has_claims(self, crawl_id: str, host: str = "") -> bool:
        """Whether a living worker has claimed pages of a crawl, or of one of its hosts."""
        now_ms = queue_ms(self._client)
        for job in self._client.zrangebyscore("cc:claims", f"({now_ms}", "+inf"):
            crawl, of = self._client.hmget(b"cc:j:" + job, "crawl", "host")
            if crawl == crawl_id.encode() and host in ("", (of or b"").decode()):
                return True
        return False

    # Workers

    def claim(self, job_id: str, worker: str) -> list[QueuedPage]:
        """Claims the pages of a job for ``CLAIM_TTL_MS``; empty when another worker has them."""
        crawl, *flat = map(bytes.decode, self._scripts("claim", job_id, worker, CLAIM_TTL_MS))
        pairs = [(flat[i], int(flat[i + 1])) for i in range(0, len(flat), 2)]
        if not pairs:
            return []
        with self._client.pipeline(transaction=False) as pipe:
            for pid, _ in pairs:
                pipe.hgetall(f"cc:p:{crawl}:{pid}")
            hashes = pipe.execute()
        return [
            read_page(crawl, pid, token, page)
            for (pid, token), page in zip(pairs, hashes, strict=True)
            if page
        ]

    def mark(self, job_id: str, page_id: str) -> None:
        """Records the page that is being cleaned (``""``: none), without waiting for the server."""
        quiet, key = self._quiet, f"cc:m:{job_id}"
        command = ("SET", key, page_id, "EX", MARK_TTL_S) if page_id else ("DEL", key)
        quiet.retry.call_with_retry(
            lambda: quiet.send_command(*command), lambda _: quiet.disconnect()
        )

    def keep_claim(self, job_id: str) -> bool:
        """Renews a claim for ``CLAIM_TTL_MS``; False when it is lost."""
        return bool(self._scripts("heartbeat", job_id, CLAIM_TTL_MS, ""))

    def break_claim(self, job_id: str, why: str = "") -> None:
        """Ends a claim as if its worker had died; the housekeeper redoes the pages.

        Args:
            job_id: The job.
            why: What the log of the page says that was being cleaned; ``""``: its worker died.
        """
        self._scripts("heartbeat", job_id, 0, stored(why))

    def give_back(self, job_id: str) -> None:
        """Ends a claim without counting a crash, for an outage of store or queue."""
        self._scripts("heartbeat", job_id, 0, NO_BLAME)

    def ack(
        self,
        job_id: str,
        ended: Sequence[tuple[QueuedPage, UrlState]],
        judged: Mapping[str, bool] | None = None,
    ) -> int:
        """Ends pages that are stored and whose outlinks are offered; returns how many counted.

        A page whose claim another worker has by now does not count.

        Args:
            job_id: The job of the pages.
            ended: The pages, all of one host, and how each ended.
            judged: Pages that the topic of their crawl has judged, by page id: whether relevant.
                They count in the harvest of the host's domain (ADR 34).
        """
        args: list[Arg] = [job_id, owner_of(ended[0][0].host) if judged else ""]
        verdicts = {page: "relevant" if good else "dull" for page, good in (judged or {}).items()}
        for page, state in ended:
            stored_ms = to_microseconds(page.fetched_at) // 1000
            verdict = verdicts.get(page.page_id, "")
            args += [page.page_id, page.token, str(state), stored_ms, verdict]
        return int(self._scripts("ack", *args))

    def widen(self, crawl_id: str, url: str) -> None:
        """Adds a URL's host to a crawl's scope: a seed redirects there."""
        self._client.sadd(f"cc:x:{crawl_id}", host_of(url))

    def more_hosts(self, crawl_id: str) -> frozenset[str]:
        """Hosts that a crawl's seeds redirect to."""
        return frozenset(h.decode() for h in self._client.smembers(f"cc:x:{crawl_id}"))

    # The housekeeper

    def sweep(self) -> dict[str, int]:
        """Redoes the work of dead processes; returns counts: ``{"leases_lost": 2, ...}``.

        Any number of housekeepers may run anywhere: every change is one script.
        """
        return self.maintenance.sweep(self._jobs)

    def expire_sessions(self) -> None:
        """Declares every spider and worker dead; of claims only broken ones count a crash."""
        self._expire(lambda _name: True, blame=False)
        # The time since the last run is no gap between two sweeps.
        now_ms, last = queue_ms(self._client), self._client.hget("cc:clock", "last")
        if last and now_ms > int(last):
            self._client.hset("cc:clock", "last", now_ms)
        self.learning.expire()
        self.processes.forget_all()

    def expire_process(self, name: str, *, blame: bool = True) -> None:
        """Declares a process, ``machine.4711``, dead; ``blame``: count a crash of its page."""
        self._expire(lambda session: session.startswith(f"{name}."), blame=blame)
        self.processes.declare_dead(lambda each: each.startswith(f"{name}."))

    def _expire(self, is_dead: Callable[[str], bool], *, blame: bool) -> None:
        for session in self._client.zrange("cc:spiders", 0, -1):
            if is_dead(session.decode()):
                self._client.zadd("cc:spiders", {session: 0}, xx=True)
        for job, until in self._client.zrange("cc:claims", 0, -1, withscores=True):
            worker = self._client.hget(b"cc:j:" + job, "worker")
            if until and is_dead((worker or b"").decode()):  # 0: broken already
                (self.break_claim if blame else self.give_back)(job.decode())

    # One URL

    def reopen(self, crawl_id: str, ends: Sequence[UrlRow]) -> int:
        """Makes ended URLs pending; returns how many were not pending.

        The URLs begin with attempt 1. Those without a record count as neither done nor failed until
        they end. One with a record counts as done, and is a revisit (``QueuedPage.was``): without
        an answer its record stays, and its fetch takes nothing from the budget of pages.

        Raises:
            NotFound: No such crawl in the queue.
        """
        offered = 0
        for part in chunks(ends, REOPEN_CHUNK):
            args: list[Arg] = [crawl_id]
            for end in part:
                found = to_microseconds(end.discovered_at) // 1000 if end.discovered_at else 0
                why = f"{end.state}: {end.reason}" if end.reason else str(end.state)
                args += [end.page_id, end.host, end.url, str(end.role), end.depth, str(end.via)]
                args += [end.referrer or "", end.link_text, found, str(end.state), why]
            new = int(self._scripts("reopen", *args))
            if new < 0:
                raise NotFound(
                    f"no crawl {crawl_id} in the queue; `crawl recover {crawl_id}` rebuilds it"
                )
            offered += new
        return offered

    def try_page(self, crawl_id: str, end: UrlRow) -> bool:
        """Has one URL fetched as soon as its host may be asked, also while the host is paused.

        Until it is leased, for ``TRIAL_MS`` at most, nothing else of the host is. An attempt that
        fails is not repeated at a paused host.

        Returns:
            Whether it waits; False: it is fetched or cleaned at this moment.

        Raises:
            NotFound: The queue has no such crawl.
        """
        self.reopen(crawl_id, [end])
        told = self._scripts("try", crawl_id, end.page_id, end.host, TRIAL_MS)
        return int(told) > 0

    def trace(self, crawl_id: str, page_id: str, host: str) -> tuple[str, tuple[Step, ...]] | None:
        """The (state, decision log) of a URL that is in the queue, else None.

        A URL that is done, or was never offered, is not in the queue; ``has_seen`` distinguishes
        the two. The state is ``pending`` or a value of the field ``state``.
        """
        state, log = self._client.hmget(f"cc:p:{crawl_id}:{page_id}", "state", "log")
        if state:
            return state.decode(), read_log(log or b"")
        match = pending_pattern(page_id)
        for entry, _ in self._client.zscan_iter(f"cc:q:{crawl_id}:{host}", match, 1000):
            return "pending", read_log(b"%d\tdiscovered\t" % pending_since(entry))
        return None

    def tried(self, crawl_id: str, page_id: str) -> tuple[str, tuple[Step, ...]] | None:
        """The (state, decision log) of a URL that was tried (``try_page``).

        The state is a value of the field ``state``, or ``ended``; None: it was not tried, or ended
        more than an hour ago.
        """
        of = f"{crawl_id}:{page_id}"
        state, log, mark = self._client.hmget(f"cc:p:{of}", "state", "log", "tried")
        if state and mark:
            return state.decode(), read_log(log or b"")
        ended = self._client.get(f"cc:tried:{of}")
        return None if ended is None else ("ended", read_log(ended))

    def has_seen(self, crawl_id: str, page_id: str) -> bool:
        """Whether a URL was ever offered to a crawl."""
        return self.have_seen(crawl_id, [page_id])[0]

    def have_seen(self, crawl_id: str, page_ids: Sequence[str]) -> list[bool]:
        """Which URLs were ever offered to a crawl; offering these again changes nothing."""
        marks: list[bool] = []
        for run in chunks(page_ids, ADD_CHUNK):
            found: bytes = self._scripts("has_seen", crawl_id, *map(fingerprint, run))
            marks += [mark == ord("1") for mark in found]
        return marks

    def has_overflow(self, crawl_id: str, host: str) -> bool:
        """Whether URLs of a host wait in the store."""
        return bool(self._client.exists(f"cc:t:{crawl_id}:{host}"))

    def robots(self, host: str) -> str | None:
        """A host's robots rules as text; None when robots.txt was not fetched."""
        rules = self._client.hget(f"cc:g:{host}", "robots_rules")
        return None if rules is None else rules.decode("utf-8", "replace")

    # Counters

    def count(self, counters: Mapping[str, int], tally: Tally = MappingProxyType({})) -> None:
        """Adds to the process counters, ``{"records": 3}``, and to the tally of hosts."""
        with self._client.pipeline(transaction=False) as pipe:
            for name, value in counters.items():
                pipe.hincrby("cc:metrics", name, value)
            add_tally(pipe, tally)
            pipe.execute()

    def is_first(self, notice: str, for_s: int) -> bool:
        """Whether no process gave this notice in the last seconds: ``hook failed: prices``."""
        return bool(self._client.set(f"cc:noticed:{notice}", 1, nx=True, ex=for_s))

    def counters(self) -> dict[str, int]:
        """Every process counter, ``{"leases": 480, ...}``."""
        raw = self._client.hgetall("cc:metrics")
        try:
            return {name.decode(): int(value) for name, value in raw.items()}
        except ValueError as error:
            raise StorageError(f"a counter in the queue is no number: {error}") from error

    def ping(self) -> str:
        """The server's name and version, ``valkey 8.1.1``.

        Raises:
            ConfigError: The server is too old.
        """
        self._client.ping()  # refused while its disk is full
        info = self._client.info("server")
        version = str(info.get("valkey_version") or info["redis_version"])
        if int(str(info["redis_version"]).split(".")[0]) < 6:
            raise ConfigError(f"the Redis server is {version}: 6 or newer is needed")
        return f"{info.get('server_name', 'redis')} {version}"

    def close(self) -> None:
        """Closes the connections."""
        self._quiet.disconnect()
        self._client.close()
