"""Commands run in this process, with settings of the test's own."""

from __future__ import annotations

from workers.cli import build_parser
from workers.config import Settings


def call(settings: Settings, *arguments: str) -> int:
    """Runs a command as typed, ``call(settings, "show", url, "--json")``; its exit status.

    Settings among the arguments (``--data``) are not read. Errors of the command are raised.
    """
    parsed = build_parser().parse_args(arguments)
    return int(parsed.run(settings, parsed))
