"""When a page is visited again: how often it changes, learned from its visits; no clock.

A visit tells one bit: the page has changed since the last visit, or it has not. Changes are taken
for a Poisson process with a rate of Gamma prior (Cho and Garcia-Molina, *Estimating frequency of
change*, 2003, for the bit; the prior is that of the page's class). After a gap ``g`` at the
estimated rate ``r``

- a change adds ``r g / (1 - exp(-r g))`` to the expected changes of page and class,
- no change adds 0, and both add ``g`` to their time;
- the page's own sums decay by 3 % a visit, so that a page that has become quiet is found quiet.

``rate = (changes + 3) / (time + 3 / class rate)``, and the next visit is when a change has happened
with probability .5. A class is a host's URL class (``/news/*.html``); a class without visits has
the first interval of its kind.

Times are seconds. ``next_interval_s`` of a page with no visits but its first is the class's first
interval: 7,200 for a list of news.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.records import PageKind, UrlKind

MINUTE, HOUR, DAY = 60, 3_600, 86_400

QUANTILE = 0.5
"""Probability of a change until the next visit.

In a month of 2,000 synthetic pages (`make bench-revisits`) a daily recrawl asked 55,800 times and
saw 90 % of the changes within 22 h. With .5 it was 29,400 times and 20 h, with .7 17,800 and 37 h.
"""
CHANGES_PER_INTERVAL: Final = -math.log(1 - QUANTILE)
"""Expected changes in one interval: .693."""

PRIOR_CHANGES = 3.0
"""Weight of a page's class, in changes: the page's own visits outweigh it after some three."""
KEPT_SHARE = 0.97
"""Share of a page's sums that is left after a visit: the memory is about 33 visits."""
LONGEST_GAP_S = 400.0 * DAY
OLD_AFTER_S = 30.0 * DAY
OLD_FACTOR = 4.0
"""An article 30 days old is taken to change a quarter as often as the articles of its class."""

VISITS_IN_A_ROW = 8
"""Visits are counted from 0 to 7: some ask without a condition (``visit_trust.py``)."""

GONE_VISITS = 3
"""404 or 410 in a row after which a page is not visited again."""
GONE_PAUSES_S = (1.0 * DAY, 30.0 * DAY)
"""Until the next visit after the first and the second such answer in a row."""
FAILED_PAUSE_S = 1.0 * HOUR
"""Least pause after another failure; it doubles with each one in a row."""
LONGEST_FAILED_PAUSE_S = 30.0 * DAY

_STATE = struct.Struct("<BBBBHHHHffI")


class VisitKind(StrEnum):
    """What a URL is for its revisits."""

    LIST = "list"  # a feed, a home page, a list of news
    BOARD = "board"  # a board, an index, a list in parts
    THREAD = "thread"  # posts of several users
    ARTICLE = "article"  # one text
    SITEMAP = "sitemap"  # a sitemap


_KINDS = tuple(VisitKind)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The intervals of a kind, in seconds: of a class without visits, the least, the most."""

    first_s: float
    least_s: float
    most_s: float


BOUNDS: Final[Mapping[VisitKind, Bounds]] = MappingProxyType(
    {
        VisitKind.LIST: Bounds(2 * HOUR, 10 * MINUTE, 7 * DAY),
        VisitKind.BOARD: Bounds(12 * HOUR, 30 * MINUTE, 30 * DAY),
        VisitKind.THREAD: Bounds(1 * DAY, 1 * HOUR, 60 * DAY),
        VisitKind.ARTICLE: Bounds(7 * DAY, 6 * HOUR, 180 * DAY),
        VisitKind.SITEMAP: Bounds(12 * HOUR, 1 * HOUR, 30 * DAY),
    }
)
"""Each kind's intervals, after what users of news-crawl and Nutch ask for."""


class Found(IntEnum):
    """What a visit found."""

    UNCHANGED = 0  # the same content, or 304
    CHANGED = 1  # other content
    GONE = 2  # 404 or 410
    FAILED = 3  # any other failure


