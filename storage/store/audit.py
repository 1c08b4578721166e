"""Who did what by console or API: rows are added and completed, never changed or deleted singly.

An action writes its row before it acts, and completes it afterwards: an action whose process died
is seen as one without an end. The newest 100,000 are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from crawlclean.storage.store.numbered import NumberedRows
from crawlclean.storage.store.ports import Tables
from crawlclean.storage.store.row_types import RowType

KEPT_ACTIONS = 100_000
"""Actions kept, the newest: some 30 MB."""


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
        self._rows = NumberedRows(tables, "audit", RowType(Action, "action"), KEPT_ACTIONS)

    def begin(self, action: Action) -> int:
        """Stores an action before it acts; returns its number."""
        return self._rows.add(replace(action, at=datetime.now(UTC), did=None))

    def end(self, seq: int, did: str, undo: str = "") -> bool:
        """Completes an action; False when it was completed before, or is not kept any more."""
        where = {"seq": seq, "did": None}
        return bool(self._tables.change("audit", where, {"did": did, "undo": undo}))

    def get(self, seq: int) -> Action | None:
        """One action; None when it is not kept."""
        return self._rows.get(seq)

    def read(self, before: int | None = None, limit: int = 50) -> list[Action]:
        """Actions, newest first, at most ``limit``; ``before``: only with a smaller number."""
        return self._rows.read(before, limit)
