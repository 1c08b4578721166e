"""The fork server: children like interpreters of their own, gone with their parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crawlclean.workers.config import variable
from crawlclean.workers.processes import fork_server
from crawlclean.workers.processes.fleet import Supervisor
from crawlclean.workers.processes.fork_server import ForkServer
from tests.kit.crawls import ROOT, environment
from tests.kit.processes import children_of, is_alive
from tests.kit.timing import LIMIT_S, wait_until

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="forks are for Linux alone"
)

# Stands for `run`; a test process has threads, and may not fork. Does one step for each line.
RUN = """
import json, os, signal, sys
from pathlib import Path
from crawlclean.workers.processes.fork_server import ForkServer, is_fork_safe
from crawlclean.workers.processes.fleet import Supervisor

secret = open(sys.argv[0] if Path(sys.argv[0]).exists() else "/etc/hostname")
os.set_inheritable(secret.fileno(), True)

def entry(role):
    if role == "broken":
        raise ValueError("a defect of ours")
    if role == "leaving":
        sys.exit(7)
    if role == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    files = [os.readlink(p) for p in Path("/proc/self/fd").iterdir() if p.exists()]
    print(json.dumps({"role": role, "files": files, "session": os.getsid(0), "pid": os.getpid(),
                      "environ": dict(os.environ)}), flush=True)
    signal.pause()
    return 0

folder = Path(sys.argv[1])
assert is_fork_safe()
signal.signal(signal.SIGTERM, lambda *_: None)
forks = ForkServer({"ONLY": "this", "PATH": os.environ["PATH"]}, folder / "logs", entry)
supervisor = Supervisor(folder, dict(os.environ), forks)
started = {}
for line in sys.stdin:
    step, *roles = line.split()
    if step == "start":
        for role in roles:
            supervisor.start(role)
        answer = {role: supervisor.living(role) for role in roles}
    elif step == "died":
        answer = supervisor.restart_dead()
    elif step == "statuses":
        answer = {c.role: c.process.poll() for c in supervisor._children}
    elif step == "stop":
        answer = supervisor.stop(roles[0])
    print(json.dumps(answer), flush=True)
forks.stop()
"""

# A server whose kernel gives each child the process id of the one before.
REUSED = """
import os
from pathlib import Path
from crawlclean.workers.processes import fork_server

def serve(requests, *_):
    for end in (b"ended 7 3", b""):
        requests.recv(100)
        requests.send(b"started 7")
        if end:
            requests.send(end)
    requests.recv(100)
    os._exit(0)

fork_server._serve = serve
forks = fork_server.ForkServer({}, Path())
first = forks.start("worker")
ended = first.wait()
second = forks.start("worker")
print(ended, second.poll(), first.poll())
forks.stop()
"""

# A child that ends when its time is just over, and that the fork server has waited for.
LATE = """
import signal, sys
from pathlib import Path
from crawlclean.workers.processes import fleet as supervisor
from crawlclean.workers.processes.fork_server import ForkServer

def ends_late(process, limit_s):
    process.wait()
    return False

def entry(role):
    signal.pause()
    return 0

