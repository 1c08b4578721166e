"""Running the real command in tests, and looking at what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import valid
from tests.kit.forked import CAN_FORK, ForkedPopen, run_forked
from tests.kit.timing import LIMIT_S

ROOT = Path(__file__).parents[2]


def environment(**extra: str) -> dict[str, str]:
    """The environment without any setting of ours."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CRAWLCLEAN_")}
    return {**clean, "PYTHONPATH": str(ROOT), **extra}


def command(*arguments: str) -> list[str]:
    """The command line of the program under test."""
    return [sys.executable, "-m", "crawlclean.workers.cli", *arguments]


def crawlclean(
    *arguments: str,
    check: bool = True,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    limit_s: float = LIMIT_S,
) -> subprocess.CompletedProcess[str]:
    """Runs one command to its end; ``check``: it is done, or a limit that it was given ended it."""
    whole = environment(**(env or {}))
    if can_be_forked(env or {}):
        done = run_forked(arguments, whole, cwd, limit_s)
    else:
        done = subprocess.run(
            command(*arguments),
            capture_output=True,
            text=True,
            timeout=limit_s,
            env=whole,
            cwd=cwd,
            check=False,
        )
    if check:
        assert done.returncode in (0, 3), f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def can_be_forked(env: Mapping[str, str]) -> bool:
    """Whether a command with these variables needs no interpreter of its own."""
    # Other variables (LC_ALL) change an interpreter as it starts.
    return CAN_FORK and all(each.startswith(("CRAWLCLEAN_", "PYTHONPATH")) for each in env)


def start(*arguments: str, **extra: str) -> subprocess.Popen[str]:
    """Starts a command in a session of its own."""
    is_forked = can_be_forked(extra)
    return (ForkedPopen if is_forked else subprocess.Popen)(
        arguments if is_forked else command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**extra),
        cwd=ROOT,
        start_new_session=True,
    )


def run_crawl(data: Path, *arguments: str, limit_s: float = LIMIT_S) -> dict[str, Any]:
    """Runs a crawl of loopback hosts to its end; its summary."""
    done = crawlclean(
        "run", *arguments, "--allow-private", "--json", "--data", str(data), limit_s=limit_s
    )
    summary: dict[str, Any] = json.loads(done.stdout)
    return valid("run", summary)


def stored_urls(data: Path, crawl_id: str | None = None) -> list[str]:
    """URLs of all records, in the order saved; one that is stored twice is here twice."""
    store = SqliteStore(data / "records.sqlite")
    try:
        return [record.url for record in store.records.scan(crawl_id)]
    finally:
        store.close()


def counted(data: Path) -> dict[UrlState, int]:
    """URLs of all crawls by how they ended."""
    store = SqliteStore(data / "records.sqlite")
    try:
        total: dict[UrlState, int] = {}
        for row in store.crawls.all():
            for state, n in row.pages.items():
                total[state] = total.get(state, 0) + n
        return total
    finally:
        store.close()
