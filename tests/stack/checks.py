"""A crawl of the stack at rest, looked at from outside: records, queue, the sites' logs."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing
from typing import Any

from redis import Redis

from crawlclean.storage.mongo.store import MongoStore
from tests.chaos.rest import complaints
from tests.chaos.sites import Sites
from tests.stack.machines import FIRST
from tests.stack.project import Project

QUEUE_PORT = 6379  # where deploy/serve.yml opens Redis
# Spiders live on. A URL that a machine left to others, or that met a cut network, has more steps in
# its log than the rest.
EXPECTED = re.compile("^left in cc:spiders:|,elsewhere|,away,")


def at_rest(
    project: Project, crawl: str, sites: Sites, delay_s: float, queue_port: int = QUEUE_PORT
) -> dict[str, Any]:
    """Figures of a finished crawl, and what is wrong under ``complaints``.

    Args:
        project: Of the machine with the servers, which are open at its private address.
        crawl: Its name in the queue.
        sites: What it crawled.
        delay_s: The pause that each of their servers must have seen.
        queue_port: Where the queue's server is open.
    """
    with closing(_client(project, queue_port)) as client, closing(_store(project)) as store:
        found = [c for c in complaints(client, crawl, store, sites) if not EXPECTED.search(c)]
        return _figures(store, crawl, sites, delay_s, found)


def _client(project: Project, port: int) -> Any:
    password = project.password("redis_admin")
    return Redis(FIRST, port, username="admin", password=password, decode_responses=True)


def _store(project: Project) -> MongoStore:
    login = f"crawl:{project.password('mongo')}"
    return MongoStore(f"mongodb://{login}@{FIRST}:27017/crawl?authSource=crawl")


def _figures(
    store: MongoStore, crawl: str, sites: Sites, delay_s: float, found: list[str]
) -> dict[str, Any]:
    stored = Counter(record.url for record in store.records.scan(crawl))
    asked, wanted = sites.requests(), {url for url, _ in sites.pages()}
    pauses = {host: min(between) for host, between in sites.pauses_s().items()}
    found += [f"{h} was asked {p:.3f} s after an answer" for h, p in pauses.items() if p < delay_s]
    return {
        "pages": len(wanted),
        "records": stored.total(),
        "lost": len(wanted - set(stored)),
        "doubled": stored.total() - len(stored),
        "requests": sum(asked.values()),
        "demanded_pause_s": delay_s,
        "shortest_pause_s": {host: round(pause, 3) for host, pause in pauses.items()},
        "complaints": found,
    }
