"""Progress of crawls and batch work, as the parts of a status line."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Self, TextIO

from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.printing import clip, text_width
from crawlclean.workers.spoken import counted, duration, say, told

if TYPE_CHECKING:
    from crawlclean.storage.crawl_types import CrawlCounts
    from crawlclean.workers.operations.crawling.lifecycle import VisitWait
    from crawlclean.workers.operations.crawling.many_crawls import SitesCounts


# A line of status on standard error: on a terminal it rewrites itself, in a log it comes again.
#
# On a terminal the line is cut to the width that the terminal has at this moment; the parts that
# matter least go first. A message is written above the line, also one of the log of this process.
# In a file, in a pipe, and on a terminal that cannot rewrite a line (``TERM=dumb``) the line is
# written when it begins, when its note changes, once a minute, and at the end. Colours are never
# used.

LOG_LINE_S = 60.0  # a crawl of a month writes 43,000 lines
LIVE_LINE_S = 0.2  # faster changes cannot be read
# A terminal writes ``^C`` behind the line; in the last column it would begin a new line.
ECHO_COLUMNS = 3
UNKNOWN_COLUMNS = 80  # of a terminal that does not give its width


class Part(NamedTuple):
    """A part of the line: ``Part("12.3 pages/s", 1)``.

    Attributes:
        text: What it shows; ``""`` for nothing.
        rank: 0 is shown on every terminal; of the others the highest goes first.
    """

    text: str
    rank: int = 0


class StatusLine:
    """The line of one command."""

    def __init__(
        self, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ
    ) -> None:
        """Shows nothing yet; ``stream`` None is standard error."""
        self._stream = stream or sys.stderr
        self.is_live = self._stream.isatty() and environ.get("TERM", "") not in ("dumb", "")
        self._parts: Sequence[Part] = ()
        self._note = ""
        self._written: float | None = None
        self._is_drawn = False
        self._logs: list[logging.StreamHandler[TextIO]] = []
        if self.is_live:
            self._take_logs()

    def show(self, parts: Sequence[Part], note: str = "", *, last: bool = False) -> None:
        """Shows the line, or remembers it until it is due.

        Args:
            parts: From left to right; joined by commas.
            note: State of the work, in brackets behind the parts: ``paused``.
            last: The line is shown in any case and stays; the next one is another line.
        """
        changed = note != self._note
        self._parts, self._note = parts, note
        now = time.monotonic()
        every_s = LIVE_LINE_S if self.is_live else LOG_LINE_S
        is_due = self._written is None or now - self._written >= every_s
        if not (last or changed or is_due):
            return
        self._written = now
        if self.is_live:
            self._draw()
            if last:
                self._end_line()
        else:
            self._write(self._whole() + "\n")

    def show_step(self, step: str) -> None:
        """Shows a short step before the first counts, on a terminal alone; the next line erases it.

        Args:
            step: ``starting the queue``.
        """
        if self.is_live:
            self._parts, self._note = [Part(told(step))], ""
            self._draw()

    def print_line(self, line: str) -> None:
        """Prints a message above the line."""
        if not self._is_drawn:
            self._write(line + "\n")
            return
        self._write(f"\r\x1b[K{line}\n")
        self._draw()

    def close(self) -> None:
        """Ends the line: what is printed next begins a line of its own."""
        if self._is_drawn and self._written is None:  # a step
            self._write("\r\x1b[K")
            self._is_drawn = False
        self._end_line()
        for handler in self._logs:
            handler.setStream(self._stream)
        self._logs.clear()

    def _take_logs(self) -> None:
        """Lets the log of this process write above the line."""
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is self._stream:
                handler.setStream(_Above(self))
                self._logs.append(handler)

    def _whole(self) -> str:
        text = say(", ").join(part.text for part in self._parts if part.text)
        if self._note:
            text = say("{text} ({note})", text=text, note=told(self._note))
        return readable_line(text)

    def _draw(self) -> None:
        columns = max(1, self._columns() - ECHO_COLUMNS)
        self._write("\r" + self._fitting(columns) + "\x1b[K")
        self._is_drawn = True

    def _fitting(self, columns: int) -> str:
        """The line in at most so many columns: without the parts of high rank, then cut."""
        parts = self._parts
        for part in sorted(parts, key=lambda each: each.rank, reverse=True):
            if text_width(self._whole()) <= columns or not part.rank:
                break
            self._parts = [each for each in self._parts if each is not part]
        text, self._parts = self._whole(), parts
        return clip(text, columns)

    def _columns(self) -> int:
        # Asked each time: a window may be resized, and some terminals send no signal.
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or UNKNOWN_COLUMNS
        except (OSError, ValueError):  # not a real terminal
            return UNKNOWN_COLUMNS

    def _end_line(self) -> None:
        if self._is_drawn:
            self._write("\n")
            self._is_drawn = False

    def _write(self, text: str) -> None:
        # A crawl goes on when its terminal is closed, or when the disk of its log is full.
        with suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


class _Above:
    """A stream that writes whole lines above a status line."""

    def __init__(self, line: StatusLine) -> None:
        self._line = line

    def write(self, text: str) -> None:
        """Writes the lines of a text; the log ends each of its texts with a line break."""
        self._line.print_line(text.removesuffix("\n"))

    def flush(self) -> None:
        """Does nothing: every line is written at once."""


RATE_WINDOW_S = 60.0  # pages of a minute: with a delay of a second a host still has dozens
SAMPLE_S = 1.0  # between two samples: 60 of them are kept
# A shorter past does not show whether a backlog shrinks: a page may bring a hundred new URLs.
LEAST_PAST_S = 30.0
QUIET_S = 5.0  # batch work that takes no longer prints nothing
SLOWEST_CHARS = 60  # of the URL of the slowest site


class _Sample(NamedTuple):
    at: float
    done: int
    open: int


class Pace:
    """How fast work goes, by its counts of the last minute."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque()
        self._last = _Sample(0.0, 0, 0)
        self._has_begun = False

    def add(self, done: int, open_now: int = 0) -> None:
        """Takes the counts of this moment: ended pages, and URLs that are not done."""
        self._last = _Sample(time.monotonic(), done, open_now)
        if self._samples and not self._has_begun:
            self._has_begun = self._samples[0][1:] != self._last[1:]
            if not self._has_begun:
                self._samples.clear()  # the processes are still starting
        if not self._samples or self._last.at - self._samples[-1].at >= SAMPLE_S:
            self._samples.append(self._last)
        while len(self._samples) > 1 and self._last.at - self._samples[1].at >= RATE_WINDOW_S:
            self._samples.popleft()

    @property
    def pages_per_s(self) -> float:
        """Pages a second, mean of the last minute."""
        first, last = self._samples[0], self._last
        done = max(0, last.done - first.done)  # pages that are gone when they are fetched again
        return done / (last.at - first.at) if last.at > first.at else 0.0

    def left_s(self, *, budget_left: int | None = None) -> float | None:
        """The seconds until no URL is left, or ``budget_left`` pages are stored.

        None when neither can be foretold: without a limit, while the backlog does not shrink.
        """
        first, last = self._samples[0], self._last
        past_s = last.at - first.at
        if past_s < LEAST_PAST_S:
            return None
        estimates = []
        if budget_left is not None and last.done > first.done:
            estimates.append(budget_left * past_s / (last.done - first.done))
        if last.open < first.open:
            estimates.append(last.open * past_s / (first.open - last.open))
        return min(estimates, default=None)


