"""Opens the queue and the store of a configuration."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import (
    ConfigError,
    DataDirectoryInUse,
    NotFound,
    QueueUnavailable,
    StorageError,
    StoreUnavailable,
)
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.embedded import (
    LOOK_S,
    EmbeddedServer,
    make_data_folder,
    read_owner,
    socket_path,
    socket_url,
)

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store

CRASHED_PATIENCE_S = 120.0  # time to start `run` again, and for its server to read a large file
LEFT_PATIENCE_S = 3.0  # the run has ended: what joined it ends soon, too
TURN_S = 10.0  # for a run to start its server, or to save its queue and end
DATABASE = "records.sqlite"


def queue_url(config: StorageConfig) -> str:
    """The queue's URL, running or not: ``unix:///tmp/cc-0/1f0c....sock``, ``redis://db1:6379/0``."""
    return socket_url(config.data) if config.is_embedded else config.redis_url


def patience_s(config: StorageConfig) -> float | None:
    """How long to wait for an absent queue, seconds; None: without limit (a Redis server).

    An embedded server that was stopped has removed its socket. One that died has left it: `run`
    starts another, which may have a large file to read.
    """
    if not config.is_embedded:
        return None
    return CRASHED_PATIENCE_S if socket_path(config.data).exists() else LEFT_PATIENCE_S


def has_ended(config: StorageConfig) -> bool:
    """Whether the embedded queue was stopped by the run that started it."""
    return config.is_embedded and not socket_path(config.data).exists()


def why_over(config: StorageConfig, away_s: float) -> str:
    """Why a process ends whose queue has been away for so long; ``""``: it waits on."""
    if has_ended(config):
        return "the run has ended"
    patience = patience_s(config)
    return "queue gone, ending" if patience is not None and away_s > patience else ""


def open_store(
    config: StorageConfig, *, create: bool = False, patience_s: float | None = None
) -> Store:
    """The store of a configuration.

    Args:
        config: Servers or data folder.
        create: Whether to create an absent embedded store; MongoDB creates its database at first
            use.
        patience_s: How long a write of the embedded store waits for another process's; None: as
            usual.

    Raises:
        NotFound: The data folder holds no store and ``create`` is False.
        ConfigError: The queue is on a server, and no MongoDB is named.
    """
    if not config.is_embedded:
        if not config.mongodb_url:
            raise ConfigError(
                "a Redis URL is set but no MongoDB URL: set both to use servers, or neither to "
                "keep all in the data folder; only a spider works without the store"
            )
        from crawlclean.storage.mongo.store import MongoStore  # its client is slow to import

        return MongoStore(config.mongodb_url)
    path = config.data / DATABASE
    if not create and not path.exists():
        raise NotFound(f"{config.data} holds no crawl: name the data folder of one")
    if create:
        try:
            make_data_folder(config.data)
        except OSError as error:
            raise StoreUnavailable(
                f"{config.data} cannot be made ({error.strerror}): choose another with --data"
            ) from error
    from crawlclean.storage.sqlite.connection import BUSY_TIMEOUT_S
    from crawlclean.storage.sqlite.store import SqliteStore

    return SqliteStore(path, busy_timeout_s=patience_s or BUSY_TIMEOUT_S)


def join_queue(config: StorageConfig) -> Frontier:
    """The queue of a running crawl, on this machine or another.

    Raises:
        NotFound: Nothing runs on the data folder.
        QueueUnavailable: The server does not answer.
    """
    if config.is_embedded and not socket_path(config.data).exists():
        raise NotFound(f"no crawl is running on {config.data}")
    from crawlclean.storage.queue.frontier import Frontier  # its client is slow to import

    frontier = Frontier(queue_url(config))
    try:
        frontier.ping()
    except StorageError as error:
        frontier.close()
        if config.is_embedded and isinstance(error, QueueUnavailable):
            raise NotFound(f"no crawl is running on {config.data}") from error
        raise
    return frontier


def start_queue(config: StorageConfig) -> tuple[EmbeddedServer | None, Frontier]:
    """The queue, and its private server, started in the embedded mode (else None).

    Raises:
        DataDirectoryInUse: Another process runs on the data folder.
        QueueUnavailable: The Redis server does not answer.
    """
    if not config.is_embedded:
        return None, join_queue(config)
    server = EmbeddedServer(config.data, config.queue_memory_bytes)
    try:
        server.start()
    except BaseException:
        server.stop()
        raise
    from crawlclean.storage.queue.frontier import Frontier

    return server, Frontier(server.url)


def join_or_start_queue(
    config: StorageConfig, *, create: bool
) -> tuple[EmbeddedServer | None, Frontier]:
    """The queue of what runs on the data folder; where nothing does, as ``start_queue``.

    A run that is ending, or starting, is waited for: its folder is taken, and its queue cannot be
    joined.

    Args:
        config: Servers or data folder.
        create: For a crawl: a folder without one gets a queue, and a queue without a run is waited
            for.

    Raises:
        NotFound: The folder holds no crawl, and ``create`` is False.
        DataDirectoryInUse: Another process keeps the folder, and lets nobody join.
        QueueUnavailable: The Redis server does not answer.
    """
    until = time.monotonic() + TURN_S
    while True:
        try:
            frontier = join_queue(config)
        except NotFound:
            if not create:
                open_store(config).close()
        else:
            # A run that starts stops all crawls that it finds, a command ends soon.
            if not (create and config.is_embedded) or read_owner(config.data).lets_join:
                return None, frontier
            frontier.close()
        try:
            return start_queue(config)
        except DataDirectoryInUse:
            if time.monotonic() > until:
                raise
            time.sleep(LOOK_S)  # nothing tells when another process frees its folder
