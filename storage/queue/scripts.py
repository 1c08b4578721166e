"""The Lua scripts of the queue, each with the shared part before it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

SHARED = ("politeness", "lib")
NAMES = (
    "ack",
    "add",
    "again",
    "away",
    "beat",
    "claim",
    "cut",
    "ended",
    "flush",
    "learn",
    "lease",
    "locate",
    "nack",
    "purge",
    "put",
    "reconcile",
    "refill",
    "robots",
    "seen",
    "state",
    "stow",
    "sweep",
    "thirsty",
    "watch",
    "weigh",
)

Arg = str | bytes | int


@cache
def source(name: str) -> str:
    """Text of one script, whole: the shared parts and then ``lua/<name>.lua``."""
    folder = files("storage") / "queue" / "lua"
    return "".join((folder / f"{part}.lua").read_text("utf-8") for part in (*SHARED, name))


class Scripts:
    """The scripts bound to one blocking client."""

    def __init__(self, client: Any) -> None:
        self._scripts = {name: client.register_script(source(name)) for name in NAMES}

    def __call__(self, name: str, args: Iterable[Arg]) -> Any:
        """Runs a script; its answer as the client decodes it."""
        return self._scripts[name](args=list(args))


class AsyncScripts:
    """The scripts bound to one asyncio client."""

    def __init__(self, client: Any) -> None:
        self._scripts = {name: client.register_script(source(name)) for name in NAMES}

    async def __call__(self, name: str, args: Iterable[Arg]) -> Any:
        """Runs a script; its answer as the client decodes it."""
        return await self._scripts[name](args=list(args))
