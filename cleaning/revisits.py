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
import re
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import IntEnum, StrEnum
from functools import lru_cache
from operator import add
from re import Pattern
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field, structs

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.lexicon import pattern_of, word_list
from crawlclean.cleaning.records import CleanRecord, PageKind, UrlKind

MINUTE, HOUR, DAY = 60, 3_600, 86_400  # in seconds

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
"""Visits are counted from 0 to 7: some ask without a condition (``HostTrust``)."""

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


class ClassSums(NamedTuple):
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
        return ClassSums(*map(add, self, more))


@dataclass(frozen=True, slots=True)
class VisitState:
    """What the visits of one page have found; ``packed`` is 24 bytes, in the order of the fields.

    Attributes:
        kind: Its kind.
        in_a_row: ``visits`` modulo 8, by which some visits have no condition.
        gone: Answers 404 or 410 in a row, the newest included.
        failures: Other failures in a row, the newest included.
        visits: Visits after the first, at most 65,535.
        changed: Visits that found a change.
        not_modified: Visits that were answered 304.
        born_day: Day of its publication since 1970, or of its first visit; 0: unknown.
        changes: Expected changes, decayed, >= 0.
        time_s: Sum of the gaps, decayed, >= 0.
        content: CRC-32 of a page's bytes, or of what a sitemap lists; 0: none was read.
    """

    kind: VisitKind
    in_a_row: int = 0
    gone: int = 0
    failures: int = 0
    visits: int = 0
    changed: int = 0
    not_modified: int = 0
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
        kind, *numbers = _STATE.unpack(packed)
        return VisitState(_KINDS[kind], *numbers)
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


# How far a host's own words about its changes are true: dates of sitemaps, ETags; no clock.
#
# **Dates** (``lastmod``) are often made when the sitemap is made. So they are used after they have
# been compared with what visits found, at a sample of 200 URLs (those with the least page ids):
#
# | | text changed | text the same |
# |---|---|---|
# | date moved since the last visit | ``moved_changed`` | ``moved_same`` |
# | date as before | ``still_changed`` | ``still_same`` |
#
# - A page is *skipped* for a date that has not moved, after 20 visits of pages with such dates of
#   which at most 5 % had changed.
# - A page is *hurried* for a date that has moved, when at least 30 % of such pages had changed.
# - Dates are *lies* for 30 days when more than 80 % of them are equal, or all are within an hour of
#   the sitemap's response: nothing is skipped or hurried, and the comparison begins anew.
# - Dates of a host's feeds are compared by themselves, and only hurry: an old date of publication
#   does not show that a page is as it was.
#
# **Conditions.** A host that sends other text under an equal ETag or Last-Modified is asked without
# conditions for 30 days. Until 3 changed pages had other ones, or 50 pages were seen unchanged,
# every second visit of a page is made without a condition; then every eighth.
#
# Times are seconds since 1970 UTC.

SAMPLE = 200  # pages of a host that are compared; they are stored with the trust in it
LEAST_STILL = 20  # visits; fewer say nothing of a share of 5 %
MOST_UNANNOUNCED = 0.05  # of the changes that a skipped visit may miss
LEAST_MOVED = 5
"""Visits of pages with a moved date that a share of 30 % is taken from."""
LEAST_TRUE = 0.3  # of the pages with a moved date: below it hurrying costs visits alone
RECENT_SHARE = 0.25  # of the gap before a visit: an older sitemap cannot tell of its change
LEAST_DATES = 10
"""Fewer dates of a sitemap prove no lie."""
EQUAL_SHARE = 0.8  # of a sitemap's dates: they are of the day on which it was made
NEAR_S = HOUR
DISTRUST_S = 30 * DAY
LEAST_TRUE_CHANGES = 3  # one or two may be chance
LEAST_CHECKS = 50  # pages that are quiet by themselves prove little each
UNCONDITIONAL_EVERY, UNPROVEN_EVERY = 8, 2
"""Visits of a page of which one has no condition, of a proven host and of others.

With every eighth from the beginning a host that answers 304 to everything hid 98 % of its changes
for ten days: a list that seems unchanged seven times is visited weekly.
"""

