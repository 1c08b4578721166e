"""Detects outages of our own network, during which no host or URL is at fault.

Evidence: ``SUSPECTS`` hosts that answered before, or that the queue leaves to other machines
(ADR 48), fail, and no host answers in between. During an outage single requests probe the network,
after 1, 2, 4 ... 30 seconds, and no attempt counts.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

SUSPECTS = 3
MOST_NAMED = 100  # hosts that are left to others
FIRST_PROBE_S = 1.0
LONGEST_PROBE_S = 30.0
PATIENCE_S = 3600.0  # after it the hosts are at fault: a crawl whose last hosts died must end


class OutageDetector:
    """Judges from the requests of this process whether our network is down."""

    def __init__(
        self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``patience_s`` is the longest outage; ``clock`` returns monotonic seconds."""
        self._patience_s = patience_s
        self._clock = clock
        self._failed: set[str] = set()  # known hosts, since the last response of any host
        self._left: list[str] = []  # to other machines, since the last response of any host
        self._away_since: float | None = None
        self._given_up = False
        self._probe_s = FIRST_PROBE_S
        self._probe_at = 0.0

    @property
    def is_away(self) -> bool:
        """Whether our network is down, so that failed requests are nobody's fault."""
        return self._away_since is not None and not self._given_up

    @property
    def trouble(self) -> str:
        """Why this process fetches nothing; ``""`` when it does, or no host is left to others."""
        if self.is_away:
            return "the network is away"
        more = f" and {n} more" if (n := len(self._left) - 1) > 0 else ""
        return f"does not reach {self._left[0]}{more}, left to other machines" if self._left else ""

    def answered(self) -> None:
        """Records a response of any host; ends the outage."""
        self._failed.clear()
        self._left.clear()
        self._given_up = False
        self._probe_s = FIRST_PROBE_S
        if self._away_since is not None:
            away_s = self._clock() - self._away_since
            self._away_since = None
            log.warning("network back", extra={"seconds": round(away_s)})

    def failed(self, host: str, *, is_known: bool) -> bool:
        """Records a host that did not answer; returns whether our network is down.

        Only hosts that have answered before are evidence: others may never have existed.
        """
        now = self._clock()
        if is_known and len(self._failed) < SUSPECTS:
            self._failed.add(host)
        if self._away_since is None and len(self._failed) >= SUSPECTS:
            self._away_since = now
            self._probe_at = now + self._probe_s
            log.warning("network away, waiting", extra={"hosts": len(self._failed)})
        elif self.is_away and now >= self._probe_at:
            self._probe_s = min(2 * self._probe_s, LONGEST_PROBE_S)
            self._probe_at = now + self._probe_s
        since = self._away_since
        if since is not None and not self._given_up and now - since > self._patience_s:
            self._given_up = True
            log.warning("network away for long, failures count for the hosts again")
        return self.is_away

    def left_to_others(self, host: str, reason: str) -> None:
        """Records a host that gave no connection here, and that other machines are to ask."""
        log.warning("a host is left to other machines", extra={"host": host, "reason": reason})
        if host not in self._left and len(self._left) < MOST_NAMED:
            self._left.append(host)
        self.failed(host, is_known=True)

    def room(self, held: int, capacity: int) -> int:
        """Returns how many leases to take: ``capacity - held``; in an outage 0, or 1 to probe."""
        if not self.is_away:
            return capacity - held
        return int(held == 0 and self._clock() >= self._probe_at)

    def wait_s(self) -> float:
        """Returns the seconds until the next probe; infinite without an outage."""
        if not self.is_away:
            return float("inf")
        return max(0.05, self._probe_at - self._clock())
