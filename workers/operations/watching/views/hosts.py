"""Hosts in a list by a figure, and one host in full, without refreshing a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import islice

from crawlclean.cleaning.drift.alarms import Alarm
from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.records import HostStats
from crawlclean.cleaning.url_classes.rules import class_of, class_with_groups
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.live_state import StoppedClass, Waits
from crawlclean.storage.queue.url_classes import ClassRow
from crawlclean.storage.store.hosts import Pause
from crawlclean.storage.store.models import DriftEvent, ModelVersion
from crawlclean.storage.store.overview import FailureGroup, HostColumn, HostRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.operations.hosts.classes import classes_of, template_of_url
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

MOST_GROUPS = 50
BY_MODEL_S = 30.0
"""How old the numbers of records by model may be: 10,000 records are counted in 20 ms."""

MOST_CLASSES = 100
"""URL classes of a host in each crawl."""

MOST_DRIFTS = 10
NAMED_ROWS = 20
"""Rows of host and crawl that begin with a name: who sees more types one letter more."""

SAMPLED_URLS = 500
"""Records among which an example of a new URL class is looked for: 5 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPage:
    """A part of the list of hosts.

    Attributes:
        rows: Largest first by the column that was asked for.
        after: Place behind the last one, as in the address; ``""`` at the end.
        paused: Paused hosts, of all.
        as_of: When the figures were computed; None: they are of this moment.
    """

    rows: Sequence[HostRow]
    after: str
    paused: Mapping[str, Pause]
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWaiting:
    """What a host waits for.

    Attributes:
        host: Lower-case authority.
        waits: What it waits for in each of its crawls; None when no queue runs.
        pause: Who paused it; None: it is not paused.
    """

    host: str
    waits: Waits | None
    pause: Pause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDetails(HostWaiting):
    """One host in full.

    Attributes:
        row: Its figures of the list; None before anything of it is stored.
        stats: Its statistics.
        groups: Its failures by cause and crawl, the largest first.
        versions: Versions of its model, newest first.
        records_by_model: Records by the model version that made them.
        drifts: When it changed, newest first.
        classes: Its URL classes, crawl by crawl; empty when no queue runs.
        next_visits: When its next page is due, by name of a crawl that keeps fresh.
        as_of: When the figures were computed; None: they are of this moment.
    """

    row: HostRow | None
    stats: HostStats
    groups: Sequence[FailureGroup]
    versions: Sequence[ModelVersion]
    records_by_model: Mapping[int, int]
    drifts: Sequence[DriftEvent]
    classes: Sequence[UrlClass] = ()
    next_visits: Mapping[str, datetime] = field(default_factory=dict)
    as_of: datetime | None = None

    @property
    def changed_since(self) -> datetime | None:
        """Since when its pages do not fit the model of its newest change; None: no change."""
        return changed_since(self.drifts) if self.drifts else None


def list_hosts(
    backends: KeptBackends,
    by: HostColumn = "records",
    after: tuple[int, str] | None = None,
    limit: int = 50,
) -> HostPage:
    """Returns hosts by a column, largest first.

    Args:
        backends: Queue and store.
        by: The column.
        after: Only hosts behind this (value of the column, host).
        limit: At most this many.
    """
    with backends.store() as store:
        rows = backends.figures(store).hosts(by, after, limit + 1)
        paused = pauses_of(backends, store)
        as_of = backends.figures(store).as_of()
    place = _place_of_host(rows[limit - 1], by) if len(rows) > limit else ""
    return HostPage(rows=rows[:limit], after=place, paused=paused, as_of=as_of)


def paused_rows(backends: KeptBackends) -> HostPage:
    """Returns the paused hosts that have figures, by name."""
    with backends.store() as store:
        paused = pauses_of(backends, store)
        rows = [row for host in sorted(paused) if (row := backends.figures(store).host(host))]
        return HostPage(rows=rows, after="", paused=paused, as_of=backends.figures(store).as_of())


def named_hosts(backends: KeptBackends, text: str) -> HostPage:
    """Returns the first hosts whose names begin with a text, also behind ``www.``."""
    with backends.store() as store:
        begins = (text, f"www.{text}")
        names = [name for each in begins for name in store.statistics.names(each, NAMED_ROWS)]
        rows = [row for name in names if (row := backends.figures(store).host(name))]
        paused = pauses_of(backends, store)
        return HostPage(rows=rows, after="", paused=paused, as_of=backends.figures(store).as_of())


def host_waits(backends: KeptBackends, host: str) -> HostWaiting:
    """Returns what a host waits for, and who paused it, without its figures."""
    with backends.store() as store:
        pause = pauses_of(backends, store).get(host)
    waits, _ = _queue_side(backends, host, with_classes=False)
    return HostWaiting(host=host, waits=waits, pause=pause)


