"""`clean`, `import`: pages that others fetched become records, printed or stored."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.workers.commands.arguments import Exit, add_pages, argument, command, crawl_name
from crawlclean.workers.config import Settings
from crawlclean.workers.spoken import counted, say, told

if TYPE_CHECKING:
    from crawlclean.cleaning.model.site_model import SiteModel
    from crawlclean.workers.operations.files.page_files import PageInput
    from crawlclean.workers.output.progress import Tally


# `clean`: reads pages of other crawlers, writes their records in input order.
#
# Models of hosts can be learned from the pages, saved, and given for other pages of the same hosts.

FORMATS = {"jsonl": ".json", "markdown": ".md", "text": ".txt"}  # suffix of a page's file


@command(
    "Reads HTML files, WARC files, .jsonl(.gz) files whose rows have url and html_base64 (or "
    "html as text), folders of these, and standard input (-: rows when it begins with {, else "
    "one page; gzip is recognised). Writes records in input order.",
    add_pages,
    argument("--format", choices=FORMATS, default="jsonl", help="default jsonl"),
    argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="write one file per page, DIR/HOST/NAME.json, .md or .txt; a page that comes again "
        "replaces its file",
    ),
    argument("--blocks", action="store_true", help="add the logical link blocks of each page"),
    argument(
        "--learn",
        action="store_true",
        help="learn a model of each host first, then clean with it; reads the files three times",
    ),
    argument(
        "--save-model",
        type=Path,
        metavar="DIR|FILE",
        help="with --learn: write each model to DIR/HOST.json, or the one model to FILE.json",
    ),
    argument(
        "--model",
        type=Path,
        metavar="DIR|FILE",
        help="clean with saved models; with --learn, only other hosts are learned",
    ),
    data=False,
)
def clean(_settings: Settings, arguments: argparse.Namespace) -> int:
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
        skipped = "skipped {n} files that are not HTML, WARC or .jsonl"
        sys.stderr.write(say(skipped, n=others) + "\n")
    with ExitStack() as stack:
        models = dict(given)
        if arguments.learn:
            pages = stack.enter_context(pages.kept())
            models |= _learn_of_files(pages, given, arguments.save_model)
        is_hidden = not arguments.output and sys.stdout.isatty()
        tally = stack.enter_context(Tally("cleaned", len(pages.files), is_hidden=is_hidden))
        sources = with_models(pages.sources(tally.begin_file), models)
        render = partial(encoded, form=arguments.format)
        used = set()
        for cleaned in clean_sources(sources, render, blocks=arguments.blocks):
            if cleaned.error:
                tally.failed += 1
                tally.print_line(_printable(told(cleaned.error)))
            else:
                _write(cleaned.url, cleaned.data, arguments)
                tally.done += 1
                used.add(cleaned.host)
            tally.show()
        tally.show(last=True)
    if arguments.output:
        count = counted(tally.done, "page")
        wrote = say("wrote {pages} to {place}", pages=count, place=arguments.output)
        sys.stderr.write(_printable(wrote) + "\n")
    if given and tally.done and not used & set(given):
        hosts = next(iter(given)) if len(given) == 1 else say("the {n} hosts", n=len(given))
        none = say("{model}: no page is of {hosts}", model=arguments.model, hosts=hosts)
        sys.stderr.write(_printable(none) + "\n")
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


def _learn_of_files(
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
    hosts, read = counted(len(models), "host"), counted(learned, "page")
    sys.stderr.write(say("learned {hosts} from {pages}", hosts=hosts, pages=read) + "\n")
    if save_to:
        if not models:
            none = say("no model is saved: a host is learned from two pages or more")
            sys.stderr.write(none + "\n")
        save_models(save_to, models.values())
    return models


# `import`: pages that others fetched become records of a data folder.

CRAWL = "import"
LEAST_PAGES = 8  # of a host that is learned, as in a crawl


@command(
    "Reads HTML files, WARC files, .jsonl(.gz) rows with url and html_base64 (or html, as "
    "text; fetched_at if they have it), folders of them, and standard input (-: rows when it "
    "begins with {, else one page; gzip is recognised). Keeps each page in the archive and "
    "stores its record, as if a crawl had fetched it: `hosts`, `model show`, `model reclean`, "
    "`export` and `why` work on it. Then hosts with enough pages are learned and their pages "
    "re-cleaned. Interrupted or killed, the same command does the rest.",
    add_pages,
    argument(
        "--crawl",
        default=CRAWL,
        type=crawl_name,
        metavar="NAME",
        help=f"name under which the pages are kept (default {CRAWL})",
    ),
    argument("--no-learn", action="store_true", help="store the pages, learn nothing from them"),
)
def import_(settings: Settings, arguments: argparse.Namespace) -> int:
    """Stores every page of the files; 1 when one gave no record or Ctrl-C came.

    Raises:
        ConfigError: A path does not exist, ``--url`` is given with several pages, or a crawl that
            fetches pages has the name.
    """
    from crawlclean.workers.control_characters import printable
    from crawlclean.workers.operations.files.page_files import page_input
    from crawlclean.workers.operations.files.page_import import import_pages
    from crawlclean.workers.operations.pages.page_sources import Columns
    from crawlclean.workers.output.progress import Tally

    columns = Columns(arguments.url_column, arguments.html_column)
    pages, others = page_input(arguments.paths, arguments.url, columns)
    if others:
        skipped = "left out {n} files that are no HTML, WARC or .jsonl"
        sys.stderr.write(say(skipped, n=others) + "\n")
    hosts: Counter[str] = Counter()
    before = dropped = 0
    with Tally("imported", len(pages.files)) as tally:
        sources = pages.sources(tally.begin_file)
        try:
            for page in import_pages(settings, arguments.crawl, sources):
                if page.error:
                    tally.failed += 1
                    tally.print_line(printable(told(page.error)))
                elif not page.is_stored:
                    dropped += 1
                else:
                    tally.done += 1
                    before += page.was_stored
                    hosts[page.host] += 1
                tally.show()
        except KeyboardInterrupt:
            tally.print_line("interrupted; the same command does the rest")
            return Exit.INTERRUPTED
        tally.show(last=True)
    sys.stdout.write(_summary(tally, before, hosts, arguments.crawl))
    if dropped:
        sys.stdout.write(say("{n} dropped by record steps", n=dropped) + "\n")
    if not arguments.no_learn:
        _learn_imported(settings, [host for host, pages in hosts.items() if pages >= LEAST_PAGES])
    return 1 if tally.failed else 0


def _summary(tally: Tally, before: int, hosts: Counter[str], crawl: str) -> str:
    stored = say(" ({n} were stored before)", n=before) if before else ""
    failed = say(", {n} gave no record", n=tally.failed) if tally.failed else ""
    is_are = "{pages} of {hosts} is stored as crawl {crawl}{more}"
    if tally.done != 1:
        is_are = "{pages} of {hosts} are stored as crawl {crawl}{more}"
    pages, of = counted(tally.done, "page"), counted(len(hosts), "host")
    return say(is_are, pages=pages, hosts=of, crawl=crawl, more=stored + failed) + "\n"


def _learn_imported(settings: Settings, hosts: Sequence[str]) -> None:
    """Learns hosts and re-cleans their pages; a line for each host.

    Raises:
        KeyboardInterrupt: Ctrl-C ended a re-cleaning.
    """
    from crawlclean.workers.operations.backends import Backends
    from crawlclean.workers.operations.hosts.host_models import learn_now
    from crawlclean.workers.operations.hosts.host_recleaning import reclean_host

    for host in hosts:
        with Backends(settings) as backends:
            learned = learn_now(backends, host)
        done = reclean_host(settings, host, lambda *_: None, dry_run=False, again=False)
        if done.interrupted:
            raise KeyboardInterrupt
        line = say(
            "{host}: learned version {version} of its model{new}, {done.cleaned} pages re-cleaned, "
            "{done.changed} changed",
            host=host,
            version=learned.about.version,
            new="" if learned.is_new else say(", as before"),
            done=done,
        )
        sys.stdout.write(line + "\n")
