"""A process that has imported everything and forks spider, workers and housekeeper.

Four interpreters would import the same modules four times (3 s of processor time of a crawl of one
page, see ADR 39), and each would keep a copy in memory. The fork server is forked off `run` before
`run` opens a file or starts a thread, imports at its first request, and then forks a child for
each request, in a session of its own and with the log of its role as output::

    run ──fork──> fork server ──fork──> spider, worker, housekeeper
     └── a socket: "worker" ──>, <── "started 4711", "ended 4711 0" ──┘

Everything ends with `run`, also by kill -9: Linux kills the fork server with `run`, and the
children with the fork server. When only the fork server dies, the supervisor starts its children
as interpreters of their own, as it does where a fork is unsafe (macOS, a process with threads).
"""

from __future__ import annotations

import gc
import importlib
import math
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from crawlclean import __dist__
from crawlclean.storage.queue.embedded import die_with_parent, ends_within

# What a role imports before it works; modules that it imports later it imports alone.
MODULES = (
    # Names its deprecated classes by a search of all modules: first, while these are few.
    "scrapy.core.downloader.contextfactory",
    "crawlclean.workers.cli",
    "crawlclean.workers.commands.joining",
    "crawlclean.workers.processes.worker",
    "crawlclean.workers.processes.housekeeper",
    "crawlclean.workers.tasks",
    "crawlclean.storage.sqlite.store",
    "warcio.archiveiterator",
    "warcio.warcwriter",
    "crawlclean.crawler.run",
    "crawlclean.crawler.transfer.downloading",
    "scrapy.core.engine",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.dupefilters",
    "scrapy.logformatter",
    "scrapy.pqueues",
    "scrapy.squeues",
    "scrapy.statscollectors",
    "twisted.internet.asyncioreactor",
    "twisted.internet.ssl",
)
MESSAGE_BYTES = 100  # longer than any: a word and two numbers
Entry = Callable[[str], int]


