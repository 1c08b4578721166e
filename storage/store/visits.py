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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import unified_diff
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
from msgspec import Struct

from crawlclean.cleaning.errors import NotFound, StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, replace_surrogates
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
from crawlclean.cleaning.versions import (
    Change,
    Edit,
    compare as compare_records,
    edits_back,
    go_back,
    kept_lines,
    record_of,
    shown_lines,
)
from crawlclean.storage.crawl_types import FailureReason, Outcome, PageRole, UrlState
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.hosts import HostKey, read_trust, write_trust
from crawlclean.storage.store.ports import Member, PackedRecord, Ports, Scan, Values
from crawlclean.storage.store.rows import (
    compress,
    decompress,
    from_microseconds,
    to_microseconds,
    unpack_record,
    unpack_text,
)

# Older versions of records: what a page said at earlier visits, as differences of lines.
#
# A row has the time of an older version, and the edits that make its lines from those of the next
# newer one (``cleaning/versions.py``); the newest version is the record itself. So a save writes
# one small row, and a version is restored by going back from the record.
#
# A page keeps ``MOST_VERSIONS``; then every second one goes, the oldest never. A version is written
# before the record that replaces it: a row that is not older than the record is of a save that
# died, and is skipped; saving the outcome again writes it anew. Where the record is replaced and no
# version begins (the page was cleaned again), the newest row keeps its lines whole.

MOST_VERSIONS = 50
"""Older versions of a page that are kept; a thinned page has 26."""
CONTEXT_LINES = 2
"""Equal lines shown around a difference."""


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """An older version: ``[305419896,[[3,4,["b"]]]]``.

    Attributes:
        check: CRC-32 of its lines.
        edits: What makes its lines from those of the next newer version.
        whole: Its lines, when it has no edits; ``()``: it has edits.
    """

    check: int
    edits: tuple[Edit, ...] = ()
    whole: tuple[str, ...] = ()


_PACKED = msgspec.json.Decoder(_Packed)
_COLUMNS = ("fetched_at", "added", "removed", "packed")
_Row = tuple[int, int, int, bytes]
"""The values of ``_COLUMNS``."""


