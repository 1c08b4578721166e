"""Finds and loads hooks: what other packages offer as entry points of our groups.

- ``link_filters``: a function of (outlink, URL of its page). It returns None, or why the link is
  refused.
- ``record_steps``: a function of a record. It returns the record, a changed copy, or None, which
  drops the page.
- ``exporters``: a class with ``suffix``, made from a binary stream, with ``write(record)`` and
  ``close()``.

A group is ``<name of this program>.link_filters``; an entry of it in a ``pyproject.toml`` is
``no_tags = "my_hooks:no_tags"``. Installed hooks are in use; the setting ``hooks`` selects some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.records import CleanRecord, Outlink
from crawlclean.workers.config import Settings

if TYPE_CHECKING:  # slow to import, and few commands look for hooks
    from importlib.metadata import EntryPoint

ALL = "all"
NONE = "none"

LinkFilter = Callable[[Outlink, str], str | None]
RecordStep = Callable[[CleanRecord], CleanRecord | None]


class Hook(Struct, frozen=True):
    """A hook that other packages offer.

    Attributes:
        group: ``link_filters``, ``record_steps`` or ``exporters``.
        name: Its name: ``no_tags``.
        package: The package that offers it, with version: ``my-hooks 1.0``.
        value: Where it is: ``my_hooks:no_tags``.
        entry: Loads it.
    """

    group: str
    name: str
    package: str
    value: str
    entry: EntryPoint

    def load(self) -> Any:
        """Imports the hook.

        Raises:
            ConfigError: Its module cannot be imported, or has no such name.
        """
        try:
            found = self.entry.load()
        except (ImportError, AttributeError, SyntaxError, ValueError, TypeError, OSError) as error:
            raise ConfigError(
                f"{self} cannot be loaded: {type(error).__name__}: {error}; mend or uninstall it, "
                f"or leave it out with {__dist__.upper()}_HOOKS={NONE}"
            ) from error
        if not callable(found):
            raise ConfigError(f"{self} is a {type(found).__name__}, which cannot be called")
        return found

    def __str__(self) -> str:
        kind = self.group.removesuffix("s").replace("_", " ")
        return f"the {kind} {self.name} of {self.package}"


class Hooks(Struct, frozen=True):
    """The hooks of a process, loaded: name -> function, in the order of the names."""

    link_filters: dict[str, LinkFilter]
    record_steps: dict[str, RecordStep]


NO_HOOKS = Hooks({}, {})


def find_hooks(settings: Settings, *groups: str) -> list[Hook]:
    """Returns the hooks in use, by group and name; nothing is imported.

    Raises:
        ConfigError: The setting ``hooks`` names one that is not installed, or two have one name.
    """
    found = sorted(_offered(), key=lambda hook: (hook.group, hook.name))
    for first, second in pairwise(found):
        if (first.group, first.name) == (second.group, second.name):
            raise ConfigError(f"{first} and {second} have one name: uninstall one of them")
    wanted = [name.strip() for name in settings.workers.hooks.split(",") if name.strip()]
    if wanted != [ALL]:
        names = {hook.name for hook in found}
        unknown = [name for name in wanted if name not in names and name != NONE]
        if unknown:
            known = ", ".join(sorted(names)) or "none"
            raise ConfigError(f"no hook {unknown[0]!r} is installed; installed: {known}")
        found = [hook for hook in found if hook.name in wanted]
    return [hook for hook in found if not groups or hook.group in groups]


def load_hooks(settings: Settings) -> Hooks:
    """Loads the link filters and record steps in use.

    Raises:
        ConfigError: One cannot be loaded.
    """
    loaded: dict[str, dict[str, Any]] = {"link_filters": {}, "record_steps": {}}
    for hook in find_hooks(settings, *loaded):
        loaded[hook.group][hook.name] = hook.load()
    return Hooks(**loaded)


def _offered() -> Iterator[Hook]:
    from importlib.metadata import entry_points

    installed = entry_points()  # reads a file of each installed package
    for group in ("link_filters", "record_steps", "exporters"):
        for entry in installed.select(group=f"{__dist__}.{group}"):
            package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
            yield Hook(group, entry.name, package, entry.value, entry)
