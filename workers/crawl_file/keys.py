"""The keys of a crawl file: all settings, and what `run` and `sites` take beside settings.

The settings are the fields of ``workers/config.py`` and of the sections that it names; a new
setting is a key of the file, a row of ``docs/crawl-file.md`` and a line of the example at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from crawlclean.storage.crawl_types import Scope
from crawlclean.workers.config import SECTIONS

HOSTS = "hosts"
HOSTS_HELP = 'tables of single hosts, as in a hosts file: [hosts."forum.example.com"]'
AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """What a crawl file holds beside settings: the seeds, and the names of things."""

    seeds: tuple[str, ...] = field(
        default=(), metadata={"help": "seed URLs; for `sites`, each one is a site"}
    )
    seeds_file: Path | None = field(
        default=None,
        metadata={"help": "file with one seed URL per line; # begins a comment"},
    )
    crawl: str = field(
        default="", metadata={"help": "name of the crawl, for `run` (default: made from the URLs)"}
    )
    at_once: int = field(default=AT_ONCE, metadata={"help": "sites in parallel, for `sites`"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a crawl file.

    Attributes:
        name: As written: ``max_depth``.
        section: Where it is documented: ``seeds``, ``crawl``, ``storage`` or ``workers``.
        kind: Type of its value, without None: ``int``, ``Scope``, ``Path``, ``tuple``.
        default: Value without the key; None: there is none.
        help: What it means.
    """

    name: str
    section: str
    kind: type
    default: Any
    help: str

    @property
    def expected(self) -> str:
        """The values that it takes, for a person: ``a whole number``, ``host, domain or any``."""
        if issubclass(self.kind, StrEnum):
            *others, last = (json.dumps(str(each)) for each in self.kind if each is not Scope.TOPIC)
            return f"{', '.join(others)} or {last}"
        return {
            bool: "true or false",
            int: "a whole number",
            float: "a number",
            tuple: "an array of strings",
            Path: "a path in quotes",
            str: "a text in quotes",
        }[self.kind]


def all_keys() -> dict[str, Key]:
    """Returns the keys by name, in the order of the documentation; ``hosts`` is a table beside."""
    order: dict[str, type[Any]] = {"seeds": Seeds, **{name: SECTIONS[name] for name in ORDER}}
    return {
        each.name: _key(section, each, get_type_hints(cls)[each.name])
        for section, cls in order.items()
        for each in fields(cls)
    }


ORDER = ("crawl", "storage", "workers")


def _key(section: str, of: Field[Any], hint: Any) -> Key:
    if get_origin(hint) in (Union, UnionType):
        hint = next(each for each in get_args(hint) if each is not type(None))
    default = None if of.default is MISSING else of.default
    return Key(
        name=of.name,
        section=section,
        kind=get_origin(hint) or hint,
        default=default,
        help=of.metadata["help"],
    )


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
        "# A crawl file: `run FILE`, `sites FILE`, `check FILE`. The command line wins over it."
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