def find_host(backends: KeptBackends, host: str) -> HostDetails:
    """Returns one host in full.

    Raises:
        NotFound: Nothing of the host is stored, and no running queue knows it.
    """
    waits, classes = _queue_side(backends, host, with_classes=True)
    with backends.store() as store:
        stats = store.statistics.get(host)
        if stats is None and not (waits and waits.hosts):
            raise NotFound(f"nothing of {host} is stored")
        return HostDetails(
            host=host,
            row=backends.figures(store).host(host),
            stats=stats or HostStats(host=host),
            waits=waits,
            pause=pauses_of(backends, store).get(host),
            groups=backends.figures(store).failure_groups(host=host, limit=MOST_GROUPS),
            versions=store.models.versions(host),
            records_by_model=backends.remembered(
                ("records by model", host), BY_MODEL_S, lambda: store.hosts.by_model(host)
            ),
            drifts=store.drifts.of(host)[:MOST_DRIFTS],
            classes=with_templates(store, classes),
            next_visits=_next_visits(store, host),
            as_of=backends.figures(store).as_of(),
        )


def _place_of_host(row: HostRow, by: HostColumn) -> str:
    """The place of a row in its list, as in the address: ``480~www.example.com``."""
    value = getattr(row, by)
    number = to_microseconds(value) if isinstance(value, datetime) else value or 0
    return f"{number}~{row.host}"


def pauses_of(backends: KeptBackends, store: Store) -> dict[str, Pause]:
    """Returns the paused hosts by name: of the queue while it runs, else of the store."""
    with suppress(ServiceError), backends.queue() as frontier:
        return {pause.host: pause for pause in frontier.pauses()}
    return {pause.host: pause for pause in store.pauses.all()}


def _queue_side(
    backends: KeptBackends, host: str, *, with_classes: bool
) -> tuple[Waits | None, list[UrlClass]]:
    with suppress(ServiceError), backends.queue() as frontier:
        crawls = frontier.crawls_of(host)
        waits = frontier.waits.of([(crawl, host) for crawl in crawls])
        if not with_classes:
            return waits, []
        stops = frontier.classes.all_stopped()
        classes = [each for crawl in crawls for each in classes_of(frontier, crawl, host, stops)]
        return waits, classes[:MOST_CLASSES]
    return None, []


def with_templates(store: Store, classes: Sequence[UrlClass]) -> list[UrlClass]:
    """The classes; those that are not learned yet by the template of a URL of theirs.

    So an operator can decide for a class that is minutes old.
    """
    samples: dict[str, Mapping[str, str]] = {}
    found = []
    for each in classes:
        is_new = each.kind is None and not each.template.endswith("**")
        if is_new and each.crawl not in samples:
            samples[each.crawl] = examples_of(store, each.crawl, each.host)
        example = samples[each.crawl].get(each.template, "") if is_new else ""
        template = template_of_url(example) if example else each.template
        found.append(replace(each, template=template, example=example or each.example))
    return found


def examples_of(store: Store, crawl: str, host: str) -> Mapping[str, str]:
    """URLs of a sample of a host's records, by the pattern of their class."""
    rows = store.urls.sample(crawl, host, UrlState.RECORD, SAMPLED_URLS)
    return {next(iter(class_with_groups(row.url)), ""): row.url for row in rows}


def changed_class(alarm: Alarm) -> str:
    """The only URL class that has changed, as lists of classes spell it; ``""``: the whole host."""
    fits = (url for url in alarm.examples if class_of(url) == alarm.url_class)
    example = next(fits, "") if alarm.url_class else ""
    return template_of_url(example) if example else alarm.url_class


def changed_since(events: Sequence[DriftEvent]) -> datetime:
    """Since when pages do not fit the model of the newest change.

    Args:
        events: The kept changes of a host, newest first; at least one.
    """
    version = events[0].model_version
    return min(each.alarm.since for each in events if each.model_version == version)


def _next_visits(store: Store, host: str) -> dict[str, datetime]:
    fresh = [row.spec.crawl_id for row in store.crawls.all() if row.spec.keep_fresh]
    due = {crawl: store.revisits.next_due(crawl, host) for crawl in fresh}
    return {crawl: at for crawl, at in due.items() if at is not None}


# URL classes that are stopped as spider traps, the last stop first.

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
        behind = [each for each in found if after is None or _place_of_stop(each) < after]
        some = sorted(behind, key=_place_of_stop, reverse=True)[: limit + 1]
        rows = frontier.classes.rows_of(some[:limit])
    templates: Mapping[tuple[str, str, str], str] = {}
    with suppress(ServiceError):
        templates = _templates(backends, rows)
    place = _place_of_stop(some[limit - 1]) if len(some) > limit else None
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


def _place_of_stop(stopped: StoppedClass) -> tuple[int, str]:
    since_ms = round(stopped.since.timestamp() * 1000)
    return since_ms, f"{stopped.crawl_id} {stopped.host} {stopped.pattern}"
