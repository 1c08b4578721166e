"""What each operation of a queue means where hosts are split over several servers.

A table has a meaning for each name that may be used; ``spread.py`` refuses any other name, so that
nothing acts on one server and looks as if it had acted on all. A test compares the tables with the
public names of their classes: a new operation needs a line here, in a table or among those that
belong to one server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from cleaning.errors import QueueUnavailable
from storage.host_waits import Waits
from storage.live_state import Process, ProcessRole, QueueNow, ServerNow
from storage.server_list import server_of, split_call

Call = Callable[..., Any]
"""An operation, bound to one server."""

ABSENT: Any = object()
"""The result of a server that is away and may be left out (``watching.py``)."""

OF_ALL_SERVERS = frozenset({ProcessRole.KEEPER, ProcessRole.SENDER})

Meaning = Callable[[Sequence[Call], Sequence[Any], Mapping[str, Any]], Any]
"""Runs an operation that is given for each server, with its arguments; returns one result."""


def present(results: Iterable[Any], why: str = "no queue server answers") -> list[Any]:
    """The results of the servers that were not left out.

    Raises:
        QueueUnavailable: All were.
    """
    if found := [each for each in results if each is not ABSENT]:
        return found
    raise QueueUnavailable(why)


def on_all(combine: Callable[[list[Any]], Any]) -> Meaning:
    """The operation acts on every server; ``combine`` makes one result of all."""

    def run(calls: Sequence[Call], args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        return combine(present([call(*args, **more) for call in calls]))

    return run


def of_host(position: int) -> Meaning:
    """The operation acts on the server of a host, its argument at this position."""

    def run(calls: Sequence[Call], args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        host = args[position] if position < len(args) else more["host"]
        return calls[server_of(host, len(calls))](*args, **more)

    return run


def by_host(
    position: int, host_of: Callable[[Any], str], combine: Callable[[list[Any]], Any]
) -> Meaning:
    """The operation acts on each server with those of its items that are of hosts there.

    Args:
        position: Of the items among the arguments.
        host_of: The host of an item.
        combine: Makes one result of those of the servers that have items.
    """

    def run(calls: Sequence[Call], args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        results: list[Any] = []

        def part(index: int, items: list[Any]) -> Sequence[Any]:
            results.append(calls[index](*args[:position], items, *args[position + 1 :], **more))
            return items

        split_call(args[position], lambda item: server_of(host_of(item), len(calls)), part)
        return combine(results)

    return run


def on_first(calls: Sequence[Call], args: Sequence[Any], more: Mapping[str, Any]) -> Any:
    """The operation acts on the first server: all have the same, or one is enough."""
    return calls[0](*args, **more)


def nothing(_results: list[Any]) -> None:
    """The result of an operation that returns none."""


def union(results: Iterable[Iterable[Any]]) -> list[Any]:
    """Everything that any server has, sorted."""
    return sorted({each for found in results for each in found})


def joined(results: Iterable[Iterable[Any]]) -> list[Any]:
    """What all servers have, one after another."""
    return [each for found in results for each in found]


def merged(results: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """One mapping of all; each key is on one server."""
    return {key: value for found in results for key, value in found.items()}


def totals(results: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sums of counters by name."""
    total: dict[str, int] = {}
    for found in results:
        for name, value in found.items():
            total[name] = total.get(name, 0) + value
    return total


def first_found(results: Iterable[Any]) -> Any:
    """The first result that is something."""
    return next((each for each in results if each), None)


def waits_of_all(results: Sequence[Waits]) -> Waits:
    """What hosts of all servers wait for; the moment is the first one's."""
    return replace(
        results[0],
        hosts=sorted(joined(each.hosts for each in results), key=lambda w: (w.crawl_id, w.host)),
        known=sum(each.known for each in results),
        spiders=sum(each.spiders for each in results),
        pages_in_flight=sum(each.pages_in_flight for each in results),
        bytes_in_flight=sum(each.bytes_in_flight for each in results),
        holds=union(each.holds for each in results),
    )