_DAY_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")


class HostTrust(Struct, frozen=True, omit_defaults=True):
    """What is known of a host's words about its changes, in one crawl.

    Attributes:
        moved_changed: Visits of sampled pages by date and text, see above.
        moved_same: The same.
        still_changed: The same.
        still_same: The same.
        skipped: Visits that were left out for a date.
        hurried: Visits that were made sooner for a date.
        liar_until: Until when its dates are not used; 0: they are.
        unconditional_until: Until when no condition is sent; 0: conditions are sent.
        true_changes: Changed pages with other validators than before, as far as they are counted.
        checks: Unchanged pages in whole responses, as far as they are counted.
        read_at: When a sitemap was read last.
        sample: Page id -> (date, whether it moved since the last visit).
        feeds: The same of the dates in the host's feeds; None: no feed of it has dates.
    """

    moved_changed: int = 0
    moved_same: int = 0
    still_changed: int = 0
    still_same: int = 0
    skipped: int = 0
    hurried: int = 0
    liar_until: int = 0
    unconditional_until: int = 0
    true_changes: int = 0
    checks: int = 0
    read_at: int = 0
    sample: dict[str, tuple[int, bool]] = field(default_factory=dict)
    feeds: HostTrust | None = None

    def may_skip(self, at_s: float) -> bool:
        """Whether a page whose date has not moved need not be visited."""
        visits = self.still_changed + self.still_same
        is_true = visits >= LEAST_STILL and self.still_changed <= MOST_UNANNOUNCED * visits
        return is_true and at_s >= self.liar_until

    def may_hurry(self, at_s: float) -> bool:
        """Whether a page whose date has moved is visited at once."""
        visits = self.moved_changed + self.moved_same
        is_true = visits >= LEAST_MOVED and self.moved_changed >= LEAST_TRUE * visits
        return is_true and at_s >= self.liar_until

    @property
    def is_proven(self) -> bool:
        """Whether the host's validators have changed with its pages."""
        return self.true_changes >= LEAST_TRUE_CHANGES or self.checks >= LEAST_CHECKS

    def may_condition(self, at_s: float, visits_in_a_row: int) -> bool:
        """Whether a request may carry a condition.

        Args:
            at_s: Time of the request.
            visits_in_a_row: ``VisitState.in_a_row`` of its page, 0..7.
        """
        every = UNCONDITIONAL_EVERY if self.is_proven else UNPROVEN_EVERY
        return at_s >= self.unconditional_until and visits_in_a_row % every != every - 1


class Lastmod(Struct, frozen=True):
    """The date of a page: ``2026-03-01`` is the day from ``first_s`` to ``last_s``.

    Attributes:
        first_s: Earliest time that it may mean.
        last_s: Latest time that it may mean.
    """

    first_s: int
    last_s: int


def read_lastmod(text: str | None) -> Lastmod | None:
    """Returns the times of a date; None when it is none of ISO 8601 or, as in RSS, of RFC 5322.

    A time without a zone is UTC; ``2026-03-01`` is the whole day, in any zone of the world.
    """
    text = (text or "").strip()
    try:
        at = parsedate_to_datetime(text) if ":" in text[9:] and "," in text[:9] else None
        at = at or datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        if _DAY_ONLY.fullmatch(text):
            first, last = at - timedelta(hours=12), at + timedelta(hours=36)
        else:
            first = last = at
        return Lastmod(int(first.timestamp()), int(last.timestamp()))
    except (ValueError, OverflowError):
        return None


def is_lie(dates: Mapping[str, Lastmod], read_at_s: float) -> bool:
    """Whether a sitemap's dates were made when the sitemap was made.

    Args:
        dates: Page id -> date.
        read_at_s: End of the sitemap's response.
    """
    if len(dates) < LEAST_DATES:
        return False
    counted = Counter(date.last_s for date in dates.values())
    if max(counted.values()) > EQUAL_SHARE * len(dates):
        return True
    return all(abs(date.last_s - read_at_s) <= NEAR_S for date in dates.values())


