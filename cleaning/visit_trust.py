"""How far a host's own words about its changes are true: dates of sitemaps, ETags; no clock.

**Dates** (``lastmod``) are often made when the sitemap is made. So they are used after they have
been compared with what visits found, at a sample of 200 URLs (those with the least page ids):

| | text changed | text the same |
|---|---|---|
| date moved since the last visit | ``moved_changed`` | ``moved_same`` |
| date as before | ``still_changed`` | ``still_same`` |

- A page is *skipped* for a date that has not moved, after 20 visits of pages with such dates of
  which at most 5 % had changed.
- A page is *hurried* for a date that has moved, when at least 30 % of such pages had changed.
- Dates are *lies* for 30 days when more than 80 % of them are equal, or all are within an hour of
  the sitemap's response: nothing is skipped or hurried, and the comparison begins anew.
- Dates of a host's feeds are compared by themselves, and only hurry: an old date of publication
  does not show that a page is as it was.

**Conditions.** A host that sends other text under an equal ETag or Last-Modified is asked without
conditions for 30 days. Until 3 changed pages had other ones, or 50 pages were seen unchanged, every
second visit of a page is made without a condition; then every eighth.

Times are seconds since 1970 UTC.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from msgspec import Struct, field, structs

from crawlclean.cleaning.revisits import DAY, HOUR

SAMPLE = 200
LEAST_STILL = 20
MOST_UNANNOUNCED = 0.05
LEAST_MOVED = 5
"""Visits of pages with a moved date that a share of 30 % is taken from."""
LEAST_TRUE = 0.3
RECENT_SHARE = 0.25
LEAST_DATES = 10
"""Fewer dates of a sitemap prove no lie."""
EQUAL_SHARE = 0.8
NEAR_S = HOUR
DISTRUST_S = 30 * DAY
LEAST_TRUE_CHANGES = 3
LEAST_CHECKS = 50
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
