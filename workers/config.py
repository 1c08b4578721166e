"""The section ``workers`` of the settings, and the reading of all sections.

Each package has one section: ``storage/config.py``, ``crawler/config.py``, and this file. Flags
beat the environment (``CRAWLCLEAN_DELAY_S=2``), the environment beats the defaults. The environment
is read at process entry points only. An unknown name with our prefix is an error, so that a
misspelt one is not silently ignored.
"""

from __future__ import annotations

import os
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.config import CrawlConfig
from crawlclean.storage.config import OWN_QUEUES, StorageConfig

PREFIX = f"{__dist__.upper()}_"
FOREIGN = ("TEST_", "BENCH_")  # read by the tests and benchmarks, not by the program
MAX_WORKERS = 64  # or four a core: more only fill the memory
TRUE = frozenset({"1", "true", "yes", "on"})
USER_PART = re.compile(r"(?<=://).*@")  # to the last @: a password may contain @ and /
# CRAWLCLEAN_REDIS_URL_FILE names a file with the URL
SECRETS = ("redis_url", "mongodb_url", "webhook_secret")
FILE_SUFFIX = "_FILE"
FALSE = frozenset({"0", "false", "no", "off", ""})
DROPPED = {"queue_server": OWN_QUEUES, "servers": OWN_QUEUES}
"""Settings and options of earlier versions, and what stands in for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """Settings of the worker processes and of the log."""

    workers: int = field(
        default=0, metadata={"help": "worker processes of `run`; 0 = processor cores - 1"}
    )
    log_level: str = field(default="info", metadata={"help": "debug, info, warning or error"})
    hooks: str = field(
        default="all",
        metadata={"help": "hooks of installed packages to use: all, none, or names, as a,b"},
    )
    webhook_secret: str = field(
        default="",
        metadata={
            "help": "signs what topics send to webhooks (Standard Webhooks); "
            "with _FILE behind the name: the file that holds it"
        },
    )

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ConfigError(f"workers is {self.workers}: it cannot be negative")
        most = max(MAX_WORKERS, 4 * (os.cpu_count() or 1))
        if self.workers > most:
            raise ConfigError(f"workers is {self.workers}: at most {most} on this machine")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise ConfigError(
                f"log_level is {self.log_level!r}: expected debug, info, warning or error"
            )

    @property
    def count(self) -> int:
        """Number of workers that `run` starts."""
        return self.workers or max(1, (os.cpu_count() or 2) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one process: one section for each package."""

    storage: StorageConfig = field(default_factory=StorageConfig)
    crawl: CrawlConfig = field(default_factory=CrawlConfig)
    workers: WorkerConfig = field(default_factory=WorkerConfig)


SECTIONS: dict[str, type[Any]] = {
    "storage": StorageConfig,
    "crawl": CrawlConfig,
    "workers": WorkerConfig,
}


def variable(name: str) -> str:
    """Returns the environment variable of a setting: ``CRAWLCLEAN_DELAY_S`` for ``delay_s``."""
    return PREFIX + name.upper()


