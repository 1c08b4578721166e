"""Commands run in this process, which is faster than a process each."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import jsonschema

from crawlclean.workers.answers.schema import schema_of
from crawlclean.workers.cli import find_command, main, parse
from crawlclean.workers.config import Settings


def call(settings: Settings, *arguments: str) -> int:
    """Runs a command as typed, ``call(settings, "show", url, "--json")``; its exit status.

    Settings among the arguments (``--data``) are not read. Errors of the command are raised.
    """
    parsed = parse(arguments)
    return int(parsed.run(settings, parsed))


def call_main(*arguments: str) -> tuple[int, str, str]:
    """(status, output, errors) of a command line, ``call_main("why", url, "--data", "d")``."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    return _main_into(out, err, arguments), _written(out), _written(err)


class Cleaned:
    """What `clean` said of some files."""

    def __init__(self, *arguments: Path | str) -> None:
        """Runs the command with these arguments."""
        self.status, out, err = call_main("clean", *map(str, arguments))
        self.records: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
        self.errors = err.splitlines()

    def of_each(self, field: str) -> list[Any]:
        """A field of each record, in their order."""
        return [record[field] for record in self.records]


def call_main_on_one_stream(*arguments: str) -> tuple[int, str]:
    """(status, output and errors in their order) of a command line."""
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True)
    return _main_into(stream, stream, arguments), _written(stream)


def _main_into(out: TextIO, err: TextIO, arguments: Sequence[str]) -> int:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        with redirect_stdout(out), redirect_stderr(err):
            return main(arguments)
    except SystemExit as end:  # of a command that does not exist
        return int(end.code or 0)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(False)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def valid(command: str, row: dict[str, Any]) -> dict[str, Any]:
    """The row, which the schema of the command allows."""
    _validator(command).validate(row)
    return row


@cache
def _validator(command: str) -> Any:
    checker = jsonschema.FormatChecker()
    name, _ = find_command(command.split())
    return jsonschema.Draft202012Validator(schema_of(name), format_checker=checker)


@dataclass(frozen=True)
class DataFolder:
    """A data folder and the commands that read or change it."""

    data: Path

    def call(self, *arguments: str) -> tuple[int, str, str]:
        """(status, output, errors) of a command on the folder."""
        return call_main(*arguments, "--data", str(self.data))

    def output(self, *arguments: str, status: int = 0) -> str:
        """What a command prints that ends with this status."""
        ended, out, err = self.call(*arguments)
        assert ended == status, err
        return out

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        """The JSON lines that a command prints, ``rows("crawls", "--json")``."""
        name, _ = find_command(arguments)
        found = [json.loads(line) for line in self.output(*arguments).splitlines()]
        return [valid(name, row) for row in found]

    def error(self, *arguments: str, status: int = 1) -> str:
        """The last line of errors of a command that fails with this status."""
        ended, _, err = self.call(*arguments)
        assert ended == status
        return err.splitlines()[-1]

    def crawls(self) -> dict[str, dict[str, Any]]:
        """The crawls of the folder by id, as `crawls --json` lists them."""
        return {row["crawl"]: row for row in self.rows("crawls", "--json")}
