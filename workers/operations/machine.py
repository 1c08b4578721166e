"""Checks whether this machine can run crawls, and what to do if it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cleaning import RawPage, clean
from cleaning.errors import ConfigError, NotFound, ServiceError
from cleaning.ownership import check_ownership
from storage.opening import join_queue, open_store
from storage.queue.embedded import EmbeddedServer, default_memory_bytes, find_server
from storage.queue.frontier import Frontier
from storage.queue.maintenance import MEMORY_WATERMARK
from storage.sqlite.schema import sqlite_version
from workers.config import Settings
from workers.hooks.loading import find_hooks

LEAST_FREE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check.

    Attributes:
        name: What was checked: ``python``, ``queue server``, ``disk``.
        is_fine: Whether it passed.
        detail: The finding, as ``3.11.9``, or the problem and its remedy.
    """

    name: str
    is_fine: bool
    detail: str


def check_machine(settings: Settings) -> Iterator[Check]:
    """Yields the result of every check, in order; some take a second."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("python", _python),
        ("packages", _packages),
        ("sqlite", _sqlite),
        ("queue server", _server),
        ("queue memory", lambda: _memory(settings)),
        ("cleaning", _cleaning),
        ("data folder", lambda: _data(settings.storage.data)),
        ("disk", lambda: _disk(settings.storage.data)),
        ("crawls", lambda: _crawls(settings)),
        ("hooks", lambda: _hooks(settings)),
    ]
    for name, check in checks:
        try:
            yield Check(name=name, is_fine=True, detail=check())
        except (ServiceError, OSError, subprocess.SubprocessError) as error:
            yield Check(name=name, is_fine=False, detail=str(error))


def _python() -> str:
    return sys.version.split()[0]


def _packages() -> str:
    check_ownership()
    return "cleaning, storage, crawler and workers belong to this program"


def _sqlite() -> str:
    return sqlite_version()


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


def _data(data: Path) -> str:
    folder = data.resolve()
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder: choose another with --data")
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{folder} is not writable: choose another folder with --data")
    return str(data) if data.exists() else f"{data} will be created"


def _disk(data: Path) -> str:
    folder = data.resolve()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        raise ConfigError(f"only {free >> 20} MiB are free where {data} is: a crawl needs 1 GiB")
    return f"{free >> 30} GiB free"


def _crawls(settings: Settings) -> str:
    try:
        store = open_store(settings.storage)
    except NotFound:
        return "none yet"
    try:
        count, records = len(store.crawls.all()), store.records.count()
    finally:
        store.close()
    try:
        join_queue(settings.storage).close()
        running = ", one is running"
    except NotFound:
        running = ", none is running"
    return f"{count} crawls, {records} records{running}"


def _hooks(settings: Settings) -> str:
    found = find_hooks(settings)
    for hook in found:
        hook.load()
    return ", ".join(str(hook).removeprefix("the ") for hook in found) or "none installed"
