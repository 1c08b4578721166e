"""Checks whether this machine can run crawls, and what to do if it cannot."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.page import clean
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.queue.embedded import EmbeddedServer, default_memory_bytes, find_server
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.maintenance import MEMORY_WATERMARK
from crawlclean.storage.queue.ownership import find_gap
from crawlclean.storage.sqlite.schema import sqlite_version
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.answers.control import Check, CheckStatus, TargetKind
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.loading import find_hooks
from crawlclean.workers.operations.alerting.receivers import troubles
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_states import pause_text
from crawlclean.workers.operations.controlling.crawls import (
    all_paused,
    other_queues,
    queue_text,
)
from crawlclean.workers.operations.controlling.waits import hold_lines
from crawlclean.workers.processes.fleet import size_of
from crawlclean.workers.spoken import counted, say, some_of

# Checks of a data folder for `doctor`: its disk, its crawls, and what holds them back.

LEAST_FREE_BYTES = 1 << 30  # some ten thousand pages with their records, and the file of the queue
READ_S = 10.0  # reading the archive: 95 MB of it take a second of CPU time
MOST_NAMED = 5  # crawls and hosts in one line
NEARLY_FULL = 0.9  # of the quota: a warning while there is time to act


class Warned(NamedTuple):
    """A finding that an operator should know, and that stops no crawl."""

    detail: str


def _receivers(backends: Backends) -> str | Warned:
    try:
        with backends.store() as store:
            found, failing = store.receivers.all(), troubles(store, datetime.now(UTC))
    except NotFound:
        return "none yet"
    if failing:
        return Warned("; ".join(failing))
    return f"{counted(len(found), 'receiver')}, none fails" if found else "none"


def _first_there(data: Path) -> Path:
    """A folder, or the nearest folder above it that exists."""
    place = data.resolve()
    return next(each for each in (place, *place.parents) if each.exists())


def _data(data: Path) -> str | Warned:
    folder = _first_there(data)
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder: choose another with --data")
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{folder} is not writable: choose another folder with --data")
    if not data.exists():
        return f"{data} will be created"
    if data.stat().st_mode & stat.S_IROTH and data.stat().st_mode & stat.S_IXOTH:
        return Warned(f"every user may read {data}, its pages and cookies: `chmod 700 {data}`")
    return str(data)


def _disk(data: Path, quota: int) -> str | Warned:
    free = shutil.disk_usage(_first_there(data)).free
    if free < LEAST_FREE_BYTES:
        raise ConfigError(f"only {free >> 20} MiB are free where {data} is: a crawl needs 1 GiB")
    text = f"{free >> 30} GiB free"
    if not quota:
        return text
    used = size_of(data)
    text += f"; {used >> 20} of {quota >> 20} MiB of the quota are used"
    if used >= quota:
        raise ConfigError(f"{text}: nothing is fetched; set a larger CRAWLCLEAN_DISK_QUOTA_BYTES")
    return Warned(text) if used > NEARLY_FULL * quota else text


def _crawls(backends: Backends) -> str:
    try:
        with backends.store() as store:
            crawls, records = store.crawls.all(), store.records.count()
    except NotFound:
        return "none yet"
    with _queue(backends) as frontier:
        running = say(", one is running" if frontier else ", none is running")
    found = say(", ").join([counted(len(crawls), "crawl"), counted(records, "record")]) + running
    for other in other_queues(backends):
        run = sum(row.queue == other.queue_id for row in crawls)
        found += say("; {n} of another queue: {queue}", n=run, queue=queue_text(other))
    return found


def _pauses(backends: Backends) -> str | Warned:
    try:
        paused = all_paused(backends)
    except NotFound:
        return "none"
    names = [
        f"{each.target} ({pause_text(each)})" if each.kind is TargetKind.HOST else each.target
        for each in paused
    ]
    if not names:
        return "none"
    named = some_of(names, MOST_NAMED)
    return Warned(
        f"nothing is fetched of {named}: `crawl pause` lists them, `crawl resume` ends it"
    )


def _holds(backends: Backends) -> str | Warned:
    with _queue(backends) as frontier:
        if frontier is None:
            return "no queue is running"
        waits = frontier.waits.of([])
        crawls = frontier.crawl_ids()
        is_active = any(frontier.counts(each).state is CrawlState.RUNNING for each in crawls)
    if is_active and (lines := hold_lines(waits)):
        return Warned("; ".join(lines))
    return f"none: {waits.pages_in_flight} URLs wait for workers"


def _store(backends: Backends) -> str | Warned:
    """The time of the newest record; whether the archive is damaged, or the store is old."""
    try:
        with backends.store() as store, _queue(backends) as frontier:
            saved = store.records.newest()
            crawls = frontier.crawl_ids() if frontier else []
            gaps = [each for each in crawls if frontier and find_gap(frontier, store.urls, each)]
            fault = store.archive_fault(READ_S) if isinstance(store, SqliteStore) else ""
    except NotFound:
        return "none yet"
    if fault:
        return Warned(fault)
    if gaps:
        names = " ".join(gaps)
        return Warned(f"the store is older than the queue: stop, then `crawl recover {names}`")
    if saved is None:
        return "no record yet"
    return f"the newest record is of {saved:%Y-%m-%d %H:%M} UTC"


@contextmanager
def _queue(backends: Backends) -> Iterator[Frontier | None]:
    """The running queue, None when none runs."""
    with ExitStack() as opened:
        found = None
        with suppress(NotFound):  # no crawl runs
            found = opened.enter_context(backends.queue())
        yield found


def check_machine(settings: Settings) -> Iterator[Check]:
    """Yields the result of every check, in order; some take a second."""
    storage = settings.storage
    with Backends(settings) as backends:
        checks: list[tuple[str, Callable[[], str | Warned]]] = [
            ("python", lambda: sys.version.split()[0]),
            ("sqlite", sqlite_version),
            ("queue server", _server),
            ("queue memory", lambda: _memory(settings)),
            ("cleaning", _cleaning),
            ("data folder", lambda: _data(storage.data)),
            ("disk", lambda: _disk(storage.data, storage.disk_quota_bytes)),
            ("crawls", lambda: _crawls(backends)),
            ("pauses", lambda: _pauses(backends)),
            ("back-pressure", lambda: _holds(backends)),
            ("receivers", lambda: _receivers(backends)),
            ("store", lambda: _store(backends)),
            ("hooks", lambda: _hooks(settings)),
        ]
        for name, check in checks:
            try:
                found = check()
                status = CheckStatus.WARNING if isinstance(found, Warned) else CheckStatus.OK
                detail = found.detail if isinstance(found, Warned) else found
                yield Check(name=name, status=status, detail=detail)
            except (ServiceError, OSError, subprocess.SubprocessError) as error:
                yield Check(name=name, status=CheckStatus.FAILED, detail=str(error))


def _server() -> str:
    program = find_server()
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedServer(Path(folder))
        try:
            server.start()
            frontier = Frontier(server.url)
            version = frontier.ping()
            frontier.close()
        finally:
            server.stop()
    return f"{version} ({program})"


def _memory(settings: Settings) -> str:
    if not settings.storage.is_embedded:
        return "limited by the Redis server (its maxmemory)"
    limit = settings.storage.queue_memory_bytes or default_memory_bytes()
    stop = f"{MEMORY_WATERMARK * limit / (1 << 20):.0f} MiB"
    return f"at most {limit >> 20} MiB; above {stop} nothing is fetched"


def _cleaning() -> str:
    body = "<title>标题</title><p>这一段正文有十五个以上的汉字，用来看看清洗是否正常工作。</p>"
    record = clean(RawPage.from_bytes("http://localhost/", body.encode("gb18030")))
    if record.title != "标题" or "汉字" not in record.body:
        raise ConfigError("a GBK page was decoded wrongly: install the locked versions")
    return f"a GBK page was decoded as {record.encoding}"


def _hooks(settings: Settings) -> str:
    found = find_hooks(settings)
    for hook in found:
        hook.load()
    return ", ".join(str(hook).removeprefix("the ") for hook in found) or "none installed"
