"""Processes that save jobs until they are done or killed, and children forked off a test.

``python -m tests.kit.writers KIND WHERE NAME FIRST COUNT SIZE`` is such a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import make_outcome

ROOT = Path(__file__).parents[2]
JOB = 5


def job(name: str, number: int, size: int = JOB) -> list[Outcome]:
    """A job whose pages nobody else saves; every page is kept raw."""
    return [
        make_outcome(
            f"/{name}/{number}/{page}",
            links=30,
            body=f"{name} {number} {page} ".encode() * 400,
            keep_raw=True,
        )
        for page in range(size)
    ]


def write_jobs(store: Store, name: str, first: int, count: int, size: int) -> None:
    """Prints a job's number once it is saved."""
    print("ready", flush=True)
    for number in range(first, first + count):
        store.save(job(name, number, size))
        print(number, flush=True)


@contextmanager
def writer(
    where: Path | str, name: str, first: int, count: int, size: int = JOB
) -> Iterator[subprocess.Popen[str]]:
    """A process that writes into a file or at a URL; killed on leaving if it still runs."""
    kind = "sqlite" if isinstance(where, Path) else "mongo"
    arguments = [kind, str(where), name, str(first), str(count), str(size)]
    with subprocess.Popen(
        [sys.executable, "-m", __name__, *arguments], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        try:
            assert output_of(process).readline() == "ready\n"
            yield process
        finally:
            process.kill()


def output_of(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def in_child(act: Callable[[], object]) -> None:
    """Runs ``act`` in a forked child, as a worker's job does, and asserts that it returned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons: other threads run
        child = os.fork()
    if child == 0:
        status = 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # pymongo warns who uses an inherited client
                act()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


if __name__ == "__main__":
    kind, where, name, *numbers = sys.argv[1:]
    opened: SqliteStore | MongoStore = (
        SqliteStore(Path(where)) if kind == "sqlite" else MongoStore(where)
    )
    with closing(opened):
        write_jobs(opened, name, *(int(number) for number in numbers))
