"""The command line: what each command takes, and which file does it.

Exit status: 0 done, 1 failed, 2 wrong use.
"""

from __future__ import annotations

import argparse
import errno
import io
import logging
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from cleaning.errors import ConfigError, ServiceError
from cleaning.ownership import check_ownership
from storage.crawl_types import CrawlState, KeepRaw, Scope
from workers import __dist__
from workers.commands import classes, traps
from workers.commands.arguments import Commands, OneLineParser
from workers.commands.arguments import seconds as duration
from workers.config import Settings, load_settings
from workers.inspection import add_inspection
from workers.logs import set_up_logging
from workers.repair import add_repair
from workers.site_commands import add_clean, add_list, add_sites

TRAP_HELP = "pages in a row without news that end their class of URLs (default 50, 0: none do)"
Parser = argparse.ArgumentParser
IMAGES_HELP = "fetch the images that belong to what pages say, too, from any host; no others"
EPILOG = f"""\
examples:
  {__dist__} run https://example.com/            crawl a site into ./{__dist__}-data
  {__dist__} run https://example.com/ --depth 2 --max-pages 500
  {__dist__} why https://example.com/a.html      every step of one page
  {__dist__} export --format markdown > site.md  what was cleaned
  {__dist__} clean page.html --url https://example.com/a.html

What a crawl is told can stand in the environment, too; `{__dist__} config` lists the names.
Exit status: 0 done, 1 failed, 2 wrong use.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    arguments = build_parser().parse_args(argv)
    try:
        check_ownership()
        settings = load_settings(os.environ, vars(arguments))
        level = getattr(logging, settings.workers.log_level.upper())
        set_up_logging(arguments.command, level)
        _write_utf8()
        status = int(arguments.run(settings, arguments))
        sys.stdout.flush()  # a reader that left is noticed here, not when Python ends
        return status
    except ConfigError as error:
        sys.stderr.write(f"{__dist__}: {error}\n")
        return 2
    except ServiceError as error:
        sys.stderr.write(f"{__dist__}: {error}\n")
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered goes nowhere
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr.write(f"{__dist__}: no space left for the output: free some and run again\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write(f"{__dist__}: interrupted\n")
        return 1


def _write_utf8() -> None:
    """Records are UTF-8 in files and pipes, and no terminal stops at what it cannot show."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="replace")


def build_parser() -> argparse.ArgumentParser:
    """The whole grammar; `docs/cli.md` is made from it."""
    parser = OneLineParser(
        prog=__dist__,
        description="Crawls sites, learns each site's shape, and turns every page into one clean, "
        "typed record.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{__dist__} {version()}")
    assembled = Commands(parser)
    commands = assembled._parsers
    data = argparse.ArgumentParser(add_help=False)
    data.add_argument(
        "--data", type=Path, metavar="DIR", help=f"data folder (default ./{__dist__}-data)"
    )
    json_too = argparse.ArgumentParser(add_help=False)
    json_too.add_argument("--json", action="store_true", help="print JSON lines")
    hosts = argparse.ArgumentParser(add_help=False)
    hosts.add_argument(
        "--hosts-file",
        type=Path,
        metavar="FILE",
        help="TOML: delay, slots, headers, cookies, user agent, proxy of single hosts",
    )
    _add_run(commands, data, json_too, hosts)
    _add_processes(commands, data, hosts)
    _add_control(commands, data, json_too)
    add_repair(commands, _command, data)
    add_sites(commands, _command, data, json_too)
    add_inspection(commands, _command, data, json_too)
    traps.register(assembled)
    classes.register(assembled)
    _add_tools(commands, data)
    return parser


def _add_run(commands: Any, *parents: argparse.ArgumentParser) -> None:
    run = _command(
        commands,
        "run",
        _run,
        "crawl sites into clean records",
        "Crawls from the URLs until nothing is left or a limit is reached. Everything it needs is "
        "started and stopped with it. Ctrl-C lets running pages finish and stops (twice: at once); "
        "the same command resumes, also after a crash.",
        *parents,
    )
    run.add_argument("urls", nargs="+", metavar="URL", help="where to begin")
    run.add_argument(
        "--crawl",
        default="",
        metavar="NAME",
        help="name of the crawl (default: made from the URLs)",
    )
    _add_limits(run)
    _add_limits(add_list(commands, _command, *parents))


