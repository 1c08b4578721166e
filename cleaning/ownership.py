"""The start-up check that the four packages are this project's.

Their names are everyday words, so another distribution may have installed a package of one of the
names. The check imports no package, because a foreign package's code must not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import cleaning
from cleaning.errors import ConfigError

PACKAGES = ("cleaning", "storage", "crawler", "workers")


def check_ownership(packages: Iterable[str] = PACKAGES) -> None:
    """Checks that the ``__dist__`` of every package names our distribution.

    Raises:
        ConfigError: A package is missing or foreign; the message names its file.
    """
    ours = re.compile(rf"^__dist__\s*=\s*[\"']{re.escape(_program())}[\"']\s*$", re.M)
    for name in packages:
        spec = find_spec(name)
        if spec is None:
            raise ConfigError(f"the package {name!r} is missing: install {_program()} again")
        origin = spec.origin
        if origin is None or not Path(origin).is_file():
            where = ", ".join(spec.submodule_search_locations or ()) or "nowhere"
            raise ConfigError(_message(name, where))
        if not ours.search(Path(origin).read_text("utf-8", "replace")):
            raise ConfigError(_message(name, origin))


def _program() -> str:
    """Our distribution's name; another's ``__init__.py`` may have replaced that of ``cleaning``."""
    return getattr(cleaning, "__dist__", "this program")


def _message(name: str, where: str) -> str:
    return (
        f"the package {name!r} is not ours but {where}: install {_program()} in a virtual"
        " environment of its own"
    )
