"""Configuration -> backends: which queue and which store a process talks to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cleaning.errors import NotFound, QueueUnavailable, StorageError, StoreUnavailable
from storage.config import StorageConfig
from storage.queue.embedded import EmbeddedServer, make_data_folder, socket_path, socket_url

if TYPE_CHECKING:
    from storage.queue.frontier import Frontier
    from storage.store.protocol import Store

CRASHED_PATIENCE_S = 120.0
LEFT_PATIENCE_S = 3.0
DATABASE = "records.sqlite"


def queue_url(config: StorageConfig) -> str:
    """Where the queue listens, whether it runs or not."""
    return socket_url(config.data) if config.is_embedded else config.redis_url


def patience_s(config: StorageConfig) -> float | None:
    """How long an absent queue is waited for, seconds; None is without end.

    A Redis server comes back some day. An embedded one that left in order has taken its socket
    with it; one that died leaves it, and `run` starts another, which may have much to read.
    """
    if not config.is_embedded:
        return None
    return CRASHED_PATIENCE_S if socket_path(config.data).exists() else LEFT_PATIENCE_S


def has_ended(config: StorageConfig) -> bool:
    """Whether the run that started the queue has ended in order, the queue with it."""
    return config.is_embedded and not socket_path(config.data).exists()


def open_store(config: StorageConfig, *, create: bool = False) -> Store:
    """The store of a configuration.

    Args:
        config: Where it is.
        create: Whether an absent embedded store is made; a database of MongoDB is made at its
            first use.

    Raises:
        NotFound: The data folder holds no store and ``create`` is False.
    """
    if not config.is_embedded:
        from storage.mongo.store import MongoStore  # its client is slow to import

        return MongoStore(config.mongodb_url)
    path = config.data / DATABASE
    if not create and not path.exists():
        raise NotFound(f"{config.data} holds no crawl; choose the folder with --data")
    if create:
        try:
            make_data_folder(config.data)
        except OSError as error:
            raise StoreUnavailable(
                f"{config.data} cannot be made ({error.strerror}): choose another with --data"
            ) from error
    from storage.sqlite.store import SqliteStore

    return SqliteStore(path)


def join_queue(config: StorageConfig) -> Frontier:
    """The queue of a crawl that runs already, here or on another machine.

    Raises:
        NotFound: Nothing runs on the data folder.
        QueueUnavailable: The server does not answer.
    """
    if config.is_embedded and not socket_path(config.data).exists():
        raise NotFound(f"no crawl is running on {config.data}")
    from storage.queue.frontier import Frontier  # its client is slow to import

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
    """The queue, its private server started when the mode is embedded.

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
    from storage.queue.frontier import Frontier

    return server, Frontier(server.url)
