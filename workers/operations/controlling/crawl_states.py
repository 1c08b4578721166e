"""Pauses, resumes and stops crawls and hosts."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.queue.ownership import check_owner, check_store
from crawlclean.storage.store.hosts import Pause, Slowdown
from crawlclean.workers.answers.control import Paused, StateChange, TargetKind
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.urls.near_matches import unknown_name
from crawlclean.workers.spoken import say, some_of

if TYPE_CHECKING:  # the queue's client is slow to import, and lists often do without
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store

MOST_NAMED = 5  # hosts in one line


def paused_line(hosts: Sequence[str]) -> str:
    """Names paused hosts: ``1 host is paused: a.example (`crawl resume a.example` ends it)``."""
    named = printable(some_of(hosts, MOST_NAMED))
    if len(hosts) == 1:
        return say("1 host is paused: {host} (`crawl resume {host}` ends the pause)", host=named)
    told = "{n} hosts are paused: {hosts} (`crawl resume HOST` ends a pause)"
    return say(told, n=len(hosts), hosts=named)


def pause_text(pause: Paused | Pause) -> str:
    """Describes the pause of a host: ``since 2026-01-31 12:00 UTC by root@machine: too slow``."""
    since = say("since {time} UTC", time=minute(pause.since)) if pause.since else ""
    by = say("by {who}", who=pause.who) if pause.who else ""
    said = " ".join(filter(None, (since, by)))
    return printable(say(": ").join(filter(None, (said, pause.why))))


def this_user() -> str:
    """Returns who gives a command: ``root@machine``."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container's user has no name
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"


def change_state(
    backends: Backends, target: str, state: CrawlState, *, who: str = "", why: str = ""
) -> StateChange:
    """Pauses, resumes or stops a crawl, or pauses and resumes a host for every crawl.

    A crawl that has ended keeps its state. A resumed crawl that nothing runs is STOPPED.

    Args:
        backends: Queue and store.
        target: Name of a crawl, or a host.
        state: RUNNING resumes; a host is paused by every other state.
        who: Who asks for it: ``root@machine``.
        why: Why it is paused, in words for a person.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
        StorageError: Another living queue runs the crawl.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        check_owner(backends.settings.storage, frontier, store, [target])
        if target in frontier.crawl_ids():
            return _change_crawl(frontier, store, (target, state), (who, why))
        crawls = frontier.crawls_of(target)
        if not crawls:
            raise unknown_name(store, target)
        if state is CrawlState.RUNNING:
            store.pauses.delete(target, who)
            frontier.resume_host(target)
        else:
            state = CrawlState.PAUSED
            now = datetime.now(UTC)
            pause = Pause(host=target, since=now, crawls=tuple(crawls), who=who, why=why)
            store.pauses.put(pause)
            frontier.keep_paused([pause])
    return StateChange(kind=TargetKind.HOST, target=target, state=state)


def slow_host(backends: Backends, host: str, slowdown: Slowdown | None, who: str = "") -> None:
    """Slows a host down in every crawl from its next request on, or ends that (None).

    Raises:
        NotFound: No crawl knows the host.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        if not frontier.crawls_of(host):
            raise unknown_name(store, host)
        if slowdown is None:
            store.slowdowns.delete(host, who)
            frontier.end_slow(host)
        else:
            store.slowdowns.put(slowdown)
            frontier.slow(slowdown)


def _change_crawl(
    frontier: Frontier, store: Store, asked: tuple[str, CrawlState], by: tuple[str, str]
) -> StateChange:
    """Sets the state of a crawl; returns the state that the crawl has then.

    Args:
        frontier: The queue.
        store: The store.
        asked: The crawl, and its state.
        by: Who asks, and why.

    Raises:
        StorageError: The crawl resumes, and the store is older than the queue.
    """
    crawl, state = asked
    counts = frontier.counts(crawl)
    is_spent = counts.is_spent and counts.open > 0
    if state is CrawlState.RUNNING:
        check_store(frontier, store.urls, crawl)
    if counts.state is CrawlState.FINISHED and not counts.open:
        state = CrawlState.FINISHED
    elif is_spent or (state is CrawlState.RUNNING and not frontier.is_fetching()):
        state = CrawlState.STOPPED
    if state is not CrawlState.FINISHED:
        frontier.set_state(crawl, state)
        state = frontier.counts(crawl).state
    store.crawls.put(frontier.spec(crawl), state, *by)
    return StateChange(
        kind=TargetKind.CRAWL, target=crawl, state=state, has_reached_max_pages=is_spent
    )