def after_sitemap(trust: HostTrust, dates: Mapping[str, Lastmod], read_at_s: float) -> HostTrust:
    """Returns the trust in a host after one of its sitemaps was read.

    Args:
        trust: Before.
        dates: Page id -> date, of the pages that have one.
        read_at_s: End of the sitemap's response.
    """
    if is_lie(dates, read_at_s):
        return structs.replace(
            trust,
            moved_changed=0,
            moved_same=0,
            still_changed=0,
            still_same=0,
            liar_until=int(read_at_s + DISTRUST_S),
            sample={},
        )
    sample = dict(trust.sample)
    for page_id, date in dates.items():
        known = sample.get(page_id)
        if known is None:
            sample[page_id] = (date.last_s, False)
        elif known[0] != date.last_s:
            sample[page_id] = (date.last_s, True)
    kept = {name: sample[name] for name in sorted(sample)[:SAMPLE]}
    return structs.replace(trust, sample=kept, read_at=int(read_at_s))


def after_page(
    trust: HostTrust, page_id: str, at_s: float, gap_s: float, *, is_changed: bool
) -> HostTrust:
    """Returns the trust in a host after a visit of one of its pages; most are in no sample.

    A visit is counted when the sitemap was read in the last quarter of the gap before it: no
    sitemap announces a change that comes after it.

    Args:
        trust: Before.
        page_id: Of the page.
        at_s: Time of the visit.
        gap_s: Time since the visit before.
        is_changed: Whether the page has other content.
    """
    if trust.feeds is not None:
        feeds = after_page(trust.feeds, page_id, at_s, gap_s, is_changed=is_changed)
        trust = trust if feeds is trust.feeds else structs.replace(trust, feeds=feeds)
    known = trust.sample.get(page_id)
    if known is None:
        return trust
    date, is_moved = known
    sample = trust.sample | {page_id: (date, False)} if is_moved else trust.sample
    if at_s - trust.read_at > RECENT_SHARE * gap_s:
        return structs.replace(trust, sample=sample) if is_moved else trust
    name = f"{'moved' if is_moved else 'still'}_{'changed' if is_changed else 'same'}"
    return structs.replace(trust, sample=sample, **{name: getattr(trust, name) + 1})


def after_response(trust: HostTrust, at_s: float, *, is_changed: bool, is_equal: bool) -> HostTrust:
    """Returns the trust in a host after a whole response for a page that was visited before.

    Args:
        trust: Before.
        at_s: End of the response.
        is_changed: Whether the page has other text.
        is_equal: Whether ETag, or without one Last-Modified, is that of the response before.
    """
    if is_changed and is_equal:
        until = int(at_s + DISTRUST_S)
        return structs.replace(trust, unconditional_until=until, true_changes=0, checks=0)
    if trust.is_proven:
        return trust
    if is_changed:
        return structs.replace(trust, true_changes=trust.true_changes + 1)
    return structs.replace(trust, checks=trust.checks + 1)


# Whether a page reads as gone, although its host answered 200 ("soft 404").
#
# A short page that names its own absence. News about missing pages is longer; a short text with
# such words may still be a page of its own, so the caller compares it with what the address showed
# before.

MOST_CHARS = 300
"""Of title and body together; pages that give suggestions ("try our search") have 100 to 250."""


def absence_words(record: CleanRecord) -> str:
    """Returns the words with which a page reads as gone, ``页面不存在``; ``""``: it does not."""
    text = f"{record.title}\n{record.body}"
    if len(text) > MOST_CHARS or len(record.posts) > 1:
        return ""
    found = _words().search(text.lower())
    return found[0] if found else ""


def has_vanished(before: CleanRecord, after: CleanRecord) -> bool:
    """Whether an address that showed a page now reads as gone: no line of the text is left."""
    if absence_words(before) or not absence_words(after):
        return False
    kept = set(before.body.splitlines()) & set(after.body.splitlines())
    return not any(line.strip() for line in kept)


@lru_cache(maxsize=1)
def _words() -> Pattern[str]:
    return pattern_of(word_list("missing_page_words"))
