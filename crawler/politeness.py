"""Waits of hosts and URLs after failures, and the outcome of a response for the host's clock.

The clocks are in the queue, shared by all spiders.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from crawlclean.storage.crawl_types import FailureReason, FetchResult
from crawlclean.storage.politeness_policy import ResponseOutcome

RETRY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
SLOW_DOWN_STATUSES = frozenset({429, 503})
FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000
LONGEST_RETRY_AFTER_MS = 3_600_000
UNANSWERED = frozenset(
    {
        FailureReason.DNS,
        FailureReason.ADDRESS_REFUSED,
        FailureReason.CONNECT,
        FailureReason.TIMEOUT,
        FailureReason.INTERNAL,
    }
)


def backoff_ms(attempt: int) -> int:
    """Returns the wait of a URL after its ``attempt``-th failure, ms: 1,000, 4,000 ... 300,000."""
    return int(min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 4 ** (attempt - 1)))


def retry_after_ms(headers: Sequence[tuple[str, str]], now: datetime | None = None) -> int | None:
    """Reads Retry-After (``"120"`` or an HTTP date) as ms, at most an hour; None without one."""
    value = next((v.strip() for k, v in headers if k.lower() == "retry-after"), "")
    if value.isascii() and value.isdigit():
        return min(int(value[:9]) * 1000, LONGEST_RETRY_AFTER_MS)
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the zone of a date may be any number
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    wait = (until - (now or datetime.now(UTC))).total_seconds() * 1000
    return max(0, min(int(wait), LONGEST_RETRY_AFTER_MS))


def slow_down_ms(status: int, headers: Sequence[tuple[str, str]], attempt: int) -> int:
    """Returns the pause that a response with 429 or 503 asks of us, ms; 0 for other statuses."""
    if status not in SLOW_DOWN_STATUSES:
        return 0
    return retry_after_ms(headers) or backoff_ms(attempt)


def outcome_of(result: FetchResult) -> ResponseOutcome:
    """Classifies the result of a request for the host's clock."""
    if result.failure and result.failure.reason in UNANSWERED:
        return ResponseOutcome.NONE
    return outcome_of_status(result.status)


def outcome_of_status(status: int) -> ResponseOutcome:
    """Classifies an HTTP status for the host's clock; 0 means an unreadable response."""
    if status in SLOW_DOWN_STATUSES:
        return ResponseOutcome.SLOW_DOWN
    return ResponseOutcome.ANSWERED if 200 <= status < 400 else ResponseOutcome.ERROR
