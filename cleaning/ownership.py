"""A start-up check: the four packages are ours.

Their names are everyday words, so another distribution may have put a package of the same name
before ours. Nothing is imported by the check: a foreign package's code must not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from cleaning.errors import ConfigError

PACKAGES = ("cleaning", "storage", "crawler", "workers")
_MARKER = re.compile(r"^__dist__\s*=\s*[\"']crawlclean[\"']\s*$", re.M)


def check_ownership(packages: Iterable[str] = PACKAGES) -> None:
    """Return when every package found under its name carries our marker.

    Raises:
        ConfigError: A package is missing or foreign; the message names its file.
    """
    for name in packages:
        spec = find_spec(name)
        if spec is None:
            raise ConfigError(f"the package {name!r} is missing: install crawlclean again")
        origin = spec.origin
        if origin is None or not Path(origin).is_file():
            where = ", ".join(spec.submodule_search_locations or ()) or "nowhere"
            raise ConfigError(_message(name, where))
        if not _MARKER.search(Path(origin).read_text("utf-8", "replace")):
            raise ConfigError(_message(name, origin))


def _message(name: str, where: str) -> str:
    return (
        f"the package {name!r} is not ours but {where}: install crawlclean in a virtual environment"
        " of its own"
    )
