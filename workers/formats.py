"""Numbers, sizes, times and durations as the console prints them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from msgspec import Struct

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400  # units of spans of time
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
STEP = 1024  # from one unit of sizes to the next: KiB, MiB


class Span(Struct, frozen=True):
    """A duration in one unit, for words: 125 seconds are 2 ``minutes``."""

    n: int
    unit: str


def span_of(seconds: float) -> Span:
    """A duration in its largest fitting unit: seconds below two minutes, days from two days on."""
    whole = max(0, int(seconds))
    if whole < 2 * MINUTE_S:
        return Span(whole, "seconds")
    if whole < 2 * HOUR_S:
        return Span(whole // MINUTE_S, "minutes")
    if whole < 2 * DAY_S:
        return Span(whole // HOUR_S, "hours")
    return Span(whole // DAY_S, "days")


def size(value: int | float) -> str:
    """A number of bytes: ``512 B``, ``1.5 KiB``, ``23 MiB``."""
    amount = float(value)
    for unit in UNITS:
        if abs(amount) < STEP or unit == UNITS[-1]:
            break
        amount /= STEP
    digits = 0 if unit == "B" or abs(amount) >= 10 else 1
    return f"{amount:.{digits}f} {unit}"


def number(value: int | float) -> str:
    """A number: ``1,234,567``, ``3.4``; below 10 with one decimal place where there is one."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


def percent(share: float) -> str:
    """A share of 1: ``37 %``, ``0.4 %``, ``< 0.1 %``."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{share:.1%}".replace("%", " %") if share < 0.1 else f"{share:.0%}".replace("%", " %")


@cache
def zones() -> frozenset[str]:
    """Names of all time zones that this machine knows."""
    return frozenset(available_timezones())


def zone_of(name: str | None) -> tzinfo:
    """A time zone by its name, ``Asia/Shanghai``; UTC for what is none."""
    if not name or name == "UTC" or name not in zones():
        return UTC
    return ZoneInfo(name)


def local(at: datetime, zone: tzinfo) -> str:
    """A time with its zone: ``2026-11-22 14:03:09 UTC``, ``2026-11-22 22:03:09 CST``."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def short(at: datetime, zone: tzinfo) -> str:
    """A time at the end of a chart: ``11-22 14:03 UTC``."""
    return f"{at.astimezone(zone):%m-%d %H:%M %Z}"


def iso(at: datetime) -> str:
    """A time for programs: ``2026-11-22T14:03:09Z``."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
