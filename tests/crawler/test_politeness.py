"""How long a host or a URL is left alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, strategies as st

from crawlclean.crawler.transfer.responses import (
    LONGEST_RETRY_AFTER_MS,
    LONGEST_WAIT_MS,
    RETRY_STATUSES,
    SLOW_DOWN_STATUSES,
    backoff_ms,
    retry_after_ms,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wait_ms"),
    [
        ("0", 0),
        ("3", 3_000),
        (" 12 ", 12_000),
        ("3600", 3_600_000),
        ("3601", LONGEST_RETRY_AFTER_MS),
        ("9" * 5000, LONGEST_RETRY_AFTER_MS),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30_000),
        ("Sunday, 01-Mar-26 12:00:30 GMT", 30_000),
        ("Sun, 01 Mar 2026 20:00:30 +0800", 30_000),
        ("Sun, 01 Mar 2026 12:00:30", 30_000),
        ("Sun, 01 Mar 2026 11:59:00 GMT", 0),
        ("Sun, 01 Mar 2099 12:00:00 GMT", LONGEST_RETRY_AFTER_MS),
        ("Fri, 31 Dec 9999 23:59:59 -2359", LONGEST_RETRY_AFTER_MS),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("²", None),
        ("Mon, 01 Jan 99999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2020 00:00:00 +99999999999999", None),
        ("2026-03-01T12:00:30Z", None),
    ],
)
def test_retry_after(value: str, wait_ms: int | None) -> None:
    assert retry_after_ms([("Server", "x"), ("RETRY-after", value)], NOON) == wait_ms


def test_no_retry_after() -> None:
    assert retry_after_ms([]) is None
    assert retry_after_ms([("Date", "Sun, 01 Mar 2026 12:00:30 GMT")]) is None
    assert retry_after_ms([("Retry-After", "5"), ("Retry-After", "9")]) == 5_000


@given(st.text() | st.from_regex(r"\w{3}, \d{1,2} Jan \d+ \d+:\d+:\d+ [+-]?\d+", fullmatch=True))
@example("Mon, 01 Jan 1 00:00:00 -0001")
def test_any_retry_after_is_a_bounded_wait_or_none(value: str) -> None:
    wait = retry_after_ms([("Retry-After", value)])
    assert wait is None or 0 <= wait <= LONGEST_RETRY_AFTER_MS


def test_waits_grow_fourfold_up_to_five_minutes() -> None:
    assert [backoff_ms(n) for n in (1, 2, 3, 4, 5, 6)] == [1000, 4000, 16000, 64000, 256000, 300000]
    assert backoff_ms(10_000) == LONGEST_WAIT_MS


def test_a_busy_host_is_one_of_those_that_are_asked_again() -> None:
    assert SLOW_DOWN_STATUSES < RETRY_STATUSES
    assert not RETRY_STATUSES & {200, 301, 304, 400, 401, 403, 404, 410, 451, 501}
