"""The budget of a crawl over several servers: each has a share, and the shares never exceed it.

A share is the field ``max`` of a server's hash of the crawl, which the scripts of that server keep
as they keep the budget of a crawl on one server. ``share_out`` moves shares: it looks at all
servers, takes back what a server does not need, and gives that, and what nobody has, to servers
with URLs left.

A round has a number, and each server follows the newest round that has looked at it: what an older
round has read is changed by nobody else, or the older round changes nothing. So the sum holds
wherever a process dies or waits, and nothing has to be found again: what nobody has is the budget
less all shares. While a server is away, no share moves; the others go on with what they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cleaning.errors import NotFound
from storage.queue.clients import queue_errors

MOST = 5000
"""Pages that a share has ahead at most; a server uses fewer in a second, between two rounds."""
ROUNDS = "cc:rounds"


class Server(Protocol):
    """A server of the list."""

    def share(self, crawl_id: str, step: str, number: int = 0, value: str = "") -> Any:
        """Runs ``share.lua``."""

    @property
    def client(self) -> Any:
        """The client of the server."""


@dataclass(slots=True)
class _Share:
    most: int
    used: int
    pending: int

    @property
    def bound(self) -> int:
        """What the server may have used in the end."""
        return max(self.most, self.used)

    @property
    def left(self) -> int:
        return self.bound - self.used


def share_out(servers: Sequence[Server], crawl_id: str) -> bool:
    """Moves shares of a crawl's budget to servers with URLs left; returns whether any moved.

    Raises:
        NotFound: A server has no such crawl.
        QueueUnavailable: A server is away.
    """
    with queue_errors():
        total = servers[0].client.hget(f"cc:c:{crawl_id}", "total")
        if not total:
            return False
        number = int(servers[0].client.hincrby(ROUNDS, crawl_id, 1))
    shares: list[_Share] = []
    for server in servers:
        share = _ask(server, crawl_id, "look", number)
        if share is None:
            _catch_up(servers, crawl_id)
            return False
        shares.append(share)
    wanted = aims(int(total), shares)
    order = sorted(range(len(servers)), key=lambda i: wanted[i] - shares[i].most)
    moved = False
    spare = int(total) - sum(share.bound for share in shares)
    for i in order:  # first what shrinks
        share = shares[i]
        aim = min(wanted[i], share.bound + max(0, spare))
        if aim == share.most:
            continue
        now = _ask(servers[i], crawl_id, "set", number, str(aim))
        if now is None:
            return moved
        spare += share.bound - now.bound
        moved = moved or now.most != share.most
    return moved


def aims(total: int, shares: Sequence[_Share]) -> list[int]:
    """How large each share is to be; together they may be larger than the total.

    A server with URLs left has some pages ahead; the fewer are left of the budget, the fewer. When
    one has none, and all are shared out, the others give half of what they have ahead.
    """
    left = max(0, total - sum(share.used for share in shares))
    ahead = min(MOST, max(1, left // (2 * len(shares))))
    spare = total - sum(share.bound for share in shares)
    starves = any(share.pending and not share.left for share in shares)
    found = []
    for share in shares:
        most = ahead if share.pending else 0
        if starves and spare <= 0 and share.left:
            most = min(most, share.left // 2)
        found.append(share.used + most)
    return found


def _ask(server: Server, crawl_id: str, step: str, number: int, value: str = "") -> _Share | None:
    """The share of a server after a step; None: a newer round has looked at it."""
    answer = server.share(crawl_id, step, number, value)
    if answer is None:
        raise NotFound(f"no crawl {crawl_id} in the queue")
    is_open, most, used, pending = answer
    return _Share(int(most or 0), int(used), int(pending)) if is_open else None


def _catch_up(servers: Sequence[Server], crawl_id: str) -> None:
    """Lets the next number be larger than all that servers know: the first may have lost some."""
    with queue_errors():
        seen = [int(each.client.hget(f"cc:c:{crawl_id}", "round") or 0) for each in servers]
        if max(seen) > int(servers[0].client.hget(ROUNDS, crawl_id) or 0):
            servers[0].client.hset(ROUNDS, crawl_id, max(seen))
