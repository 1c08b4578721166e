"""The processes of `run`: started again, stopped, and gone when their parent is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from crawlclean.storage.queue import embedded
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.workers.processes import fleet as module
from crawlclean.workers.processes.fleet import ServerKeeper, Supervisor
from tests.kit.crawls import ROOT, environment
from tests.kit.timing import wait_until

# Stands for our command line in a folder of its own: each role behaves in its own way.
ROLES = """
import signal, sys, time
role = sys.argv[-1]
if role == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if role == "broken":
    sys.exit(7)
if role == "importer":
    import rq
print("up", role, flush=True)
signal.pause()
"""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        if sys.platform.startswith("linux"):
            return False
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith(b"Z")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "crawlclean"
    (package / "workers").mkdir(parents=True)
    for folder in (package, package / "workers"):
        (folder / "__init__.py").touch()
    (package / "workers/cli.py").write_text(ROLES, "utf-8")
    return tmp_path


@pytest.fixture
def supervisor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    made = Supervisor(folder, {**os.environ, "PYTHONPATH": str(folder)})
    yield made
    monkeypatch.setattr(module, "STOP_LIMIT_S", 0.2)
    for role in ("worker", "stubborn", "broken", "importer"):
        made.stop(role)


def log_of(folder: Path, role: str) -> str:
    return (folder / f"logs/{role}.log").read_text()


def test_a_killed_child_is_started_again(supervisor: Supervisor, folder: Path) -> None:
    supervisor.start("worker", 2)
    first = supervisor.living("worker")
    assert len(set(first)) == 2
    wait_until(lambda: log_of(folder, "worker").count("up") == 2)
    assert supervisor.restart_dead() == []
    os.kill(first[0], signal.SIGKILL)
    died: list[int] = []

    def is_back() -> bool:
        died.extend(supervisor.restart_dead())
        return len(supervisor.living("worker")) == 2 and supervisor.living("worker") != first

    wait_until(is_back)
    assert died == [first[0]]
    assert first[1] in supervisor.living("worker")
    wait_until(lambda: log_of(folder, "worker").count("up") == 3)


def test_a_stopped_child_can_be_killed(supervisor: Supervisor, folder: Path) -> None:
    supervisor.start("worker")
    (first,) = supervisor.living("worker")
    wait_until(lambda: "up" in log_of(folder, "worker"))
    os.kill(first, signal.SIGSTOP)
    supervisor.kill(os.getpid())  # not a child
    assert supervisor.living() == [first]
    supervisor.kill(first)
    died: list[int] = []

    def is_back() -> bool:
        died.extend(supervisor.restart_dead())
        return bool(supervisor.living()) and supervisor.living() != [first]

    wait_until(is_back)
    assert died == [first]


def test_what_lies_in_the_current_folder_is_not_imported(
    supervisor: Supervisor, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stray = folder / "stray"
    (stray / "crawlclean").mkdir(parents=True)
    for name in ("rq.py", "crawlclean/__init__.py", "crawlclean/workers.py"):
        (stray / name).write_text("print('stolen', __name__, flush=True)\n", "utf-8")
    monkeypatch.chdir(stray)
    supervisor.start("importer")
    wait_until(lambda: bool(log_of(folder, "importer")))
    wait_until(lambda: "up importer" in log_of(folder, "importer"))
    assert "stolen" not in log_of(folder, "importer")


def test_one_that_keeps_dying_is_started_ever_more_slowly(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.05)
    starts: list[float] = []
    died = 0
    supervisor.start("broken")
    supervisor._children[0].pause_s = 0.05
    end = time.monotonic() + 15
    while len(starts) < 4:
        assert time.monotonic() < end
        before = supervisor.living("broken")
        died += len(supervisor.restart_dead())
        if not before and supervisor.living("broken"):
            starts.append(time.monotonic())
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert gaps[0] >= 0.1
    assert gaps[1] >= 0.2
    assert gaps[2] >= 0.4
    assert died >= 4
    assert supervisor._children[0].pause_s <= module.LONGEST_PAUSE_S


def test_stop_asks_first_and_then_kills(
    supervisor: Supervisor, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor.start("worker", 2)
    supervisor.start("stubborn")
    wait_until(lambda: "up" in log_of(folder, "stubborn"))
    wait_until(lambda: log_of(folder, "worker").count("up") == 2)
    polite, stubborn = supervisor.living("worker"), supervisor.living("stubborn")
    assert supervisor.stop("worker") == [], "it ends when it is asked"
    assert not any(map(is_alive, polite))
    assert is_alive(stubborn[0]), "another role goes on"
    monkeypatch.setattr(module, "STOP_LIMIT_S", 0.3)
    begun = time.monotonic()
    assert supervisor.stop("stubborn") == stubborn
    assert time.monotonic() - begun >= 0.3
    assert not is_alive(stubborn[0])
    assert supervisor.living("worker") == supervisor.living("stubborn") == []
    assert supervisor.restart_dead() == [], "what was stopped is not started again"


PARENT = """
import signal, sys
from pathlib import Path
from crawlclean.workers.processes.fleet import Supervisor

folder = Path(sys.argv[1])
import os
os.chdir(folder)
supervisor = Supervisor(folder, {**os.environ, "PYTHONPATH": str(folder)})
supervisor.start("worker", 2)
supervisor.start("stubborn")
print(*supervisor.living("worker"), *supervisor.living("stubborn"), flush=True)
signal.pause()
"""


def test_children_die_with_a_parent_that_is_killed(folder: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    assert parent.stdout is not None
    children = [int(pid) for pid in parent.stdout.readline().split()]
    parent.stdout.close()
    assert len(children) == 3
    wait_until(lambda: all((folder / f"logs/{r}.log").exists() for r in ("worker", "stubborn")))
    assert all(map(is_alive, children))
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(map(is_alive, children)))


def test_the_queues_server_is_started_again_ever_more_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, tried, said = [1000.0], tmp_path / "tried", list[str]()
    broken = tmp_path / "server"
    broken.write_text(f"#!/bin/sh\necho x >> {tried}\nexit 1\n")
    broken.chmod(0o700)
    server = EmbeddedServer(tmp_path / "data")
    server.start()
    try:
        keeper = ServerKeeper(server, said.append)
        assert keeper.restart_dead()
        assert server.pid
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.is_running())
        with monkeypatch.context() as without:
            without.setattr(time, "monotonic", lambda: now[0])
            without.setattr(embedded, "find_server", lambda: str(broken))
            times: list[float] = []
            while len(times) < 9:
                assert not keeper.restart_dead()
                if len(tried.read_text().split()) > len(times):
                    times.append(now[0] - 1000)
                now[0] += 0.5
        assert times == [0, 1, 3, 7, 15, 31, 61, 91, 121]
        assert len(said) == 2
        assert said[0] == "the queue's server died; starting it again"
        assert said[1].startswith("the queue cannot start, waiting: ")
        monkeypatch.setattr(time, "monotonic", lambda: now[0] + 30)
        assert keeper.restart_dead()
        assert said[2:] == ["the queue's server runs again"]
        os.kill(server.pid, signal.SIGKILL)
        wait_dead = server._process
        assert wait_dead is not None
        wait_dead.wait()
        assert not keeper.restart_dead(), "one that dies again at once is not started at once"
    finally:
        server.stop()
