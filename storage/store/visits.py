"""What a visit of a page changes in a store: its schedule, its class, its older versions.

Shared by both stores, over their ports. A save

1. compares the new records with the stored ones (``compare``), before anything is written;
2. ends the unchanged visits (``touch``): the record and its fence stay;
3. writes changed outcomes with the schedule of ``next_schedule``;
4. adds to the sums of the pages' classes (``add_sums``).

Only outcomes with ``Outcome.visit``, those of a crawl that keeps its pages fresh, have a schedule.
A visit that is saved again is older than ``checked_at`` or the row's fence and changes nothing. The
sums of classes are estimates: a save that died between the row and the sums has lost one visit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any
from zlib import crc32

from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.revisits import (
    DAY,
    ClassSums,
    Found,
    HostTrust,
    VisitClass,
    VisitState,
    after_page,
    after_response,
    after_visit,
    is_old_article,
    next_interval_s,
    unpack_state,
)
from crawlclean.cleaning.urls.normal_form import normalize, page_id as page_id_of
from crawlclean.cleaning.versions import Change, compare as compare_records
from crawlclean.storage.crawl_types import FailureReason, Outcome, PageRole, UrlState
from crawlclean.storage.store.codec import to_microseconds
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome, naming
from crawlclean.storage.store.host_trust import HostKey, read_trust, write_trust
from crawlclean.storage.store.ports import Blobs, PackedRecord, Tables
from crawlclean.storage.store.record_blobs import unpack_text
from crawlclean.storage.store.versions import Versions

SCHEDULE_COLUMNS = ("next_visit", "interval_s", "checked_at", "visits")
"""Columns of ``urls`` with the schedule: microseconds, seconds, microseconds, ``VisitState``."""

_KNOWN = ("state", "fetched_at", *SCHEDULE_COLUMNS)
ETAG = 11
"""Index of the ETag in ``EncodedOutcome.url_row``; Last-Modified is the next."""
_SUMS = ("changes", "time_s", "visits", "changed", "not_modified")
GONE_STATUSES = frozenset((404, 410))
NEVER = frozenset(
    (
        FailureReason.ADDRESS_REFUSED,
        FailureReason.POISON,
        FailureReason.ROBOTS,
        FailureReason.PATTERN,
        FailureReason.TRAP,
        FailureReason.DUPLICATE,
    )
)
"""Failures that another visit would only repeat."""
SECOND_US = 1_000_000

ClassKey = tuple[str, str, str]
"""(host, crawl, URL class): ``("www.example.com", "news", "/news/*.html")``."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The schedule of a URL, in the order of ``SCHEDULE_COLUMNS``.

    Attributes:
        next_visit: When it is due, microseconds since 1970 UTC; None: never.
        interval_s: Interval before ``next_visit``, seconds; None before the first visit.
        checked_at: End of the last response that showed the page; None before the first visit.
        visits: ``VisitState.packed``, or None.
    """

    next_visit: int | None = None
    interval_s: int | None = None
    checked_at: int | None = None
    visits: bytes | None = None

    @classmethod
    def of(cls, values: Sequence[Any]) -> Schedule:
        """The schedule of the values of ``SCHEDULE_COLUMNS``."""
        packed = values[3]
        return cls(values[0], values[1], values[2], None if packed is None else bytes(packed))

    @property
    def values(self) -> tuple[int | None, int | None, int | None, bytes | None]:
        """The values of ``SCHEDULE_COLUMNS``."""
        return self.next_visit, self.interval_s, self.checked_at, self.visits


NO_SCHEDULE = Schedule()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A new record compared with the stored one.

    A record without a change replaces the stored one and keeps the number and time of its save, so
    that exports of what is new leave it out.

    Attributes:
        stored: The stored record.
        change: How they differ.
        is_unchanged: Whether the visit found the page as it was: the stored record stays.
    """

    stored: PackedRecord
    change: Change
    is_unchanged: bool


