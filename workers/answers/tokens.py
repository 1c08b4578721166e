"""JSON lines of `tokens`.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from crawlclean.storage.console_tokens import TokenScope


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLine:
    """A line of `tokens`: a token of the console's API, without its secret.

    Attributes:
        id: Its public part, 8 hex digits.
        name: What it is for.
        scope: What it permits.
        created_at: When it was made.
        expires_at: When it ends; null: when it is revoked.
        used_at: When it was used last, to the minute; null: never.
    """

    id: str
    name: str
    scope: TokenScope
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken(TokenLine):
    """The line of `tokens --new`: a new token.

    Attributes:
        token: The token, which is shown once: ``cc_4f1193a0_9b2e...``.
    """

    token: str
