"""Settings of ``storage``: data folder, servers, limits."""
# ruff: noqa: RUF009 - `setting` makes a field, as `field` does

from __future__ import annotations

import re
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from crawlclean.cleaning.errors import ConfigError

# The server needs memory for itself and its clients; what waits needs the rest.
LEAST_QUEUE_MEMORY_BYTES = 16 << 20
DATABASE = "crawl"
"""Used when the URL of MongoDB names no database."""
SEVERAL_URLS = re.compile(r",\s*(?:redis|rediss|unix)://")
OWN_QUEUES = (
    "a Redis server is a queue of its own: give large crawls queues of their own with one store, "
    "and a queue a replica for the case that its server fails (docs/operate.md)"
)
"""What stands in for hosts split over several queue servers, which earlier versions had."""


def place_of(redis_url: str) -> str:
    """Where a server is, without a password: ``redis://db1:6379/0``."""
    scheme, _, rest = redis_url.partition("://")
    address = rest.partition("?")[0].rpartition("@")[2]
    host = address.partition("/")[0]
    is_own = scheme == "unix" or host.startswith(("localhost", "127.", "[::1]", "::1"))
    return f"{scheme}://{address}" + (f" on {socket.gethostname()}" if is_own else "")


# The type of a setting has its bounds; ``workers/config.py`` reads values by these types.
Count = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]


def setting(default: Any, about: str) -> Any:
    """The default of a setting, and what the setting is for."""
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfig:
    """Servers and limits; without server URLs queue and store are in ``data`` (embedded mode)."""

    data: Path = setting(
        Path("crawlclean-data"), "folder of the embedded mode: database, raw pages, queue, logs"
    )
    redis_url: str = setting(
        "",
        "Redis server (with mongodb_url: server mode; a spider needs no mongodb_url); "
        "with _FILE behind the name: the file that holds it",
    )
    mongodb_url: str = setting(
        "",
        "MongoDB server (with redis_url: server mode); "
        "with _FILE behind the name: the file that holds it",
    )
    max_pages_in_flight: Count = setting(5000, "fetched pages that may wait for workers")
    max_bytes_in_flight: Annotated[int, Meta(ge=1 << 20)] = setting(
        256 << 20, "compressed bytes of fetched pages that may wait for workers"
    )

    queue_memory_bytes: Natural = setting(
        0, "memory limit of the embedded queue's server; 0 = half of the machine's"
    )

    max_pending_urls: Natural = setting(
        0,
        "URLs that may wait in the queue's memory, others wait in the store; 0 = a "
        "quarter of the server's memory limit, 5,000,000 when it has none",
    )

    disk_quota_bytes: Natural = setting(
        0,
        "bytes the data folder may take, then `run` fetches nothing more and waits; "
        "0 = no limit but the disk",
    )

    search: bool = setting(
        False,
        "index the texts of records for `search` and the console, in search.sqlite in "
        "the data folder",
    )

    def __post_init__(self) -> None:
        if self.mongodb_url and not self.redis_url:
            raise ConfigError(
                "a Mongodb URL is set but no Redis URL: "
                "set both to use servers, or neither to keep all in the data folder"
            )
        if SEVERAL_URLS.search(self.redis_url):
            raise ConfigError(f"redis_url names several servers: {OWN_QUEUES}")
        if 0 < self.queue_memory_bytes < LEAST_QUEUE_MEMORY_BYTES:
            raise ConfigError(
                f"queue_memory_bytes is {self.queue_memory_bytes}: at least "
                f"{LEAST_QUEUE_MEMORY_BYTES} (16 MiB), or 0 for half of the machine's"
            )

    @property
    def place(self) -> str:
        """Where records are, for a person: the data folder, or ``MongoDB crawl at db1:27017``."""
        if not self.mongodb_url:
            return str(self.data)
        servers = self.mongodb_url.rpartition("://")[2].partition("?")[0]
        at, _, database = servers.rpartition("@")[2].partition("/")
        return f"MongoDB {database or DATABASE} at {at}"

    @property
    def queue_place(self) -> str:
        """Where the queue is, without a password: ``redis://db1:6379/0``, or the data folder.

        An address that means another server on each machine has the machine's name:
        ``redis://localhost:6379/0 on web1``.
        """
        return str(self.data) if self.is_embedded else place_of(self.redis_url)

    @property
    def is_embedded(self) -> bool:
        """Whether queue and store are in the data folder."""
        return not self.redis_url
