"""Reads a crawl file: values of settings by name, seeds, and every problem with its line.

::

    seeds = ["https://example.com/"]
    max_depth = 3
    exclude = ['[?&]print=']

    [hosts."forum.example.com"]     # tables as in a hosts file
    delay_s = 2.5
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.url_choice import compile_patterns
from crawlclean.crawler.hosts_file import HostOverride, read_tables
from crawlclean.storage.config import Count, setting
from crawlclean.workers.config import (
    DROPPED,
    SECTIONS,
    Key,
    described,
    keys_of,
    read_value,
    setting_keys,
)
from crawlclean.workers.crawl_file.toml_lines import (
    MAX_TOML_BYTES,
    Place,
    find_lines,
    read_text,
    read_toml,
)

# The keys of a crawl file: all settings, and what `run` and `sites` take beside settings.
#
# The settings are the fields of ``workers/config.py`` and of the sections that it names; a new
# setting is a key of the file, a row of ``docs/crawl-file.md`` and a line of the example at once.

HOSTS = "hosts"
HOSTS_HELP = 'tables of single hosts, as in a hosts file: [hosts."forum.example.com"]'
AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """What a crawl file holds beside settings: the seeds, and the names of things."""

    seeds: tuple[str, ...] = setting((), "seed URLs; for `sites`, each one is a site")
    seeds_file: Path | None = setting(None, "file with one seed URL per line; # begins a comment")
    crawl: str = setting("", "name of the crawl, for `run` (default: made from the URLs)")
    at_once: Count = setting(AT_ONCE, "sites in parallel, for `sites`")


@cache
def all_keys() -> Mapping[str, Key]:
    """The keys by name, in the order of the documentation; ``hosts`` is a table beside."""
    settings = sorted(setting_keys().values(), key=lambda key: ORDER.index(key.section))
    return {key.name: key for key in (*keys_of("seeds", Seeds), *settings)}


ORDER = ("crawl", "storage", "workers")


def as_toml(value: object) -> str:
    """Returns a value as a crawl file has it: ``true``, ``"host"``, ``['/news/']``."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and not isinstance(value, StrEnum):
        return str(value)
    text = str(value)
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


EXAMPLES: Mapping[str, Any] = {
    "seeds": ("https://example.com/", "https://example.com/新闻/"),
    "seeds_file": Path("seeds.txt"),
    "crawl": "example-news",
    "max_pages": 500,
    "max_time_s": 3600.0,
    "max_depth": 3,
    "include": (r"/news/\d{4}/", "/新闻/"),
    "exclude": ("[?&]print=",),
    "delay_s": 2.0,
    "hosts_file": Path("hosts.toml"),
    "contact": "you@example.com",
    "redis_url": "redis://127.0.0.1:6379/0",
    "mongodb_url": "mongodb://127.0.0.1:27017/crawls",
}
"""Values of the example for keys whose default shows nothing."""

IN_FORCE = frozenset({"seeds", "max_pages", "exclude", "contact"})
"""Keys of the example that are no comment."""


def example() -> str:
    """Returns a crawl file with every key; most are comments with the default or an example."""
    lines = [
        "# A crawl file: `run FILE`, `sites FILE`, `doctor FILE`. The command line wins over it."
    ]
    lines += ["# Relative paths begin at the folder of this file.", ""]
    section = ""
    for key in all_keys().values():
        if key.section != section:
            lines += ["", f"# --- {key.section} ---", ""]
            section = key.section
        value = EXAMPLES.get(key.name, key.default)
        mark = "" if key.name in IN_FORCE else "# "
        lines += [f"# {key.help}", f"{mark}{key.name} = {as_toml(value)}"]
    lines += ["", "# --- hosts ---", "", f"# {HOSTS_HELP}"]
    lines += ['[hosts."forum.example.com"]', "delay_s = 2.5", "# slots = 2"]
    lines += ['# user_agent = "Partner/1.0"', '# cookies = { session = "..." }']
    return "\n".join(lines) + "\n"


