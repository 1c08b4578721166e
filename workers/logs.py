"""Logging of every process: constant messages, values beside them, one line each.

Bodies and credentials are never logged: URLs lose their user part on the way.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from typing import Any

from workers.control_characters import printable

USER_PART = re.compile(r"(?<=://)[^/?#\s]+@")  # to the last @: a password may hold one
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
QUIET = ("rq", "scrapy", "twisted", "asyncio", "jieba", "urllib3")


class LineFormatter(logging.Formatter):
    """``time level role message key=value ...`` on one line; a traceback follows indented."""

    converter = staticmethod(time.gmtime)

    def __init__(self, role: str) -> None:
        super().__init__(datefmt="%Y-%m-%dT%H:%M:%SZ")
        self._role = role

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
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
    # A filter, not levels: Scrapy sets its loggers' levels anew when it starts.
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] not in QUIET


def set_up_logging(role: str, level: int = logging.INFO) -> None:
    """Sends this process's log to standard error; libraries speak from WARNING up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(role))
    handler.addFilter(_is_ours_or_grave)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)
