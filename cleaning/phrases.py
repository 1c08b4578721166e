"""Numbers and times as sentences for people have them; one form for the whole program."""

from __future__ import annotations

from datetime import UTC, datetime


def counted(number: int, noun: str, several: str = "") -> str:
    """``1 story``, ``98 stories``, ``1,204 failed URLs``.

    Args:
        number: How many.
        noun: Of one, with the words before it: ``failed URL``.
        several: Of several, where it is not formed by s, es or ies: ``pages of its list``.
    """
    if number != 1 and not several:
        is_y = noun.endswith("y") and noun[-2] not in "aeiou"
        several = f"{noun[:-1]}ies" if is_y else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{number:,} {noun if number == 1 else several}"


def minute(at: datetime | None) -> str:
    """``2026-01-31 12:00``, in UTC, or ``-``: a cell of a table; in a sentence UTC follows."""
    return f"{_utc(at):%Y-%m-%d %H:%M}" if at else "-"


def second(at: datetime) -> str:
    """``2026-01-31 12:00:09 UTC``."""
    return f"{_utc(at):%Y-%m-%d %H:%M:%S} UTC"


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC) if at.tzinfo else at
