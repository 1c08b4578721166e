"""The section ``workers`` of the settings, and the reading of all sections.

Each package has one section: ``storage/config.py``, ``crawler/config.py``, and this file. Flags
beat the environment (``CRAWLCLEAN_DELAY_S=2``), the environment beats the defaults. The environment
is read at process entry points only. An unknown name with our prefix is an error, so that a
misspelt one is not silently ignored.

Flags, variables and the keys of a crawl file are read by one function, by the types of the fields.
"""

from __future__ import annotations

import json
import os
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.config import CrawlConfig, Finite
from crawlclean.storage.config import OWN_QUEUES, Natural, StorageConfig, setting
from crawlclean.storage.crawl_types import Scope

PREFIX = f"{__dist__.upper()}_"
FOREIGN = ("TEST_", "BENCH_")  # read by the tests and benchmarks, not by the program
MAX_WORKERS = 64  # or four a core: more only fill the memory
USER_PART = re.compile(r"(?<=://).*@")  # to the last @: a password may contain @ and /
# CRAWLCLEAN_REDIS_URL_FILE names a file with the URL
SECRETS = ("redis_url", "mongodb_url", "webhook_secret", "receiver_secrets", "smtp_password")
HIDDEN = SECRETS[2:]
FILE_SUFFIX = "_FILE"
SWITCHES = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(
    ("0", "false", "no", "off", ""), False
)
DROPPED = {"queue_server": OWN_QUEUES, "servers": OWN_QUEUES}
"""Settings and options of earlier versions, and what stands in for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """Settings of the worker processes and of the log."""

    workers: Natural = setting(0, "worker processes of `run`; 0 = processor cores - 1")
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "debug, info, warning or error"
    )
    lang: Literal["", "en", "zh"] = setting(
        "", "language of commands for people: en, zh; empty: as LC_ALL, LC_MESSAGES or LANG says"
    )
    hooks: str = setting("all", "hooks of installed packages to use: all, none, or names, as a,b")
    webhook_secret: str = setting(
        "",
        "signs what webhooks are sent (Standard Webhooks); "
        "with _FILE behind the name: the file that holds it",
    )
    receiver_secrets: str = setting(
        "",
        "secrets of single receivers, NAME=SECRET, each on a line of its own: of webhooks in place "
        "of webhook_secret, of robots of Feishu and DingTalk; with _FILE: the file that holds them",
    )
    smtp_server: str = setting("", "mail server for receivers of mail: host, or host:port")
    smtp_security: Literal["starttls", "tls", "none"] = setting(
        "starttls", "how the mail server is reached: starttls, tls (from the first byte), none"
    )
    smtp_user: str = setting("", "user at the mail server; empty: it wants none")
    smtp_password: str = setting(
        "", "password at the mail server; with _FILE behind the name: the file that holds it"
    )
    smtp_from: str = setting("", "sender of mails (default: smtp_user)")
    console_url: str = setting(
        "", "where people reach the console, https://crawl.example.com: for links in messages"
    )
    mended_after_s: Finite = setting(
        300.0, "seconds that a sign is gone before receivers are told that it is mended"
    )

    def __post_init__(self) -> None:
        most = max(MAX_WORKERS, 4 * (os.cpu_count() or 1))
        if self.workers > most:
            raise ConfigError(f"workers is {self.workers}: at most {most} on this machine")

    @property
    def count(self) -> int:
        """Number of workers that `run` starts."""
        return self.workers or max(1, (os.cpu_count() or 2) - 1)


def receiver_secrets(config: WorkerConfig) -> Mapping[str, str]:
    """The secrets of receivers, by name."""
    lines = (line.partition("=") for line in config.receiver_secrets.splitlines())
    return {name.strip(): secret.strip() for name, _, secret in lines}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting, or another key of a crawl file.

    Attributes:
        name: As written: ``max_depth``.
        section: Where it is documented: ``seeds``, ``crawl``, ``storage`` or ``workers``.
        type: Type of its value, with bounds: ``Count | None``.
        kind: This type without None and bounds: ``int``, ``Scope``, ``Path``, ``tuple``.
        bounds: Of a number; None: it has none.
        default: Value without the key; None: there is none.
        help: What it means.
    """

    name: str
    section: str
    type: Any
    kind: Any
    bounds: msgspec.Meta | None
    default: Any
    help: str

    @property
    def expected(self) -> str:
        """The values that it takes, for a person: ``a whole number``, ``host, domain or any``."""
        choices = get_args(self.kind) or self.kind
        if self.kind not in _EXPECTED:
            *others, last = (json.dumps(str(each)) for each in choices if each is not Scope.TOPIC)
            return f"{', '.join(others)} or {last}"
        return _EXPECTED[self.kind]


_EXPECTED = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: "an array of strings",
    Path: "a path in quotes",
    str: "a text in quotes",
}


