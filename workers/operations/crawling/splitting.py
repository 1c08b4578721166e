"""Takes another list of queue servers into use: empties the queue for `recover` to rebuild it."""

from __future__ import annotations

from collections.abc import Callable

from cleaning.errors import ConfigError, StorageError
from cleaning.phrases import counted
from storage.crawl_types import CrawlSpec, CrawlState
from storage.queue.servers.members import check_spec
from storage.queue.servers.moving import ids_of, take_into_use
from workers.config import Settings
from workers.operations.backends import existing_store
from workers.operations.crawling.recovery import crawls_with_a_queue


def split_anew(settings: Settings, report: Callable[[str], None]) -> None:
    """Deletes all crawls in the queue, and takes its list of servers into use.

    Must be followed by ``recover_crawls``, which rebuilds them on the servers of their hosts.

    Args:
        settings: Where the store and the servers are.
        report: Called with a line about what was deleted.

    Raises:
        ConfigError: There is no Redis server, or a crawl does not work on several.
        StorageError: A process works on a server, or another living queue runs a crawl.
    """
    if settings.storage.is_embedded:
        raise ConfigError("--servers splits hosts over Redis servers: there is none")
    urls = settings.storage.redis_urls
    with existing_store(settings) as store:
        rows = crawls_with_a_queue(store)
        ids = ids_of(urls)
        for row in rows:
            if len(urls) > 1:
                check_spec(row.spec)
            for other in store.queues.all():
                if other.is_alive and other.queue_id in row.queue and other.queue_id not in ids:
                    raise StorageError(
                        f"crawl {row.spec.crawl_id} is also on {other.place}, heard "
                        f"{other.silent_s:.0f} s ago: stop its processes, wait a minute, and give "
                        "the command again"
                    )
        known = {row.spec.crawl_id for row in store.crawls.all()}

        def keep(spec: CrawlSpec) -> None:
            if spec.crawl_id not in known:
                store.crawls.put(spec, CrawlState.STOPPED)

        number = take_into_use(urls, keep)
    servers = counted(len(urls), "server")
    report(f"the queue is on {servers} now; its {number} crawls are rebuilt from the store")