class ForkedProcess:
    """A child of the fork server, with what the supervisor needs of ``subprocess.Popen``.

    Attributes:
        pid: Its process id.
        returncode: Its exit status, negative for a signal; None while it runs.
    """

    def __init__(self, server: ForkServer, pid: int) -> None:
        """Belongs to a server, which has started it."""
        self.pid = pid
        self.returncode: int | None = None
        self._server = server

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        if self.returncode is None:
            self._server.read()
        return self.returncode

    def wait(self) -> int:
        """The exit status, once it has ended."""
        ends_within(self, math.inf)
        return self.returncode or 0

    def terminate(self) -> None:
        """Sends SIGTERM unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)


class ForkServer:
    """The fork server, as `run` sees it."""

    def __init__(self, environ: Mapping[str, str], logs: Path, entry: Entry | None = None) -> None:
        """Forks the server; must be called where ``is_fork_safe``.

        Args:
            environ: Environment of the children.
            logs: Folder of their logs, ``worker.log``; it may not exist before ``start``.
            entry: Does the work of a role in a child, and returns its exit status; None is the
                command of this name.
        """
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._children: dict[int, ForkedProcess] = {}
        self._is_alive = True
        sys.stdout.flush()
        sys.stderr.flush()
        bind = die_with_parent()
        self._pid = os.fork()
        if self._pid == 0:
            self._socket.close()
            _serve(theirs, dict(environ), logs, entry or _run_command, bind)
        theirs.close()

    def start(self, role: str) -> ForkedProcess | None:
        """Forks a child for a command, ``worker``; None when the server has died."""
        with suppress(OSError):
            self._socket.send(role.encode())
        known = set(self._children.values())
        while self._is_alive:
            child = self._take(is_waiting=True)
            if child is not None and child not in known:
                return child
        return None

    def read(self) -> None:
        """Takes the ends of children that the server has reported."""
        while self._is_alive and self._take(is_waiting=False):
            pass

    def _take(self, *, is_waiting: bool) -> ForkedProcess | None:
        """Takes the next message; returns the child that it is about, None without a message."""
        try:
            message = self._socket.recv(MESSAGE_BYTES, 0 if is_waiting else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except OSError:
            message = b""
        if not message:  # the server is dead, and Linux has killed its children
            self._is_alive = False
            for child in self._children.values():
                child.returncode = -signal.SIGKILL
            return None
        what, pid, *status = message.decode().split()
        child = self._children.setdefault(int(pid), ForkedProcess(self, int(pid)))
        if what == "ended":
            child.returncode = int(status[0])
            del self._children[child.pid]  # a later child may have its process id
        return child

    def stop(self) -> None:
        """Ends the server; its children must have ended."""
        self._socket.close()
        self._is_alive = False
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def is_fork_safe() -> bool:
    """Whether a child that is forked from this process now can do any work.

    A lock that another thread holds at the fork stays locked in the child. On macOS the libraries
    of the system refuse to work in a child that was forked without a new program.
    """
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def _serve(
    requests: socket.socket,
    environ: dict[str, str],
    logs: Path,
    entry: Entry,
    bind: Callable[[], None] | None,
) -> NoReturn:
    """The work of the server, until `run` closes its end of the socket."""
    status = 1
    try:
        if bind:
            bind()
        os.setsid()
        _keep_only(requests.fileno())
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(environ)
        _set_title("fork-server")
        _Forker(requests, logs, entry).serve()
        status = 0
    finally:  # nothing of `run` may happen here
        os._exit(status)


class _Forker:
    """The loop of the fork server."""

    def __init__(self, requests: socket.socket, logs: Path, entry: Entry) -> None:
        self._requests = requests
        self._logs = logs
        self._entry = entry
        self._bind = die_with_parent()
        self._is_ready = False

    def serve(self) -> None:
        """Forks on request and reports ends, until the socket is closed."""
        woken, waker = os.pipe()
        for end in (woken, waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        while True:
            ready = select.select([self._requests.fileno(), woken], [], [])[0]
            if woken in ready:
                os.read(woken, 4096)
                self._report_ends()
            if self._requests.fileno() in ready:
                role = self._requests.recv(MESSAGE_BYTES).decode()
                if not role:
                    return
                self._prepare()
                if os.fork() == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for end in (woken, waker):
                        os.close(end)
                    self._become(role)

    def _prepare(self) -> None:
        if not self._is_ready:
            if not sys.flags.safe_path and self._entry is _run_command:
                del sys.path[:1]  # modules in the current folder are not ours
            for module in MODULES if self._entry is _run_command else ():
                importlib.import_module(module)
            gc.freeze()  # keeps these objects in memory pages that all children share
            self._is_ready = True

    def _report_ends(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                self._requests.send(f"ended {pid} {os.waitstatus_to_exitcode(status)}".encode())

    def _become(self, role: str) -> NoReturn:
        """The life of a child."""
        status = 1
        try:
            if self._bind:
                self._bind()
            os.setsid()
            log = os.open(self._logs / f"{role}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            _set_title(role)
            # Not before it has a session: the supervisor kills whole sessions.
            self._requests.send(f"started {os.getpid()}".encode())
            self._requests.close()
            status = self._entry(role)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:  # nothing of the server may happen here
            if (error := sys.exc_info()[1]) is not None:
                traceback.print_exception(error)
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(status)


def _run_command(role: str) -> int:
    """Joins the crawl in a role; returns the exit status."""
    sys.argv = [__dist__, "join", role]
    return int(importlib.import_module("crawlclean.workers.cli").main(sys.argv[1:]))


def _keep_only(descriptor: int) -> None:
    """Closes every other file of the process; its standard files lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    for path in list(Path("/proc/self/fd").iterdir()):
        if int(path.name) > 2 and int(path.name) != descriptor:
            with suppress(OSError):  # the descriptor of this listing
                os.close(int(path.name))


def _set_title(role: str) -> None:
    """Lets ``ps`` show the program and the role of a process, not the command line of `run`."""
    import ctypes  # slow to load, and not needed to import this module

    with suppress(OSError, IndexError, ValueError):
        fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(") ")[2].split()
        begin, end = int(fields[45]), int(fields[46])  # arg_start and arg_end of proc(5)
        if begin and end > begin:
            # The last byte stays 0: else the kernel takes the environment for a part of the line.
            title = f"{__dist__}\0{role}".encode()[: end - begin - 1]
            ctypes.memset(begin, 0, end - begin)
            ctypes.memmove(begin, title, len(title))