class _CountsLine:
    """A status line on standard error, with the time since its begin and the pace of all pages."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._line = StatusLine(stream)
        self._begun = time.monotonic()
        self._pace = Pace()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def show_step(self, step: str) -> None:
        """Shows a step before the first counts: ``starting the queue``."""
        self._line.show_step(step)

    def print_line(self, line: str) -> None:
        """Prints a message above the line."""
        self._line.print_line(readable_line(told(line)))


class Progress(_CountsLine):
    """Shows the counts of a crawl on standard error."""

    def __init__(self, stream: TextIO | None = None, max_time_s: float | None = None) -> None:
        """Shows nothing yet; ``max_time_s`` is when the crawl ends at the latest."""
        super().__init__(stream)
        self._max_time_s = max_time_s

    def show(
        self,
        counts: CrawlCounts,
        note: str = "",
        *,
        visits: VisitWait | None = None,
        last: bool = False,
    ) -> None:
        """Shows the counts; of a crawl that keeps fresh also the visits, and when it goes on."""
        pace = self._pace
        pace.add(counts.stored, counts.open)
        seconds = time.monotonic() - self._begun
        # A pause and an end are announced by the note; an estimate beside it would be wrong.
        left = (
            []
            if note or last or visits is not None
            else [pace.left_s(budget_left=counts.budget_left)]
        )
        if self._max_time_s is not None and left:
            left.append(max(0.0, self._max_time_s - seconds))
        at_workers = say(" ({n} at workers)", n=counts.queued) if counts.queued else ""
        stored = say(" ({n} in the store)", n=counts.spilled) if counts.spilled else ""
        again = say("visited again {n}", n=counts.revisited) if counts.revisited else ""
        parts = [
            Part(say("fetched {n}", n=counts.fetched), 5),
            Part(say("cleaned {n}", n=counts.stored)),
            *self.more_parts(),
            Part(say("failed {n}", n=counts.failed), 6),
            Part(say("in flight {n}{more}", n=counts.in_flight, more=at_workers), 7),
            Part(say("waiting {n}{more}", n=counts.pending, more=stored), 2),
            Part(again, 3),
            Part(_visit_text(visits), 1),
            Part(say("{rate:.1f} pages/s", rate=pace.pages_per_s), 1),
            Part(f"{counted(counts.hosts, 'host')}", 8),
            Part(duration(seconds), 4),
            Part(_left_text(left), 3),
        ]
        self._line.show(parts, note, last=last)

    def more_parts(self) -> list[Part]:
        """Parts that a special crawl has beside those of every crawl."""
        return []


class SitesProgress(_CountsLine):
    """Shows the counts of a list of sites on standard error."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._of_sites: dict[str, Pace] = {}

    def site_ended(self, url: str, why: str, records: int, seconds: float) -> None:
        """Prints a line about a site that ended."""
        self._of_sites.pop(url, None)
        line = say(
            "{url}: {why}, {records}, {time}",
            url=url,
            why=told(why or "done"),
            records=counted(records, "record"),
            time=duration(seconds),
        )
        self._line.print_line(readable_line(line))

    def show(self, counts: SitesCounts) -> None:
        """Shows the sums of all sites, and the slowest site."""
        self._pace.add(counts.cleaned)
        for url, cleaned, waiting in counts.open_sites:
            self._of_sites.setdefault(url, Pace()).add(cleaned, waiting)
        every = counts.ended + counts.now + counts.to_come
        parts = [
            Part(say("{n} of {all} sites ended", n=counts.ended, all=every)),
            Part(say("{n} open", n=counts.now), 3),
            Part(say("fetched {n}", n=counts.fetched), 6),
            Part(say("cleaned {n}", n=counts.cleaned)),
            Part(say("{n} at workers", n=counts.at_workers), 7),
            Part(say("waiting {n}{more}", n=counts.waiting, more=""), 2),
            Part(_visit_text(counts.visits), 1),
            Part(say("{rate:.1f} pages/s", rate=self._pace.pages_per_s), 1),
            Part(duration(time.monotonic() - self._begun), 4),
            Part(self._slowest({url: n for url, _, n in counts.open_sites if n}), 5),
        ]
        self._line.show(parts, counts.note)

    def _slowest(self, waiting: Mapping[str, int]) -> str:
        """Names the open site that needs the longest for its waiting URLs."""
        if not waiting:
            return ""
        rates = {url: self._of_sites[url].pages_per_s for url in waiting}
        # A site without a page in the last minute: as if it had half a page.
        url = max(waiting, key=lambda each: waiting[each] / max(rates[each], 0.5 / RATE_WINDOW_S))
        return say(
            "slowest {site} ({n} waiting, {rate:.1f} pages/s)",
            site=readable_line(url)[:SLOWEST_CHARS],
            n=waiting[url],
            rate=rates[url],
        )


