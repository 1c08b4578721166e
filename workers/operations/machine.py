"""Checks whether this machine can run crawls, and what to do if it cannot."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, ServiceError
from crawlclean.cleaning.page import clean
from crawlclean.storage.queue.embedded import EmbeddedServer, default_memory_bytes, find_server
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.maintenance import MEMORY_WATERMARK
from crawlclean.storage.sqlite.schema import sqlite_version
from crawlclean.workers.answers.control import Check, CheckStatus
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.loading import find_hooks
from crawlclean.workers.operations.files.folder_checks import Warned, folder_checks


def check_machine(settings: Settings) -> Iterator[Check]:
    """Yields the result of every check, in order; some take a second."""
    checks: list[tuple[str, Callable[[], str | Warned]]] = [
        ("python", lambda: sys.version.split()[0]),
        ("sqlite", sqlite_version),
        ("queue server", _server),
        ("queue memory", lambda: _memory(settings)),
        ("cleaning", _cleaning),
        *folder_checks(settings),
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