class Versions(Member):
    """The member ``versions``."""

    def history(self, page_id: str, crawl_id: str) -> list[tuple[datetime, int, int]]:
        """The versions of a page of a crawl, newest first; the first is the record itself.

        Each is (end of the response that showed it first, lines that it has and the version before
        has not, lines that the version before has and it has not; both 0 of the oldest). A page
        without a record has none.
        """
        known = self._record(page_id, crawl_id)
        if known is None:
            return []
        found: list[tuple[datetime, int, int]] = []
        newer_at = known.fetched_at
        for at, added, removed, _ in self._older(page_id, crawl_id, newer_at):
            found.append((newer_at, added, removed))
            newer_at = from_microseconds(at)
        return [*found, (newer_at, 0, 0)]

    def restore(self, page_id: str, crawl_id: str, fetched_at: datetime) -> CleanRecord:
        """A version of a page: of an older one title, author, times, body, posts and outlinks.

        Args:
            page_id: 32 hex digits.
            crawl_id: Its crawl.
            fetched_at: As in ``history``.

        Raises:
            NotFound: The page has no such version.
            StoreDamaged: The version cannot be read.
        """
        record = self._record(page_id, crawl_id)
        if record is None:
            raise NotFound(f"no record of {page_id} in {crawl_id}")
        if record.fetched_at == fetched_at:
            return record
        wanted = to_microseconds(fetched_at)
        rows = self._older(page_id, crawl_id, record.fetched_at)
        if not any(row[0] == wanted for row in rows):
            raise NotFound(f"{record.url} has no version of {fetched_at:%Y-%m-%d %H:%M:%S} UTC")
        for at, lines in _walk(kept_lines(record), rows):
            if at == wanted:
                return record_of(lines, page_id, fetched_at)
        raise StoreDamaged(f"the version of {record.url} of {fetched_at} cannot be read")

    def walk(self, page_id: str, crawl_id: str) -> Iterator[CleanRecord]:
        """Yields the versions of a page as ``restore`` gives them, newest first."""
        record = self._record(page_id, crawl_id)
        if record is not None:
            yield record
            rows = self._older(page_id, crawl_id, record.fetched_at)
            for at, lines in _walk(kept_lines(record), rows):
                yield record_of(lines, page_id, from_microseconds(at))

    def _record(self, page_id: str, crawl_id: str) -> CleanRecord | None:
        packed = self._blobs.record(page_id, crawl_id)
        return unpack_record(packed.head, packed.links) if packed else None

    def _older(self, page_id: str, crawl_id: str, than: datetime) -> list[_Row]:
        """The rows of a page that are older than a time, newest first."""
        where = {"page_id": page_id, "crawl_id": crawl_id}
        rows = self._tables.scan(Scan("versions", _COLUMNS, where, ("fetched_at",), backwards=True))
        newest = to_microseconds(than)
        return [(row[0], row[1], row[2], bytes(row[3])) for row in rows if row[0] < newest]

    # --- in a save ---

    def begin(self, old: PackedRecord, new: CleanRecord, *, is_changed: bool) -> None:
        """Keeps the record that a save will replace, before it is replaced.

        Args:
            old: The stored record.
            new: The record that will replace it.
            is_changed: Whether the old record becomes a version; else only the difference of the
                newest version is made anew, because what it begins from is replaced.
        """
        before = unpack_text(old.head, old.links)
        rows = self._older(old.page_id, old.crawl_id, before.fetched_at)
        lines = kept_lines(before)
        if is_changed:
            at = to_microseconds(before.fetched_at)
            self._put(old, before.host, at, lines, edits_back(kept_lines(new), lines))
            if len(rows) >= MOST_VERSIONS:
                self._thin(old, before.host, lines, rows)
        elif rows:
            for at, older in _walk(lines, rows[:1]):
                self._put(old, before.host, at, older, edits_back(kept_lines(new), older), True)

    def has_any(self, page_id: str, crawl_id: str) -> bool:
        """Whether a page has older versions."""
        where = {"page_id": page_id, "crawl_id": crawl_id}
        return bool(self._tables.scan(Scan("versions", ("fetched_at",), where, limit=1)))

    def _put(
        self,
        key: PackedRecord,
        host: str,
        at: int,
        lines: tuple[str, ...],
        edits: Sequence[Edit],
        is_whole: bool = False,
    ) -> None:
        """Writes the row of an older version, whose newer neighbour gives its lines by edits."""
        packed = _Packed(_check(lines), () if is_whole else tuple(edits), lines if is_whole else ())
        self._tables.put(
            "versions",
            {
                "page_id": key.page_id,
                "crawl_id": key.crawl_id,
                "fetched_at": at,
                "host": host,
                "added": sum(edit.end - edit.start for edit in edits),
                "removed": sum(len(edit.lines) for edit in edits),
                "packed": compress(msgspec.json.encode(packed)),
            },
        )

    def _thin(
        self, key: PackedRecord, host: str, lines: tuple[str, ...], rows: Sequence[_Row]
    ) -> None:
        """Deletes every second row, newest first, and those that cannot be read; the oldest stays.

        A row is written whole before the one that it needs is deleted: a thinning that was killed
        loses nothing.
        """
        read = dict(_walk(lines, rows))
        newer, gone = lines, [at for at, *_ in rows if at not in read]
        waiting: int | None = None
        for number, (at, older) in enumerate(read.items()):
            if number % 2 == 0 and number != len(read) - 1:
                waiting = at
                continue
            if waiting is not None:
                edits = edits_back(newer, older)
                self._put(key, host, at, older, edits, True)
                self._delete(key, waiting)
                self._put(key, host, at, older, edits)
            newer, waiting = older, None
        for at in gone:
            self._delete(key, at)

    def _delete(self, key: PackedRecord, at: int) -> None:
        where = {"page_id": key.page_id, "crawl_id": key.crawl_id, "fetched_at": at}
        self._tables.delete("versions", where)


def difference(older: CleanRecord, newer: CleanRecord) -> list[str]:
    """What a person sees of the difference between two versions, as lines of a unified diff.

    ``["@@ -3,2 +3,2 @@", "-Sold out", "+In stock"]``; empty when both show the same.
    """
    found = unified_diff(shown_lines(older), shown_lines(newer), n=CONTEXT_LINES, lineterm="")
    return list(found)[2:]  # without the names of two files


def _check(lines: Sequence[str]) -> int:
    return crc32("\n".join(lines).encode("utf-8", "surrogatepass"))


