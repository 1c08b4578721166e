"""A line of status on standard error: on a terminal it rewrites itself, in a log it comes again.

On a terminal the line is cut to the width that the terminal has at this moment; the parts that
matter least go first. A message is written above the line, also one of the log of this process. In
a file, in a pipe, and on a terminal that cannot rewrite a line (``TERM=dumb``) the line is written
when it begins, when its note changes, once a minute, and at the end. Colours are never used.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TextIO

from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.printing import clip, text_width

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
            self._parts, self._note = [Part(step)], ""
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
        text = ", ".join(part.text for part in self._parts if part.text)
        return readable_line(f"{text} ({self._note})" if self._note else text)

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
