"""`clean`: reads pages of other crawlers, writes records to standard output in input order."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cleaning.errors import ConfigError
from workers.commands.arguments import Commands
from workers.config import Settings

if TYPE_CHECKING:
    from cleaning.model.site_model import SiteModel


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "clean",
        run,
        "clean pages of other crawlers",
        "Reads HTML files, WARC files, .jsonl(.gz) files whose rows have url and html_base64 (or "
        "html as text), and folders of these. Writes records as JSON lines in input order.",
        data=False,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR")
    parser.add_argument(
        "--url",
        default="",
        help="URL of the single HTML file or folder (default: in a mirror, a folder named like a "
        "host is that host; other files are at http://localhost/)",
    )
    parser.add_argument(
        "--blocks", action="store_true", help="add the logical link blocks of each page"
    )
    parser.add_argument(
        "--learn",
        action="store_true",
        help="learn a model of each host first, then clean with it; reads the files three times",
    )


def run(_settings: Settings, arguments: argparse.Namespace) -> int:
    """Writes a record for every page of the files and folders; 1 when a page gave none.

    Raises:
        ConfigError: A path does not exist, or ``--url`` is given with several pages.
    """
    from workers.operations.file_cleaning import clean_sources, with_models
    from workers.operations.page_files import (
        ROW_SUFFIXES,
        WARC_SUFFIXES,
        find_files,
        read_sources,
    )
    from workers.output.progress import Tally

    paths, url = arguments.paths, arguments.url
    files, others = find_files(paths)
    if url and (len(paths) != 1 or paths[0].name.lower().endswith(WARC_SUFFIXES + ROW_SUFFIXES)):
        raise ConfigError("--url needs exactly one HTML file or one folder")
    if others:
        sys.stderr.write(f"skipped {others} files that are not HTML, WARC or .jsonl\n")
    models = _learn(files, url) if arguments.learn else {}
    tally = Tally("cleaned", len(files))
    sources = with_models(read_sources(files, url, tally.begin_file), models)
    for line, error in clean_sources(sources, blocks=arguments.blocks):
        if error:
            tally.failed += 1
            tally.print_line(error)
        else:
            sys.stdout.write(line + "\n")
            tally.done += 1
        tally.show()
    tally.show(last=True)
    return 1 if tally.failed else 0


def _learn(files: Sequence[tuple[Path, str]], url: str) -> dict[str, SiteModel]:
    """Learns a model of each host; shows how many pages are read."""
    from workers.operations.file_cleaning import learn_hosts, urls_by_host
    from workers.operations.page_files import read_sources
    from workers.output.progress import Tally

    tally = Tally("read", len(files))

    def count() -> None:
        tally.done += 1
        tally.show()

    urls = urls_by_host(read_sources(files, url, tally.begin_file), count)
    tally.show(last=True)
    models = learn_hosts(urls, lambda: read_sources(files, url, lambda: None), tally.print_line)
    pages = sum(model.page_count for model in models.values())
    sys.stderr.write(f"learned {len(models)} hosts from {pages} pages\n")
    return models