SUFFIX = ".toml"
MAX_SHOWN = 20  # problems that one error names
OPTIONS = {
    "depth": "max_depth",
    "max_time": "max_time_s",
    "delay": "delay_s",
    "timeout": "timeout_s",
}
OVERRIDE_KEYS = tuple(each.name for each in fields(HostOverride))
PATTERNS = ("include", "exclude")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of a file.

    Attributes:
        line: From 1; 0 when it belongs to no line.
        text: What is wrong, ``depth is no key of a crawl file; did you mean max_depth?``.
        is_warning: Whether the file can be used all the same.
    """

    line: int
    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFile:
    """The valid part of a crawl file.

    Attributes:
        path: Of the file.
        values: Of the keys that it has, with paths from its folder: ``{"max_depth": 3}``.
        hosts: The tables of hosts, as in a hosts file.
        lines: Line of each key and of each element of an array.
    """

    path: Path
    values: Mapping[str, Any]
    hosts: Mapping[str, Any]
    lines: Mapping[Place, int]

    @property
    def settings(self) -> dict[str, Any]:
        """Values of settings by name; tables of hosts make the file a hosts file, too."""
        found = {name: value for name, value in self.values.items() if name in setting_keys()}
        return found | ({"hosts_file": self.path} if self.hosts else {})


def is_crawl_file(path: object) -> bool:
    """Whether an argument of `run` or `sites` names a crawl file: it ends in ``.toml``."""
    text = str(path)
    return text.lower().endswith(SUFFIX) and "://" not in text


def load_crawl_file(path: Path) -> CrawlFile:
    """Reads a crawl file.

    Raises:
        ConfigError: It cannot be read, or has errors: the message names the first 20, each with
            its line.
    """
    text = read_text(path, MAX_TOML_BYTES)
    file, problems = parse_crawl_file(path, text, read_toml(text, path))
    errors = [each for each in problems if not each.is_warning]
    if errors:
        lines = [shown(path, each) for each in errors[:MAX_SHOWN]]
        more = [f"and {len(errors) - MAX_SHOWN} more"] if len(errors) > MAX_SHOWN else []
        raise ConfigError("\n".join(lines + more))
    return file


def shown(path: Path, problem: Problem) -> str:
    """Returns a problem as a line: ``crawl.toml:3: depth is no key of a crawl file``."""
    place = f"{path}:{problem.line}" if problem.line else str(path)
    return f"{place}: {problem.text}"


def parse_crawl_file(
    path: Path, text: str, tables: Mapping[str, Any]
) -> tuple[CrawlFile, list[Problem]]:
    """Returns (the valid part of a crawl file, all problems in the order of lines)."""
    lines = find_lines(text)
    keys = all_keys()
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    hosts = tables.get(HOSTS, {})
    for name, raw in tables.items():
        if name == HOSTS:
            problems += _problems_of_hosts(hosts, lines)
        elif name not in keys or isinstance(raw, dict):
            problems.append(Problem(line=lines.get((name,), 0), text=_unknown(name, raw, keys)))
        else:
            value, wrong = _value(keys[name], raw, path.parent, lines)
            problems += wrong
            if not wrong:
                values[name] = value
    problems += _problems_of_settings(values, lines)
    if hosts and "hosts_file" in tables:
        line = lines.get(("hosts_file",), 0)
        problems.append(Problem(line=line, text="hosts_file and [hosts] are both there: use one"))
    file = CrawlFile(
        path=path, values=values, hosts=hosts if isinstance(hosts, dict) else {}, lines=lines
    )
    return file, sorted(problems, key=lambda each: each.line)


def _unknown(name: str, raw: Any, keys: Mapping[str, Key]) -> str:
    if isinstance(raw, dict) and set(raw) & set(keys) - set(OVERRIDE_KEYS):
        return f"[{name}] is not a table of a crawl file: its keys stand alone, above all tables"
    if isinstance(raw, dict):
        return f'[{name}] is not a table of a crawl file: hosts are in [{HOSTS}."{name}"]'
    if name in DROPPED:
        return f"{name} is gone: {DROPPED[name]}"
    option = name.replace("-", "_")
    near = difflib.get_close_matches(option, keys, n=1, cutoff=0.6)
    meant = OPTIONS.get(option) or (option if option in keys else "") or (near[0] if near else "")
    hint = f"; did you mean {meant}?" if meant else "; `doctor --example` shows all keys"
    return f"{name} is not a key of a crawl file{hint}"


def _value(
    key: Key, raw: Any, folder: Path, lines: Mapping[Place, int]
) -> tuple[Any, list[Problem]]:
    """Returns (the value of a key, its problems)."""
    line = lines.get((key.name,), 0)
    if key.kind is tuple and isinstance(raw, list):
        wrong = [
            Problem(
                line=lines.get((key.name, n), line),
                text=f"{key.name} has {described(each)}: expected a text in quotes",
            )
            for n, each in enumerate(raw)
            if not isinstance(each, str)
        ]
        return tuple(raw), wrong
    try:
        return read_value(key, raw, folder=folder), []
    except ConfigError as error:
        return None, [Problem(line=line, text=str(error))]


def _problems_of_settings(values: Mapping[str, Any], lines: Mapping[Place, int]) -> list[Problem]:
    """Returns a problem for each value that its section of the settings refuses."""
    problems = []
    for cls in SECTIONS.values():
        own = {each.name: values[each.name] for each in fields(cls) if each.name in values}
        if _refusal(cls, own) is None:
            continue
        blamed = [(name, why) for name in own if (why := _refusal(cls, {name: own[name]}))]
        for name, why in blamed or [("", _refusal(cls, own) or "")]:
            line = lines.get((name,), 0)
            patterns = _problems_of_patterns(name, values, lines) if name in PATTERNS else []
            problems += patterns or [Problem(line=line, text=why)]
    return problems


def _refusal(cls: type[Any], values: Mapping[str, Any]) -> str | None:
    try:
        cls(**values)
    except ConfigError as error:
        return str(error)
    return None


def _problems_of_patterns(
    name: str, values: Mapping[str, Any], lines: Mapping[Place, int]
) -> list[Problem]:
    """Returns a problem for each invalid pattern, with the line of the pattern."""
    problems = []
    for n, pattern in enumerate(values[name]):
        try:
            compile_patterns(name, [pattern])
        except ConfigError as error:
            line = lines.get((name, n), lines.get((name,), 0))
            problems.append(Problem(line=line, text=str(error)))
    return problems


def _problems_of_hosts(hosts: Any, lines: Mapping[Place, int]) -> list[Problem]:
    if not isinstance(hosts, dict):
        return [
            Problem(line=lines.get((HOSTS,), 0), text=f"{HOSTS} is {described(hosts)}, no table")
        ]
    return problems_of_tables(hosts, lines, (HOSTS,))


def problems_of_tables(
    tables: Mapping[str, Any], lines: Mapping[Place, int], top: Place = ()
) -> list[Problem]:
    """Returns a problem for each invalid table of hosts, with the line of the key or the table."""
    _, wrong = read_tables(tables)
    problems = []
    for name, why in wrong:
        key = re.split("[:;]", why.removeprefix("has no key "), maxsplit=1)[0]
        line = lines.get((*top, name, key)) or lines.get((*top, name), 0)
        problems.append(Problem(line=line, text=f'"{name.rpartition("@")[2]}" {why}'))
    return problems