class Visits:
    """The part of a save that belongs to revisits; one for each save."""

    def __init__(self, tables: Tables, blobs: Blobs) -> None:
        self._tables = tables
        self._blobs = blobs
        self._versions = Versions(tables, blobs)
        self._stored: dict[ClassKey, ClassSums] = {}
        self._added: dict[ClassKey, dict[int, ClassSums]] = defaultdict(dict)
        self._trust: dict[HostKey, HostTrust] = {}
        self._new_trust: dict[HostKey, HostTrust] = {}

    def compare(self, each: EncodedOutcome) -> Comparison | None:
        """Compares a record with the stored one of its page.

        None without a stored record, and when the stored record is not older: a page that was
        cleaned again, or an outcome that is saved again.
        """
        with naming(each.outcome):
            each.outcome.queued.page_id.encode()  # a value that no database takes is named here
        return self._compare(each)

    def _compare(self, each: EncodedOutcome) -> Comparison | None:
        record, queued = each.outcome.record, each.outcome.queued
        if record is None:
            return None
        key = (queued.page_id, queued.crawl_id)
        rows = self._tables.get("records", [key], ("fetched_at",))
        if not rows or rows[key][0] >= each.version[0]:
            return None
        stored = self._blobs.record(*key)
        if stored is None:  # deleted since
            return None
        old = unpack_text(stored.head, stored.links)
        change = compare_records(old, record, each.outcome.template)
        if each.outcome.visit is None:
            return Comparison(stored, change, is_unchanged=False)
        if change.is_list and change.is_changed:
            change = self._only_new(change, queued.crawl_id)
        columns = ("state", "etag", "last_modified", "fetched_bytes", "visits")
        states = self._tables.get("urls", [key], columns)
        state, etag, modified, size, packed = states.get(key, (None, None, None, 0, None))
        is_newest = state == UrlState.RECORD.value
        if is_newest and (etag or modified):
            is_equal = _is_same_by_word(each, etag, modified)
            known = unpack_state(bytes(packed)).content if packed is not None else 0
            # Without a visit since the crawl keeps fresh, the length has to do.
            is_same = known == _content(each.outcome) if known else size == len(queued.result.body)
            is_other_model = old.model_version != record.model_version
            if is_equal and change.is_changed and is_other_model and is_same:
                change = Change(False)  # the same bytes, read with another model
            self._check_validators(each, is_changed=change.is_changed, is_equal=is_equal)
        return Comparison(stored, change, is_newest and not change.is_changed)

    def _only_new(self, change: Change, crawl_id: str) -> Change:
        """The change of a list without the addresses that the crawl has visited.

        The second page of a list shows at every visit what was on the first page before.
        """
        ids = {page_id_of(normalize(url)): url for url in change.new_urls}
        known = self._tables.get("urls", [(each, crawl_id) for each in ids], ("state",))
        visited = {ids[key[0]] for key in known}
        new = tuple(url for url in change.new_urls if url not in visited)
        return Change(bool(new), True, new)

    def keep_version(self, compared: Comparison | None, each: EncodedOutcome) -> None:
        """Keeps the stored record as a version before ``each`` replaces it.

        Args:
            compared: Of ``compare``; None: the same response was cleaned again.
            each: With the new record.
        """
        record, queued = each.outcome.record, each.outcome.queued
        if record is None:
            return
        if compared is not None and compared.change.is_changed:
            self._versions.begin(compared.stored, record, is_changed=True)
        elif self._versions.has_any(queued.page_id, queued.crawl_id):
            stored = compared.stored if compared else None
            stored = stored or self._blobs.record(queued.page_id, queued.crawl_id)
            if stored is not None:
                self._versions.begin(stored, record, is_changed=False)

    def next_schedule(self, each: EncodedOutcome, known: Schedule, *, is_new: bool) -> Schedule:
        """The schedule of a URL whose row is replaced by an outcome.

        Args:
            each: The outcome.
            known: The stored schedule.
            is_new: Whether its record has other content than the stored one.
        """
        outcome = each.outcome
        visit = outcome.visit
        at = each.version[0]
        if visit is None or (known.checked_at is not None and at <= known.checked_at):
            return known
        found = _found(outcome, is_new=is_new)
        if found is None:
            return replace(known, next_visit=None)
        return self._visited(each, visit, known, found, at)

    def _visited(
        self, each: EncodedOutcome, visit: VisitClass, known: Schedule, found: Found, at: int
    ) -> Schedule:
        outcome = each.outcome
        host, url_class = each.url_row[0], replace_surrogates(visit.url_class)
        key = (host, outcome.queued.crawl_id, url_class)
        self._added[key].pop(id(each), None)  # planned before, and another process was faster
        sums = self.sums(key)
        is_found = found in (Found.CHANGED, Found.UNCHANGED)
        at_s = at / SECOND_US
        if known.visits is None:
            state = VisitState(visit.kind, born_day=_born_day(outcome.record, at_s))
            found = Found.UNCHANGED if is_found else found
            if not is_found:
                state, _ = after_visit(state, sums, found, 1.0)
        else:
            state = unpack_state(known.visits)
            if outcome.record is not None:
                state = replace(state, kind=visit.kind)
            before = at if known.checked_at is None else known.checked_at
            if outcome.content and outcome.content != state.content and is_found:
                found = Found.CHANGED
            if is_found:
                self._learn_trust(each, at_s, (at - before) / SECOND_US, found)
            state, more = after_visit(
                state,
                sums,
                found,
                (at - before) / SECOND_US,
                is_not_modified=outcome.unchanged,
                is_old=is_old_article(state, at_s),
            )
            if known.checked_at is not None and more.visits:
                self._added[key][id(each)] = more
                sums = sums.plus(more)
        content = _content(outcome)
        if content and is_found:
            state = replace(state, content=content)
        wait = next_interval_s(state, sums, is_old=is_old_article(state, at_s))
        return Schedule(
            next_visit=None if wait is None else at + int(wait * SECOND_US),
            interval_s=None if wait is None else int(wait),
            checked_at=at if is_found else known.checked_at,
            visits=state.packed(),
        )

    def touch(self, each: EncodedOutcome) -> bool:
        """Ends a visit that found its page unchanged, or was missed; returns whether it counted.

        Only the schedule and, of a whole response, its ETag and Last-Modified are written.
        """
        outcome = each.outcome
        queued = outcome.queued
        if outcome.visit is None:
            return False
        rows = self._tables.get("urls", [(queued.page_id, queued.crawl_id)], _KNOWN)
        if not rows:
            return False
        state, fetched_at, *rest = next(iter(rows.values()))
        known = Schedule.of(rest)
        at = each.version[0] if outcome.record else to_microseconds(queued.fetched_at)
        last = fetched_at if known.checked_at is None else known.checked_at
        is_missed = outcome.failure is not None
        if (state == UrlState.FAILED.value and not is_missed) or at <= max(last, fetched_at):
            return False
        if known.visits is None:  # visited before the crawl kept fresh: its first response counts
            started = VisitState(outcome.visit.kind, born_day=int(fetched_at / SECOND_US / DAY))
            known = replace(known, checked_at=fetched_at, visits=started.packed())
        found = Found.FAILED if is_missed else Found.UNCHANGED
        new = self._visited(each, outcome.visit, known, found, at)
        values: dict[str, Any] = dict(zip(SCHEDULE_COLUMNS, new.values, strict=True))
        found_etag, found_modified = each.url_row[ETAG : ETAG + 2]
        if (not outcome.unchanged or found_etag) and not is_missed:
            values["etag"] = found_etag
        if (not outcome.unchanged or found_modified) and not is_missed:
            values["last_modified"] = found_modified
        still = {
            "page_id": queued.page_id,
            "crawl_id": queued.crawl_id,
            "fetched_at": fetched_at,
            "checked_at": rest[2],
        }
        if self._tables.change("urls", still, values):
            return True
        for added in self._added.values():
            added.pop(id(each), None)
        return False

    def _learn_trust(self, each: EncodedOutcome, at_s: float, gap_s: float, found: Found) -> None:
        """Compares what a visit found with what the host's sitemap announced."""
        page_id = each.outcome.queued.page_id
        key = (each.url_row[0], each.outcome.queued.crawl_id)
        known = self._new_trust.get(key) or self._known_trust(key)
        new = after_page(known, page_id, at_s, gap_s, is_changed=found is Found.CHANGED)
        if new is not known:
            self._new_trust[key] = new

    def _check_validators(self, each: EncodedOutcome, *, is_changed: bool, is_equal: bool) -> None:
        """Compares what a whole response shows with the validators of its host."""
        key = (each.url_row[0], each.outcome.queued.crawl_id)
        known = self._new_trust.get(key) or self._known_trust(key)
        at_s = each.version[0] / SECOND_US
        new = after_response(known, at_s, is_changed=is_changed, is_equal=is_equal)
        if new is not known:
            self._new_trust[key] = new

    def _known_trust(self, key: HostKey) -> HostTrust:
        if key not in self._trust:
            self._trust[key] = read_trust(self._tables, [key]).get(key, HostTrust())
        return self._trust[key]

    def sums(self, key: ClassKey) -> ClassSums:
        """The sums of a class before this save: pages of one save do not depend on their order."""
        if key not in self._stored:
            rows = self._tables.get("visit_classes", [key], _SUMS)
            self._stored[key] = ClassSums(*next(iter(rows.values()))) if rows else ClassSums()
        return self._stored[key]

    def add_sums(self) -> None:
        """Adds what this save's visits found to the sums of their classes and hosts."""
        for host_key, trust in sorted(self._new_trust.items(), key=itemgetter(0)):
            write_trust(self._tables, host_key, trust)
        self._new_trust.clear()
        for key, added in sorted(self._added.items(), key=itemgetter(0)):
            if added:
                total = ClassSums()
                for more in added.values():
                    total = total.plus(more)
                row = dict(zip(("host", "crawl_id", "url_class"), key, strict=True))
                amounts = {name: getattr(total, name) for name in _SUMS}
                self._tables.increase("visit_classes", row, amounts)
        self._added.clear()


