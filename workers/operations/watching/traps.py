"""URL classes that are stopped as spider traps, the last stop first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storage.live_state import StoppedClass
from storage.queue.url_classes import ClassRow
from workers.operations.watching.kept_backends import KeptBackends


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapPage:
    """A part of the list of stopped classes.

    Attributes:
        rows: (account, time of the stop) of each.
        total: Stopped classes that fit, in all.
        after: Place behind the last one, as in the address; ``""`` at the end.
    """

    rows: Sequence[tuple[ClassRow, datetime]]
    total: int
    after: str


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
    place = _place(some[limit - 1]) if len(some) > limit else None
    return TrapPage(
        rows=[(row, each.since) for row, each in zip(rows, some, strict=False)],
        total=len(found),
        after=f"{place[0]}~{place[1]}" if place else "",
    )


def _place(stopped: StoppedClass) -> tuple[int, str]:
    since_ms = round(stopped.since.timestamp() * 1000)
    return since_ms, f"{stopped.crawl_id} {stopped.host} {stopped.pattern}"
