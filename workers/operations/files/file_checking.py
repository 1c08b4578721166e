"""Checks a crawl file, a hosts file or a list of sites without crawling."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.shapes import readable
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.crawler.hosts_file import host_tables
from crawlclean.storage.crawl_types import CrawlSpec, Scope
from crawlclean.workers.answers.control import FileCheck, FileKind, PlannedCrawl
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.config import Settings, with_values
from crawlclean.workers.crawl_file.crawl_file import (
    HOSTS,
    OVERRIDES,
    SUFFIX,
    Problems,
    add_problems_of_tables,
    all_keys,
    parse_crawl_file,
)
from crawlclean.workers.crawl_file.toml_lines import (
    MAX_LIST_BYTES,
    MAX_TOML_BYTES,
    find_lines,
    read_text,
    read_toml,
)
from crawlclean.workers.operations.crawling.specs import (
    crawl_spec,
    find_seeds,
    find_urls,
    needs_contact,
    withheld_lines,
)

_PLACE = re.compile(r"(?P<path>.*?):(?P<line>\d+): (?P<text>.*)", re.DOTALL)
_LOOKS_LIKE_TOML = re.compile(r'(?:[^\S\n]*(?:#[^\n]*)?\n)*[^\S\n]*(?:\[|["\']?[\w-]+["\']?\s*=)')
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_ESCAPE = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
SECRET_KEYS = ("headers", "cookies", "proxy")


def check_file(settings: Settings, path: Path) -> FileCheck:
    """Reads a file and returns its problems, and what would be crawled.

    Args:
        settings: What a crawl file without the keys would get.
        path: The file; what it is shows in its name and content.
    """
    try:
        is_toml = path.suffix.lower() == SUFFIX
        text = read_text(path, MAX_TOML_BYTES if is_toml else MAX_LIST_BYTES)
        is_toml = is_toml or bool(_LOOKS_LIKE_TOML.match(text))
        tables = read_toml(text, path) if is_toml else {}
    except ConfigError as error:
        problems = Problems({})
        _add_error(str(error), path, problems)
        return FileCheck(
            file=str(path), kind=FileKind.UNREADABLE, problems=problems.all(), crawl=None
        )
    problems = Problems(find_lines(text) if is_toml else {})
    crawl = None
    if not is_toml:
        kind = FileKind.SITES
        crawl = _check_sites(settings, path, problems)
    elif _is_crawl_file(tables):
        kind = FileKind.CRAWL
        crawl = _check_crawl_file(settings, path, tables, problems)
    else:
        kind = FileKind.HOSTS
        add_problems_of_tables(tables, problems)
        _add_secrets(path, tables, problems)
    return FileCheck(file=str(path), kind=kind, problems=problems.all(), crawl=crawl)


def _is_crawl_file(tables: Mapping[str, Any]) -> bool:
    """Whether the tables are those of a crawl file: its keys stand among them, or no table."""
    has_tables = any(isinstance(each, dict) for each in tables.values())
    return (
        bool({HOSTS, OVERRIDES} & tables.keys())
        or not has_tables
        or not set(all_keys()).isdisjoint(tables)
    )


def _add_error(message: str, path: Path, problems: Problems) -> None:
    """Adds the problem in an error's message, which may begin with ``FILE:LINE: ``."""
    line = _AT_LINE.search(message)
    found = _PLACE.fullmatch(message)
    if line:
        problems.add_at(int(line[1]), message.removeprefix(f"{path}: "))
    elif found and found["path"] == str(path):
        problems.add_at(int(found["line"]), found["text"])
    else:
        problems.add_at(0, message.removeprefix(f"{path}: "))


def _check_sites(settings: Settings, path: Path, problems: Problems) -> PlannedCrawl | None:
    found, bad = find_urls(settings, path)
    for each in bad:
        _add_error(each, path, problems)
    if not found and not bad:
        problems.add("no URL: write one URL a line")
    if repeated := sum(found.values()) - len(found):
        problems.add(f"{repeated} repeated URLs are ignored", is_warning=True)
    if bad or not found:
        return None
    spec = crawl_spec(settings, list(found), "")
    _add_warnings(settings, spec, problems)
    return _planned(settings, spec, "")


