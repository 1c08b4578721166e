"""Commands forked from one process that has imported the program: a start costs next to nothing.

Each test process has one such process. It forks a child for each command, with the environment,
the folder and the output files of this command. The child does what ``python -m workers.cli`` does
after its imports; what the imports do is tested with interpreters (``tests.kit.crawls.start``).
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from storage.queue.embedded import die_with_parent
from workers.processes.fork_server import MODULES

ROOT = Path(__file__).parents[2]
MORE_MODULES = (
    "workers.commands.run",
    "workers.crawl_file.crawl_file",
    "workers.operations.crawling.many_crawls",
    "workers.operations.crawling.one_crawl",
    "workers.output.outcome_report",
    "workers.output.progress",
)


class _Parent:
    """The process that forks, as a test sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            preexec_fn=die_with_parent(),
        )
        atexit.register(self.stop)

    def ask(self, limit_s: float, **request: Any) -> int | None:
        """The exit status of a command; None when it was killed after ``limit_s``."""
        reader, writer = self._process.stdout, self._process.stdin
        assert reader is not None
        assert writer is not None
        with self._lock:
            writer.write(json.dumps(request) + "\n")
            writer.flush()
            pid = int(reader.readline())
            is_late = threading.Event()

            def kill() -> None:
                is_late.set()
                os.kill(pid, signal.SIGKILL)

            timer = threading.Timer(limit_s, kill)
            timer.start()
            status = int(reader.readline())
            timer.cancel()
            return None if is_late.is_set() else status

    def stop(self) -> None:
        self._process.communicate()


@cache
def _parent() -> _Parent:
    return _Parent()


def run_forked(
    arguments: Sequence[str], env: Mapping[str, str], cwd: Path, limit_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs a command line of the program to its end, as ``subprocess.run`` does.

    Raises:
        TimeoutExpired: It did not end within ``limit_s``, and was killed.
    """
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        status = _parent().ask(
            limit_s,
            arguments=arguments,
            environ=dict(env),
            cwd=str(cwd),
            out=str(out),
            err=str(err),
        )
        said = [path.read_text("utf-8") for path in (out, err)]
    if status is None:
        raise subprocess.TimeoutExpired(list(arguments), limit_s, *said)
    return subprocess.CompletedProcess(list(arguments), status, *said)


def _become(arguments: list[str], environ: dict[str, str], cwd: str, out: str, err: str) -> None:
    """The life of a child, which never returns."""
    status = 1
    try:
        for standard, name in ((0, os.devnull), (1, out), (2, err)):
            flags = os.O_RDONLY if standard == 0 else os.O_WRONLY | os.O_CREAT
            opened = os.open(name, flags, 0o600)
            os.dup2(opened, standard)
            os.close(opened)
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(cwd)
        sys.argv = ["crawlclean", *arguments]
        status = int(importlib.import_module("workers.cli").main(arguments))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _serve() -> None:
    """Forks a child for each line of standard input; prints its process id and its exit status."""
    for module in (*MODULES, *MORE_MODULES):
        importlib.import_module(module)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(**request)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