class Tally(_CountsLine):
    """Shows the counts of batch work on standard error; nothing when the work is short.

    Attributes:
        done: Finished pages.
        failed: Failed pages.
        files: Files begun so far.
    """

    def __init__(
        self, verb: str, files: int, stream: TextIO | None = None, *, is_hidden: bool = False
    ) -> None:
        """Prepares lines ``VERB N pages``.

        Args:
            verb: The work, ``cleaned``.
            files: Number of files, 0 without files.
            stream: None is standard error.
            is_hidden: Print messages alone: results go to the same terminal, between which a
                line that rewrites itself would stand.
        """
        super().__init__(stream)
        self.done = self.failed = self.files = 0
        self._verb = verb
        self._all_files = files
        self._is_hidden = is_hidden
        self._is_shown = False

    def begin_file(self) -> None:
        """Counts a file as begun."""
        self.files += 1

    def show(self, *, last: bool = False) -> None:
        """Shows the counts, from the sixth second on."""
        seconds = time.monotonic() - self._begun
        self._pace.add(self.done + self.failed)
        if self._is_hidden or not (self._is_shown or (seconds >= QUIET_S and not last)):
            return
        self._is_shown = True
        parts = [
            Part(f"{say(self._verb)} {counted(self.done, 'page')}"),
            Part(say("{n} failed", n=self.failed) if self.failed else "", 2),
            Part(self._files_text(), 2),
            Part(say("{rate:.1f} pages/s", rate=self._pace.pages_per_s), 1),
            Part(duration(seconds), 1),
        ]
        self._line.show(parts, last=last)

    def _files_text(self) -> str:
        every = self._all_files
        return say("file {n} of {all}", n=self.files, all=every) if every else ""


def _left_text(estimates: Iterable[float | None]) -> str:
    """``about 3m20s left`` of the shortest estimate; ``""`` without any."""
    known = [each for each in estimates if each is not None]
    return say("about {time} left", time=duration(min(known))) if known else ""


def _visit_text(visits: VisitWait | None) -> str:
    """``12 to visit again``, ``next visit in 3m20s``; ``""`` of a crawl that ends."""
    queued, left_s = visits or (0, None)
    if queued:
        return say("{n} to visit again", n=queued)
    return "" if left_s is None else say("next visit in {time}", time=duration(left_s))
