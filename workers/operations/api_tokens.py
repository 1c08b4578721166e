"""Makes, lists and revokes tokens of the console's API."""

from __future__ import annotations

import secrets
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.console_tokens import TokenFile, TokenLine, TokenScope, digest_of
from crawlclean.workers.answers.control import NewToken

ID_BYTES, SECRET_BYTES = 4, 20
"""160 random bits: one SHA-256 is enough, and no number of guesses finds them."""

# A century: more is a slip of the pen; names stand in a table.
MOST_DAYS, MOST_NAME_CHARS = 36_500, 100


def make_token(data: Path, name: str, scope: TokenScope, days: int | None) -> NewToken:
    """Makes a token and returns it; nothing keeps its secret.

    Args:
        data: The data folder of the console.
        name: What it is for.
        scope: What it permits.
        days: How long it counts; None: until it is revoked.

    Raises:
        ConfigError: The name is empty or too long, or the days are out of range.
        StoreUnavailable: The folder cannot be written.
    """
    if not 0 < len(name) <= MOST_NAME_CHARS or not name.isprintable():
        raise ConfigError(f"the name of a token has 1 to {MOST_NAME_CHARS} printable characters")
    if days is not None and not 0 < days <= MOST_DAYS:
        raise ConfigError(f"--days {days}: a token counts for 1 to {MOST_DAYS} days")
    now = datetime.now(UTC).replace(microsecond=0)
    public, secret = secrets.token_hex(ID_BYTES), secrets.token_hex(SECRET_BYTES)
    token = NewToken(
        id=public,
        name=name,
        scope=scope,
        created_at=now,
        expires_at=None if days is None else now + timedelta(days=days),
        used_at=None,
        token=f"cc_{public}_{secret}",
    )
    with closing(TokenFile(data)) as file:
        file.add(token, digest_of(secret))
    return token


def list_tokens(data: Path) -> list[TokenLine]:
    """Returns every token, newest first; those that have expired are among them."""
    if not TokenFile.is_there(data):
        return []
    with closing(TokenFile(data)) as file:
        return file.tokens()


def revoke_token(data: Path, token: str) -> TokenLine:
    """Deletes a token; the next request with it is refused. Returns what it was.

    Args:
        data: The data folder of the console.
        token: Its id, or the whole token.

    Raises:
        NotFound: There is none.
    """
    name = token.split("_")[1] if token.startswith("cc_") else token
    if TokenFile.is_there(data):
        with closing(TokenFile(data)) as file:
            found = file.find(name)
            if found and file.revoke(name):
                return found[0]
    raise NotFound(f"no token has the id {name}; `console tokens` lists them")
