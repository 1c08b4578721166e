"""Who did what by console or API: rows are added and completed, never changed or deleted singly.

An action writes its row before it acts, and completes it afterwards: an action whose process died
is seen as one without an end. The newest 100,000 are kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storage.store.codec import from_microseconds
from storage.store.numbered import NumberedRows
from storage.store.ports import Tables

KEPT_ACTIONS = 100_000
"""Actions kept, the newest: some 30 MB."""
_COLUMNS = ("at", "who", "place", "action", "target", "asked", "did", "undo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action of a person or a program.

    Attributes:
        who: A session or a token: ``password``, ``token 4f11``.
        place: Where it came from: ``127.0.0.1``.
        action: Its name: ``pause_host``.
        target: What it was for: ``www.example.com``.
        asked: What the confirm page said would happen: ``1,204 URLs of 3 hosts``.
        did: What happened, or the error; None: it has not ended.
        undo: What takes it back: ``resume_host www.example.com``; ``""``: nothing does.
        at: When it was asked; None while it is added: now.
        seq: Its number, from 1; 0 while it is added.
    """

    who: str
    place: str
    action: str
    target: str
    asked: str = ""
    did: str | None = None
    undo: str = ""
    at: datetime | None = None
    seq: int = 0


class Audit:
    """The member ``audit``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._rows = NumberedRows(tables, "audit", _COLUMNS, KEPT_ACTIONS)

    def begin(self, action: Action) -> int:
        """Stores an action before it acts; returns its number."""
        row = {
            "at": time.time_ns() // 1000,
            "who": action.who,
            "place": action.place,
            "action": action.action,
            "target": action.target,
            "asked": action.asked,
            "did": None,
            "undo": action.undo,
        }
        # A column without a value is an absent field in MongoDB.
        return self._rows.add({name: value for name, value in row.items() if value is not None})

    def end(self, seq: int, did: str, undo: str = "") -> bool:
        """Completes an action; False when it was completed before, or is not kept any more."""
        where = {"seq": seq, "did": None}
        return bool(self._tables.change("audit", where, {"did": did, "undo": undo}))

    def get(self, seq: int) -> Action | None:
        """One action; None when it is not kept."""
        row = self._rows.get(seq)
        return _action(row) if row else None

    def read(self, before: int | None = None, limit: int = 50) -> list[Action]:
        """Actions, newest first, at most ``limit``; ``before``: only with a smaller number."""
        return [_action(row) for row in self._rows.read(before, limit)]


def _action(row: Sequence[Any]) -> Action:
    """The action of the values of ``seq`` and ``_COLUMNS``."""
    return Action(
        seq=row[0],
        at=from_microseconds(row[1]),
        who=row[2],
        place=row[3],
        action=row[4],
        target=row[5],
        asked=row[6],
        did=row[7],
        undo=row[8],
    )