supervisor.ends_within = ends_late
folder = Path(sys.argv[1])
forks = ForkServer({}, folder / "logs", entry)
fleet = supervisor.Supervisor(folder, {}, forks)
fleet.start("worker")
pids = fleet.living("worker")
print(fleet.stop("worker") == pids)
forks.stop()
"""


class Run:
    """The parent, which is asked line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(),
        )

    def ask(self, line: str) -> Any:
        """The answer to a step, ``start worker``."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def log(self, role: str) -> str:
        """The log of a role; ``""`` when it has none."""
        path = self.folder / f"logs/{role}.log"
        return path.read_text() if path.exists() else ""

    def server(self) -> int:
        """The process id of the fork server."""
        [found] = children_of(self.process.pid)
        return found


@contextmanager
def running(folder: Path) -> Iterator[Run]:
    run = Run(folder)
    try:
        yield run
    finally:
        run.process.kill()
        run.process.communicate()


def test_a_child_shares_nothing_with_its_parent_and_ends_as_a_process_does(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        started = run.ask("start worker stubborn leaving broken")
        [worker], [stubborn] = started["worker"], started["stubborn"]
        wait_until(lambda: bool(run.log("worker") and run.log("stubborn")))
        said = json.loads(run.log("worker"))
        log = str(tmp_path / "logs/worker.log")
        assert set(said["files"]) <= {"/dev/null", log}
        assert said["files"].count(log) == 2
        assert (said["pid"], said["session"]) == (worker, worker)
        assert said["environ"].keys() - {"LC_CTYPE"} == {"ONLY", "PATH"}
        assert Path(f"/proc/{worker}/cmdline").read_text().rstrip("\0") == "crawlclean\0worker"
        assert "fork-server" in Path(f"/proc/{run.server()}/cmdline").read_text()

        wait_until(lambda: None not in [run.ask("statuses")[r] for r in ("leaving", "broken")])
        statuses = run.ask("statuses")
        assert (statuses["leaving"], statuses["broken"], statuses["worker"]) == (7, 1, None)
        assert "ValueError: a defect of ours" in run.log("broken")
        assert len(run.ask("died")) == 2

        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: run.ask("statuses")["worker"] == -signal.SIGKILL)
        assert run.ask("died") == [worker]
        [again] = run.ask("start housekeeper")["housekeeper"]
        wait_until(lambda: bool(run.log("housekeeper")))
        assert run.ask("stop housekeeper") == []
        assert not is_alive(again)
        os.kill(run.process.pid, signal.SIGKILL)
        run.process.wait()
        wait_until(lambda: not is_alive(stubborn))


def printed(code: str, *words: str) -> list[str]:
    """What a process of its own prints: a test process has threads, and may not fork."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=LIMIT_S,
        check=True,
    )
    return done.stdout.split()


def test_a_child_may_have_the_process_id_of_one_that_ended() -> None:
    assert printed(REUSED) == ["3", "None", "3"]


def test_a_child_that_ends_at_the_last_moment_need_not_be_killed(tmp_path: Path) -> None:
    assert printed(LATE, str(tmp_path)) == ["True"]


def test_without_its_fork_server_a_parent_starts_interpreters(tmp_path: Path) -> None:
    (tmp_path / "workers").mkdir()
    with running(tmp_path) as run:
        [worker] = run.ask("start worker")["worker"]
        wait_until(lambda: bool(run.log("worker")))
        os.kill(run.server(), signal.SIGKILL)
        wait_until(lambda: not is_alive(worker))
        assert run.ask("died") == [worker]
        [other] = run.ask("start spider")["spider"]
        wait_until(lambda: "crawlclean: " in run.log("spider"))
        assert other != worker


def test_a_spider_that_must_not_know_the_url_of_the_store_is_not_forked(tmp_path: Path) -> None:
    class Forks(ForkServer):
        def __init__(self) -> None:
            self.asked: list[str] = []

        def start(self, role: str) -> None:
            self.asked.append(role)

    forks = Forks()
    for url in ("", "mongodb://user:s3cret@db/"):
        name = variable("mongodb_url")
        supervisor = Supervisor(tmp_path, {**os.environ, name: url}, forks)
        for role in ("spider", "housekeeper"):
            supervisor.start(role)
            supervisor.stop(role)
    assert forks.asked == ["spider", "housekeeper", "housekeeper"]


def test_what_is_imported_before_a_fork_starts_no_thread_and_opens_nothing() -> None:
    code = (
        "import importlib, json, os, sys, threading\n"
        "def files(): return sorted(os.listdir('/proc/self/fd'))\n"
        "before = files()\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print(json.dumps([len(os.listdir('/proc/self/task')), files() == before,"
        " 'twisted.internet.reactor' in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *fork_server.MODULES],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        check=True,
    )
    assert json.loads(done.stdout) == [1, True, False]


def test_a_process_with_threads_is_not_forked() -> None:
    code = (
        "import threading\n"
        "from crawlclean.workers.processes.fork_server import is_fork_safe\n"
        "end = threading.Event(); alone = is_fork_safe()\n"
        "threading.Thread(target=end.wait).start(); print(alone, is_fork_safe()); end.set()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        check=True,
    )
    assert done.stdout == "True False\n"
