"""A crawl is put into a queue that has lost it. Nothing of it is leased before ``finish``.

A crawl that is being rebuilt carries the mark ``rebuilding``: who finds it there was preceded by
somebody who died, and does all of it again, which changes nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from cleaning.errors import NotFound
from storage.crawl_types import CrawlSpec, CrawlState
from storage.queue.clients import open_client, queue_errors
from storage.queue.crawl_state import crawl_fields
from storage.queue.entries import fingerprint
from storage.queue.scripts import Arg, Scripts
from storage.store.urls import EndedUrl

CHUNK = 1000
MARK = "rebuilding"


class Rebuilding:
    """The queue, as rebuilding needs it. Methods raise ``QueueUnavailable``."""

    def __init__(self, redis_url: str) -> None:
        """Touches nothing yet."""
        self._client = open_client(redis_url)
        self._scripts = Scripts(self._client)

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()

    def is_lost(self, crawl_id: str) -> bool:
        """Whether the queue has no such crawl, or not yet all of it."""
        with queue_errors():
            there, marked = self._client.hmget(f"cc:c:{crawl_id}", "state", MARK)
        return there is None or marked is not None

    def begin(self, spec: CrawlSpec) -> None:
        """Makes the crawl, stopped and marked; one that is whole is left as it is."""
        if not self.is_lost(spec.crawl_id):
            return
        fields = {**crawl_fields(spec, CrawlState.STOPPED), MARK: 1}
        with queue_errors(), self._client.pipeline() as pipe:
            pipe.hset(f"cc:c:{spec.crawl_id}", mapping=fields)
            pipe.sadd("cc:crawls", spec.crawl_id)
            pipe.execute()

    def mark_ended(self, crawl_id: str, ends: Sequence[EndedUrl]) -> int:
        """Marks URLs as seen and done; how many the queue did not know.

        Raises:
            NotFound: The crawl was purged meanwhile.
        """
        added = 0
        for start in range(0, len(ends), CHUNK):
            args: list[Arg] = [crawl_id]
            for end in ends[start : start + CHUNK]:
                args += [end.host, fingerprint(end.page_id), str(end.state)]
            new = self._run("ended", *args)
            if new < 0:
                raise NotFound(f"no crawl {crawl_id} in the queue")
            added += new
        return added

    def waits_for(self, crawl_id: str, parcel_id: str) -> bool:
        """Whether the queue has a parcel of the store on its list."""
        with queue_errors():
            return bool(self._client.hexists(f"cc:tn:{crawl_id}", parcel_id))

    def forget_later(self, parcel_ids: Collection[str]) -> None:
        """Has the store forget parcels whose URLs are in the queue now, but not at once.

        The server may still lose its last second.
        """
        if parcel_ids:
            with queue_errors():
                seconds, _ = self._client.time()
                self._client.zadd("cc:tg", dict.fromkeys(parcel_ids, seconds * 1000))

    def finish(self, crawl_id: str, state: CrawlState) -> None:
        """The crawl is whole; one that never was without the mark gets the state."""
        with queue_errors():
            if self._client.hexists(f"cc:c:{crawl_id}", MARK):
                self._client.hset(f"cc:c:{crawl_id}", "state", str(state))
                self._client.hdel(f"cc:c:{crawl_id}", MARK)

    def _run(self, name: str, *args: Arg) -> Any:
        with queue_errors():
            return int(self._scripts(name, args))