def waits_by_host(calls: Sequence[Call], args: Sequence[Any], more: Mapping[str, Any]) -> Any:
    """Asks every server about its hosts; one without any tells what holds leasing back."""
    (pairs,) = args
    number = len(calls)
    parts = [[pair for pair in pairs if server_of(pair[1], number) == i] for i in range(number)]
    found = [call(part, **more) for call, part in zip(calls, parts, strict=True)]
    return waits_of_all(present(found))


def now_of_all(
    found: Sequence[Any], places: Sequence[str], why: Mapping[int, str] = MappingProxyType({})
) -> QueueNow:
    """What all servers and their processes do; the moment is that of the first that answers.

    Args:
        found: What each server does: ``QueueNow``, or ``ABSENT``.
        places: Where each server is, ``redis://db1:6379/0``.
        why: Why servers are away, by their place in the list.

    Raises:
        QueueUnavailable: No server answers.
    """
    servers = [
        ServerNow(index=index, place=places[index], away=why.get(index, "no answer"))
        if now is ABSENT
        else _server(now, index, places[index])
        for index, now in enumerate(found)
    ]
    named = [now if now is ABSENT else _named(now, index) for index, now in enumerate(found)]
    results: list[QueueNow] = present(named, "; ".join(why.values()))
    sums = (
        *("pages_in_flight", "bytes_in_flight", "jobs", "leases", "ready_hosts", "hosts"),
        *("learning", "paused_hosts", "stopped_classes", "memory_bytes"),
    )
    lists = ("sessions", "claims", "processes", "lost")
    oldest = ("oldest_job_s", "oldest_lease_s", "oldest_claim_s")
    limits = [each.memory_limit_bytes for each in results]
    changes: dict[str, Any] = {name: sum(getattr(each, name) for each in results) for name in sums}
    changes |= {name: joined(getattr(each, name) for each in results) for name in lists}
    for name in oldest:
        ages = [getattr(each, name) for each in results]
        changes[name] = max((age for age in ages if age is not None), default=None)
    return replace(
        results[0],
        **changes,
        holds=union(each.holds for each in results),
        damage=first_found(each.damage for each in results) or "",
        memory_limit_bytes=None if None in limits else sum(limit or 0 for limit in limits),
        up_s=min(each.up_s for each in results),
        counters=totals(each.counters for each in results),
        servers=servers,
    )


def _named(now: QueueNow, index: int) -> QueueNow:
    """The moment of a server with its place in the list at each process and each claim."""

    def name(each: Process) -> Process:
        is_of_all = each.role in OF_ALL_SERVERS  # the first server hears it
        return each if is_of_all else replace(each, server=index)

    return replace(
        now,
        processes=[name(each) for each in now.processes],
        lost=[name(each) for each in now.lost],
        claims=[replace(each, server=index) for each in now.claims],
    )


def _server(now: QueueNow, index: int, place: str) -> ServerNow:
    return ServerNow(
        index=index,
        place=place,
        pages_in_flight=now.pages_in_flight,
        jobs=now.jobs,
        oldest_job_s=now.oldest_job_s,
        leases=now.leases,
        claims=len(now.claims),
        hosts=now.hosts,
        holds=now.holds,
        spiders=now.spiders,
        workers=len(now.of_role(ProcessRole.WORKER)),
        sweepers=len(now.of_role(ProcessRole.SWEEPER)),
        memory_bytes=now.memory_bytes,
        memory_limit_bytes=now.memory_limit_bytes,
    )


def either(results: list[list[bool]]) -> list[bool]:
    """For each item whether it is true on any server."""
    return [any(marks) for marks in zip(*results, strict=True)]