@dataclass(frozen=True, slots=True)
class VisitClass:
    """The class of a URL, by which it is revisited.

    Attributes:
        kind: What the URL is.
        url_class: Template or pattern of its URLs on the host: ``/news/*.html``; ``""``: the root.
    """

    kind: VisitKind
    url_class: str = ""


@dataclass(frozen=True, slots=True)
class ClassSums:
    """What the visits of a host's URL class have found.

    Attributes:
        changes: Expected changes between the visits, >= 0.
        time_s: Sum of the gaps before the visits, >= 0.
        visits: Visits after the first of each page.
        changed: Visits that found a change.
        not_modified: Visits that were answered 304.
    """

    changes: float = 0.0
    time_s: float = 0.0
    visits: int = 0
    changed: int = 0
    not_modified: int = 0

    def plus(self, more: ClassSums) -> ClassSums:
        """The sums with those of further visits."""
        return ClassSums(
            self.changes + more.changes,
            self.time_s + more.time_s,
            self.visits + more.visits,
            self.changed + more.changed,
            self.not_modified + more.not_modified,
        )


@dataclass(frozen=True, slots=True)
class VisitState:
    """What the visits of one page have found; ``packed`` is 24 bytes.

    Attributes:
        kind: Its kind.
        visits: Visits after the first, at most 65,535.
        changed: Visits that found a change.
        not_modified: Visits that were answered 304.
        in_a_row: ``visits`` modulo 8, by which some visits have no condition.
        gone: Answers 404 or 410 in a row, the newest included.
        failures: Other failures in a row, the newest included.
        born_day: Day of its publication since 1970, or of its first visit; 0: unknown.
        changes: Expected changes, decayed, >= 0.
        time_s: Sum of the gaps, decayed, >= 0.
        content: CRC-32 of a page's bytes, or of what a sitemap lists; 0: none was read.
    """

    kind: VisitKind
    visits: int = 0
    changed: int = 0
    not_modified: int = 0
    in_a_row: int = 0
    gone: int = 0
    failures: int = 0
    born_day: int = 0
    changes: float = 0.0
    time_s: float = 0.0
    content: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether the page is not visited again."""
        return self.gone >= GONE_VISITS

    def packed(self) -> bytes:
        """The state as 24 bytes; ``unpack_state`` reads them."""
        return _STATE.pack(
            _KINDS.index(self.kind),
            self.in_a_row % VISITS_IN_A_ROW,
            min(self.gone, 255),
            min(self.failures, 255),
            min(self.visits, 65_535),
            min(self.changed, 65_535),
            min(self.not_modified, 65_535),
            min(max(self.born_day, 0), 65_535),
            self.changes,
            self.time_s,
            self.content,
        )


def unpack_state(packed: bytes) -> VisitState:
    """The state of ``VisitState.packed``.

    Raises:
        StoreDamaged: The bytes are none of its.
    """
    try:
        (
            kind, row, gone, failures, visits, changed, same, born, changes, time_s, content,
        ) = _STATE.unpack(packed)  # fmt: skip
        return VisitState(
            kind=_KINDS[kind],
            visits=visits,
            changed=changed,
            not_modified=same,
            in_a_row=row,
            gone=gone,
            failures=failures,
            born_day=born,
            changes=changes,
            time_s=time_s,
            content=content,
        )
    except (struct.error, IndexError, TypeError) as error:
        raise StoreDamaged(f"a stored schedule cannot be read: {error}") from error


def visit_kind(
    kind: PageKind | None, url_kind: UrlKind, *, is_seed: bool = False, is_sitemap: bool = False
) -> VisitKind:
    """Returns the kind of a URL for its revisits.

    Args:
        kind: Kind of its page; None without a record.
        url_kind: Kind of the URL by the rules of its host.
        is_seed: Whether an operator gave the URL: a list among the seeds is one to be watched.
        is_sitemap: Whether it was fetched as a sitemap.
    """
    if is_sitemap:
        return VisitKind.SITEMAP
    if url_kind is UrlKind.FEED:
        return VisitKind.LIST
    if kind is PageKind.THREAD or (kind is None and url_kind is UrlKind.THREAD):
        return VisitKind.THREAD
    if kind is PageKind.INDEX or (kind is None and url_kind is UrlKind.INDEX):
        return VisitKind.LIST if is_seed else VisitKind.BOARD
    return VisitKind.ARTICLE


def class_rate(sums: ClassSums, kind: VisitKind) -> float:
    """Returns the changes per second of a class's pages, > 0."""
    return (sums.changes + 1) / (sums.time_s + BOUNDS[kind].first_s / CHANGES_PER_INTERVAL)


