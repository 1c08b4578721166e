"""Reads the files that an operator writes: crawl files, hosts files, lists of sites."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import ConfigError

MAX_LIST_BYTES = 16 << 20
MAX_TOML_BYTES = 1 << 20  # 1 MB takes a second to read; longer lists of seeds have a file


def read_text(path: Path, most_bytes: int) -> str:
    """Returns the text of a file in UTF-8, without its byte order mark.

    Raises:
        ConfigError: The file cannot be read, is too long, or is no UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    if len(data) > most_bytes:
        raise ConfigError(f"{path} is over {most_bytes >> 20} MB: split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text: save the file as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ConfigError(f"{path}:{line}: not a text file")
    return text


def read_toml(text: str, path: Path) -> dict[str, Any]:
    """Returns the tables of a TOML text; ``path`` is for errors.

    Raises:
        ConfigError: The text is no TOML; the message has line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