QUEUE: Mapping[str, Meaning] = {
    "hold_for_disk": on_all(nothing),
    "forget_damage": on_all(nothing),
    "damage": on_all(lambda found: first_found(found) or ""),
    "is_memory_full": on_all(any),
    "crawl_ids": on_all(union),
    "spec": on_first,
    "set_state": on_all(nothing),
    "is_fetching": on_all(any),
    "has_spiders": on_all(any),
    "keep_paused": by_host(0, lambda pause: str(pause.host), nothing),
    "resume_host": of_host(0),
    "paused_hosts": on_all(union),
    "pauses": on_all(lambda found: sorted(joined(found), key=lambda pause: pause.host)),
    "paused_urls": on_all(merged),
    "pending_of": of_host(1),
    "crawls_of": of_host(0),
    "hosts": on_all(union),
    "receipts": on_all(joined),
    "forget_receipts": on_all(nothing),
    "has_claims": on_all(any),
    "widen": on_all(nothing),
    "more_hosts": on_all(lambda found: frozenset(joined(found))),
    "expire_sessions": on_all(nothing),
    "expire_process": on_all(nothing),
    "trace": of_host(2),
    "tried": on_all(first_found),
    "has_seen": on_all(any),
    "have_seen": on_all(either),
    "has_overflow": of_host(1),
    "robots": of_host(0),
    "count": on_first,
    "is_first": on_first,
    "counters": on_all(totals),
    "ping": on_all(lambda found: ", ".join(found)),
    "close": on_all(nothing),
}
"""Of ``Frontier``; ``spread.py`` has ``counts``, ``offer`` and the like."""

ONE_SERVERS_OWN = frozenset(
    {"report_damage", "claim", "mark", "keep_claim", "break_claim", "give_back", "ack", "sweep"}
)
"""Operations of ``Frontier`` for the processes of one server."""

CLASSES: Mapping[str, Meaning] = {
    "stopped": of_host(1),
    "all_stopped": on_all(joined),
    "rows_of": by_host(0, lambda stopped: str(stopped.host), joined),
    "rows": of_host(1),
    "lift": of_host(1),
    "known": of_host(1),
    "pin": of_host(0),
    "pending": of_host(1),
    "rerank": of_host(1),
    "keep": of_host(1),
}
LEARNING: Mapping[str, Meaning] = {
    "forget": of_host(0),
    "is_busy": of_host(0),
    "begin": of_host(0),
    "expire": on_all(nothing),
    "count": on_all(sum),
}
REVISITS: Mapping[str, Meaning] = {
    "forget": on_all(sum),
    "offer": by_host(1, lambda visit: str(visit.host), sum),
    "full_hosts": on_all(lambda found: frozenset(joined(found))),
    "lock": on_first,
    "unlock": on_first,
    "server_time": on_first,
}
WAITS: Mapping[str, Meaning] = {
    "of": waits_by_host,
    "of_crawl": on_all(waits_of_all),
}
PROCESSES: Mapping[str, Meaning] = {
    "take_to_replace": on_all(union),
    "silent": on_all(union),
    "declare_dead": on_all(nothing),
    "forget_all": on_all(nothing),
    "ask_to_replace": on_all(nothing),
    "is_to_replace": on_all(any),
    "is_replaced": on_all(any),
    "beat": on_first,
    "leave": on_first,
}
OPERATIONS: Mapping[str, Meaning] = {"enqueue": on_first}
"""The workers of the first server do long actions, on all servers."""

REBUILDING: Mapping[str, Meaning] = {
    "is_lost": on_all(any),
    "mark_ended": by_host(1, lambda end: str(end.host), sum),
    "waits_for": on_all(any),
    "forget_later": on_all(nothing),
    "finish": on_all(nothing),
    "close": on_all(nothing),
}
"""Of ``CrawlRebuilder``; every server deletes a spill that has come back in the store."""
REOPENING: Mapping[str, Meaning] = {
    "reopen": by_host(1, lambda end: str(end.host), sum),
    "try_page": lambda calls, args, more: calls[server_of(args[1].host, len(calls))](*args, **more),
    "close": on_all(nothing),
}
SPILLING: Mapping[str, Meaning] = {"spill": on_all(nothing), "close": on_all(nothing)}
"""Of ``Overflow``, for a recovery; sweepers move the URLs of their own server."""

READS: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {"damage", "is_memory_full", "crawl_ids", "is_fetching", "has_spiders", "paused_hosts"}
        | {"pauses", "paused_urls", "hosts", "more_hosts", "tried", "has_seen", "have_seen"}
        | {"counters", "ping"}
    ),
    "classes": frozenset({"all_stopped"}),
    "learning": frozenset({"count"}),
    "waits": frozenset({"of", "of_crawl"}),
    "processes": frozenset({"is_to_replace", "is_replaced"}),
}
"""By table (``""``: of ``Frontier``) what only looks at all servers, and may leave some out."""
