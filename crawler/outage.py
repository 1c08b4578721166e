"""Whether our own network is away: then nobody's page is to blame.

Several known hosts that fail with no answer from anybody in between do not fail each by itself.
While the network is away one request at a time probes it, ever more rarely, and no attempt is
counted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

SUSPECTS = 3
FIRST_PROBE_S = 1.0
LONGEST_PROBE_S = 30.0
PATIENCE_S = 3600.0  # then it is the hosts: a crawl whose last hosts died must end


class OutageDetector:
    """What the requests of this process say about its network."""

    def __init__(
        self, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``patience_s``: how long it may be away; ``clock``: seconds, never backwards."""
        self._patience_s = patience_s
        self._clock = clock
        self._failed: set[str] = set()  # known hosts, since the last answer of any host
        self._away_since: float | None = None
        self._given_up = False
        self._probe_s = FIRST_PROBE_S
        self._probe_at = 0.0

    @property
    def is_away(self) -> bool:
        """Whether requests fail because of us."""
        return self._away_since is not None and not self._given_up

    def answered(self) -> None:
        """Some host has answered."""
        self._failed.clear()
        self._given_up = False
        self._probe_s = FIRST_PROBE_S
        if self._away_since is not None:
            away_s = self._clock() - self._away_since
            self._away_since = None
            log.warning("network back", extra={"seconds": round(away_s)})

    def failed(self, host: str, *, is_known: bool) -> bool:
        """A host did not answer; whether our network is away.

        Only hosts that have answered before are evidence: others may never have been there.
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
            log.warning("network away for long, going on")
        return self.is_away

    def room(self, held: int, capacity: int) -> int:
        """How many leases to ask for when so many are held."""
        if not self.is_away:
            return capacity - held
        return int(held == 0 and self._clock() >= self._probe_at)

    def wait_s(self) -> float:
        """Seconds until asking for ``room`` again makes sense; without end when it is not away."""
        if not self.is_away:
            return float("inf")
        return max(0.05, self._probe_at - self._clock())