def _check_crawl_file(
    settings: Settings, path: Path, tables: Mapping[str, Any], problems: Problems
) -> PlannedCrawl | None:
    file = parse_crawl_file(path, tables, problems)
    try:
        settings = with_values(settings, file.settings)
        found, bad = find_seeds(settings, file)
    except ConfigError as error:
        if not problems.all():  # else the line is known already
            problems.add(str(error), "seeds_file")
        return None
    for each in bad:
        _add_error(each, path, problems)
    if not (found or problems.all()):
        text = "no seeds: give URLs on the command line, or write seeds = [...]"
        problems.add(text, is_warning=True)
    _add_secrets(path, file.hosts, problems)
    if not found or problems.errors():
        return None
    try:
        spec = crawl_spec(settings, list(found), file.values.get("crawl", ""))
    except ConfigError as error:
        problems.add(str(error), "hosts_file" if ("hosts_file",) in file.lines else "crawl")
        return None
    _add_warnings(settings, spec, problems)
    return _planned(settings, spec, spec.crawl_id)


def _add_secrets(path: Path, tables: Mapping[str, Any], problems: Problems) -> None:
    """Adds a warning for secrets that others may read: on the way, or in the file."""
    secret = [
        name
        for name, table in tables.items()
        if isinstance(table, dict) and any(key in table for key in SECRET_KEYS)
    ]
    for name in secret:
        if name.lower().startswith("http://") and not set(tables[name]).isdisjoint(SECRET_KEYS[:2]):
            text = f'headers and cookies of "{name}" are sent without encryption'
            problems.add(text, is_warning=True)
    if secret and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        text = f"other users of this machine can read its secrets: chmod 600 {path}"
        problems.add(text, is_warning=True)


def _add_warnings(settings: Settings, spec: CrawlSpec, problems: Problems) -> None:
    """Adds what is allowed and probably not meant."""
    seeds = spec.seeds
    for name, patterns in (("include", spec.include), ("exclude", spec.exclude)):
        for n, pattern in enumerate(patterns):
            if _ESCAPE.search(pattern):
                shown = readable(pattern)
                hint = f": write {shown!r}" if shown != pattern else ""
                text = f"{name} {pattern!r} has escapes, URLs have characters there{hint}"
                problems.add(text, name, n, is_warning=True)
            hit = next(filter(UrlChoice([pattern]).is_included, seeds), "")
            if name == "include" and not hit:
                text = f"include {pattern!r} matches none of the seeds, which are fetched anyway"
                problems.add(text, name, n, is_warning=True)
            elif name == "exclude" and hit:
                text = f"exclude {pattern!r} matches the seed {hit}, which is fetched anyway"
                problems.add(text, name, n, is_warning=True)
    is_limited = (spec.max_pages, spec.max_depth, settings.crawl.max_time_s) != (None, None, None)
    if spec.scope is Scope.ANY and not is_limited:
        text = "scope any without max_pages, max_depth or max_time_s: the crawl does not end"
        problems.add(text, "scope", is_warning=True)
    if needs_contact(spec) and not settings.crawl.contact:
        problems.add("no contact: site owners cannot reach you", is_warning=True)
    for text in withheld_lines(settings, seeds):
        problems.add(text, is_warning=True)


def _planned(settings: Settings, spec: CrawlSpec, name: str) -> PlannedCrawl:
    hosts_file = settings.crawl.hosts_file
    hosts = read_toml(read_text(hosts_file, MAX_TOML_BYTES), hosts_file) if hosts_file else {}
    return answer_of(
        PlannedCrawl,
        spec,
        crawl=name,
        max_time_s=settings.crawl.max_time_s,
        delay_s=settings.crawl.delay_s,
        hosts=len(host_tables(hosts)),
        data=str(settings.storage.data) if settings.storage.is_embedded else "",
    )
