"""The log of fetches: what a line holds, how large the files grow, and what a full disk does."""

from __future__ import annotations

import asyncio
import logging
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.records import Via
from crawlclean.crawler.fetch_log import AGAIN_S, FILES, HEAD, FetchLog
from crawlclean.storage.crawl_types import Failure, FailureReason, FetchResult, Lease, PageRole
from tests.kit.queues import make_lease

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def lease(url: str = "http://a.example/x", **changes: Any) -> Lease:
    return make_lease(url, **{"referrer": "http://a.example/", "via": Via.LINK, **changes})


PAGE = FetchResult(status=200, body=b"x" * 11265, elapsed_ms=3)
NOT_FOUND = FetchResult(
    status=404, failure=Failure(reason=FailureReason.HTTP_STATUS, detail="status 404")
)


def written(path: Path, work: Callable[[FetchLog], None], max_bytes: int = 1 << 20) -> list[str]:
    """The lines that some work logs, without the head."""

    async def run() -> None:
        log = FetchLog(path, max_bytes)
        work(log)
        log.close()

    asyncio.run(run())
    head, *lines = path.read_text("utf-8").splitlines()
    assert head + "\n" == HEAD.decode()
    return lines


@pytest.mark.parametrize(
    ("found", "result", "line"),
    [
        (lease(), PAGE, "200 11265 3 a.example http://a.example/x http://a.example/ link page"),
        (
            lease(referrer="", via=Via.SEED),
            FetchResult(status=301, elapsed_ms=2),
            "301 0 2 a.example http://a.example/x - seed redirect",
        ),
        (
            lease(),
            NOT_FOUND,
            "404 0 0 a.example http://a.example/x http://a.example/ link "
            "failed http_status: status 404",
        ),
        (
            lease(),
            FetchResult(failure=Failure(reason=FailureReason.ROBOTS, detail="a\nb\x1b[0m\u202e c")),
            "- 0 0 a.example http://a.example/x http://a.example/ link refused robots: a b [0m c",
        ),
        (
            lease(role=PageRole.ROBOTS),
            NOT_FOUND,
            "404 0 0 a.example http://a.example/x http://a.example/ link robots",
        ),
        (
            lease("http://a.example/a b\n\u202e\x7f", referrer="http://a.example/\t"),
            PAGE,
            "200 11265 3 a.example http://a.example/a%20b%0A%E2%80%AE%7F http://a.example/%09 "
            "link page",
        ),
    ],
)
def test_a_line(tmp_path: Path, found: Lease, result: FetchResult, line: str) -> None:
    asked = result.status > 0
    [shown] = written(tmp_path / "fetch.log", lambda log: log.ended(found, result, asked=asked))
    assert re.fullmatch(f"{TIME} {re.escape(line)}", shown)


def test_no_password_is_logged(tmp_path: Path) -> None:
    why = "connect: proxy http://me:secret@p.example:8 refused"
    [line] = written(tmp_path / "fetch.log", lambda log: log.add(lease(), 0, 0, 9, f"retry {why}"))
    assert line.endswith("retry connect: proxy http://p.example:8 refused")


def test_several_spiders_share_bounded_files(tmp_path: Path) -> None:
    path, limit = tmp_path / "fetch.log", 40_000

    def work(log: FetchLog) -> None:
        other = FetchLog(path, limit)
        for n in range(1000):
            for each in (log, other):
                each.ended(lease(url=f"http://a.example/{n}"), PAGE)
                each.flush()
        other.close()

    written(path, work, limit)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [
        "fetch.log",
        "fetch.log.1",
        "fetch.log.2",
        "fetch.log.3",
    ]
    assert len(files) == FILES
    assert sum(file.stat().st_size for file in files) <= limit + FILES * 300
    for file in files:
        assert file.read_bytes().startswith(HEAD)
    # The newest lines of both spiders are there, each once.
    kept = "".join(file.read_text() for file in reversed(files))
    for n in range(900, 1000):
        assert kept.count(f" http://a.example/{n} ") == 2


def test_a_full_disk_stops_the_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path, now = tmp_path / "fetch.log", [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def add(log: FetchLog, number: int) -> None:
        log.ended(lease(url=f"http://a.example/{number}"), PAGE)
        log.flush()

    def work(log: FetchLog) -> None:
        add(log, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, hard))
        try:
            add(log, 2)
            add(log, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        now[0] += AGAIN_S
        add(log, 4)

    first, cut, last = written(path, work)
    assert " http://a.example/1 " in first
    assert len(cut) == 50, "a line that was cut ends there"
    assert " http://a.example/4 " in last
    said = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert said == ["fetch log stopped", "fetch log goes on"]


def test_no_log_is_wanted(tmp_path: Path) -> None:
    for log in (FetchLog(None, 1 << 20), FetchLog(tmp_path / "fetch.log", 0)):
        log.ended(lease(), PAGE)
        log.close()
    assert not list(tmp_path.iterdir())
