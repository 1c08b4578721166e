"""`clean`: reads pages of other crawlers, writes their records in input order.

Models of hosts can be learned from the pages, saved, and given for other pages of the same hosts.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted
from crawlclean.workers.commands.arguments import Commands, add_pages
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.cleaning.model.site_model import SiteModel
    from crawlclean.workers.operations.files.page_files import PageInput

FORMATS = {"jsonl": ".json", "markdown": ".md", "text": ".txt"}  # suffix of a page's file


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "clean",
        run,
        "clean pages of other crawlers",
        "Reads HTML files, WARC files, .jsonl(.gz) files whose rows have url and html_base64 (or "
        "html as text), folders of these, and standard input (-: rows when it begins with {, else "
        "one page; gzip is recognised). Writes records in input order.",
        data=False,
    )
    add_pages(parser)
    parser.add_argument("--format", choices=FORMATS, default="jsonl", help="default jsonl")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="write one file per page, DIR/HOST/NAME.json, .md or .txt; a page that comes again "
        "replaces its file",
    )
    parser.add_argument(
        "--blocks", action="store_true", help="add the logical link blocks of each page"
    )
    parser.add_argument(
        "--learn",
        action="store_true",
        help="learn a model of each host first, then clean with it; reads the files three times",
    )
    parser.add_argument(
        "--save-model",
        type=Path,
        metavar="DIR|FILE",
        help="with --learn: write each model to DIR/HOST.json, or the one model to FILE.json",
    )
    parser.add_argument(
        "--model",
        type=Path,
        metavar="DIR|FILE",
        help="clean with saved models; with --learn, only other hosts are learned",
    )


def run(_settings: Settings, arguments: argparse.Namespace) -> int:
    """Writes a record for every page; 1 when a page gave none.

    Raises:
        ConfigError: A path does not exist, options contradict each other, or a file of ``--model``
            is no model.
        StoreUnavailable: A file cannot be written.
    """
    from crawlclean.workers.operations.files.file_cleaning import clean_sources, with_models
    from crawlclean.workers.operations.files.page_files import page_input
    from crawlclean.workers.operations.hosts.model_files import load_models
    from crawlclean.workers.operations.pages.page_sources import Columns
    from crawlclean.workers.output.progress import Tally
    from crawlclean.workers.output.record_writers import encoded

    if arguments.save_model and not arguments.learn:
        raise ConfigError("--save-model needs --learn")
    if arguments.output and arguments.output.exists() and not arguments.output.is_dir():
        raise ConfigError(f"--output {arguments.output} is not a folder")
    columns = Columns(arguments.url_column, arguments.html_column)
    pages, others = page_input(arguments.paths, arguments.url, columns)
    given = load_models(arguments.model) if arguments.model else {}
    if others:
        sys.stderr.write(f"skipped {others} files that are not HTML, WARC or .jsonl\n")
    with ExitStack() as stack:
        models = dict(given)
        if arguments.learn:
            pages = stack.enter_context(pages.kept())
            models |= _learn(pages, given, arguments.save_model)
        is_hidden = not arguments.output and sys.stdout.isatty()
        tally = stack.enter_context(Tally("cleaned", len(pages.files), is_hidden=is_hidden))
        sources = with_models(pages.sources(tally.begin_file), models)
        render = partial(encoded, form=arguments.format)
        used = set()
        for cleaned in clean_sources(sources, render, blocks=arguments.blocks):
            if cleaned.error:
                tally.failed += 1
                tally.print_line(_printable(cleaned.error))
            else:
                _write(cleaned.url, cleaned.data, arguments)
                tally.done += 1
                used.add(cleaned.host)
            tally.show()
        tally.show(last=True)
    if arguments.output:
        count = counted(tally.done, "page")
        sys.stderr.write(_printable(f"wrote {count} to {arguments.output}") + "\n")
    if given and tally.done and not used & set(given):
        hosts = f"{next(iter(given))}" if len(given) == 1 else f"the {len(given)} hosts"
        sys.stderr.write(_printable(f"{arguments.model}: no page is of {hosts}") + "\n")
        return 1
    return 1 if tally.failed else 0


def _write(url: str, data: bytes, arguments: argparse.Namespace) -> None:
    """Writes a record to its file, or to standard output: on a terminal without controls."""
    from crawlclean.workers.control_characters import printable
    from crawlclean.workers.operations.files.whole_files import page_name, write_whole
    from crawlclean.workers.output.printing import print_line

    if arguments.output:
        name = page_name(url) + FORMATS[arguments.format]
        write_whole(arguments.output / name, data)
    elif arguments.format == "jsonl":
        print_line(data.removesuffix(b"\n"))
    else:
        text = data.decode()
        text = printable(text, keep_lines=True) if sys.stdout.isatty() else text
        sys.stdout.write(text)


def _printable(line: str) -> str:
    from crawlclean.workers.control_characters import printable

    return printable(line)


def _learn(
    pages: PageInput, given: dict[str, SiteModel], save_to: Path | None
) -> dict[str, SiteModel]:
    """Learns and saves a model of each host that has none; shows how many pages are read.

    Raises:
        ConfigError: The models of several hosts are to be saved to one file.
        StoreUnavailable: A model cannot be written.
    """
    from crawlclean.workers.operations.files.file_cleaning import (
        MIN_PAGES,
        learn_hosts,
        urls_by_host,
    )
    from crawlclean.workers.operations.hosts.model_files import is_one_file, save_models
    from crawlclean.workers.output.progress import Tally

    with Tally("read", len(pages.files)) as tally:

        def count() -> None:
            tally.done += 1
            tally.show()

        urls = urls_by_host(pages.sources(tally.begin_file), count)
        tally.show(last=True)
    urls = {host: found for host, found in urls.items() if host not in given}
    many = sum(len(found) >= MIN_PAGES for found in urls.values())
    if save_to and is_one_file(save_to) and many > 1:
        raise ConfigError(f"--save-model {save_to} is one file: give a folder for {many} hosts")
    models = learn_hosts(urls, pages.sources, lambda line: tally.print_line(_printable(line)))
    learned = sum(model.page_count for model in models.values())
    sys.stderr.write(f"learned {counted(len(models), 'host')} from {counted(learned, 'page')}\n")
    if save_to:
        if not models:
            sys.stderr.write("no model is saved: a host is learned from two pages or more\n")
        save_models(save_to, models.values())
    return models
