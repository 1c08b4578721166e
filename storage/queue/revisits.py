"""URLs that wait in the queue to be visited again (ADR 37).

The store knows when each URL is due; the queue holds only what is due now, at most
``MOST_OF_A_HOST`` URLs of a host. A URL that waits, is under way or waits for a retry is not taken
a second time. What is lost or forgotten here is still due in the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from crawlclean.storage.crawl_types import UrlRow
from crawlclean.storage.queue.clients import Arg, QueueMember
from crawlclean.storage.queue.entries import LINK_TEXT_CHARS, chunks, from_ms
from crawlclean.storage.store.rows import to_microseconds

MOST_OF_A_HOST = 60
"""A host with the usual pause of a second serves them in a minute, beside new URLs in two."""

CHUNK = 200  # URLs or hosts of one call: the server answers others in between
LOCK = "cc:keeper"  # the name that the lock had in 0.2
LONGEST_VALUE = 1000  # characters of an ETag; servers refuse heads of requests over 8 KB


class Revisits(QueueMember):
    """The member ``revisits`` of the queue; methods raise ``QueueUnavailable``."""

    def offer(self, crawl_id: str, visits: Sequence[UrlRow]) -> int:
        """Makes due URLs wait for their visits; returns how many did not wait before.

        A crawl that is not kept fresh, or was purged, takes none.
        """
        taken = 0
        for part in chunks(visits, CHUNK):
            args: list[Arg] = [crawl_id, MOST_OF_A_HOST]
            for visit in part:
                args += _args(visit)
            new = int(self._scripts("revisit", *args))
            if new < 0:
                break
            taken += new
        return taken

    def forget(self, crawl_id: str) -> int:
        """Forgets the URLs of a crawl that wait to be visited again; returns their number."""
        forgotten = 0
        names = self._client.sscan_iter(f"cc:vh:{crawl_id}", count=CHUNK)
        for hosts in chunks(names, CHUNK):
            forgotten += int(self._scripts("forget_revisits", crawl_id, *hosts))
        return forgotten

    def full_hosts(self, crawl_id: str) -> frozenset[str]:
        """Hosts of which as many URLs wait as may; they need no more for a while."""
        full = set()
        names = self._client.sscan_iter(f"cc:vh:{crawl_id}", count=CHUNK)
        for hosts in chunks(names, CHUNK):
            with self._client.pipeline(transaction=False) as pipe:
                for host in hosts:
                    pipe.zcard(f"cc:v:{crawl_id}:{host.decode()}")
                counts = pipe.execute()
            found = zip(hosts, counts, strict=True)
            full |= {host.decode() for host, n in found if n >= MOST_OF_A_HOST}
        return frozenset(full)

    def lock(self, token: str, for_ms: int) -> bool:
        """Takes or renews the lock of the keepers; False while another token holds it."""
        if self._client.set(LOCK, token, nx=True, px=for_ms):
            return True
        # Between the two calls the lock may end: then both work, and queue each URL once.
        if self._client.get(LOCK) != token.encode():
            return False
        self._client.pexpire(LOCK, for_ms)
        return True

    def unlock(self, token: str) -> None:
        """Ends the lock of a token, before its time."""
        if self._client.get(LOCK) == token.encode():
            self._client.delete(LOCK)

    def server_time(self) -> datetime:
        """The clock of the queue's server, by which the times of responses are recorded."""
        seconds, micros = self._client.time()
        return from_ms(int(seconds) * 1000 + int(micros) // 1000)


def _args(visit: UrlRow) -> list[Arg]:
    """The twelve values of a URL that ``revisit.lua`` lists."""
    found = to_microseconds(visit.discovered_at) // 1000 if visit.discovered_at else 0
    return [
        visit.page_id,
        visit.host,
        visit.url,
        str(visit.role),
        visit.depth,
        str(visit.via),
        visit.referrer or "",
        visit.link_text[:LINK_TEXT_CHARS].encode("utf-8", "replace"),
        found,
        str(visit.state),
        visit.etag if len(visit.etag) <= LONGEST_VALUE else "",
        visit.last_modified if len(visit.last_modified) <= LONGEST_VALUE else "",
    ]
