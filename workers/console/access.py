"""Who may use the console: password, sessions, tokens of forms, and a limit for guesses.

The password is kept in memory only. A session is a random id in a cookie; its digest is in the
data folder (``storage/console_tokens.py``). A form carries a token that only this session can have.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum

from crawlclean.storage.console_tokens import ConsoleFile

IDLE_S = 12 * 3600
"""A session ends when it was not used for this long."""

PASSWORD_BYTES = 16
"""128 random bits: no number of guesses finds it."""

TRIES_OF_ADDRESS, TRIES_OF_ALL, TRIES_S = 5, 20, 60.0
"""Wrong passwords in a minute, of one address and of all: a password that a person chose lasts."""

# Credentials that are remembered: bounds memory; fewer people use one console at a time.
MOST_REGULARS = 1_000

NONCE_BYTES = 8  # 64 bits: no two tokens of a form are alike
TOKEN_CHARS = 2 * NONCE_BYTES + 64


class LoginResult(StrEnum):
    """What a login led to."""

    OPENED = "opened"
    WRONG = "wrong"
    TOO_OFTEN = "too_often"


def generated_password() -> str:
    """A new password of 22 letters, digits, ``-`` and ``_``."""
    return secrets.token_urlsafe(PASSWORD_BYTES)


class Guesses:
    """Wrong passwords of the last minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Has seen none."""
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong: deque[tuple[float, str]] = deque()

    def is_over(self, address: str) -> bool:
        """Whether an address has to wait."""
        with self._lock:
            since = self._clock() - TRIES_S
            while self._wrong and self._wrong[0][0] < since:
                self._wrong.popleft()
            own = sum(each == address for _, each in self._wrong)
            return own >= TRIES_OF_ADDRESS or len(self._wrong) >= TRIES_OF_ALL

    def add(self, address: str) -> None:
        """Counts a wrong password."""
        with self._lock:
            self._wrong.append((self._clock(), address))


class Access:
    """Logins of one console."""

    def __init__(
        self,
        file: ConsoleFile | None,
        password: str = "",
        *,
        is_generated: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Takes the password; sessions of another chosen password end.

        Args:
            file: Where sessions are kept; None without a password.
            password: The password; ``""``: everybody may use the console.
            is_generated: Whether the password is a new one at every start: earlier sessions stay.
            clock: Seconds since 1970.
        """
        self._file = file
        self._clock = clock
        self._digest = hashlib.sha256(password.encode("utf-8", "surrogateescape")).digest()
        self._guesses = Guesses(clock)
        self._regulars: dict[str, None] = {}
        self.needs_password = bool(password)
        self._key = file.secret("forms") if file else secrets.token_bytes(32)
        if file and not is_generated:
            file.use_password(_mark(password, file.secret("salt")))

    def login(self, password: str, address: str) -> tuple[LoginResult, str]:
        """Opens a session; returns the session's id with OPENED, else ``""``.

        Args:
            password: As typed.
            address: Who asks, ``192.0.2.7``.
        """
        if self._guesses.is_over(address):
            return LoginResult.TOO_OFTEN, ""
        if not self.is_known(password, address):
            return LoginResult.WRONG, ""
        session = secrets.token_urlsafe(32)
        if self._file:
            self._file.open_session(_digest(session), int(self._clock()), IDLE_S)
        self.welcome(session)
        return LoginResult.OPENED, session

    def is_known(self, password: str, address: str) -> bool:
        """Whether this is the password; a wrong one counts, and False is the answer to too many."""
        if self._guesses.is_over(address):
            return False
        given = hashlib.sha256(password.encode("utf-8", "surrogateescape")).digest()
        if hmac.compare_digest(given, self._digest):
            return True
        self._guesses.add(address)
        return False

    def is_logged_in(self, session: str) -> bool:
        """Whether a session is open; everybody's is where there is no password."""
        if not self.needs_password:
            return True
        if not session or not self._file:
            return False
        is_open = self._file.is_open(_digest(session), int(self._clock()), IDLE_S)
        if is_open:
            self.welcome(session)
        return is_open

    def welcome(self, credential: str) -> None:
        """Notes that somebody was let in, by a session or by a header ``Authorization``."""
        while len(self._regulars) >= MOST_REGULARS and credential not in self._regulars:
            self._regulars.pop(next(iter(self._regulars)), None)
        self._regulars[credential] = None

    def is_regular(self, credential: str) -> bool:
        """Whether somebody was let in by it; so is everybody where there is no password.

        Says nothing about whether it still counts: only that its requests are worth a check.
        """
        return not self.needs_password or credential in self._regulars

    def name_of(self, session: str) -> str:
        """What the audit calls a session: ``session 4f11ab90``; ``no password`` where none is."""
        return f"session {_digest(session).hex()[:8]}" if self.needs_password else "no password"

    def logout(self, session: str) -> None:
        """Ends a session."""
        if session and self._file:
            self._file.close_session(_digest(session))

    def form_token(self, session: str, form: str) -> str:
        """A token for one form of one session; another each time, so that compression of the
        page betrays nothing about it."""
        nonce = secrets.token_hex(NONCE_BYTES)
        return nonce + self._sign(nonce, session, form)

    def is_form_token(self, token: str, session: str, form: str) -> bool:
        """Whether a token is one of this form and session."""
        if len(token) != TOKEN_CHARS or not token.isascii():
            return False
        nonce, signature = token[: 2 * NONCE_BYTES], token[2 * NONCE_BYTES :]
        return hmac.compare_digest(signature, self._sign(nonce, session, form))

    def _sign(self, nonce: str, session: str, form: str) -> str:
        told = "\0".join((nonce, session, form)).encode("utf-8", "surrogateescape")
        return hmac.new(self._key, told, hashlib.sha256).hexdigest()


def _digest(session: str) -> bytes:
    return hashlib.sha256(session.encode("utf-8", "surrogateescape")).digest()


def _mark(password: str, salt: bytes) -> bytes:
    """What a chosen password is recognised by at the next start: costs a guesser 16 MB, 0.1 s."""
    text = password.encode("utf-8", "surrogateescape")
    return hashlib.scrypt(text, salt=salt, n=1 << 14, r=8, p=1, dklen=32)
