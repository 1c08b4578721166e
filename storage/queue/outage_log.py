"""A server that is away: one line when somebody notices, one when it is back."""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)


class Absence:
    """What one process knows of the absence of one server."""

    def __init__(self, what: str) -> None:
        """Nothing is away yet; ``what`` is ``queue`` or ``store``."""
        self._what = what
        self._since: float | None = None

    def notice(self, error: Exception) -> None:
        """It is away; said the first time."""
        if self._since is None:
            self._since = time.monotonic()
            log.warning(f"{self._what} away, waiting", extra={"reason": str(error)})

    def end(self) -> bool:
        """It is here; said when it was away. Whether it was."""
        if self._since is None:
            return False
        log.warning(f"{self._what} back", extra={"away_s": round(self.lasted_s, 1)})
        self._since = None
        return True

    @property
    def lasted_s(self) -> float:
        """Seconds since it was noticed; 0 when it is here."""
        return 0.0 if self._since is None else time.monotonic() - self._since
