"""Reads a crawl file: values of settings by name, seeds, and every problem with its line.

::

    seeds = ["https://example.com/"]
    max_depth = 3
    exclude = ['[?&]print=']

    [hosts."forum.example.com"]     # tables as in a hosts file
    delay_s = 2.5

    [overrides."www.example.com/news/*.html"]
    drop = ["div.share"]

    [receivers.oncall]
    kind = "feishu"
    target = "https://open.feishu.cn/open-apis/bot/v2/hook/..."
    signs = "bad"
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError, InvalidUrl
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.urls.normal_form import host_of, normalize
from crawlclean.cleaning.urls.url_choice import compile_patterns
from crawlclean.crawler.hosts_file import HostOverride, read_tables
from crawlclean.storage.config import Count, setting
from crawlclean.storage.receiver_types import ReceiverOrder
from crawlclean.workers.answers.control import FileProblem
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
from crawlclean.workers.receiver_orders import read_order

if TYPE_CHECKING:
    from crawlclean.cleaning.model.overrides import Override

# The keys of a crawl file: all settings, and what `run` and `sites` take beside settings.
#
# The settings are the fields of ``workers/config.py`` and of the sections that it names; a new
# setting is a key of the file, a row of ``docs/crawl-file.md`` and a line of the example at once.

HOSTS = "hosts"
HOSTS_HELP = 'tables of single hosts, as in a hosts file: [hosts."forum.example.com"]'
OVERRIDES = "overrides"
OVERRIDES_HELP = (
    "what you say of the pages of a host or of a URL class: "
    '[overrides."www.example.com/news/*.html"]'
)
RECEIVERS = "receivers"
RECEIVERS_HELP = "who is told of signs, stories and ends of crawls: [receivers.oncall]"
AT_ONCE = 16  # each waits for its own host; a worker keeps as many site models


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """What a crawl file holds beside settings: the seeds, and the names of things."""

    seeds: tuple[str, ...] = setting((), "seed URLs; for `sites`, each one is a site")
    seeds_file: Path | None = setting(None, "file with one seed URL per line; # begins a comment")
    crawl: str = setting("", "name of the crawl, for `run` (default: made from the URLs)")
    at_once: Count = setting(AT_ONCE, "sites in parallel, for `sites`")


@cache
def all_keys() -> Mapping[str, Key]:
    """The keys by name, in the order of the documentation; two tables stand beside."""
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
    lines += ["", "# --- overrides ---", "", f"# {OVERRIDES_HELP}"]
    lines += ['[overrides."www.example.com/news/*.html"]', 'drop = ["div.share"]']
    lines += ['# body = ["#text", "//div[@class=\'text\']"]', '# keep = ["p.lead"]']
    lines += ['# title = ["h1"]', '# author = ["span.by"]', '# date = ["time"]']
    lines += ['# next = ["a.next"]', '# kind = "article"']
    lines += ["", "# --- receivers ---", "", f"# {RECEIVERS_HELP}", "# [receivers.oncall]"]
    lines += ['# kind = "feishu"  # or dingtalk, wecom, slack, mail, webhook']
    lines += ['# target = "https://open.feishu.cn/open-apis/bot/v2/hook/..."']
    lines += ['# signs = "bad"  # or "warn"', "# ended = true", '# stories = ["quake"]']
    lines += ['# digest = ["quake"]', '# digest_at = "08:00"', '# zone = "Asia/Shanghai"']
    lines += ['# quiet = "22:00-07:00"', "# red_passes = true", "# most_an_hour = 20"]
    lines += ['# lang = "zh"']
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


class Problems:
    """The problems of a file, with their lines."""

    def __init__(self, lines: Mapping[Place, int]) -> None:
        """Has none yet; ``lines`` are those of its keys."""
        self.lines = lines
        self._found: list[FileProblem] = []

    def add(self, text: str, *place: str | int, is_warning: bool = False) -> None:
        """Adds one at the line of a place; of a place without a line, at the line around it."""
        places = (place[:n] for n in range(len(place), 0, -1))
        line = next((self.lines[each] for each in places if each in self.lines), 0)
        self.add_at(line, text, is_warning=is_warning)

    def add_at(self, line: int, text: str, *, is_warning: bool = False) -> None:
        """Adds one at a line, from 1; 0: it belongs to no line."""
        self._found.append(FileProblem(line=line, text=text, is_warning=is_warning))

    def all(self) -> tuple[FileProblem, ...]:
        """Each once, in the order of lines."""
        return tuple(dict.fromkeys(sorted(self._found, key=lambda each: each.line)))

    def errors(self) -> list[FileProblem]:
        """Those with which the file cannot be used."""
        return [each for each in self.all() if not each.is_warning]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFile:
    """The valid part of a crawl file.

    Attributes:
        path: Of the file.
        values: Of the keys that it has, with paths from its folder: ``{"max_depth": 3}``.
        hosts: The tables of hosts, as in a hosts file.
        overrides: Those of each host that has a table; () where all its tables are empty.
        receivers: Those of its tables, by name.
        lines: Line of each key and of each element of an array.
    """

    path: Path
    values: Mapping[str, Any]
    hosts: Mapping[str, Any]
    overrides: Mapping[str, tuple[Override, ...]]
    receivers: Mapping[str, ReceiverOrder]
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
    problems = Problems(find_lines(text))
    file = parse_crawl_file(path, read_toml(text, path), problems)
    if errors := problems.errors():
        lines = [_shown(path, each) for each in errors[:MAX_SHOWN]]
        more = [f"and {len(errors) - MAX_SHOWN} more"] if len(errors) > MAX_SHOWN else []
        raise ConfigError("\n".join(lines + more))
    return file


def _shown(path: Path, problem: FileProblem) -> str:
    """Returns a problem as a line: ``crawl.toml:3: depth is no key of a crawl file``."""
    place = f"{path}:{problem.line}" if problem.line else str(path)
    return f"{place}: {problem.text}"


def parse_crawl_file(path: Path, tables: Mapping[str, Any], problems: Problems) -> CrawlFile:
    """Returns the valid part of a crawl file; adds what is wrong with it."""
    keys = all_keys()
    values: dict[str, Any] = {}
    hosts = tables.get(HOSTS, {})
    overrides: Mapping[str, tuple[Override, ...]] = {}
    receivers: Mapping[str, ReceiverOrder] = {}
    for name, raw in tables.items():
        if name == HOSTS and isinstance(raw, dict):
            add_problems_of_tables(raw, problems, (HOSTS,))
        elif name == OVERRIDES and isinstance(raw, dict):
            overrides = _overrides(raw, problems)
        elif name == RECEIVERS and isinstance(raw, dict):
            receivers = _receivers(raw, problems)
        elif name in (HOSTS, OVERRIDES, RECEIVERS):
            problems.add(f"{name} is {described(raw)}, no table", name)
        elif name not in keys or isinstance(raw, dict):
            problems.add(_unknown(name, raw, keys), name)
        elif (value := _value(keys[name], raw, path.parent, problems)) is not None:
            values[name] = value
    for name, why in _refused(values):
        problems.add(why, name)
    if hosts and "hosts_file" in tables:
        problems.add("hosts_file and [hosts] are both there: use one", "hosts_file")
    is_table = isinstance(hosts, dict)
    return CrawlFile(
        path=path,
        values=values,
        hosts=hosts if is_table else {},
        overrides=overrides,
        receivers=receivers,
        lines=problems.lines,
    )


def _overrides(tables: Mapping[str, Any], problems: Problems) -> dict[str, tuple[Override, ...]]:
    """Returns the valid overrides by host; adds a problem for each wrong key and selector."""
    from crawlclean.cleaning.model.overrides import Override, check_overrides  # with a parser

    found: dict[str, list[Override]] = {}
    for name, table in tables.items():
        host, slash, path = name.partition("/")
        try:
            host = host_of(normalize(f"http://{host}/"))
        except InvalidUrl:
            problems.add(
                f"{name} is no host: write example.com, or example.com/news/*.html", OVERRIDES, name
            )
            continue
        if not isinstance(table, dict):
            problems.add(f"{name} is {described(table)}, no table", OVERRIDES, name)
            continue
        values = {key: _said(key, raw, problems, name) for key, raw in table.items()}
        values = {key: value for key, value in values.items() if value}
        of_host = found.setdefault(host, [])
        if values:
            of_host.append(Override(pattern=slash + path, **values))
            try:
                check_overrides(of_host)
            except ConfigError as error:  # one of the selectors is named already, or all are long
                problems.add(str(error), OVERRIDES, name)
    return {host: tuple(each) for host, each in found.items()}


def _receivers(tables: Mapping[str, Any], problems: Problems) -> dict[str, ReceiverOrder]:
    """Returns the valid receivers; adds a problem for each of the others."""
    found = {}
    for name, table in tables.items():
        try:
            if not isinstance(table, dict):
                raise ConfigError(f"{name} is {described(table)}, no table")
            found[name] = read_order(name, table)
        except ConfigError as error:
            key = re.split("[: ]", str(error), maxsplit=1)[0]
            problems.add(str(error), RECEIVERS, name, key)
    return found


def _said(key: str, raw: Any, problems: Problems, name: str) -> Any:
    """The value of a key of an override; None, and adds what is wrong with it, when it is none."""
    if key == "kind":
        if raw in set(PageKind):
            return PageKind(raw)
        kinds = ", ".join(PageKind)
        problems.add(f"kind is {described(raw)}: one of {kinds}", OVERRIDES, name, key)
        return None
    from crawlclean.cleaning.document.outline import selector
    from crawlclean.cleaning.model.overrides import SELECTED

    if key not in SELECTED:
        text = f"{key} is not a key of an override: these are {', '.join(SELECTED)}, kind"
        problems.add(text, OVERRIDES, name, key)
        return None
    found = []
    for n, each in enumerate(raw if isinstance(raw, list) else [raw]):
        try:
            if not isinstance(each, str):
                raise ConfigError(f"{key} has {described(each)}: expected a text in quotes")
            selector(each)
            found.append(each)
        except ConfigError as error:
            problems.add(str(error), OVERRIDES, name, key, n)
    return tuple(found)


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


def _value(key: Key, raw: Any, folder: Path, problems: Problems) -> Any:
    """Returns the value of a key; None, and adds what is wrong with it, when it is none."""
    name = key.name
    if key.kind is not tuple or not isinstance(raw, list):
        try:
            return read_value(key, raw, folder=folder)
        except ConfigError as error:
            problems.add(str(error), name)
            return None
    is_valid = True
    for n, each in enumerate(raw):
        try:
            if not isinstance(each, str):
                raise ConfigError(f"{name} has {described(each)}: expected a text in quotes")
            if name in PATTERNS:
                compile_patterns(name, [each])
        except ConfigError as error:
            problems.add(str(error), name, n)
            is_valid = False
    return tuple(raw) if is_valid else None


def _refused(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields (name, why) of each value that its section of the settings refuses."""
    for cls in SECTIONS.values():
        own = {each.name: values[each.name] for each in fields(cls) if each.name in values}
        whole = _refusal(cls, own)
        blamed = [(name, why) for name in own if (why := _refusal(cls, {name: own[name]}))]
        if whole:
            yield from blamed or [("", whole)]


def _refusal(cls: type[Any], values: Mapping[str, Any]) -> str:
    try:
        cls(**values)
    except ConfigError as error:
        return str(error)
    return ""


def add_problems_of_tables(tables: Mapping[str, Any], problems: Problems, top: Place = ()) -> None:
    """Adds a problem for each invalid table of hosts, at the line of the key or the table."""
    for name, why in read_tables(tables)[1]:
        key = re.split("[:;]", why.removeprefix("has no key "), maxsplit=1)[0]
        problems.add(f'"{name.rpartition("@")[2]}" {why}', *top, name, key)
