"""The grammar of the commands about whole sites: `sites`, `learn`, `model`, `reclean`, `clean`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workers.config import Settings


def add_sites(
    commands: Any, command: Any, data: argparse.ArgumentParser, json_too: argparse.ArgumentParser
) -> None:
    """Adds `learn`, `model` and `reclean` to the command line; ``command`` adds one."""
    learn = command(
        commands,
        "learn",
        _learn,
        "learn a host from its archived pages",
        "Learns what a host's pages have in common, from at most 100 archived ones, and stores it "
        "as the next version of the host's model: pages are cleaned with it from now on, "
        "`reclean` does those that are stored. What says the same as the version before is "
        "no new one.",
        data,
        json_too,
    )
    learn.add_argument("host", metavar="HOST")
    model = command(
        commands,
        "model",
        _model,
        "what a host taught, and why",
        "Prints the versions of a host's model, when the host changed, the one in use in words.",
        data,
        json_too,
    )
    model.add_argument("host", metavar="HOST")
    model.add_argument(
        "--version", dest="of_version", type=int, metavar="V", help="show this version"
    )
    model.add_argument(
        "--full", action="store_true", help="every line, places from the beginning of the page"
    )
    one = model.add_mutually_exclusive_group()
    one.add_argument(
        "--diff", nargs=2, type=int, metavar=("A", "B"), help="what version B says else than A"
    )
    one.add_argument(
        "--rollback",
        type=int,
        metavar="V",
        help="take up version V again: it becomes the next version, `reclean` applies it",
    )
    one.add_argument(
        "--why",
        default="",
        metavar="TEXT|URL",
        help="why a text, link or image is template: on how many pages, and on which",
    )
    reclean = command(
        commands,
        "reclean",
        _reclean,
        "clean a host's stored pages again, with its model",
        "Cleans the records that an older version of the host's model made, or none, from the "
        "archive. Interrupted or killed, the same command goes on; done, it changes nothing.",
        data,
        json_too,
    )
    reclean.add_argument("host", metavar="HOST")
    reclean.add_argument(
        "--dry-run", action="store_true", help="print what would differ, store nothing"
    )
    reclean.add_argument(
        "--again",
        action="store_true",
        help="also records that the version in use made: after an update of the program",
    )


def add_list(
    commands: Any, command: Any, *parents: argparse.ArgumentParser
) -> argparse.ArgumentParser:
    """Adds `sites`, whose limits are those of `run`."""
    found: argparse.ArgumentParser = command(
        commands,
        "sites",
        _sites,
        "crawl a list of sites, each a crawl of its own",
        "Crawls every site of a list until nothing is left of it or its limit is reached, several "
        "at a time, and reports on each. Limits count for each site. Ctrl-C lets running "
        "pages finish and stops; the same command goes on and leaves finished sites alone.",
        *parents,
    )
    found.add_argument("list", type=Path, metavar="FILE", help="one URL a line; # begins a comment")
    found.add_argument(
        "--at-once", type=int, default=16, metavar="N", help="sites at a time (default 16)"
    )
    return found


def add_clean(commands: Any, command: Any) -> None:
    """Adds `clean`."""
    clean = command(
        commands,
        "clean",
        _clean,
        "clean files that were fetched by others",
        "Reads HTML files, WARC files, .jsonl(.gz) rows with url and html_base64 (or html, as "
        "text), and folders of them; writes records as JSON lines in input order.",
    )
    clean.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR")
    clean.add_argument(
        "--url",
        default="",
        help="address of the one HTML file, or of the one folder (without: a mirror's folders "
        "named like hosts are these, other files are at http://localhost/)",
    )
    clean.add_argument("--blocks", action="store_true", help="with each source's link blocks")
    clean.add_argument(
        "--learn",
        action="store_true",
        help="read everything twice: learn each host from its pages, then clean with that",
    )


def _sites(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.sites import sites

    return sites(settings, a.list, a.at_once, fresh=a.fresh, as_json=a.json)


def _learn(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.models import learn

    return learn(settings, a.host, as_json=a.json)


def _model(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands import models

    if a.diff:
        return models.show_differences(settings, a.host, *a.diff, as_json=a.json, full=a.full)
    if a.rollback is not None:
        return models.take_up(settings, a.host, a.rollback, as_json=a.json)
    if a.why:
        return models.say_why(settings, a.host, a.of_version, a.why, as_json=a.json)
    return models.show_model(settings, a.host, a.of_version, as_json=a.json, full=a.full)


def _reclean(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.reclean import reclean

    return reclean(settings, a.host, dry_run=a.dry_run, again=a.again, as_json=a.json)


def _clean(_settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.clean import clean_files

    return clean_files(a.paths, a.url, a.blocks, a.learn)