def keys_of(section: str, cls: type[Any]) -> list[Key]:
    """The fields of a class as keys."""
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for each in fields(cls):
        hint = kind = hints[each.name]
        if get_origin(kind) in (Union, types.UnionType):
            kind = next(one for one in get_args(kind) if one is not type(None))
        bounds = next(iter(getattr(kind, "__metadata__", ())), None)
        kind = kind.__origin__ if bounds else kind
        found.append(
            Key(
                name=each.name,
                section=section,
                type=hint,
                kind=tuple if get_origin(kind) is tuple else kind,
                bounds=bounds,
                default=None if each.default is MISSING else each.default,
                help=each.metadata["help"],
            )
        )
    return found


@cache
def setting_keys() -> Mapping[str, Key]:
    """Every setting by its name, in the order of the sections."""
    return {key.name: key for name, cls in SECTIONS.items() for key in keys_of(name, cls)}


def variable(name: str) -> str:
    """Returns the environment variable of a setting: ``CRAWLCLEAN_DELAY_S`` for ``delay_s``."""
    return PREFIX + name.upper()


def read_value(key: Key, raw: Any, named: str = "", folder: Path | None = None) -> Any:
    """The value of a setting, from a flag, a variable or a key of a crawl file.

    Args:
        key: The setting.
        raw: A text of the command line or the environment, ``"2.5"``, or a value with a type.
        named: What messages call the setting: ``--delay``; ``""``: its name.
        folder: Where the paths of a crawl file begin, whose texts are no numbers; None: not of one.

    Raises:
        ConfigError: It is none; the message is ``delay_s is -1: a number from 0 on is needed``.
    """
    named = named or key.name
    value = raw
    if folder is None and isinstance(raw, str):
        value = _from_text(key, raw)

    def path(_: type, text: Any) -> Path:
        if not isinstance(text, str | Path) or (text == "" == raw and folder):
            raise ValueError(text)
        return (folder or Path()) / text

    try:
        return msgspec.convert(value, key.type, strict=folder is not None, dec_hook=path)
    except msgspec.ValidationError as error:
        if not (key.bounds and re.search("[<>]", str(error))):
            told = f"{named} is {described(raw)}: expected {key.expected}"
            raise ConfigError(told) from None
        least, above = key.bounds.ge, key.bounds.gt
        needed = f"at least {least}" if least else "a number from 0 on"
        needed = needed if above is None else f"a number above {above}"
        raise ConfigError(f"{named} is {raw}: {needed} is needed") from None


def _from_text(key: Key, text: str) -> Any:
    """What a text of the command line or the environment stands for."""
    if key.kind is tuple:
        return tuple(filter(None, text.splitlines()))
    if key.kind is bool:
        return SWITCHES.get(text.lower(), text)
    return None if not text and key.default is None else text


def described(raw: Any) -> str:
    """A value in a message: ``'2'``, ``true``, ``a table``."""
    if isinstance(raw, dict | list):
        return "a table" if isinstance(raw, dict) else "an array"
    return str(raw).lower() if isinstance(raw, bool) else repr(raw)


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
    environ = _with_secret_files(environ)
    known = {variable(name) for name in setting_keys()}
    for name in environ:
        ours = name.startswith(PREFIX) and not name.removeprefix(PREFIX).startswith(FOREIGN)
        if ours and name not in known:
            if instead := DROPPED.get(name.removeprefix(PREFIX).lower()):
                raise ConfigError(f"{name} is gone: {instead}")
            raise ConfigError(f"{name} is not a setting; `{__dist__} config` lists them")
    values, typed = {}, {}
    for name, key in setting_keys().items():
        given = (flags or {}).get(name)
        typed[name] = variable(name) if given is None else (options or {}).get(name, name)
        given = environ.get(variable(name)) if given is None else given
        if given is not None:
            values[name] = read_value(key, given, typed[name])
    try:
        return with_values(Settings(), values)
    except ConfigError as error:
        name, _, text = str(error).partition(" ")
        if name not in values:
            raise
        raise ConfigError(f"{typed[name]} {text}") from None


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Settings with other values, by name: ``{"max_depth": 3}``; other names do not count.

    Raises:
        ConfigError: A value cannot be, or values do not go together.
    """
    sections = {
        section: replace(
            getattr(settings, section),
            **{each.name: values[each.name] for each in fields(cls) if each.name in values},
        )
        for section, cls in SECTIONS.items()
    }
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
    return {
        variable(key.name): _as_text(value) for key, value in _valued(settings) if value is not None
    }


def _valued(settings: Settings) -> list[tuple[Key, Any]]:
    return [
        (key, getattr(getattr(settings, key.section), key.name)) for key in setting_keys().values()
    ]


def _as_text(value: object) -> str:
    """A value as an environment variable has it; of several values each is a line."""
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


def rows(settings: Settings) -> list[tuple[str, str, str, str]]:
    """Returns every setting in order, with users and passwords of URLs hidden.

    Returns:
        (section, name, value, help): ``("crawl", "delay_s", "2.0", "seconds between ...")``.
    """
    return [
        (key.section, key.name, _shown(key.name, value), key.help)
        for key, value in _valued(settings)
    ]


def _shown(name: str, value: object) -> str:
    if name in HIDDEN:
        return "***" if value else ""
    if not name.endswith("_url"):
        return _as_text(value).replace("\n", " ")
    # A value without a scheme is not a URL; it may be the password alone.
    return USER_PART.sub("***@", str(value)) if not value or "://" in str(value) else "***"
