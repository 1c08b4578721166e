"""Does an action between its two rows of the audit, and keeps what was refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlencode

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.store import journal as audit
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.acting.action import Action, Asked, told
from crawlclean.workers.operations.backends import existing_store

ERROR = "error: "
REFUSED = "refused: the console is read-only"
MOST_CHARS = 2_000
"""Of each text in a row of the audit."""

URGENT_S = 2.0
"""So long an urgent action waits for a store that another process keeps locked: a worker that was
stopped within a transaction keeps it until it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks for an action.

    Attributes:
        who: A session or a token: ``session 4f11``, ``token 4f11``.
        place: Where the request came from: ``127.0.0.1``.
    """

    who: str
    place: str


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
    dies meanwhile the row has no end. An error of the action is its end. Of an urgent action whose
    store is locked the row comes afterwards.

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
    row = _row(action.name, asked, caller, expected)
    seq = _begun(settings, action, row)
    if seq is not None:
        begun(seq)
    did, undo = _ending(settings, action, asked)
    with existing_store(settings) as store:
        if seq is None:
            seq = store.audit.begin(row)
            begun(seq)
        store.audit.end(seq, did, undo)
    return seq


def _begun(settings: Settings, action: Action, row: audit.Action) -> int | None:
    """The number of a new row; None: the store is locked, and the action does not wait for it."""
    try:
        with existing_store(settings, URGENT_S if action.is_urgent else None) as store:
            return store.audit.begin(row)
    except ServiceError as error:
        if action.is_urgent and error.retryable:
            return None
        raise


def _ending(settings: Settings, action: Action, asked: Asked) -> tuple[str, str]:
    """Does an action; returns (what happened, what takes it back) for its row."""
    try:
        done = action.act(settings, asked)
    except ServiceError as error:
        return f"{ERROR}{error}"[:MOST_CHARS], ""
    return told(done.facts, done.notes) or "done 1", done.undo


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
