"""The line of status on a real pseudo-terminal, as a person sees it."""

from __future__ import annotations

import fcntl
import io
import logging
import os
import pty
import re
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TextIO

import pytest

from crawlclean.workers.logs import set_up_logging
from crawlclean.workers.output.printing import text_width
from crawlclean.workers.output.progress import LIVE_LINE_S, Part, StatusLine

XTERM = {"TERM": "xterm"}
PARTS = [
    Part("fetched 2145", 2),
    Part("cleaned 828"),
    Part("failed 1312", 3),
    Part("12.3 pages/s", 1),
    Part("about 3m20s left", 4),
]
WHOLE = "fetched 2145, cleaned 828, failed 1312, 12.3 pages/s, about 3m20s left"


@dataclass
class Terminal:
    """A pseudo-terminal: what a program writes to, and the screen that a person sees."""

    stream: TextIO
    controller: int
    seen: bytes = b""

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.controller, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def written(self) -> str:
        """Everything written so far."""
        self.stream.flush()
        os.set_blocking(self.controller, False)
        try:
            while chunk := os.read(self.controller, 1 << 16):
                self.seen += chunk
        except BlockingIOError:
            pass
        return self.seen.decode()

    def screen(self) -> list[str]:
        """The lines on the screen: of a line that was rewritten, the last form."""
        lines, column = [""], 0
        for piece in re.findall(r"\r|\n|\x1b\[K|.", self.written()):
            if piece == "\r":
                column = 0
            elif piece == "\n":
                lines.append("")
            elif piece == "\x1b[K":
                lines[-1] = lines[-1][:column]
            else:
                lines[-1] = lines[-1][:column] + piece + lines[-1][column + 1 :]
                column += 1
        return lines


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    controller, end = pty.openpty()
    with os.fdopen(end, "w", encoding="utf-8") as stream:
        made = Terminal(stream, controller)
        made.resize(100)
        yield made
    os.close(controller)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_terminal_has_one_line_that_rewrites_itself(
    terminal: Terminal, clock: list[float]
) -> None:
    with closing(StatusLine(terminal.stream, XTERM)) as line:
        for n in range(50):
            line.show([Part(f"cleaned {n}")])
            clock[0] += LIVE_LINE_S / 2
        assert terminal.screen() == ["cleaned 48"]
        assert terminal.written().count("\r") <= 26, "not more often than a person can read"
        line.show([Part("cleaned 50")], "done", last=True)
    assert terminal.screen() == ["cleaned 50 (done)", ""]


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (100, WHOLE),
        (72, "fetched 2145, cleaned 828, failed 1312, 12.3 pages/s"),
        (50, "fetched 2145, cleaned 828, 12.3 pages/s"),
        (40, "cleaned 828, 12.3 pages/s"),
        (20, "cleaned 828"),
        (12, "cleaned ~"),
    ],
)
def test_the_line_fits_the_terminal(terminal: Terminal, columns: int, text: str) -> None:
    terminal.resize(columns)
    line = StatusLine(terminal.stream, XTERM)
    line.show(PARTS)
    assert terminal.screen() == [text]


def test_a_resized_terminal_gets_a_line_of_its_new_width(
    terminal: Terminal, clock: list[float]
) -> None:
    line = StatusLine(terminal.stream, XTERM)
    line.show(PARTS)
    terminal.resize(40)
    clock[0] += 1
    line.show(PARTS)
    assert terminal.screen() == ["cleaned 828, 12.3 pages/s"]
    terminal.resize(100)
    clock[0] += 1
    line.show(PARTS)
    assert terminal.screen() == [WHOLE]


def test_wide_characters_count_twice(terminal: Terminal) -> None:
    terminal.resize(23)
    StatusLine(terminal.stream, XTERM).show([Part("处理器" * 9)])
    [shown] = terminal.screen()
    assert shown == "处理器" * 3 + "~"
    assert text_width(shown) == 19


def test_messages_and_the_log_do_not_tear_the_line(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", terminal.stream)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    set_up_logging("run")
    with closing(StatusLine(terminal.stream, XTERM)) as line:
        line.show([Part("cleaned 1")])
        line.print_line("a message")
        logging.getLogger("workers.x").warning("process died", extra={"role": "spider"})
    logging.getLogger("workers.x").warning("after the end")
    message, logged, status, after, end = terminal.screen()
    assert message == "a message"
    assert logged.endswith("Z warning run process died role=spider")
    assert status == "cleaned 1"
    assert after.endswith("after the end")
    assert end == ""


def test_an_interrupted_command_leaves_a_clean_line(terminal: Terminal) -> None:
    def work() -> None:
        with closing(StatusLine(terminal.stream, XTERM)) as line:
            line.show(PARTS)
            os.write(terminal.stream.fileno(), b"^C")  # the echo of the terminal
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    terminal.stream.write("interrupted\n")
    assert terminal.screen() == [f"{WHOLE}^C", "interrupted", ""]


def test_a_step_is_gone_when_no_counts_follow(terminal: Terminal) -> None:
    with closing(StatusLine(terminal.stream, XTERM)) as line:
        line.show_step("starting the queue")
        assert terminal.screen() == ["starting the queue"]
        line.print_line("this crawl is finished")
    assert terminal.screen() == ["this crawl is finished", ""]


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {}])
def test_a_terminal_that_cannot_rewrite_gets_plain_lines(
    terminal: Terminal, environ: dict[str, str], clock: list[float]
) -> None:
    with closing(StatusLine(terminal.stream, environ)) as line:
        for _ in range(100):
            line.show([Part("cleaned 1")])
            clock[0] += 1
    assert terminal.screen() == ["cleaned 1", "cleaned 1", ""]
    assert "\x1b" not in terminal.written()


def test_no_colour_and_no_control_character(terminal: Terminal) -> None:
    StatusLine(terminal.stream, XTERM).show([Part("host \x1b[31m\u202e")])
    assert re.sub(r"\r|\x1b\[K", "", terminal.written()) == "host  [31m "


def test_a_closed_terminal_does_not_end_the_work() -> None:
    class Closed(io.StringIO):
        def write(self, _text: str, /) -> int:
            raise OSError(5, "Input/output error")

    line = StatusLine(Closed())
    line.show(PARTS)
    line.print_line("a message")
    line.close()