def _is_same_by_word(each: EncodedOutcome, etag: str | None, modified: str | None) -> bool:
    """Whether a response has the validators of the stored one, by which it is the same."""
    new_etag, new_modified = each.url_row[ETAG : ETAG + 2]
    if etag or new_etag:
        return bool(etag == new_etag)
    return modified is not None and bool(modified == new_modified)


def _content(outcome: Outcome) -> int:
    """The CRC-32 of a page's bytes, or of what a sitemap or a feed lists; 0: neither was read."""
    body = outcome.queued.result.body if outcome.record is not None else b""
    return outcome.content or (crc32(body) or 1 if body else 0)


def _found(outcome: Outcome, *, is_new: bool) -> Found | None:
    """What a visit found; None when the URL is not visited again."""
    if outcome.queued.role in (PageRole.IMAGE, PageRole.ROBOTS):
        return None
    if outcome.failure and outcome.failure.reason in NEVER:
        return None
    if outcome.state in (UrlState.EXCLUDED, UrlState.FAILED, UrlState.REDIRECT):
        reason = outcome.failure.reason if outcome.failure else None
        is_gone = outcome.queued.result.status in GONE_STATUSES or reason is FailureReason.GONE
        return Found.GONE if is_gone else Found.FAILED
    return Found.CHANGED if is_new else Found.UNCHANGED


def _born_day(record: CleanRecord | None, at_s: float) -> int:
    """Day since 1970 of a page's publication, or of its first visit."""
    visited = int(at_s / DAY)
    if record is None or record.published_at is None:
        return visited
    published = to_microseconds(record.published_at) // (SECOND_US * DAY)
    return published if 0 < published <= visited else visited
