"""The room of the data folder: a full disk and a quota."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections import namedtuple
from contextlib import closing, suppress
from pathlib import Path
from subprocess import Popen

import pytest

from crawlclean.cleaning.errors import ConfigError, ServiceError
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.opening import join_queue
from crawlclean.storage.queue.clients import open_client
from crawlclean.storage.queue.embedded import socket_url
from crawlclean.storage.queue.entries import process_name
from crawlclean.workers.config import Settings, load_settings, variable
from crawlclean.workers.operations.acting.action import Asked, Fact
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.processes.fleet import Disk, size_of
from tests.kit.console import settings_of
from tests.kit.crawls import ROOT, start, stored_urls
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html

Usage = namedtuple("Usage", "total used free")
PAGES = 20  # fewer would fit into the quota, more only take longer
CHILDREN = [role for role in ProcessRole if role is not ProcessRole.CONSOLE]


def test_a_disk_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path, 0)
    assert not disk.look()
    assert (disk.is_full, disk.note) == (False, "")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 1 << 20))
    assert disk.look()
    assert disk.is_full
    assert disk.note == f"no space left in {tmp_path}"
    assert not disk.look()


def test_a_quota_that_is_reached(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    disk = Disk(tmp_path, 100_000)
    assert not disk.look()
    (tmp_path / "deeper" / "file").write_bytes(random.Random(1).randbytes(150_000))
    assert 150_000 <= size_of(tmp_path) < 200_000
    disk = Disk(tmp_path, 100_000)
    assert disk.look()
    assert not disk.is_full  # what is in flight can still be stored
    assert disk.note == f"{tmp_path} has reached its quota of 100000 bytes"
    (tmp_path / "deeper" / "file").unlink()
    wait_until(disk.look)
    assert disk.note == "", "the crawl goes on by itself"


def test_a_negative_quota_is_refused() -> None:
    with pytest.raises(ConfigError, match="DISK_QUOTA_BYTES is -1: a number from 0 on"):
        load_settings({variable("disk_quota_bytes"): "-1"})


@pytest.mark.slow
def test_a_stopped_worker_that_is_declared_dead_is_replaced(tmp_path: Path) -> None:
    links = {f"/{n}": str(n) for n in range(500)}
    pages = {path: {"body": html(path, path), "latency_ms": 100} for path in links}
    settings = settings_of(tmp_path / "data")
    with Web(tmp_path / "web", {"/": html("home", "home", links=links), **pages}) as web:
        run = start(
            "run", web.url("/"), "--allow-private", "--data", str(settings.storage.data),
            "--workers", "1", CRAWLCLEAN_SLOTS="1",
        )  # fmt: skip
        try:
            (stopped,) = workers_of(settings)
            os.kill(stopped, signal.SIGSTOP)
            declare_dead = ACTIONS["declare_dead"]
            asked = Asked(target=f"{process_name().partition('.')[0]}.{stopped}")
            with Backends(settings) as backends:
                done = declare_dead.act(backends, asked)
            assert set(done.facts) == {Fact.LEASES, Fact.CLAIMS}
            wait_until(lambda: not Path(f"/proc/{stopped}").exists())
            wait_until(lambda: workers_of(settings) not in ([], [stopped]))
        finally:
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=LIMIT_S)


# Loaded by the interpreter of `run`: a process is silent after 3 seconds, and beats each second.
IMPATIENT = """
import crawlclean.storage.queue.clients as clients
import crawlclean.storage.queue.live as live
import crawlclean.storage.queue.live as processes
import crawlclean.workers.processes.fleet as fleet

clients.ANSWER_S = 4.0
processes.LIFE_S = live.LIFE_S = 3
processes.BEAT_S = 0.5
fleet.HUNG_S, fleet.SILENT_EVERY_S = 4.0, 0.5
"""


@pytest.mark.slow
def test_each_process_that_hangs_is_replaced_and_said(tmp_path: Path) -> None:
    links = {f"/{n}": str(n) for n in range(300)}
    pages = {path: {"body": html(path, path), "latency_ms": 100} for path in links}
    settings = settings_of(tmp_path / "data")
    early = tmp_path / "early"
    early.mkdir()
    (early / "sitecustomize.py").write_text(IMPATIENT)
    with Web(tmp_path / "web", {"/": html("home", "home", links=links), **pages}) as web:
        run = start(
            "topic", "t", "--seeds", web.url("/"), "--query", "home", "--keep-fresh",
            "--allow-private", "--data", str(settings.storage.data), "--workers", "1",
            CRAWLCLEAN_SLOTS="1", PYTHONPATH=f"{early}:{ROOT}",
        )  # fmt: skip
        try:
            stopped = {str(role): processes_of(settings, role)[0] for role in CHILDREN}
            stop_and_wait(run, stopped)
            stop_and_wait(run, {"queue's server": server_of(settings)})
            before = len(stored_urls(settings.storage.data))
            wait_until(lambda: len(stored_urls(settings.storage.data)) > before)
        finally:
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=LIMIT_S)


def stop_and_wait(run: Popen[str], stopped: dict[str, int]) -> None:
    """Stops processes of a run, and waits until each was said and killed."""
    for pid in stopped.values():
        os.kill(pid, signal.SIGSTOP)
    unsaid = {f"the {name} {pid} hangs, or was stopped" for name, pid in stopped.items()}
    assert run.stderr is not None
    while unsaid:
        line = run.stderr.readline()
        assert line, unsaid
        unsaid = {each for each in unsaid if each not in line}
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in stopped.values()))


def workers_of(settings: Settings) -> list[int]:
    """Process ids of the workers, when some were heard."""
    return processes_of(settings, ProcessRole.WORKER)


def server_of(settings: Settings) -> int:
    """Process id of the queue's server, when processes of the run were heard by it."""
    workers_of(settings)
    with closing(open_client(socket_url(settings.storage.data))) as client:
        return int(client.info("server")["process_id"])


def processes_of(settings: Settings, role: ProcessRole) -> list[int]:
    """Process ids of a role, when some were heard."""
    found: list[int] = []

    def ask() -> bool:
        with suppress(ServiceError), closing(join_queue(settings.storage)) as queue:
            found[:] = [each.pid for each in queue.now().of_role(role)]
        return bool(found)

    wait_until(ask)
    return found


@pytest.mark.slow
def test_a_crawl_waits_at_its_quota_and_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    noise = random.Random(1)
    # Answers of .3 s: the disk is looked at every few seconds.
    pages: dict[str, Page] = {
        f"/{n}": {
            "body": f"<p>{noise.randbytes(50_000).hex()}</p><a href='/{n + 1}'>on</a>",
            "latency_ms": 300,
        }
        for n in range(PAGES)
    }
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        arguments = ("run", web.url("/0"), "--allow-private", "--data", str(data))
        run = start(*arguments, CRAWLCLEAN_DISK_QUOTA_BYTES="900000")
        assert run.stderr is not None
        assert any("has reached its quota" in line for line in run.stderr)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=LIMIT_S)
        assert 0 < len(stored_urls(data)) < PAGES
        run = start(*arguments)
        _, said = run.communicate(timeout=LIMIT_S)
        assert run.returncode == 0, said
        assert len(stored_urls(data)) == PAGES
