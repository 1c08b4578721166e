"""The file that `sites` reads: one URL a line."""

from __future__ import annotations

from pathlib import Path

from cleaning.errors import ConfigError, InvalidUrl
from workers.config import Settings
from workers.processes.crawl_specs import crawl_spec

MAX_LIST_BYTES = 16 << 20
MOST_TOLD = 20  # lines that are no addresses


def read_list(settings: Settings, path: Path) -> tuple[list[str], int]:
    """The URLs of a list, each once, in order; how many lines name one again.

    Raises:
        ConfigError: The file cannot be read, is empty, or lines are no addresses: it tells which.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LIST_BYTES + 1)
        lines = data.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{path} is no UTF-8 text") from None
    if len(data) > MAX_LIST_BYTES:
        raise ConfigError(f"{path} is over {MAX_LIST_BYTES >> 20} MB: split it")
    urls: dict[str, None] = {}
    again = 0
    bad = []
    for number, line in enumerate(lines, 1):
        url = "" if line.lstrip().startswith("#") else line.partition(" #")[0].strip()
        if not url:
            continue
        try:
            [seed] = crawl_spec(settings, [url], "").seeds
        except (InvalidUrl, ConfigError) as error:
            bad.append(f"{path}:{number}: {error}")
            continue
        again += seed in urls
        urls[seed] = None
    if bad:
        more = [f"and {len(bad) - MOST_TOLD} more"] if len(bad) > MOST_TOLD else []
        raise ConfigError("\n".join([*bad[:MOST_TOLD], *more]))
    if not urls:
        raise ConfigError(f"{path} names no site: write one URL a line")
    return list(urls), again