def _walk(lines: tuple[str, ...], rows: Sequence[_Row]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields (time, lines) of older versions, newest first; the first unreadable one ends it.

    Args:
        lines: Those of the version before which the first row is.
        rows: Newest first.

    Raises:
        StoreDamaged: A row is none of ours.
    """
    for at, _, _, packed in rows:
        try:
            found = _PACKED.decode(decompress(packed))
        except DAMAGE as error:
            raise StoreDamaged(f"a stored version cannot be read: {error}") from error
        try:
            lines = found.whole or go_back(lines, found.edits)
        except StoreDamaged:
            return
        if _check(lines) != found.check:
            return
        yield at, lines


class Schedule(NamedTuple):
    """The schedule of a URL: columns of ``urls``.

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


_KNOWN = ("state", "fetched_at", *Schedule._fields)
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
SECOND_US = 1_000_000  # microseconds of a second, in which times are stored

ClassKey = tuple[str, str, str]
"""(host, crawl, URL class): ``("www.example.com", "news", "/news/*.html")``."""


class Comparison(Struct, frozen=True):
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


Work = tuple[EncodedOutcome, Comparison | None]
"""An outcome, compared with the stored record of its page."""


class Visits:
    """The part of a save that belongs to revisits; one for each save."""

    def __init__(self, ports: Ports) -> None:
        self._tables = ports.tables
        self._blobs = ports.blobs
        self._versions = Versions(ports)
        self._stored: dict[ClassKey, ClassSums] = {}
        self._added: dict[ClassKey, dict[int, ClassSums]] = defaultdict(dict)
        self._trust: dict[HostKey, HostTrust] = {}
        self._new_trust: dict[HostKey, HostTrust] = {}

    def compare(self, *outcomes: EncodedOutcome) -> list[Work]:
        """Compares records with the stored ones of their pages.

        None without a stored record, and when the stored record is not older: a page that was
        cleaned again, or an outcome that is saved again.
        """
        keys = [each.key for each in outcomes if each.outcome.record is not None]
        known = self._tables.get("records", keys, ("fetched_at",))
        return [(each, self._compare(each, known.get(each.key))) for each in outcomes]

    def _compare(self, each: EncodedOutcome, row: Values | None) -> Comparison | None:
        record, queued, key = each.outcome.record, each.outcome.queued, each.key
        if record is None or row is None or row[0] >= each.version[0]:
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
            # What a whole response shows, beside the validators of its host.
            learn = partial(after_response, at_s=each.version[0] / SECOND_US)
            learn = partial(learn, is_changed=change.is_changed, is_equal=is_equal)
            self._learn_trust(each, learn)
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

    def keep_version(
        self, compared: Comparison | None, each: EncodedOutcome, saved_seq: int
    ) -> bool:
        """Keeps the stored record as a version before ``each`` replaces it.

        Args:
            compared: Of ``compare``; None: the same response was cleaned again.
            each: With the new record.
            saved_seq: Number of the stored record's save.

        Returns:
            Whether the new record keeps this number and the time of the save.
        """
        record = each.outcome.record
        if record is None:
            return False
        if compared is not None and compared.stored.saved_seq != saved_seq:
            ((_, compared),) = self.compare(each)  # saved by another process since
        if compared is not None and compared.change.is_changed:
            self._versions.begin(compared.stored, record, is_changed=True)
        elif self._versions.has_any(*each.key):
            stored = compared.stored if compared else self._blobs.record(*each.key)
            if stored is not None:
                self._versions.begin(stored, record, is_changed=False)
        return compared is not None and not compared.change.is_changed

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
            return known._replace(next_visit=None)
        return self._visited(each, visit, known, found, at)

    def _visited(
        self, each: EncodedOutcome, visit: VisitClass, known: Schedule, found: Found, at: int
    ) -> Schedule:
        outcome = each.outcome
        host, url_class = each.host, replace_surrogates(visit.url_class)
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
                # What the visit found, beside what the host's sitemap announced.
                self._learn_trust(
                    each,
                    partial(
                        after_page,
                        page_id=outcome.queued.page_id,
                        at_s=at_s,
                        gap_s=(at - before) / SECOND_US,
                        is_changed=found is Found.CHANGED,
                    ),
                )
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
        known = Schedule(*rest)
        at = each.version[0] if outcome.record else to_microseconds(queued.fetched_at)
        last = fetched_at if known.checked_at is None else known.checked_at
        is_missed = outcome.failure is not None
        if (state == UrlState.FAILED.value and not is_missed) or at <= max(last, fetched_at):
            return False
        if known.visits is None:  # visited before the crawl kept fresh: its first response counts
            started = VisitState(outcome.visit.kind, born_day=int(fetched_at / SECOND_US / DAY))
            known = known._replace(checked_at=fetched_at, visits=started.packed())
        found = Found.FAILED if is_missed else Found.UNCHANGED
        new = self._visited(each, outcome.visit, known, found, at)
        values: dict[str, Any] = new._asdict()
        found_etag, found_modified = each.url_row["etag"], each.url_row["last_modified"]
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

    def _learn_trust(self, each: EncodedOutcome, learn: Callable[[HostTrust], HostTrust]) -> None:
        """Changes what is known of how far the words of a host are true."""
        key = (each.host, each.outcome.queued.crawl_id)
        known = self._new_trust.get(key) or self._known_trust(key)
        new = learn(known)
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
    new_etag, new_modified = each.url_row["etag"], each.url_row["last_modified"]
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
