"""One process of a fleet: started, looked after, stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from tests.kit.private_queue import Program

RESTART_S = 1.0


class Member(Program):
    """One process that is started again when it has died."""

    def __init__(self, role: str, arguments: Sequence[str], log: Path, env: dict[str, str]) -> None:
        super().__init__(arguments, log=log, env=env)
        self.role = role
        self.log = log
        self.is_held = False  # stays dead until this is taken away
        self._due: float | None = None

    def look_after(self) -> None:
        """Starts it again a second after its end was seen."""
        if self.is_running() or self.is_held:
            return
        now = time.monotonic()
        if self._due is None:
            self._due = now + RESTART_S
        elif now >= self._due:
            self._due = None
            self.start()