def page_rate(state: VisitState, sums: ClassSums, *, is_old: bool = False) -> float:
    """Returns the changes per second of a page, > 0.

    Args:
        state: Of the page.
        sums: Of its class.
        is_old: Whether the page is an article older than 30 days.
    """
    prior = class_rate(sums, state.kind) / (OLD_FACTOR if is_old else 1)
    return (state.changes + PRIOR_CHANGES) / (state.time_s + PRIOR_CHANGES / prior)


def is_old_article(state: VisitState, at_s: float) -> bool:
    """Whether a page is an article whose publication is 30 days before a time (s since 1970)."""
    born_s = state.born_day * DAY
    return state.kind is VisitKind.ARTICLE and state.born_day > 0 and at_s - born_s > OLD_AFTER_S


def next_interval_s(state: VisitState, sums: ClassSums, *, is_old: bool = False) -> float | None:
    """Returns the time until the next visit in seconds, within the bounds of the page's kind.

    None: the page is dead and not visited again. After failures the pauses of ``GONE_PAUSES_S``
    and ``FAILED_PAUSE_S`` count instead.
    """
    if state.is_dead:
        return None
    if state.gone:
        return GONE_PAUSES_S[state.gone - 1]
    bounds = BOUNDS[state.kind]
    wanted = CHANGES_PER_INTERVAL / page_rate(state, sums, is_old=is_old)
    wanted = min(max(wanted, bounds.least_s), bounds.most_s)
    if state.failures:
        pause = max(wanted, FAILED_PAUSE_S) * 2.0 ** min(state.failures - 1, 20)
        return min(pause, max(LONGEST_FAILED_PAUSE_S, wanted))
    return wanted


def after_visit(
    state: VisitState,
    sums: ClassSums,
    found: Found,
    gap_s: float,
    *,
    is_not_modified: bool = False,
    is_old: bool = False,
) -> tuple[VisitState, ClassSums]:
    """Returns the state of a page after a visit, and what its class adds to its sums.

    Failures change no rate.

    Args:
        state: Of the page before the visit.
        sums: Of its class before the visit.
        found: What the visit found.
        gap_s: Time since the last visit that found the page, > 0; more than 400 days are 400.
        is_not_modified: Whether it was answered 304.
        is_old: Whether the page is an article older than 30 days.
    """
    if found in (Found.GONE, Found.FAILED):
        is_gone = found is Found.GONE
        return replace(
            state,
            gone=state.gone + 1 if is_gone else 0,
            failures=0 if is_gone else state.failures + 1,
        ), ClassSums()
    gap = min(max(gap_s, 1.0), LONGEST_GAP_S)
    is_changed = found is Found.CHANGED
    expected = 0.0
    if is_changed:
        exponent = page_rate(state, sums, is_old=is_old) * gap
        expected = exponent / -math.expm1(-exponent)
    after = replace(
        state,
        visits=state.visits + 1,
        changed=state.changed + is_changed,
        not_modified=state.not_modified + is_not_modified,
        in_a_row=(state.in_a_row + 1) % VISITS_IN_A_ROW,
        gone=0,
        failures=0,
        changes=KEPT_SHARE * state.changes + expected,
        time_s=KEPT_SHARE * state.time_s + gap,
    )
    return after, ClassSums(expected, gap, 1, int(is_changed), int(is_not_modified))
