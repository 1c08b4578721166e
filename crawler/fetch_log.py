"""The fetch log: one line for each request of a spider, and for each URL refused without a request.

The line has nine fields with one space between them, and ends with a result of several words:

    time status bytes ms host url referrer via result
    2026-11-22T22:40:01.123Z 200 11265 3 a.example http://a.example/x http://a.example/ link page
    2026-11-22T22:40:02.200Z 404 0 4 a.example http://a.example/y http://a.example/ link failed
    http_status: status 404

(the last two lines are one). ``-`` stands for what there is not. ``bytes`` are those of the decoded
body, ``ms`` is the time from the request to the end of the response. The result is

- ``page``, ``redirect``, ``robots``, ``sitemap``, ``image``: what was fetched; ``unchanged``: the
  server has no newer version of a page that is visited again;
- ``retry``, ``away``: tried again later, with the reason;
- ``failed``, ``refused``: ended without a record, with the reason; no request was sent for a
  refused one.

Several spiders append to one file. When it is full it becomes ``fetch.log.1``, and so on; the
oldest is deleted. The lines of up to a second are lost when a spider is killed.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from crawlclean.storage.crawl_types import FetchResult, Lease, PageRole

log = logging.getLogger(__name__)

HEAD = b"# time status bytes ms host url referrer via result\n"
FILES = 4  # fetch.log, fetch.log.1, .2, .3: the share of each is a quarter of the limit
FLUSH_S = 1.0  # what a killed spider loses of its log; less writes more often
# Written at once, before a second is over: bounds the memory of a fast crawl.
BUFFER_BYTES = 64 << 10
REPORT_S = 60.0  # a line of the spider's own log a minute: more would hide the others
AGAIN_S = 60.0  # after an error of the disk
DETAIL_CHARS = 200  # of a reason: an exception may quote a whole page

_UNSAFE = re.compile(r"[^!-~]")
_USER_PART = re.compile(r"(?<=://)[^/?#\s]+@")


class FetchLog:
    """Appends the lines of one spider; an error of the disk stops the log, never the crawl."""

    def __init__(self, path: Path | None, max_bytes: int) -> None:
        """Opens nothing yet; ``path`` None or ``max_bytes`` 0 logs nothing.

        Args:
            path: The file, ``crawlclean-data/logs/fetch.log``.
            max_bytes: Of the file and its older parts together.
        """
        self._path = path if max_bytes else None
        self._max_file_bytes = max_bytes // FILES
        self._fd: int | None = None
        self._lines: list[bytes] = []
        self._buffered = 0
        self._timer: asyncio.TimerHandle | None = None
        self._not_before = 0.0
        self._has_failed = self._is_torn = False
        self._counts: Counter[str] = Counter()

    def ended(self, lease: Lease, result: FetchResult, *, asked: bool = True) -> None:
        """Logs the end of a lease; ``asked`` is False when no request was sent."""
        failure = result.failure
        if failure and not (lease.role is PageRole.ROBOTS and result.status):
            word = "failed" if asked else "refused"
            what = f"{word} {failure.reason}: {failure.detail}"
        else:
            what = "redirect" if 300 <= result.status < 400 else str(lease.role)
            if result.status == HTTPStatus.NOT_MODIFIED and lease.is_revisit:
                what = "unchanged"
        self.add(lease, result.status, len(result.body), result.elapsed_ms, what)

    def add(self, lease: Lease, status: int, body_bytes: int, ms: int, what: str) -> None:
        """Logs a request; ``what`` is its result, ``retry status 503``."""
        self._counts[what.partition(" ")[0]] += 1
        if self._path is None or time.monotonic() < self._not_before:
            return
        now = datetime.now(UTC)
        line = (
            f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z {status or '-'} {body_bytes} "
            f"{ms} {_word(lease.host)} {_word(lease.url)} {_word(lease.referrer)} {lease.via} "
            f"{_text(what)}\n"
        ).encode("utf-8", "replace")
        self._lines.append(line)
        self._buffered += len(line)
        if self._buffered >= BUFFER_BYTES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_S, self.flush)

    async def report(self) -> None:
        """Logs the counts of each minute with a request: ``page=480 failed=3``; never returns."""
        while True:
            await asyncio.sleep(REPORT_S)
            self._report()

    def _report(self) -> None:
        if self._counts:
            log.info("requests ended", extra=dict(sorted(self._counts.items())))
            self._counts.clear()

    def flush(self) -> None:
        """Writes the lines that wait; begins a new file when this one is full."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        data, self._lines, self._buffered = b"".join(self._lines), [], 0
        if not data or self._path is None:
            return
        try:
            self._write(self._path, data)
        except OSError as error:
            self._not_before = time.monotonic() + AGAIN_S
            self.close()
            if not self._has_failed:
                log.warning("fetch log stopped", extra={"reason": error.strerror or str(error)})
            self._has_failed = True
        else:
            if self._has_failed:
                log.warning("fetch log goes on")
            self._has_failed = False

    def close(self) -> None:
        """Writes the lines that wait, and closes the file."""
        self.flush()
        self._report()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, path: Path, data: bytes) -> None:
        fd = self._open(path) if self._fd is None else self._fd
        if os.fstat(fd).st_size >= self._max_file_bytes:
            fd = self._rotate(path, fd)
        data = b"\n" + data if self._is_torn else data  # ends the line that a full disk cut
        self._is_torn = True
        while data:
            data = data[os.write(fd, data) :]
        self._is_torn = False

    def _open(self, path: Path) -> int:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o600)
        if not os.fstat(self._fd).st_size:
            os.write(self._fd, HEAD)
        return self._fd

    def _rotate(self, path: Path, fd: int) -> int:
        """Renames the full file unless another spider has; opens the new one."""
        fcntl.flock(fd, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(fd).st_ino:
                for number in range(FILES - 1, 0, -1):
                    older = path if number == 1 else _numbered(path, number - 1)
                    with suppress(FileNotFoundError):
                        older.replace(_numbered(path, number))
        self._fd = None
        os.close(fd)
        return self._open(path)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _word(text: str) -> str:
    """A field without white space and control characters; ``-`` for nothing."""
    return _UNSAFE.sub(lambda found: quote(found[0], errors="replace"), text) or "-"


def _text(text: str) -> str:
    """The last field: one line of printable characters, without passwords in URLs."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return _USER_PART.sub("", " ".join(shown.split()))[:DETAIL_CHARS]
