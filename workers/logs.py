"""Logging of every process: one line an event, a constant message, values as ``key=value``.

Example: ``2026-01-31T12:00:00Z info worker learned host=example.com version=2``. Bodies and
credentials are never logged: the user part of URLs is cut out.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from typing import Any

from crawlclean.workers.control_characters import printable

USER_PART = re.compile(r"(?<=://)[^/?#\s]+@")  # to the last @: a password may contain @
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
QUIET = ("rq", "scrapy", "twisted", "asyncio", "jieba", "urllib3")


class LineFormatter(logging.Formatter):
    """Formats ``time level role message key=value ...`` on one line, a traceback indented below."""

    converter = staticmethod(time.gmtime)

    def __init__(self, role: str) -> None:
        super().__init__(datefmt="%Y-%m-%dT%H:%M:%SZ")
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line of a log record."""
        extra = {k: v for k, v in vars(record).items() if k not in STANDARD}
        parts = [
            self.formatTime(record, self.datefmt),
            record.levelname.lower(),
            self._role,
            record.getMessage(),
            *(f"{key}={_plain(value)}" for key, value in extra.items()),
        ]
        line = USER_PART.sub("", printable(" ".join(parts)))
        if record.exc_info:
            trace = printable(self.formatException(record.exc_info), keep_lines=True)
            line += "\n  " + USER_PART.sub("", trace).replace("\n", "\n  ")
        return line


def _plain(value: Any) -> str:
    text = str(value)
    return repr(text) if re.search(r"\s", text) else text


def _is_ours_or_grave(record: logging.LogRecord) -> bool:
    # A filter, not levels: Scrapy sets the levels of its loggers when it starts.
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] not in QUIET


def set_up_logging(role: str, level: int = logging.INFO) -> None:
    """Sends the log of this process to standard error; libraries log from WARNING up.

    Args:
        role: The command, as ``worker``: the third field of each line.
        level: Of our own log.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(role))
    handler.addFilter(_is_ours_or_grave)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)