def load_settings(
    environ: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    options: Mapping[str, str] | None = None,
) -> Settings:
    """Loads the settings: flags beat the environment, the environment beats the defaults.

    Args:
        environ: Environment variables; with the suffix ``_FILE`` the variable of a server's URL
            names a file that holds the URL.
        flags: Values by field name: ``{"delay_s": "2"}``; None: not given.
        options: How flags were typed, by field name: ``{"delay_s": "--delay"}``; for messages.

    Raises:
        ConfigError: A variable is unknown, or a value is invalid.
    """
    flags = flags or {}
    environ = _with_secret_files(environ)
    known = {variable(f.name): f.name for s in SECTIONS.values() for f in fields(s)}
    for name in environ:
        ours = name.startswith(PREFIX) and not name.removeprefix(PREFIX).startswith(FOREIGN)
        if ours and name not in known:
            if instead := DROPPED.get(name.removeprefix(PREFIX).lower()):
                raise ConfigError(f"{name} is gone: {instead}")
            raise ConfigError(f"{name} is not a setting; `{__dist__} config` lists them")
    sections: dict[str, Any] = {}
    for section, cls in SECTIONS.items():
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for f in fields(cls):
            given = flags.get(f.name)
            if isinstance(given, str):
                values[f.name] = _read(f"--{f.name.replace('_', '-')}", given, hints[f.name])
            elif given is not None:
                values[f.name] = tuple(given) if isinstance(given, list) else given
            elif variable(f.name) in environ:
                values[f.name] = _read(variable(f.name), environ[variable(f.name)], hints[f.name])
        try:
            sections[section] = cls(**values)
        except ConfigError as error:
            name, _, text = str(error).partition(" ")
            if name not in values:
                raise
            typed = variable(name) if flags.get(name) is None else (options or {}).get(name, name)
            raise ConfigError(f"{typed} {text}") from None
    return Settings(**sections)


def _with_secret_files(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the environment with the content of secret files under their settings' names.

    Raises:
        ConfigError: A file cannot be read or is empty, or its setting is given, too.
    """
    read = dict(environ)
    for name in map(variable, SECRETS):
        path = read.pop(name + FILE_SUFFIX, None)
        if path is None:
            continue
        if name in read:
            raise ConfigError(f"{name} and {name}{FILE_SUFFIX} are both set: unset one of them")
        try:
            read[name] = Path(path).read_text("utf-8").strip()
        except OSError as error:
            raise ConfigError(
                f"{name}{FILE_SUFFIX}: cannot read {path}: {error.strerror}"
            ) from None
        except ValueError:
            raise ConfigError(f"{name}{FILE_SUFFIX}: {path} is not UTF-8 text") from None
        if not read[name]:
            raise ConfigError(f"{name}{FILE_SUFFIX}: {path} is empty")
    return read


def to_environ(settings: Settings) -> dict[str, str]:
    """Returns the environment variables from which another process loads these settings."""
    out = {}
    for section, cls in SECTIONS.items():
        for f in fields(cls):
            value = getattr(getattr(settings, section), f.name)
            if value is not None:
                out[variable(f.name)] = _as_text(value)
    return out


def _as_text(value: object) -> str:
    """A value as an environment variable has it; of several values each is a line."""
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


def rows(settings: Settings) -> list[tuple[str, str, str, str]]:
    """Returns every setting in order, with users and passwords of URLs hidden.

    Returns:
        (section, name, value, help): ``("crawl", "delay_s", "2.0", "seconds between ...")``.
    """
    return [
        (
            section,
            f.name,
            _shown(f.name, getattr(getattr(settings, section), f.name)),
            f.metadata["help"],
        )
        for section, cls in SECTIONS.items()
        for f in fields(cls)
    ]


def _shown(name: str, value: object) -> str:
    if name == "webhook_secret":
        return "***" if value else ""
    if not name.endswith("_url"):
        return _as_text(value).replace("\n", " ")
    # A value without a scheme is not a URL; it may be the password alone.
    return USER_PART.sub("***@", str(value)) if not value or "://" in str(value) else "***"


def _read(name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(k for k in get_args(kind) if k is not type(None))
        if not text:
            return None
    if get_origin(kind) is tuple:
        return tuple(filter(None, text.splitlines()))
    try:
        if kind is bool:
            if text.lower() not in TRUE | FALSE:
                raise ValueError(text)
            return text.lower() in TRUE
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return kind(text)
        return Path(text) if kind is Path else kind(text)
    except ValueError:
        choices = (
            ", ".join(kind)
            if isinstance(kind, type) and issubclass(kind, StrEnum)
            else kind.__name__
        )
        raise ConfigError(f"{name} is {text!r}: expected {choices}") from None
