"""Which server of a list a process works on: the one that was named, or the one that needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cleaning.errors import QueueUnavailable
from storage.config import StorageConfig
from storage.live_state import ProcessRole
from storage.queue.clients import open_client, queue_errors, queue_ms, wait_for_queue
from storage.queue.processes import LIFE_S
from storage.queue.servers.stamps import check_list, check_member, read_stamp
from storage.server_list import Place

WORKING = frozenset({ProcessRole.SPIDER, ProcessRole.WORKER, ProcessRole.SWEEPER})
_TURNS = "cc:who:turns"


def take_server(config: StorageConfig, role: ProcessRole) -> StorageConfig:
    """Returns the settings of a process that works on one server of the list, or on all.

    Waits for a server that nobody has split hosts over yet; a spider may not do so itself.

    Raises:
        ConfigError: The servers are of another list.
        QueueUnavailable: A server that is needed does not answer.
    """
    if not config.has_servers:
        return config
    if role not in WORKING:
        return replace(config, queue_server=None)
    urls = config.redis_urls
    index = config.queue_server
    if index is None:
        index = fewest(urls, role)
    own = open_client(urls[index])
    try:
        if role is ProcessRole.SPIDER:
            wait_for_queue(lambda: check_member(own, urls[index], Place(index, len(urls))))
        elif not read_stamp(own):
            check_list(urls)
        check_member(own, urls[index], Place(index, len(urls)))
    finally:
        own.close()
    return replace(config, queue_server=index)


def fewest(urls: Sequence[str], role: ProcessRole) -> int:
    """The server with the fewest living processes of a role; of equals each in its turn.

    Processes that start at the same moment see each other's servers empty, so they take turns.

    Raises:
        QueueUnavailable: No server answers.
        ConfigError: A server refuses this user.
    """
    living: dict[int, int] = {}
    turn = None
    for index, url in enumerate(urls):
        client = open_client(url)
        try:
            living[index] = _living(client, role)
            if turn is None:
                with queue_errors():
                    turn = int(client.hincrby(_TURNS, str(role), 1))
        except QueueUnavailable:
            continue
        finally:
            client.close()
    if not living or turn is None:
        raise QueueUnavailable("none of the Redis servers answers")
    least = min(living.values())
    equal = [index for index, n in living.items() if n == least]
    return equal[(turn - 1) % len(equal)]


def _living(client: Any, role: ProcessRole) -> int:
    with queue_errors():
        since = queue_ms(client) - int(LIFE_S * 1000)
        heard = client.zrangebyscore("cc:who", since, "+inf")
    return sum(each.startswith(f"{role} ".encode()) for each in heard)
