"""The schedules of others on the same pages, without store: daily, Nutch's, StormCrawler's.

Nutch: ``AdaptiveFetchSchedule`` (unchanged: interval x 1.2; changed: x 0.8). StormCrawler:
``AdaptiveScheduler`` (unchanged: x 1.5; changed: half way to the least). Both begin with the first
interval of the page's class and keep to the class's bounds, as ours, and they are told every change
of content and no other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import inf

from benchmarks.revisits.changing_site import Page
from crawlclean.cleaning.revisits import BOUNDS, DAY

Rule = Callable[[float, bool, float], float]
"""(interval, whether it changed, least interval) -> next interval, all in seconds."""


def _daily(_interval: float, _is_changed: bool, _least: float) -> float:
    return 1.0 * DAY


def _nutch(interval: float, is_changed: bool, _least: float) -> float:
    return interval * (0.8 if is_changed else 1.2)


def _storm(interval: float, is_changed: bool, least: float) -> float:
    return (interval + least) / 2 if is_changed else interval * 1.5


RULES: dict[str, Rule] = {"daily": _daily, "nutch": _nutch, "stormcrawler": _storm}


def visits_of(page: Page, rule: Rule, end_s: float) -> list[float]:
    """Times of the visits of a page after its first at 0; a dead page ends after three."""
    bounds = BOUNDS[page.visit_class.kind]
    interval = DAY if rule is _daily else bounds.first_s
    at, visits, gone = 0.0, [], 0
    while (next_at := at + interval) < end_s:
        visits.append(next_at)
        if page.is_dead(next_at):
            gone += 1
            if gone == 3:
                break
        is_changed = page.version(next_at) > page.version(at)
        at = next_at
        interval = rule(interval, is_changed, bounds.least_s)
        if rule is not _daily:
            interval = min(max(interval, bounds.least_s), bounds.most_s)
    return visits


def looks_of(page: Page, visits: Sequence[float], end_s: float) -> list[tuple[float, float]]:
    """(time of a change, time of the first visit after it or infinity) of a page's changes.

    The visit shows what came since the last one: the new entries of a list, the new posts, the text
    of an article. Of changes without a visit only those half a day before the end are counted.
    """
    found = []
    for changed in page.changes:
        at = bisect_left(visits, changed)
        if at < len(visits):
            found.append((changed, visits[at]))
        elif changed < end_s - DAY / 2:
            found.append((changed, inf))
    return found
