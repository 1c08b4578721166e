"""Does an action between its two rows of the audit, and keeps what was refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlencode

from cleaning.errors import ServiceError
from storage.store import audit
from workers.config import Settings
from workers.operations.acting.action import Action, Asked, Plan, told
from workers.operations.backends import existing_store

ERROR = "error: "
REFUSED = "refused: the console is read-only"
MOST_CHARS = 2_000
"""Of each text in a row of the audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks for an action.

    Attributes:
        who: A session or a token: ``session 4f11``, ``token 4f11``.
        place: Where the request came from: ``127.0.0.1``.
    """

    who: str
    place: str


def plan_of(settings: Settings, action: Action, asked: Asked) -> Plan:
    """Returns what an action would do, in numbers of this moment.

    Raises:
        NotFound: There is no such target.
        ConfigError: A value is wrong.
    """
    return action.plan(settings, asked)


def perform(
    settings: Settings,
    action: Action,
    asked: Asked,
    caller: Caller,
    expected: str,
    begun: Callable[[int], object],
) -> int:
    """Does an action; returns the number of its row of the audit.

    The row is there before the action acts, and says afterwards what happened; of a process that
    dies meanwhile the row has no end. An error of the action is its end.

    Args:
        settings: Where store and queue are.
        action: The action.
        asked: What it is asked for.
        caller: Who asks.
        expected: What the person was told that it would do, in numbers.
        begun: Called with the number of the row before the action acts.

    Raises:
        ServiceError: The store is away: nothing was done, or the row has no end.
    """
    with existing_store(settings) as store:
        seq = store.audit.begin(_row(action.name, asked, caller, expected))
        begun(seq)
        try:
            done = action.act(settings, asked)
        except ServiceError as error:
            store.audit.end(seq, f"{ERROR}{error}"[:MOST_CHARS])
        else:
            store.audit.end(seq, told(done.facts, done.notes) or "done 1", done.undo)
    return seq


def keep_refusal(settings: Settings, name: str, asked: Asked, caller: Caller) -> None:
    """Stores that a read-only console was asked for an action; nothing where no store is."""
    with suppress(ServiceError), existing_store(settings) as store:
        store.audit.end(store.audit.begin(_row(name, asked, caller, "")), REFUSED)


def _row(name: str, asked: Asked, caller: Caller, expected: str) -> audit.Action:
    values = urlencode({key: text for key, text in asked.values.items() if text})
    return audit.Action(
        who=caller.who,
        place=caller.place,
        action=name[:100],
        target=asked.target[:MOST_CHARS],
        asked="; ".join(filter(None, (values[:MOST_CHARS], expected[:MOST_CHARS]))),
    )
