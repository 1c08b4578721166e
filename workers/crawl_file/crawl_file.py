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
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.url_choice import compile_patterns
from crawlclean.crawler.hosts_file import HostOverride, read_tables
from crawlclean.workers.config import DROPPED, SECTIONS
from crawlclean.workers.crawl_file.keys import HOSTS, Key, all_keys
from crawlclean.workers.crawl_file.text_files import MAX_TOML_BYTES, read_text, read_toml
from crawlclean.workers.crawl_file.toml_lines import Place, find_lines

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
        names = {each.name for cls in SECTIONS.values() for each in fields(cls)}
        found = {name: value for name, value in self.values.items() if name in names}
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
    hint = f"; did you mean {meant}?" if meant else "; `check --example` shows all keys"
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
                text=f"{key.name} has {_described(each)}: expected a text in quotes",
            )
            for n, each in enumerate(raw)
            if not isinstance(each, str)
        ]
        return tuple(raw), wrong
    if issubclass(key.kind, StrEnum) and isinstance(raw, str):
        if raw in {str(each) for each in key.kind}:
            return key.kind(raw), []
    elif key.kind is Path and isinstance(raw, str) and raw:
        return folder / raw, []
    elif key.kind is float and isinstance(raw, int | float) and not isinstance(raw, bool):
        return float(raw), []
    elif type(raw) is key.kind:
        return raw, []
    text = f"{key.name} is {_described(raw)}: expected {key.expected}"
    return None, [Problem(line=line, text=text)]


def _described(raw: Any) -> str:
    if isinstance(raw, dict | list):
        return "a table" if isinstance(raw, dict) else "an array"
    return str(raw).lower() if isinstance(raw, bool) else repr(raw)


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
    if values.get("at_once", 1) < 1:
        text = f"at_once is {values['at_once']}: at least 1 is needed"
        problems.append(Problem(line=lines.get(("at_once",), 0), text=text))
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
            Problem(line=lines.get((HOSTS,), 0), text=f"{HOSTS} is {_described(hosts)}, no table")
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
