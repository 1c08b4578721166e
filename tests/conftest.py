"""How `make test` spreads its files, the longest folders first; and that a test cleans up."""

from __future__ import annotations

import gc
import importlib
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.kit.processes import children_by_parent, command_of, is_alive

# An example may take its time while other work takes the machine.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

os.environ["LANGUAGE"] = "en"  # of commands, whatever the locale of who tests

TESTS = Path(__file__).parent
LONGEST_FIRST = ("chaos", "flow", "browser", "house", "fuzz", "workers", "storage")

SHARED = (
    "tests.kit.forked", "multiprocessing.resource_tracker", "multiprocessing.forkserver",
    "valkey-server", "secantus",
)  # fmt: skip
"""In the commands of processes that all tests of a process use, started by the first of them."""

LEFT_S = 20.0
"""A thread that waits for a socket with a limit, on a busy machine, ends within seconds."""


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Four processes more than cores: tests of crawls wait for clocks more than half of their time.

    Of 65 s of the tests of a fleet 28 are processor time. With two processes more than there were
    cores, a fifth of the time of two cores went unused.
    """
    return (yield) + 4


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collects all tests without looking for garbage: next to nothing is, of a million objects.

    With all tests, this process imports its share of the files before the others. In a fresh clone
    every process would compile every file at the same moment as the others (12 s of processor time
    each); here it finds what the others have compiled.
    """
    gc.disable()
    worker = getattr(session.config, "workerinput", None)
    if worker and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        # Scrapy looks through all modules for each frame of the stack: few of both are there now.
        importlib.import_module("scrapy.core.downloader.handlers.http11")
        number, count = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
        for path in sorted(TESTS.rglob("test_*.py"))[number::count]:
            with suppress(Exception):  # pytest reports it when it collects the file
                importlib.import_module(
                    ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
                )
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The others keep their order behind them."""

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(TESTS).parts[0]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)


Started = set[threading.Thread | int]
OF_SESSION: pytest.StashKey[Started] = pytest.StashKey()
"""Threads and child processes that fixtures of the session started."""


def started() -> Started:
    """The threads and child processes of this process, and the commands forked for it."""
    below = children_by_parent()
    children = below.get(os.getpid(), [])
    forking = [pid for pid in children if command_of(pid).endswith("tests.kit.forked")]
    return {*threading.enumerate(), *children, *chain(*(below.get(pid, ()) for pid in forking))}


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Notes what a fixture of the session starts: it is there after the module that asked first."""
    before = started() if fixturedef.scope == "session" else None
    try:
        return (yield)
    finally:
        if before is not None:
            request.config.stash.setdefault(OF_SESSION, set()).update(started() - before)


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails the last test of a module that leaves a thread or child process behind.

    Of a module, not of a test: a client that a fixture of the module made starts its threads, or a
    server again, when a test first asks it.
    """
    before = started()
    yield
    of_session = request.config.stash.setdefault(OF_SESSION, set())

    def left() -> list[str]:
        found = []
        for each in started() - before - of_session:
            if isinstance(each, threading.Thread):
                found.append(f"thread {each.name}")
            elif is_alive(each) and not any(name in command_of(each) for name in SHARED):
                found.append(f"process {each}: {command_of(each)}")
        return found

    until = time.monotonic() + LEFT_S
    while left() and time.monotonic() < until:
        time.sleep(0.05)  # daemon threads of what was closed are at their last lines
    assert not left(), f"the tests have left {', '.join(left())}"
