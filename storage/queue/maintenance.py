"""Maintenance of the queue: sweeping, purging, rebuilding.

- ``sweep`` is one round of the housekeeper, the queue's reaper: leases of dead spiders become
  pending URLs, claims of dead workers new jobs. Any number of housekeepers may run anywhere,
  because every change is one script. A job that RQ does not know is enqueued; where two jobs name a
  page, the page's token refuses the second claim.
- ``purge_crawl`` and ``purge_pages`` delete in chunks, so that the server keeps answering. A purge
  whose process died is completed by the housekeeper, or before the crawl is created anew
  (``create_crawl``). A purge that finds the crawl created anew ends: each of its steps looks.
- ``begin``, ``mark_ended`` and ``finish`` put a lost crawl into the queue. None of its URLs is
  leased before ``finish``. Until then the crawl has the field ``rebuilding``: a process that finds
  this field follows one that died, and repeats the whole rebuilding, which is idempotent.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from redis.exceptions import WatchError

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, UrlRow
from crawlclean.storage.queue.clients import (
    Arg,
    QueueMember,
    queue_ms,
)
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.entries import chunks, crawl_fields, fingerprint
from crawlclean.storage.queue.jobs import JobQueue
from crawlclean.storage.queue.topic_ranks import TOPIC_KEYS

log = logging.getLogger(__name__)

MAX_CRASHES = 3  # of workers at one page: then the page is poison, not its workers
MAX_LOST_LEASES = 20  # of one URL: then it kills spiders
LOST_JOB_MS = 10_000  # RQ knows the job: it may be between its queue and its claim
NEW_JOB_MS = 500  # RQ does not know the job: its maker is about to enqueue it
STRANDED_BATCH_MS = 1_000  # an older batch has no spider that flushes it
SWEEP_CHUNK = 200  # leases, claims or jobs of a round: the server stops for its script
# Of the memory limit: the rest is for pages in flight and what workers offer.
MEMORY_WATERMARK = 0.7
SCAN_COUNT = 1000  # keys looked at by one command: the server answers others in between
PURGE_CHUNK = 500  # keys of one script: the server stops for it
PURGING = "cc:purging"
LOST_PURGE_MS = 60_000
"""A purge that takes longer is taken for one whose process died: to purge twice does no harm."""
REBUILD_CHUNK = 1000  # URLs of one script: the server stops for it
REBUILDING = "rebuilding"
# One key a crawl: cc:h:news
CRAWL_KEYS = ("a", "h", "vh", "sm", "bg", "x", "tn", "th", *TOPIC_KEYS)


class Maintenance(QueueMember):
    """The member ``maintenance`` of the queue; methods raise ``QueueUnavailable``."""

    # Sweeping: leases and claims of dead processes.

    def sweep(self, jobs: JobQueue) -> dict[str, int]:
        """Gives back leases and claims of dead processes, and enqueues lost jobs.

        Returns:
            Counts by counter: ``{"leases_lost": 2, "claims_lost": 1, ...}``.
        """
        self._watch_memory()  # first: a server that is nearly full refuses the scripts
        leases, claims, poison, set_back_ms = self._scripts(
            "sweep", MAX_CRASHES, MAX_LOST_LEASES, SWEEP_CHUNK
        )
        if set_back_ms:
            log.warning("the server's clock was set back", extra={"seconds": set_back_ms // 1000})
        self._scripts("flush", STRANDED_BATCH_MS)
        lost_until = queue_ms(self._client) - LOST_PURGE_MS
        for crawl in self._client.zrangebyscore(PURGING, "-inf", lost_until):
            self.purge_crawl(crawl.decode())
        return {
            Counter.LEASES_LOST: leases,
            Counter.CLAIMS_LOST: claims,
            Counter.POISON_PAGES: poison,
            Counter.JOBS_ENQUEUED_AGAIN: self._enqueue_lost_jobs(jobs),
        }

    def _watch_memory(self) -> None:
        # A full server refuses every write, those of RQ included: leasing stops long before.
        memory = self._client.info("memory")
        limit = memory.get("maxmemory") or float("inf")
        if memory["used_memory"] > MEMORY_WATERMARK * limit:
            self._client.hset("cc:flight", "memory", "1")
        else:
            self._client.hdel("cc:flight", "memory")

    def _enqueue_lost_jobs(self, jobs: JobQueue) -> int:
        """Enqueues the jobs that RQ does not know; returns their number."""
        now_ms = queue_ms(self._client)
        enqueued = 0
        for name, since in self._client.zrange("cc:jobs", 0, SWEEP_CHUNK - 1, withscores=True):
            job = name.decode()
            if not self._client.exists(f"cc:j:{job}"):
                self._client.zrem("cc:jobs", job)
                continue
            known = self._client.exists(f"rq:job:{job}")
            if now_ms - since < (LOST_JOB_MS if known else NEW_JOB_MS):
                continue  # the process that made the job is about to enqueue it
            if not (known and jobs.is_waiting(job)):
                enqueued += jobs.enqueue(job)
            self._client.zadd("cc:jobs", {name: now_ms}, xx=True)  # counts as new from now on
        return enqueued

    # Purging: all keys of a crawl, or of one of its hosts.

    def purge_crawl(self, crawl_id: str) -> None:
        """Deletes a crawl: its pages give back their slots and bytes, then its keys are deleted."""
        now_ms = queue_ms(self._client)
        with self._client.pipeline() as pipe:  # one step: else this deletes what was created since
            # Without the crawl nobody knows what is left when this process dies.
            pipe.zadd(PURGING, {crawl_id: now_ms})
            # Without its hash every script refuses the crawl.
            pipe.delete(f"cc:c:{crawl_id}")
            pipe.srem("cc:crawls", crawl_id)
            pipe.zrem("cc:turn", crawl_id)
            pipe.execute()
        if self.purge_pages(crawl_id, "") < 0:
            return  # what created it anew has completed the purge
        self._drop_unconfirmed(crawl_id)
        for key in self._client.scan_iter(f"cc:ts:{crawl_id}:*", count=SCAN_COUNT):
            if self._client.exists(f"cc:c:{crawl_id}"):
                return
            self._forget_traps(crawl_id, key.decode().removeprefix(f"cc:ts:{crawl_id}:"))
        for kind in ("q", "r", "v", "seen", "tx", "k", "u", "cr", "ck", "b", "p", "t", "tried"):
            found = self._client.scan_iter(f"cc:{kind}:{crawl_id}:*", count=SCAN_COUNT)
            for keys in chunks(found, PURGE_CHUNK):
                if not self._scripts("drop_keys", crawl_id, *keys):
                    return
        if self._scripts("drop_keys", crawl_id, *(f"cc:{kind}:{crawl_id}" for kind in CRAWL_KEYS)):
            self._client.zrem(PURGING, crawl_id)

    def create_crawl(self, spec: CrawlSpec, fields: Mapping[str, Arg]) -> None:
        """Writes the keys of a crawl in one step, while no purge of its name is under way.

        A topic crawl joins those whose hosts are chosen by rank; any other crawl leaves them.

        A purge under way is completed here first, whether its process lives or not.

        Args:
            spec: The crawl, new or not.
            fields: Fields of its hash that are set.
        """
        crawl_id = spec.crawl_id
        with self._client.pipeline() as pipe:
            while True:
                if self._client.zscore(PURGING, crawl_id) is not None:
                    self.purge_crawl(crawl_id)
                pipe.watch(PURGING)
                if pipe.zscore(PURGING, crawl_id) is None:
                    pipe.multi()
                    pipe.hset(f"cc:c:{crawl_id}", mapping=fields)
                    pipe.sadd("cc:crawls", crawl_id)
                    if spec.topic:
                        pipe.zadd("cc:turn", {crawl_id: 0}, nx=True)
                    else:
                        pipe.zrem("cc:turn", crawl_id)
                    with suppress(WatchError):  # another process was first: looks again
                        pipe.execute()
                        return
                pipe.reset()

    def _drop_unconfirmed(self, crawl_id: str) -> None:
        """Deletes unconfirmed spills; their process reads 0 from ``confirm_spill.lua``."""
        for spill, of in self._client.hscan_iter("cc:spills", count=SCAN_COUNT):
            is_ours = of.startswith(f"{crawl_id} ".encode())
            if is_ours and not self._client.exists(f"cc:c:{crawl_id}"):
                self._client.hdel("cc:spills", spill)
                self._client.delete(b"cc:spill:" + spill)

    def purge_pages(self, crawl_id: str, host: str) -> int:
        """Deletes the URLs of a host (``""``: of every host); returns their number.

        Returns -1 without a host when the crawl has been created anew meanwhile.
        """
        purged = int(self._scripts("purge", crawl_id, host))  # the host's pending URLs
        pages = self._client.scan_iter(f"cc:p:{crawl_id}:*", count=SCAN_COUNT)
        for keys in chunks(pages, PURGE_CHUNK):
            more = int(self._scripts("purge", crawl_id, host, *keys))
            if more < 0:
                return -1
            purged += more
        return purged

    def _forget_traps(self, crawl_id: str, host: str) -> None:
        """Deletes the accounts of a host's URL classes; ``stopped_version`` informs the spiders."""
        names = self._client.hkeys(f"cc:ts:{crawl_id}:{host}")
        if names:
            of = f"{crawl_id} {host} ".encode()
            self._client.hdel("cc:traps", *(of + name for name in names))
        self._client.delete(f"cc:ts:{crawl_id}:{host}", f"cc:k:{crawl_id}:{host}")
        self._client.hincrby(f"cc:g:{host}", "stopped_version", 1)

    # Rebuilding: a crawl that the queue has lost.

    def is_lost(self, crawl_id: str) -> bool:
        """Whether the queue lacks a crawl, or its rebuilding was interrupted."""
        there, marked = self._client.hmget(f"cc:c:{crawl_id}", "state", REBUILDING)
        return there is None or marked is not None

    def begin(self, spec: CrawlSpec) -> None:
        """Creates a lost crawl, stopped and marked ``rebuilding``; leaves a whole one alone."""
        if not self.is_lost(spec.crawl_id):
            return
        fields = {**crawl_fields(spec, CrawlState.STOPPED), REBUILDING: 1}
        self.create_crawl(spec, fields)

    def mark_ended(self, crawl_id: str, ends: Sequence[UrlRow]) -> int:
        """Marks URLs as seen and done; returns how many the queue did not know.

        Raises:
            NotFound: The crawl was purged meanwhile.
        """
        added = 0
        for part in chunks(ends, REBUILD_CHUNK):
            args: list[Arg] = [crawl_id]
            for end in part:
                args += [end.host, fingerprint(end.page_id), str(end.state)]
            new = int(self._scripts("mark_ended", *args))
            if new < 0:
                raise NotFound(f"no crawl {crawl_id} in the queue")
            added += new
        return added

    def waits_for(self, crawl_id: str, spill_id: str) -> bool:
        """Whether the queue expects a spill of the store back."""
        return bool(self._client.hexists(f"cc:tn:{crawl_id}", spill_id))

    def forget_later(self, spill_ids: Collection[str]) -> None:
        """Schedules the deletion of spills whose URLs are in the queue now.

        The store keeps them until then, because the server may still lose its last second.
        """
        if spill_ids:
            self._client.zadd("cc:tg", dict.fromkeys(spill_ids, queue_ms(self._client)))

    def finish(self, crawl_id: str, state: CrawlState) -> None:
        """Sets the state and deletes ``rebuilding``; a crawl without that field keeps its state."""
        if self._client.hexists(f"cc:c:{crawl_id}", REBUILDING):
            self._client.hset(f"cc:c:{crawl_id}", "state", str(state))
            self._client.hdel(f"cc:c:{crawl_id}", REBUILDING)
            self._client.delete(f"cc:dn:{crawl_id}")  # hosts came in without being counted
