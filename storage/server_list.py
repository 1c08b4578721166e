"""The list of queue servers, and which of them has a host.

A list is a text with commas, ``redis://q1:6379/0,redis://q2:6379/0``; its order counts. A comma
that no scheme follows belongs to a URL (a password, a path).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

_BETWEEN = re.compile(r",\s*(?=(?:redis|rediss|unix)://)")
KEPT_HOSTS = 10_000
"""Hosts whose places are kept: the registered domain of a host costs microseconds."""


def split_list(text: str) -> tuple[str, ...]:
    """Returns the servers of a list; of one URL the URL itself, and of ``""`` none."""
    return tuple(_BETWEEN.split(text)) if text else ()


def owner_of(host: str) -> str:
    """The registered domain of a host, whatever its port; an address with its port is its own."""
    from cleaning.urls.normal_form import domain_of  # settings are read by commands without hosts

    name = host.partition(":")[0]
    is_address = host.startswith("[") or name.replace(".", "").isdigit()
    return host if is_address else domain_of(name)


@lru_cache(maxsize=KEPT_HOSTS)
def server_of(host: str, number: int) -> int:
    """The place of a host's server in a list, 0 .. number - 1; all hosts of a domain share one.

    Args:
        host: Lower-case authority, ``news.example.com:8080``.
        number: Servers of the list.
    """
    if number == 1:
        return 0
    digest = blake2b(owner_of(host).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % number


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one server in its list.

    Attributes:
        index: 0 is the first.
        number: Servers of the list.
    """

    index: int = 0
    number: int = 1

    def has(self, host: str) -> bool:
        """Whether the URLs of a host are on this server."""
        return server_of(host, self.number) == self.index


def split_call(
    items: Collection[Any],
    place: Callable[[Any], int],
    call: Callable[[int, list[Any]], Sequence[Any]],
) -> list[Any]:
    """Calls each server with the items of its hosts; returns the results in the items' order.

    Args:
        items: To be divided.
        place: The server of an item.
        call: Called with a server and its items; returns a result for each.
    """
    parts: dict[int, list[int]] = {}
    listed = list(items)
    for at, item in enumerate(listed):
        parts.setdefault(place(item), []).append(at)
    results: list[Any] = [None] * len(listed)
    for index, places in sorted(parts.items()):
        found = call(index, [listed[at] for at in places])
        for at, result in zip(places, found, strict=True):
            results[at] = result
    return results
