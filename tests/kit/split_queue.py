"""Two queue servers over which hosts are split, with a crawl on both, and their store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cleaning.urls.normal_form import page_id
from storage.config import StorageConfig
from storage.crawl_types import CrawlState, Discovery, Outcome
from storage.live_state import ProcessRole
from storage.opening import join_queue, open_store
from storage.queue.frontier import Frontier
from storage.store.protocol import Store
from tests.kit.mongo_server import running
from tests.kit.outcomes import make_failure, make_outcome
from tests.kit.queue_server import QueueServer
from tests.kit.queues import Spider, spec
from workers.config import Settings

HOSTS = ("s4.test", "s2.test")
"""The first is on the first server, the second on the second."""
CRAWL = "c"


@dataclass(frozen=True, slots=True)
class SplitQueue:
    """Servers, their store, and what leads to them.

    Attributes:
        servers: The queue servers in their order.
        settings: The settings of a process that works on all.
        spiders: A spider of each server.
        store: The store.
    """

    servers: list[QueueServer]
    settings: Settings
    spiders: list[Spider]
    store: Store

    @property
    def urls(self) -> list[str]:
        return [each.url for each in self.servers]

    def environment(self, **more: str) -> dict[str, str]:
        """The settings for a command."""
        config = self.settings.storage
        return {
            "CRAWLCLEAN_REDIS_URL": config.redis_url,
            "CRAWLCLEAN_MONGODB_URL": config.mongodb_url,
            "CRAWLCLEAN_DATA": str(config.data),
            **more,
        }

    def pending(self) -> list[int]:
        """URLs of the crawl that wait, by server."""
        found = []
        for url in self.urls:
            with closing(Frontier(url)) as frontier:
                found.append(frontier.counts(CRAWL).pending)
        return found

    def beat(self) -> None:
        """Has each server hear a worker and a sweeper."""
        for url in self.urls:
            for role in (ProcessRole.SWEEPER, ProcessRole.WORKER):
                with closing(Frontier(url)) as frontier:
                    frontier.processes.beat(role)

    def queue(self) -> Frontier:
        """All servers as one; the caller closes it."""
        return join_queue(self.settings.storage)


@contextmanager
def split_queue(folder: Path, *, has_spiders: bool = True) -> Iterator[SplitQueue]:
    """Two servers with a running crawl: a job and waiting URLs on each, a record, two failures.

    Without spiders there are no jobs: beside Playwright no event loop can run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        servers = [stack.enter_context(QueueServer(folder / f"queue{n}")) for n in range(2)]
        mongo = stack.enter_context(running(folder / "mongo"))
        list_of = ",".join(each.url for each in servers)
        config = StorageConfig(
            data=folder / "data", redis_url=list_of, mongodb_url=mongo.url("crawl")
        )
        (folder / "data").mkdir()
        store = stack.enter_context(closing(open_store(config, create=True)))
        spiders = []
        with closing(join_queue(config)) as queue:
            seeds = [f"http://{host}/0" for host in HOSTS]
            crawl = spec(CRAWL, *seeds, max_depth=0)
            queue.open_crawl(crawl)
            store.crawls.put(crawl, CrawlState.RUNNING, queue=queue.identity().queue_id)
            queue.offer(CRAWL, [Discovery(url=f"http://{h}/{n}") for h in HOSTS for n in (1, 2)])
        for server in servers if has_spiders else ():
            spider = Spider(server.url)
            stack.callback(spider.close)
            spider.put(spider.pages(1)[0])
            spider.flush()
            spiders.append(spider)
        store.save([*map(_failure, HOSTS), make_outcome("/t/1", crawl_id=CRAWL)])
        store.statistics.refresh()
        made = SplitQueue(servers, Settings(storage=config), spiders, store)
        made.beat()
        yield made


def _failure(host: str) -> Outcome:
    """A page of a host that failed."""
    made = make_failure("/gone", crawl_id=CRAWL)
    url = f"http://{host}/gone"
    return replace(made, queued=replace(made.queued, url=url, host=host, page_id=page_id(url)))
