"""Takes a list of servers into use for crawls that were split over another list, or over none.

Every crawl is deleted on every server, and then the servers get the stamps of the new list. No more
is lost than with a lost queue: the store has what is needed to rebuild the crawls. While servers
are marked as moving, every process is refused; a crash in between leaves them so, and the same
command again goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing

from cleaning.errors import ConfigError, StorageError
from storage.config import place_of
from storage.crawl_types import CrawlSpec
from storage.queue.clients import queue_errors, queue_ms
from storage.queue.processes import LIFE_S
from storage.queue.servers.members import Member
from storage.queue.servers.stamps import KEY, mark_moving, write_stamps
from storage.server_list import Place


def take_into_use(urls: Sequence[str], keep: Callable[[CrawlSpec], None]) -> int:
    """Empties servers of their crawls, and stamps them as one list; returns how many crawls.

    Args:
        urls: The servers in their order; a single one is no list any more.
        keep: Called with each crawl of the servers before it is deleted.

    Raises:
        StorageError: A process works on one of the servers, or one does not answer.
        ConfigError: Two URLs lead to the same server.
    """
    with ExitStack() as stack:
        members = [Member(url, Place(i, len(urls))) for i, url in enumerate(urls)]
        for member in members:
            stack.callback(member.close)
            _check_at_rest(member)
        ids = [member.identity().queue_id for member in members]
        if len(set(ids)) < len(ids):
            raise ConfigError("two URLs of the list lead to the same Redis server")
        specs = {name: m.spec(name) for m in reversed(members) for name in m.crawl_ids()}
        for spec in specs.values():
            keep(spec)
        clients = [member.client for member in members]
        mark_moving(clients)
        for member in members:
            for name in member.crawl_ids():
                member.purge(name)
        if len(members) > 1:
            write_stamps(clients, ids)
        else:
            with queue_errors():
                clients[0].delete(KEY)
        return len(specs)


def ids_of(urls: Sequence[str]) -> list[str]:
    """The ids of servers, made where they have none.

    Raises:
        QueueUnavailable: A server does not answer.
    """
    ids = []
    for index, url in enumerate(urls):
        with closing(Member(url, Place(index, len(urls)))) as member:
            ids.append(member.identity().queue_id)
    return ids


def _check_at_rest(member: Member) -> None:
    """Checks that no process works on a server.

    Raises:
        StorageError: One does, or was killed within the last minute.
    """
    with queue_errors():
        now_ms = queue_ms(member.client)
        heard = member.client.zrangebyscore("cc:who", now_ms - LIFE_S * 1000, "+inf")
    if heard:
        names = ", ".join(sorted(each.decode("utf-8", "replace") for each in heard)[:3])
        raise StorageError(
            f"{len(heard)} processes work on {place_of(member.url)} ({names}): stop all spiders, "
            "workers and sweepers; one that was killed counts for a minute"
        )
