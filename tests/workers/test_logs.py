"""Logs: one line each, no credentials, ours always and the libraries' when it matters."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from crawlclean.workers.logs import LineFormatter, set_up_logging


def line(message: str, *args: Any, **extra: Any) -> str:
    record = logging.makeLogRecord({"msg": message, "args": args, "levelno": 20, **extra})
    record.levelname = "INFO"
    return LineFormatter("spider").format(record)


def test_the_parts_of_a_line() -> None:
    text = line("page failed", url="http://a.example/", pages=3, why="two words")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ info spider page failed "
        r"url=http://a\.example/ pages=3 why='two words'",
        text,
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("http://user:secret@a.example/x", "http://a.example/x"),
        ("http://user:sec@ret@a.example/x", "http://a.example/x"),
        ("redis://:secret@a.example:6379/0", "redis://a.example:6379/0"),
        ("mongodb://u:secret@a,b/?x", "mongodb://a,b/?x"),
        ("http://a.example/?mail=x@y.example", "http://a.example/?mail=x@y.example"),
        ("http://a.example#x@y", "http://a.example#x@y"),
        ("x@y.example", "x@y.example"),
    ],
)
def test_credentials_are_left_out(value: str, said: str) -> None:
    assert line("asked", url=value).endswith(f"url={said}")
    assert line("asked %s", value).endswith(f"asked {said}")
    assert "secret" not in line("a b", why=f"cannot reach {value} now")


def test_one_line_whatever_comes() -> None:
    for text in ("a\nb", "a\r\nb", "a\x0bb", "a\x1b[2Jb", "a\x85b", "a\u2028b", "a\x00b"):
        for said in (line(text), line("x %s", text), line("x", value=text)):
            assert len(said.splitlines()) == 1
            assert said.isprintable()


def test_a_traceback_follows_indented_and_without_credentials() -> None:
    try:
        raise ValueError("http://user:secret@a.example/")
    except ValueError:
        text = line("failed", exc_info=sys.exc_info())
    first, *rest = text.splitlines()
    assert first.endswith("failed")
    assert rest[0] == "  Traceback (most recent call last):"
    assert all(entry.startswith("  ") for entry in rest)
    assert rest[-1] == "  ValueError: http://a.example/"


def test_a_traceback_does_not_steer_the_terminal() -> None:
    try:
        raise ValueError("a\x1b]0;x\x07\x9b31m\rb\nc\u2028d")
    except ValueError:
        text = line("failed", exc_info=sys.exc_info())
    assert all(entry.isprintable() for entry in text.split("\n"))
    assert text.endswith("\n  c d")


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logging.captureWarnings(False)  # a test before may have left it on
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)
    logging.captureWarnings(False)


def test_libraries_speak_from_warning_up(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logging("worker", logging.INFO)
    assert root.level == logging.INFO
    for name in (
        "crawlclean.workers.tasks",
        "scrapy.core.engine",
        "rq.worker",
        "twisted",
        "asyncio",
    ):
        logging.getLogger(name).info("info of %s", name)
        logging.getLogger(name).warning("warning of %s", name)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        logging.captureWarnings(True)
        warnings.warn("told by a library", UserWarning, stacklevel=1)
    said = capsys.readouterr().err
    assert said.count("info of") == 1
    assert "worker info of crawlclean.workers.tasks" in said
    assert said.count("warning of") == 5
    assert "told by a library" in said
    set_up_logging("worker", logging.ERROR)
    logging.getLogger("crawlclean.workers.tasks").warning("quiet")
    assert capsys.readouterr().err == ""
    assert len(root.handlers) == 1
