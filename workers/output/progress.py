"""Progress of crawls and batch work: a live line on a terminal, plain lines in a file or pipe."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from storage.crawl_types import CrawlCounts

PLAIN_LINE_S = 5.0
LIVE_LINE_S = 0.5
RATE_WINDOW_S = 10.0


class Progress:
    """Prints the counts of a crawl to standard error."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._begun = time.monotonic()
        self._shown = 0.0
        self._samples: list[tuple[float, int]] = []

    def show(self, counts: CrawlCounts, note: str = "", *, last: bool = False) -> None:
        """Prints the counts; in a file or pipe at most every ``PLAIN_LINE_S``."""
        now = time.monotonic()
        self._samples.append((now, counts.stored))
        while now - self._samples[0][0] > RATE_WINDOW_S:
            self._samples.pop(0)
        if not self._live and not last and now - self._shown < PLAIN_LINE_S:
            return
        self._shown = now
        line = self._line(counts, now) + (f" ({note})" if note else "")
        if self._live:
            self._stream.write("\r\x1b[K" + line + ("\n" if last else ""))
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def _line(self, counts: CrawlCounts, now: float) -> str:
        since, before = self._samples[0]
        rate = (counts.stored - before) / (now - since) if now > since else 0.0
        stored = f" ({counts.spilled} in the store)" if counts.spilled else ""
        return (
            f"fetched {counts.fetched}, cleaned {counts.stored}, failed {counts.failed}, "
            f"in flight {counts.in_flight}, waiting {counts.pending}{stored}, "
            f"{rate:.1f} pages/s, {counts.hosts} host{'' if counts.hosts == 1 else 's'}, "
            f"{duration(now - self._begun)}"
        )

    def print_line(self, line: str) -> None:
        """Prints a message above the live line."""
        self._stream.write(("\r\x1b[K" if self._live else "") + line + "\n")
        self._stream.flush()


class Tally:
    """Prints the counts of batch work to standard error; nothing when the work is short.

    Attributes:
        done: Finished pages.
        failed: Failed pages.
        files: Files begun so far.
    """

    def __init__(self, verb: str, files: int, stream: TextIO | None = None) -> None:
        """Prepares lines ``VERB N pages``; ``files`` is the number of files, 0 without files."""
        self.done = self.failed = self.files = 0
        self._verb = verb
        self._all_files = files
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and not sys.stdout.isatty()
        self._begun = self._shown = time.monotonic()

    def begin_file(self) -> None:
        """Counts a file as begun."""
        self.files += 1

    def show(self, *, last: bool = False) -> None:
        """Prints the counts: on a terminal twice a second, else every ``PLAIN_LINE_S``."""
        now = time.monotonic()
        if now - self._shown < (LIVE_LINE_S if self._live else PLAIN_LINE_S) and not (
            last and self._shown > self._begun
        ):
            return
        self._shown = now
        seconds = now - self._begun
        failed = f", {self.failed} failed" if self.failed else ""
        file = f"file {self.files} of {self._all_files}, " if self._all_files else ""
        line = (
            f"{self._verb} {self.done} pages{failed}, {file}"
            f"{(self.done + self.failed) / seconds:.1f} pages/s, {duration(seconds)}"
        )
        if self._live:
            self._stream.write("\r\x1b[K" + line + ("\n" if last else ""))
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def print_line(self, line: str) -> None:
        """Prints a message above the live line."""
        self._stream.write(("\r\x1b[K" if self._live else "") + line + "\n")
        self._stream.flush()


def duration(seconds: float) -> str:
    """Formats a duration: ``7s``, ``3m07s``, ``2h05m``."""
    s = int(seconds)
    if s < 60:
        return f"{s}s"
    if s < 3600:
        return f"{s // 60}m{s % 60:02d}s"
    return f"{s // 3600}h{s % 3600 // 60:02d}m"
