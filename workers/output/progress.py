"""Progress of crawls and batch work, as the parts of a status line (``status_line.py``)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, TextIO

from crawlclean.cleaning.lexicon import counted
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.status_line import Part, StatusLine

if TYPE_CHECKING:
    from crawlclean.storage.crawl_types import CrawlCounts
    from crawlclean.workers.operations.crawling.many_crawls import OpenSite, SitesCounts
    from crawlclean.workers.operations.crawling.next_visits import VisitWait

RATE_WINDOW_S = 60.0
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

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._line.close()

    def show_step(self, step: str) -> None:
        """Shows a step before the first counts: ``starting the queue``."""
        self._line.show_step(step)

    def print_line(self, line: str) -> None:
        """Prints a message above the line."""
        self._line.print_line(readable_line(line))


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
        left = [] if note or last or visits else [pace.left_s(budget_left=counts.budget_left)]
        if self._max_time_s is not None and left:
            left.append(max(0.0, self._max_time_s - seconds))
        at_workers = f" ({counts.queued} at workers)" if counts.queued else ""
        stored = f" ({counts.spilled} in the store)" if counts.spilled else ""
        parts = [
            Part(f"fetched {counts.fetched}", 5),
            Part(f"cleaned {counts.stored}"),
            *self.more_parts(),
            Part(f"failed {counts.failed}", 6),
            Part(f"in flight {counts.in_flight}{at_workers}", 7),
            Part(f"waiting {counts.pending}{stored}", 2),
            Part(f"visited again {counts.revisited}" if counts.revisited else "", 3),
            Part(_visit_text(visits), 1),
            Part(f"{pace.pages_per_s:.1f} pages/s", 1),
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
        line = f"{url}: {why or 'done'}, {counted(records, 'record')}, {duration(seconds)}"
        self._line.print_line(readable_line(line))

    def show(self, counts: SitesCounts) -> None:
        """Shows the sums of all sites, and the slowest site."""
        self._pace.add(counts.cleaned)
        for site in counts.open_sites:
            self._of_sites.setdefault(site.url, Pace()).add(site.cleaned, site.waiting)
        every = counts.ended + counts.now + counts.to_come
        parts = [
            Part(f"{counts.ended} of {every} sites ended"),
            Part(f"{counts.now} open", 3),
            Part(f"fetched {counts.fetched}", 6),
            Part(f"cleaned {counts.cleaned}"),
            Part(f"{counts.at_workers} at workers", 7),
            Part(f"waiting {counts.waiting}", 2),
            Part(_visit_text(counts.visits), 1),
            Part(f"{self._pace.pages_per_s:.1f} pages/s", 1),
            Part(duration(time.monotonic() - self._begun), 4),
            Part(self._slowest(counts.open_sites), 5),
        ]
        self._line.show(parts, counts.note)

    def _slowest(self, sites: Iterable[OpenSite]) -> str:
        """Names the open site that needs the longest for its waiting URLs."""

        def seconds_of(site: OpenSite) -> float:
            # A site without a page in the last minute: as if it had half a page.
            rate = max(self._of_sites[site.url].pages_per_s, 0.5 / RATE_WINDOW_S)
            return site.waiting / rate

        waiting = [site for site in sites if site.waiting]
        if not waiting:
            return ""
        site = max(waiting, key=seconds_of)
        rate = self._of_sites[site.url].pages_per_s
        name = readable_line(site.url)[:SLOWEST_CHARS]
        return f"slowest {name} ({site.waiting} waiting, {rate:.1f} pages/s)"


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
            Part(f"{self._verb} {counted(self.done, 'page')}"),
            Part(f"{self.failed} failed" if self.failed else "", 2),
            Part(f"file {self.files} of {self._all_files}" if self._all_files else "", 2),
            Part(f"{self._pace.pages_per_s:.1f} pages/s", 1),
            Part(duration(seconds), 1),
        ]
        self._line.show(parts, last=last)


def _left_text(estimates: Iterable[float | None]) -> str:
    """``about 3m20s left`` of the shortest estimate; ``""`` without any."""
    known = [each for each in estimates if each is not None]
    return f"about {duration(min(known))} left" if known else ""


def _visit_text(visits: VisitWait | None) -> str:
    """``12 to visit again``, ``next visit in 3m20s``; ``""`` of a crawl that ends."""
    if visits is None:
        return ""
    if visits.queued:
        return f"{visits.queued} to visit again"
    return "" if visits.left_s is None else f"next visit in {duration(visits.left_s)}"


def duration(seconds: float) -> str:
    """Formats a duration: ``7s``, ``3m07s``, ``2h05m``."""
    s = int(seconds)
    if s < 60:
        return f"{s}s"
    if s < 3600:
        return f"{s // 60}m{s % 60:02d}s"
    return f"{s // 3600}h{s % 3600 // 60:02d}m"
