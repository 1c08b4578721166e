"""Failed URLs wait in the queue once more."""

from __future__ import annotations

from collections.abc import Sequence

from cleaning.errors import NotFound
from storage.queue.clients import open_client, queue_errors
from storage.queue.scripts import Arg, Scripts
from storage.store.codec import to_microseconds
from storage.store.urls import EndedUrl

CHUNK = 200


class Retrying:
    """The queue, as a retry needs it. Methods raise ``QueueUnavailable``."""

    def __init__(self, redis_url: str) -> None:
        """Touches nothing yet."""
        self._client = open_client(redis_url)
        self._scripts = Scripts(self._client)

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()

    def offer_again(self, crawl_id: str, ends: Sequence[EndedUrl]) -> int:
        """Lets URLs wait that ended without a record; how many did not wait already.

        They begin with their first attempt, and count as neither done nor failed until they end.

        Raises:
            NotFound: No such crawl in the queue.
        """
        offered = 0
        for start in range(0, len(ends), CHUNK):
            args: list[Arg] = [crawl_id]
            for end in ends[start : start + CHUNK]:
                found = to_microseconds(end.discovered_at) // 1000 if end.discovered_at else 0
                why = f"{end.state}: {end.reason}" if end.reason else str(end.state)
                args += [end.page_id, end.host, end.url, str(end.role), end.depth, str(end.via)]
                args += [end.referrer or "", end.link_text, found, str(end.state), why]
            with queue_errors():
                new = int(self._scripts("again", args))
            if new < 0:
                raise NotFound(
                    f"no crawl {crawl_id} in the queue; `recover {crawl_id}` rebuilds it"
                )
            offered += new
        return offered