def _add_limits(run: argparse.ArgumentParser) -> None:
    """What `run` and `sites` can be told of a crawl."""
    run.add_argument(
        "--scope",
        choices=[str(scope) for scope in Scope],
        help="follow links on the same host (default), in the same registered domain, or any",
    )
    run.add_argument(
        "--depth",
        dest="max_depth",
        type=int,
        metavar="N",
        help="links from a seed, at most; 0: only the seeds",
    )
    run.add_argument("--max-pages", type=int, metavar="N", help="stop after N records")
    run.add_argument(
        "--max-time",
        dest="max_time_s",
        type=duration,
        metavar="TIME",
        help="stop after this time: 90, 10m, 2h",
    )
    run.add_argument(
        "--delay",
        dest="delay_s",
        type=float,
        metavar="S",
        help="seconds between an answer and the next request to its host (default 1; 0 for "
        "loopback hosts; a longer Crawl-delay in robots.txt wins)",
    )
    run.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help="requests at a time to a host whose delay is 0 (default 8)",
    )
    run.add_argument("--trap-pages", type=int, metavar="N", help=TRAP_HELP)
    run.add_argument(
        "--keep-raw",
        choices=[str(keep) for keep in KeepRaw],
        help="raw pages kept (default all; a sample is one in 16); learning needs them",
    )
    run.add_argument(
        "--allow-private",
        action="store_true",
        default=None,
        help="fetch loopback and private addresses too",
    )
    run.add_argument("--images", action="store_true", default=None, help=IMAGES_HELP)
    run.add_argument("--contact", metavar="ADDRESS", help="told to site owners in the user agent")
    run.add_argument(
        "--workers", type=int, metavar="N", help="cleaning processes (default cores - 1)"
    )
    run.add_argument("--fresh", action="store_true", help="start over instead of resuming")


def _add_processes(commands: Any, *parents: argparse.ArgumentParser) -> None:
    to = "join a running crawl to"
    for name, what in (
        ("worker", f"{to} clean its pages"),
        ("spider", f"{to} fetch its pages"),
        ("sweeper", f"{to} hand on what dead processes held"),
    ):
        _command(
            commands,
            name,
            _process,
            what,
            f"{what[0].upper()}{what[1:]}. Ends with the crawl, or on SIGTERM or Ctrl-C after "
            "the work at hand.",
            *(parents if name == "spider" else parents[:1]),
        )


def _add_control(commands: Any, data: Parser, json_too: Parser) -> None:
    _command(commands, "crawls", _crawls, "list the crawls", "", data, json_too)
    for name, what in (
        ("pause", "fetch nothing more until resumed"),
        ("resume", "go on after pause"),
        ("stop", "end a crawl; `run` with the same URLs resumes it"),
    ):
        control = _command(commands, name, _control, f"{what} (a crawl or a host)", "", data)
        control.add_argument("target", metavar="CRAWL|HOST")
    purge = _command(
        commands,
        "purge",
        _purge,
        "forget a crawl or a host, records too",
        "Forgets what is queued and stored of a crawl, or of a host in every crawl. The URLs of a "
        "host stay known to its crawls: they are not fetched again until `run --fresh`.",
        data,
    )
    purge.add_argument("target", metavar="CRAWL|HOST")
    purge.add_argument("--keep-records", action="store_true", help="forget only what is queued")


def _add_tools(commands: Any, data: Parser) -> None:
    add_clean(commands, _command)
    _command(commands, "doctor", _doctor, "check this machine", "", data)
    _command(commands, "config", _config, "list all settings and their values", "", data)
    _command(commands, "metrics", _metrics, "counters in Prometheus' format", "", data)


def _command(
    commands: Any,
    name: str,
    call: Any,
    what: str,
    description: str,
    *parents: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=description or what[0].upper() + what[1:] + ".",
        parents=parents,
    )
    parser.set_defaults(run=call)
    return parser


def version() -> str:
    """The version that is installed; ``unknown`` in a checkout that is not."""
    try:
        return metadata.version(__dist__)
    except metadata.PackageNotFoundError:
        return "unknown"


# Each command imports its own file: `--help` and `show` need no Scrapy.


def _run(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.run import run

    return run(settings, a.urls, a.crawl, fresh=a.fresh, as_json=a.json)


def _process(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.processes import join

    return join(settings, a.command)


def _crawls(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.control import list_crawls

    return list_crawls(settings, as_json=a.json)


def _control(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.control import change_state

    states = {
        "pause": CrawlState.PAUSED,
        "resume": CrawlState.RUNNING,
        "stop": CrawlState.STOPPED,
    }
    return change_state(settings, a.target, states[a.command])


def _purge(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.control import purge

    return purge(settings, a.target, keep_records=a.keep_records)


def _doctor(settings: Settings, _a: argparse.Namespace) -> int:
    from workers.commands.doctor import doctor

    return doctor(settings)


def _config(settings: Settings, _a: argparse.Namespace) -> int:
    from workers.commands.telling import tell_settings

    return tell_settings(settings)


def _metrics(settings: Settings, _a: argparse.Namespace) -> int:
    from workers.commands.telling import tell_counters

    return tell_counters(settings)


if __name__ == "__main__":
    sys.exit(main())
