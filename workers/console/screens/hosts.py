"""Hosts in a list, and one host: what it waits for, its figures, failures, models and classes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

import idna
from flask import g, request

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.live_state import WaitReason, Waits
from crawlclean.storage.store.hosts import Pause, Slowdown
from crawlclean.storage.store.tables import HOST_COLUMNS, HostColumn
from crawlclean.workers.console.routes import Console, Page, asked_limit, asked_place, render
from crawlclean.workers.console.screens.crawls import KINDS as KINDS_OF_STATES
from crawlclean.workers.console.screens.series import panel
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.controlling.waits import hosts_left
from crawlclean.workers.operations.failures import failure_groups
from crawlclean.workers.operations.hosts.classes import changed_class, list_traps, url_classes
from crawlclean.workers.operations.hosts.host_models import versions_of
from crawlclean.workers.operations.hosts.hosts import (
    changed_since,
    host_details,
    host_waits,
    hosts_by_figure,
    paused_hosts,
)
from crawlclean.workers.operations.parts import Part as PartOfList
from crawlclean.workers.operations.watching.signs.signs import signs_of, troubled_hosts
from crawlclean.workers.output.charts import KINDS, Part

K = TypeVar("K", bound=StrEnum)

MOST_DRIFTS = 10  # the newest ones: older ones say nothing of the model in use
TROUBLED = frozenset({WaitReason.SLOW_DOWN, WaitReason.ROBOTS, WaitReason.AWAY, WaitReason.GONE})
"""Waits that somebody should look at."""


def show_hosts(console: Console) -> Page:
    """The list, by a figure; or what a name finds; or the paused ones."""
    asked = request.args.get("sort", "")
    by: HostColumn = next((column for column in HOST_COLUMNS if column == asked), "records")
    text, only = request.args.get("q", "").strip(), request.args.get("state", "")
    backends, after = console.backends, None
    if only == "trouble" and not text:
        return render("troubles.html", page=troubled_hosts(backends), by=by, only=only)
    if not text and only != "paused":
        after = asked_place()
    page = hosts_by_figure(backends, by, text, only == "paused", after, asked_limit())
    paused = paused_hosts(backends)
    return render("hosts.html", page=page, paused=paused, by=by, sorts=HOST_COLUMNS, only=only)


def show_host(console: Console, host: str) -> Page:
    """One host."""
    backends = console.backends
    details = host_details(backends, host)
    return render(
        "host.html",
        punycode=_punycode(host),
        bars=_bars(details.answer),
        groups=failure_groups(backends, host=host).items,
        versions=versions_of(backends, host),
        drifts=details.drifts[:MOST_DRIFTS],
        classes=url_classes(backends, host).items,
        changed_class=changed_class,
        changed_since=changed_since(details.drifts) if details.drifts else None,
        stats=details.answer,
        **panel(console, f"@{host}"),
        **_live(console, host, details.waits, details.pause, details.answer.slowed),
    )


def live_host(console: Console, host: str) -> Page:
    """What the host waits for."""
    return render("host_live.html", **_live(console, host, *host_waits(console.backends, host)))


def _live(
    console: Console, host: str, waits: Waits | None, pause: Pause | None, slowed: Slowdown | None
) -> dict[str, object]:
    lines = hosts_left(waits)
    level = "rest"
    if pause or any(wait.reason in TROUBLED for wait in lines):
        level = "warn"
    elif lines:
        level = "ok"
    signs = signs_of(console.backends, host)
    offered = {name for sign in signs for name in sign.offers}
    return {
        "host": host, "waits": waits, "pause": pause, "lines": lines, "level": level,
        "slowed": slowed,
        "signs": signs, "offered": offered,
    }  # fmt: skip


def _bars(stats: HostStats) -> list[tuple[str, list[Part]]]:
    """Bars of what the host's pages have, each with the key of its title."""
    states = [
        Part(name=say(g.language, f"url_state.{state}"), value=n, kind=kind)
        for state, kind in KINDS_OF_STATES.items()
        if (n := stats.pages_by_state.get(state, 0))
    ]
    return [
        ("states", states),
        ("kinds", _parts("page_kind", stats.pages_by_kind)),
        ("links", _parts("link_kind", stats.links_by_kind)),
        ("images", _parts("image_kind", stats.images_by_kind)),
    ]


def _parts(kind: str, numbers: Mapping[K, int]) -> list[Part]:
    ordered = sorted(numbers.items(), key=lambda each: -each[1])
    return [
        Part(name=say(g.language, f"{kind}.{value}"), value=n, kind=place % KINDS + 1)
        for place, (value, n) in enumerate(ordered)
        if n
    ]


def _punycode(host: str) -> str:
    """The host as it stands in the DNS; ``""`` where that is how it is shown."""
    name, separator, port = host.rpartition(":")
    name = name if separator and port.isdigit() else host
    if name.isascii():
        return ""
    try:
        return idna.encode(name, uts46=True).decode()
    except idna.IDNAError:
        return ""


# Traps: URL classes that are not fetched any more, because their pages brought nothing new.


def show_traps(console: Console) -> Page:
    """The list, the last stop first."""
    crawl, host = request.args.get("crawl", "").strip(), request.args.get("host", "").strip()
    why_not = ""
    try:
        page = list_traps(console.backends, crawl, host.lower(), asked_place(), asked_limit())
    except NotFound as error:  # stops are in the queue, which runs with a crawl
        page, why_not = PartOfList(items=()), str(error)
    return render("traps.html", page=page, crawl=crawl, host_name=host, why_not=why_not)
