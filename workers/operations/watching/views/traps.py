"""URL classes that are stopped as spider traps, the last stop first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.live_state import StoppedClass
from crawlclean.storage.queue.url_classes import ClassRow
from crawlclean.workers.operations.hosts.classes import template_of_url
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.views.hosts import examples_of

MOST_HOSTS = 20
"""Hosts whose URLs are looked at for one page of the list: 5 ms each."""

EXAMPLES_S = 60.0
"""How old these examples may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapPage:
    """A part of the list of stopped classes.

    Attributes:
        rows: (account, time of the stop) of each.
        total: Stopped classes that fit, in all.
        after: Place behind the last one, as in the address; ``""`` at the end.
        templates: (crawl, host, pattern) -> the class as other screens spell it:
            ``/cal/{n}/{n}.html`` of ``/cal/*``; none where no page of it is stored.
    """

    rows: Sequence[tuple[ClassRow, datetime]]
    total: int
    after: str
    templates: Mapping[tuple[str, str, str], str] = field(default_factory=dict)


def list_traps(
    backends: KeptBackends,
    crawl: str = "",
    host: str = "",
    after: tuple[int, str] | None = None,
    limit: int = 50,
) -> TrapPage:
    """Returns stopped classes, the last stop first.

    Args:
        backends: Queue and store.
        crawl: Only of this crawl; ``""``: of all.
        host: Only of this host; ``""``: of all.
        after: Only classes behind this (milliseconds since 1970 UTC, crawl host class).
        limit: At most this many.

    Raises:
        NotFound: No queue runs.
    """
    with backends.queue() as frontier:
        found = [
            each
            for each in frontier.classes.all_stopped()
            if crawl in ("", each.crawl_id) and host in ("", each.host)
        ]
        behind = [each for each in found if after is None or _place(each) < after]
        some = sorted(behind, key=_place, reverse=True)[: limit + 1]
        rows = frontier.classes.rows_of(some[:limit])
    templates: Mapping[tuple[str, str, str], str] = {}
    with suppress(ServiceError):
        templates = _templates(backends, rows)
    place = _place(some[limit - 1]) if len(some) > limit else None
    return TrapPage(
        rows=[(row, each.since) for row, each in zip(rows, some, strict=False)],
        total=len(found),
        after=f"{place[0]}~{place[1]}" if place else "",
        templates=templates,
    )


def _templates(
    backends: KeptBackends, rows: Sequence[ClassRow]
) -> Mapping[tuple[str, str, str], str]:
    """The classes of some accounts by the template of a stored URL of theirs."""
    found = {}
    places = dict.fromkeys((row.crawl_id, row.host) for row in rows)
    with backends.store() as store:
        for crawl, host in islice(places, MOST_HOSTS):
            ask = partial(examples_of, store, crawl, host)
            examples = backends.remembered(("examples", crawl, host), EXAMPLES_S, ask)
            for row in rows:
                is_here = (row.crawl_id, row.host) == (crawl, host)
                if is_here and not row.pattern.endswith("**") and row.pattern in examples:
                    found[crawl, host, row.pattern] = template_of_url(examples[row.pattern])
    return found


def _place(stopped: StoppedClass) -> tuple[int, str]:
    since_ms = round(stopped.since.timestamp() * 1000)
    return since_ms, f"{stopped.crawl_id} {stopped.host} {stopped.pattern}"
