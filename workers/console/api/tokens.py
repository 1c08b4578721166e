"""Who may use the API: bearer tokens ``cc_<id>_<secret>``, ``cc_4f1193a0_9b2e...``.

A token is shown once, when it is made; its digest is in the data folder. Cookies do not count.
"""

from __future__ import annotations

import hmac
import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

from crawlclean.storage.console_tokens import TokenFile, TokenLine, TokenScope, digest_of
from crawlclean.workers.console.api.problems import refuse

FORM = re.compile(r"cc_([0-9a-f]{8})_([0-9a-f]{40})")
MOST_REQUESTS, IN_S = 1_200, 60.0
"""Requests of one token in a minute: a program that asks for a list twice a second is far below."""

__all__ = ["Token", "TokenScope", "Tokens"]


class Token(Struct, frozen=True):
    """A token that was accepted.

    Attributes:
        id: Its public part, 8 hex digits.
        name: What it is for, as given when it was made.
        scope: What it permits.
    """

    id: str
    name: str
    scope: TokenScope


class Tokens:
    """The tokens of a data folder, and how often each was used in the last minute."""

    def __init__(
        self,
        data: Path,
        clock: Callable[[], float] = time.time,
        most_requests: int = MOST_REQUESTS,
    ) -> None:
        """Opens nothing yet.

        Args:
            data: The data folder.
            clock: Seconds since 1970.
            most_requests: Requests of one token in a minute.
        """
        self._data = data
        self._clock = clock
        self._most = most_requests
        self._lock = threading.Lock()
        self._opened: TokenFile | None = None
        self._used: dict[str, tuple[float, int]] = {}

    @property
    def file(self) -> TokenFile:
        """The file with the digests, which is made if it is absent."""
        with self._lock:
            if self._opened is None:
                self._opened = TokenFile(self._data)
            return self._opened

    def asked(self, header: str, scope: TokenScope) -> Token:
        """Returns the token of a request.

        Args:
            header: ``Authorization``: ``Bearer cc_4f1193a0_9b2e...``.
            scope: What the request needs.

        Raises:
            HTTPException: 401 without a token that counts, 403 when it permits less, 429 when it
                was used too often.
        """
        kind, _, text = header.partition(" ")
        found = FORM.fullmatch(text.strip()) if kind.lower() == "bearer" else None
        if found is None:
            self._refuse("a token is needed: Authorization: Bearer cc_...")
        row = self._known(found[1], found[2])
        if row is None:
            self._refuse("the token is unknown, revoked or expired", 'Bearer error="invalid_token"')
        if not row.scope.permits(scope):
            refuse(
                403,
                f"the token has scope {row.scope}; this needs {scope}",
                {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
            )
        self._count(row.id)
        return Token(row.id, row.name, row.scope)

    def _known(self, public: str, secret: str) -> TokenLine | None:
        if not TokenFile.is_there(self._data):
            return None
        found = self.file.find(public)
        now = self._clock()
        if found is None or not hmac.compare_digest(found[1], digest_of(secret)):
            return None
        row = found[0]
        if row.expires_at is not None and row.expires_at.timestamp() <= now:
            return None
        self.file.touch(row, datetime.fromtimestamp(now, UTC))
        return row

    def _count(self, public: str) -> None:
        """Counts a request.

        Raises:
            HTTPException: 429, there were too many in this minute.
        """
        now = self._clock()
        with self._lock:
            since, count = self._used.get(public, (now, 0))
            if not 0 <= now - since < IN_S:
                since, count = now, 0
            self._used[public] = (since, count + 1)
        if count >= self._most:
            wait = max(1, round(IN_S - (now - since)))
            refuse(429, f"{self._most} requests a minute are permitted", {"Retry-After": str(wait)})

    def _refuse(self, detail: str, challenge: str = "Bearer") -> NoReturn:
        refuse(401, detail, {"WWW-Authenticate": challenge})
