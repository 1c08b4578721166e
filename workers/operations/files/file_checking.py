"""Checks a crawl file, a hosts file or a list of sites without crawling."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.shapes import readable
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.crawler.hosts_file import host_tables
from crawlclean.storage.crawl_types import CrawlSpec, Scope
from crawlclean.workers.answers.control import FileCheck, FileKind, FileProblem, PlannedCrawl
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.config import Settings, with_values
from crawlclean.workers.crawl_file.crawl_file import (
    HOSTS,
    SUFFIX,
    Problem,
    all_keys,
    parse_crawl_file,
    problems_of_tables,
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
        if not is_toml and not _LOOKS_LIKE_TOML.match(text):
            return _check_sites(settings, path)
        tables = read_toml(text, path)
    except ConfigError as error:
        return _answer(path, FileKind.UNREADABLE, [_problem_of(str(error), path)])
    if _is_crawl_file(tables):
        return _check_crawl_file(settings, path, text, tables)
    problems = problems_of_tables(tables, find_lines(text))
    return _answer(path, FileKind.HOSTS, problems + list(_secrets(path, tables)))


def _is_crawl_file(tables: Mapping[str, Any]) -> bool:
    """Whether the tables are those of a crawl file: its keys stand among them, or no table."""
    has_tables = any(isinstance(each, dict) for each in tables.values())
    return HOSTS in tables or not has_tables or not set(all_keys()).isdisjoint(tables)


def _answer(
    path: Path, kind: FileKind, problems: Sequence[Problem], crawl: PlannedCrawl | None = None
) -> FileCheck:
    found = dict.fromkeys(
        FileProblem(line=each.line, text=each.text, is_warning=each.is_warning)
        for each in sorted(problems, key=lambda each: each.line)
    )
    return FileCheck(file=str(path), kind=kind, problems=tuple(found), crawl=crawl)


def _problem_of(message: str, path: Path) -> Problem:
    """Returns the problem in an error's message, which may begin with ``FILE:LINE: ``."""
    line = _AT_LINE.search(message)
    if line:
        text = message.removeprefix(f"{path}: ")
        return Problem(line=int(line[1]), text=text)
    found = _PLACE.fullmatch(message)
    if found and found["path"] == str(path):
        return Problem(line=int(found["line"]), text=found["text"])
    return Problem(line=0, text=message.removeprefix(f"{path}: "))


def _check_sites(settings: Settings, path: Path) -> FileCheck:
    found, bad = find_urls(settings, path)
    problems = [_problem_of(each, path) for each in bad]
    if not found and not bad:
        problems.append(Problem(line=0, text="no URL: write one URL a line"))
    repeated = sum(found.values()) - len(found)
    if repeated:
        text = f"{repeated} repeated URLs are ignored"
        problems.append(Problem(line=0, text=text, is_warning=True))
    if bad or not found:
        return _answer(path, FileKind.SITES, problems)
    spec = crawl_spec(settings, list(found), "")
    problems += _warnings(settings, spec, {})
    return _answer(path, FileKind.SITES, problems, _planned(settings, spec, ""))


def _check_crawl_file(
    settings: Settings, path: Path, text: str, tables: Mapping[str, Any]
) -> FileCheck:
    file, problems = parse_crawl_file(path, text, tables)
    try:
        settings = with_values(settings, file.settings)
        found, bad = find_seeds(settings, file)
    except ConfigError as error:
        if not problems:  # else the line is known already
            line = file.lines.get(("seeds_file",), 0)
            problems.append(Problem(line=line, text=str(error)))
        return _answer(path, FileKind.CRAWL, problems)
    problems += [_problem_of(each, path) for each in bad]
    if not (found or bad or problems):
        text = "no seeds: give URLs on the command line, or write seeds = [...]"
        problems.append(Problem(line=0, text=text, is_warning=True))
    problems += _secrets(path, file.hosts)
    if bad or not found or not all(each.is_warning for each in problems):
        return _answer(path, FileKind.CRAWL, problems)
    try:
        spec = crawl_spec(settings, list(found), file.values.get("crawl", ""))
    except ConfigError as error:
        line = file.lines.get(("hosts_file",)) or file.lines.get(("crawl",), 0)
        return _answer(path, FileKind.CRAWL, [*problems, Problem(line=line, text=str(error))])
    problems += _warnings(settings, spec, file.lines)
    return _answer(path, FileKind.CRAWL, problems, _planned(settings, spec, spec.crawl_id))


def _secrets(path: Path, tables: Mapping[str, Any]) -> Iterator[Problem]:
    """Yields a warning for secrets that others may read: on the way, or in the file."""
    secret = [
        name
        for name, table in tables.items()
        if isinstance(table, dict) and any(key in table for key in SECRET_KEYS)
    ]
    for name in secret:
        if name.lower().startswith("http://") and not set(tables[name]).isdisjoint(SECRET_KEYS[:2]):
            text = f'headers and cookies of "{name}" are sent without encryption'
            yield Problem(line=0, text=text, is_warning=True)
    if secret and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        text = f"other users of this machine can read its secrets: chmod 600 {path}"
        yield Problem(line=0, text=text, is_warning=True)


def _warnings(settings: Settings, spec: CrawlSpec, lines: Mapping[Any, int]) -> Iterator[Problem]:
    """Yields what is allowed and probably not meant."""
    seeds = spec.seeds
    for name, patterns in (("include", spec.include), ("exclude", spec.exclude)):
        for n, pattern in enumerate(patterns):
            line = lines.get((name, n), lines.get((name,), 0))
            if _ESCAPE.search(pattern):
                shown = readable(pattern)
                hint = f": write {shown!r}" if shown != pattern else ""
                text = f"{name} {pattern!r} has escapes, URLs have characters there{hint}"
                yield Problem(line=line, text=text, is_warning=True)
            alone = UrlChoice([pattern])
            if name == "include" and not any(map(alone.is_included, seeds)):
                text = f"include {pattern!r} matches none of the seeds, which are fetched anyway"
                yield Problem(line=line, text=text, is_warning=True)
            hit = next(filter(alone.is_included, seeds), "") if name == "exclude" else ""
            if hit:
                text = f"exclude {pattern!r} matches the seed {hit}, which is fetched anyway"
                yield Problem(line=line, text=text, is_warning=True)
    is_limited = (spec.max_pages, spec.max_depth, settings.crawl.max_time_s) != (None, None, None)
    if spec.scope is Scope.ANY and not is_limited:
        text = "scope any without max_pages, max_depth or max_time_s: the crawl does not end"
        yield Problem(line=lines.get(("scope",), 0), text=text, is_warning=True)
    if needs_contact(spec) and not settings.crawl.contact:
        yield Problem(line=0, text="no contact: site owners cannot reach you", is_warning=True)
    for text in withheld_lines(settings, seeds):
        yield Problem(line=0, text=text, is_warning=True)


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
