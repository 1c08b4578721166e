"""What each server of a list knows of the list: the ids of all its queues, and its own place.

The stamp ``cc:servers`` is ``<id>,<id> 0``: ids of the queues (``identity.py``) in the order of the
list, and the place of this one. It is written once, while the servers hold no crawl; a process
whose list differs (another order, number or server) is refused, because it would look for hosts
where they are not. ``recover --servers`` alone writes another one. A queue without a
stamp is the only one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from redis import exceptions

from cleaning.errors import ConfigError, QueueUnavailable
from storage.config import place_of
from storage.queue.clients import open_client, queue_errors
from storage.queue.identity import read_identity
from storage.server_list import Place

KEY = "cc:servers"
MOVING = "moving"
"""The stamp while ``recover --servers`` splits the crawls anew."""
REMEDY = "`recover --servers` splits the crawls over another list"


def read_stamp(client: Any) -> str:
    """The stamp of a server; ``""``: it has none, or its user may not read it."""
    with queue_errors():
        try:
            return (client.get(KEY) or b"").decode("utf-8", "replace")
        except exceptions.NoPermissionError:
            return ""


def check_alone(client: Any) -> None:
    """Checks that a server is not one of several.

    Raises:
        ConfigError: It is.
    """
    stamp = read_stamp(client)
    if stamp == MOVING:
        raise ConfigError(_moving_line())
    if stamp:
        number = stamp.count(",") + 1
        raise ConfigError(
            f"this Redis server is one of {number} over which hosts are split: give all, in order"
        )


def check_member(client: Any, url: str, place: Place) -> tuple[str, ...]:
    """Checks that a server has a place in a list; returns the ids of the list.

    Raises:
        ConfigError: The server has another place, its list another number, or the server lost its
            data.
        QueueUnavailable: It has no stamp yet.
    """
    stamp = read_stamp(client)
    if not stamp:
        raise QueueUnavailable(f"{place_of(url)} is not one of several queue servers yet")
    if stamp == MOVING:
        raise ConfigError(_moving_line())
    names, _, index = stamp.partition(" ")
    ids = tuple(names.split(","))
    if len(ids) != place.number:
        raise ConfigError(
            f"hosts are split over {len(ids)} queue servers, this list has {place.number}: "
            f"give the list as it was; {REMEDY}"
        )
    if index != str(place.index):
        raise ConfigError(
            f"{place_of(url)} is number {place.index} of this list, and number {index} of the list "
            f"over which hosts are split: give the servers in their order; {REMEDY}"
        )
    return ids


def check_list(urls: Sequence[str]) -> tuple[str, ...]:
    """Checks a list against the stamps of its servers, or stamps servers without a crawl.

    Returns:
        The ids of the queues, in the order of the list.

    Raises:
        ConfigError: The servers are of another list, or hold crawls that are not split.
        QueueUnavailable: A server does not answer.
    """
    clients = [open_client(url) for url in urls]
    try:
        if MOVING in (stamps := [read_stamp(client) for client in clients]):
            raise ConfigError(_moving_line())
        for index, (client, url) in enumerate(zip(clients, urls, strict=True)):
            if stamps[index]:
                check_member(client, url, Place(index, len(urls)))
        with queue_errors():
            used = [url for url, c in zip(urls, clients, strict=True) if c.exists("cc:crawls")]
        if not all(stamps) and used:
            raise ConfigError(
                f"{place_of(used[0])} holds crawls that are not split over this list: {REMEDY}"
            )
        ids = _ids(clients, make=not all(stamps))
        if len(set(ids)) < len(ids):
            raise ConfigError("two URLs of the list lead to the same Redis server")
        if not all(stamps):
            with _may_be_forbidden():
                write_stamps(clients, ids, only_new=True)
        for index, (client, url) in enumerate(zip(clients, urls, strict=True)):
            found = check_member(client, url, Place(index, len(urls)))
            if found != ids:
                number = next((i for i, each in enumerate(found) if each != ids[i]), 0)
                raise ConfigError(
                    f"{place_of(urls[number])} is another Redis server than the one over which "
                    f"hosts were split, or has lost its data; {REMEDY}"
                )
        return ids
    finally:
        for client in clients:
            client.close()


def _ids(clients: Sequence[Any], *, make: bool) -> tuple[str, ...]:
    with _may_be_forbidden() if make else nullcontext():
        return tuple(read_identity(client, make=make).queue_id for client in clients)


@contextmanager
def _may_be_forbidden() -> Iterator[None]:
    """What nobody has done yet, and a keeper or the console may not do: they wait for others.

    Raises:
        QueueUnavailable: This user may not do it.
    """
    try:
        yield
    except ConfigError as error:
        raise QueueUnavailable(
            "hosts are not split over these queue servers yet: the first worker or `run` does it"
        ) from error


def write_stamps(clients: Sequence[Any], ids: Sequence[str], *, only_new: bool = False) -> None:
    """Writes the stamp of each server; ``only_new``: where there is none."""
    with queue_errors():
        for index, client in enumerate(clients):
            client.set(KEY, f"{','.join(ids)} {index}", nx=only_new)


def mark_moving(clients: Sequence[Any]) -> None:
    """Keeps every process off the servers until ``write_stamps``."""
    with queue_errors():
        for client in clients:
            client.set(KEY, MOVING)


def _moving_line() -> str:
    return "the crawls are being split over another list of servers: run `recover --servers` again"
