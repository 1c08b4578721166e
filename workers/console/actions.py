"""What a console with ``--allow-actions`` does: each confirmed action once, one at a time.

The form of a confirm page has a token that is bound to its session, the action, the target, and the
numbers that the page shows. The data folder keeps which tokens have served, and for which row of
the audit (``storage/console_tokens.py``), so a form that is sent again shows the first result, also
after a crash of the console.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.storage.console_tokens import ConsoleFile
from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access
from crawlclean.workers.operations.acting.action import Action, Asked, Effect, perform, told
from crawlclean.workers.operations.backends import Backends

FORM_S = 3600
"""A confirm page serves for so long: its numbers are old afterwards."""
KEPT_S = 2 * FORM_S
TURN_S = 20.0
"""How long an action waits for the one before it."""


class Refusal(StrEnum):
    """Why a form did nothing."""

    FORGED = "forged"  # the token is not of this form and session
    OLD = "old"  # the page is older than ``FORM_S``
    MISTYPED = "mistyped"  # the name of what is deleted was not typed
    BUSY = "busy"  # the action before it is still at work
    LOST = "lost"  # the console died before the action began


class Form(Struct, frozen=True, kw_only=True):
    """A confirmed form.

    Attributes:
        session: The session that sends it.
        asked: What it asks for, with what was typed.
        expected: What its page said would happen.
        at: When its page was made, seconds since 1970.
        token: Its token.
        typed: The name that was typed; ``""``: none.
    """

    session: str
    asked: Asked
    expected: str
    at: int
    token: str
    typed: str = ""


class Actions:
    """The actions of one console."""

    def __init__(
        self,
        settings: Settings,
        access: Access,
        file: ConsoleFile,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Has done nothing.

        Args:
            settings: Where store and queue are.
            access: Makes and knows tokens.
            file: Keeps which have served.
            clock: Seconds since 1970.
        """
        self._settings = settings
        self._access = access
        self._file = file
        self._clock = clock
        self._turn = threading.Lock()
        self._at_work: set[int] = set()

    def is_at_work(self, seq: int) -> bool:
        """Whether an action without an end is being done; otherwise its process has died."""
        return seq in self._at_work

    def plan(self, session: str, action: Action, asked: Asked) -> tuple[Effect, Form]:
        """What an action would do, and the form that does it; a time that is not given is now.

        Raises:
            ServiceError: As ``Action.plan``.
        """
        if asked.values.get("until") == "":
            asked = replace(asked, values={**asked.values, "until": str(time.time_ns() // 1000)})
        with Backends(self._settings) as backends:
            plan = action.plan(backends, asked)
        chosen = {name: text or plan.chosen.get(name, "") for name, text in asked.values.items()}
        asked = replace(asked, values=chosen, target=plan.chosen.get("target", asked.target))
        return plan, self.form(session, action, asked, told(plan.facts, plan.notes))

    def form(self, session: str, action: Action, asked: Asked, expected: str) -> Form:
        """The form that does an action, once; ``expected`` is what its page says it would do."""
        at = int(self._clock())
        token = self._access.form_token(session, _bound(action, asked, expected, at))
        return Form(session=session, asked=asked, expected=expected, at=at, token=token)

    def do(self, action: Action, form: Form) -> int | Refusal:
        """Does an action, once a form; returns the number of its row of the audit.

        Raises:
            ServiceError: The store is away.
        """
        bound = _bound(action, form.asked, form.expected, form.at)
        if not self._access.is_form_token(form.token, form.session, bound):
            return Refusal.FORGED
        with self._in_turn() as is_mine:
            if not is_mine:
                return Refusal.BUSY
            now = int(self._clock())
            if not 0 <= now - form.at <= FORM_S:
                return Refusal.OLD
            before = self._file.spend(form.token, now, KEPT_S)
            if before is not None:
                return before or Refusal.LOST
            return self._perform(action, form)

    def _perform(self, action: Action, form: Form) -> int:
        begun: list[int] = []

        def note(seq: int) -> None:
            begun.append(seq)
            self._at_work.add(seq)
            self._file.note_action(form.token, seq)

        try:
            with Backends(self._settings) as backends:
                return perform(backends, action, form.asked, form.expected, note)
        finally:
            self._at_work.difference_update(begun)

    @contextmanager
    def _in_turn(self) -> Iterator[bool]:
        """Whether the turn came: at rest an action starts the queue for itself."""
        is_mine = self._turn.acquire(timeout=TURN_S)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._turn.release()


def _bound(action: Action, asked: Asked, expected: str, at: int) -> str:
    """What a token is bound to; what a person types or chooses on the page is not."""
    values: Mapping[str, str] = {name: asked.values.get(name, "") for name in action.values}
    return json.dumps(["action", action.name, asked.target, values, expected, at])
