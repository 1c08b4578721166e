"""Hosts at rest: a host's archived pages and record versions in all crawls, and its statistics.

Statistics are one JSON text a host and crawl. Every number is recomputed from rows when it is asked
for, never counted up, so it cannot drift (``host_statistics.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, dump_versioned, load_versioned
from crawlclean.cleaning.messages import Message, joined
from crawlclean.cleaning.records import HostStats
from crawlclean.cleaning.revisits import HostTrust
from crawlclean.storage.crawl_types import PageRole
from crawlclean.storage.store.host_statistics import merge_stats
from crawlclean.storage.store.journal import Event, EventKind, WithEvents
from crawlclean.storage.store.ports import (
    PAGE_KEY,
    PRESENT,
    Member,
    Scan,
    Tables,
    Where,
    count_by,
    of,
    steps,
)
from crawlclean.storage.store.rows import (
    RowType,
    compress,
    decompress,
    stats_from_json,
)

# Pauses of hosts at rest: what `crawl pause HOST` asked for, and when.
#
# The queue holds back the host; the store keeps the pause for commands that run without the queue,
# and for a queue that was lost.


class Pause(Struct, frozen=True, kw_only=True):
    """A paused host.

    Attributes:
        host: Lower-case authority.
        since: When an operator paused the host.
        crawls: The crawls that knew the host then.
        who: Who paused the host, ``root@machine``; ``""``: not known.
        why: Why, in words for a person, may be empty.
    """

    host: str
    since: datetime
    crawls: tuple[str, ...] = ()
    who: str = ""
    why: str = ""


_PAUSE = RowType(Pause, "pause")


class Pauses(WithEvents):
    """The member ``pauses``: one row a paused host."""

    def put(self, pause: Pause) -> None:
        """Stores a pause; a host that is paused already keeps its time, who, and why."""
        with self._tables.together():
            is_new = not self._tables.get("pauses", [(pause.host,)], ("host",))
            row = _PAUSE.row(replace(pause, crawls=tuple(sorted(pause.crawls))))
            self._tables.put("pauses", row, keep=("since", "who", "why"))
            if is_new:
                text = Message("paused_by", pause.who) if pause.who else Message("paused")
                text = Message("of", text, pause.why) if pause.why else text
                self._events.add(Event(kind=EventKind.PAUSED, host=pause.host, text=text))

    def delete(self, host: str, who: str = "") -> bool:
        """Deletes the pause of a host; returns whether there was one.

        Args:
            host: Lower-case authority.
            who: Who resumes it.
        """
        with self._tables.together():
            was_there = bool(self._tables.delete("pauses", {"host": host}))
            if was_there:
                text = Message("resumed_by", who) if who else Message("resumed")
                self._events.add(Event(kind=EventKind.RESUMED, host=host, text=text))
        return was_there

    def all(self) -> list[Pause]:
        """Every pause, by host.

        Raises:
            StoreDamaged: This program never wrote a row.
        """
        rows = self._tables.scan(Scan("pauses", _PAUSE.columns, order=("host",)))
        return list(map(_PAUSE.read, rows))


# Hosts that an operator slowed down: the queue's clock obeys, the store keeps it for a lost queue.


class Slowdown(Struct, frozen=True, kw_only=True):
    """A host that is asked more slowly than its crawls and its robots.txt would have it.

    Attributes:
        host: Lower-case authority.
        delay_ms: Least pause between a response and the next request, ms; None: as they have it.
        slots: Most requests at a time; None: as they have it.
        since: When an operator slowed the host down.
        who: Who did, ``root@machine``; ``""``: not known.
        why: Why, in words for a person, may be empty.
    """

    host: str
    delay_ms: int | None
    slots: int | None
    since: datetime
    who: str = ""
    why: str = ""

    @property
    def line(self) -> Message:
        """What holds: ``at least 5 s between requests; at most 1 request at a time``."""
        parts = []
        if self.delay_ms is not None:
            parts.append(Message("slow_delay", f"{self.delay_ms / 1000:g}"))
        if self.slots is not None:
            parts.append(Message("slow_slots", self.slots))
        return joined(parts)


_SLOWDOWN = RowType(Slowdown, "slowdown")


class Slowdowns(WithEvents):
    """The member ``slowdowns``: one row a host that is slowed down."""

    def put(self, slowdown: Slowdown) -> None:
        """Stores that a host is slowed down, in place of an older row."""
        with self._tables.together():
            self._tables.put("slowdowns", _SLOWDOWN.row(slowdown))
            self._note(slowdown.host, slowdown.line, slowdown.who)

    def delete(self, host: str, who: str = "") -> None:
        """Deletes the row of a host; ``who`` ended it."""
        with self._tables.together():
            if self._tables.delete("slowdowns", {"host": host}):
                self._note(host, Message("slow_ended"), who)

    def get(self, host: str) -> Slowdown | None:
        """That of a host; None: the host is not slowed down."""
        rows = self._tables.get("slowdowns", [(host,)], _SLOWDOWN.columns)
        return next(map(_SLOWDOWN.read, rows.values()), None)

    def all(self) -> list[Slowdown]:
        """Every host that is slowed down, by host."""
        rows = self._tables.scan(Scan("slowdowns", _SLOWDOWN.columns, order=("host",)))
        return list(map(_SLOWDOWN.read, rows))

    def _note(self, host: str, what: Message, who: str) -> None:
        text = Message("by", what, who) if who else what
        self._events.add(Event(kind=EventKind.SLOWED, host=host, text=text))


# Rules of hosts at rest: what decides which URLs of a host a crawl fetches.
#
# Workers keep a copy of what the queue holds: robots.txt, the rules of the URL classes, operators'
# decisions and stopped classes. So a finished crawl explains a URL without its queue, which forgets
# a host's robots.txt after two days.


class KeptRules(Struct, frozen=True, kw_only=True):
    """The rules of a host in a crawl, as the queue held them when the last page ended.

    Attributes:
        robots: The lines of robots.txt that concern us; None: robots.txt was not read.
        rules: Rules of the URL classes, JSON text of a worker; ``""``: none.
        pins: Operators' decisions by template: ``{"/tag/{w}": "forbid"}``.
        stopped: Stopped classes and refused templates with the reason, as ``UrlClassLedger`` has
            them: ``{"/cal/*": "no novelty"}``.
    """

    robots: str | None = None
    rules: str = ""
    pins: Mapping[str, str] = {}
    stopped: Mapping[str, str] = {}


_RULES = msgspec.json.Decoder(KeptRules)


class Rules(Member):
    """The member ``rules``: one row a host and crawl."""

    def get(self, crawl_id: str, host: str) -> KeptRules | None:
        """The rules of a host in a crawl; None before a page of the host ended.

        Raises:
            StoreDamaged: This program never wrote it.
        """
        packed = self._packed(crawl_id, host)
        return (
            None if packed is None else load_versioned(decompress(packed), _RULES, "host's rules")
        )

    def put(self, crawl_id: str, host: str, rules: KeptRules) -> bool:
        """Stores the rules of a host; returns whether they have changed."""
        packed = compress(dump_versioned(rules))
        if packed == self._packed(crawl_id, host):
            return False
        self._tables.put("rules", {"host": host, "crawl_id": crawl_id, "packed": packed})
        return True

    def _packed(self, crawl_id: str, host: str) -> bytes | None:
        rows = self._tables.get("rules", [(host, crawl_id)], ("packed",))
        return bytes(next(iter(rows.values()))[0]) if rows else None


# How far a host's words about its changes are true, at rest: one row a host and crawl.
#
# The value is that of ``cleaning/revisits.py``, as JSON in zstd: at most some 4 KB, of which the
# sample of a sitemap's dates takes the most.

HostKey = tuple[str, str]
"""(host, crawl): ``("www.example.com", "news")``."""

_TRUST = msgspec.json.Decoder(HostTrust)


def read_trust(tables: Tables, keys: Collection[HostKey]) -> dict[HostKey, HostTrust]:
    """The trust in hosts; a host of which nothing is known is not in the result.

    Raises:
        StoreDamaged: This program never wrote it.
    """
    found = tables.get("visit_trust", keys, ("packed",))
    try:
        return {
            (key[0], key[1]): _TRUST.decode(decompress(bytes(row[0]))) for key, row in found.items()
        }
    except DAMAGE as error:
        raise StoreDamaged(f"the stored trust in a host cannot be read: {error}") from error


def write_trust(tables: Tables, key: HostKey, trust: HostTrust) -> None:
    """Stores the trust in a host."""
    packed = compress(msgspec.json.encode(trust))
    tables.put("visit_trust", {"host": key[0], "crawl_id": key[1], "packed": packed})


READ_PAGES = 1000  # held in memory at once


class UnsurePage(Struct, frozen=True, kw_only=True):
    """A stored page whose body is less sure than those of others.

    Attributes:
        url: Its URL.
        crawl: Its crawl.
        confidence: Probability that its body is right, 0..1.
    """

    url: str
    crawl: str
    confidence: float


class StoredPage(Struct, frozen=True, kw_only=True):
    """What is stored of a page of a host, without reading its response or its record.

    Each query of ``HostPages`` fills the fields that its readers need.

    Attributes:
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        fetched_at: End of the response that is archived, or that the record was made from.
        url: Its URL (``archived``).
        model_version: Version of the site model that made the record; 0: no model.
        is_archived: Whether the archive holds the response that the record was made from.
        body_chars: Length of the record's body (``bodies``).
    """

    page_id: str
    crawl_id: str
    fetched_at: datetime
    url: str = ""
    model_version: int = 0
    is_archived: bool = True
    body_chars: int = 0


_VERSION_BUT = ("url", "is_archived", "body_chars")
_ARCHIVED = RowType(StoredPage, "response", but=(*_VERSION_BUT, "model_version"))
_VERSION = RowType(StoredPage, "record", but=_VERSION_BUT)
_BODY = RowType(StoredPage, "record", but=("url", "is_archived"))


class HostPages(Member):
    """The member ``hosts``: a host's pages over all crawls, read in steps, ordered by page id."""

    def archived(self, host: str) -> Iterator[StoredPage]:
        """Yields the archived pages of a host, one for each crawl that has the page; no images."""
        wanted = Scan("raw", _ARCHIVED.columns, {"host": host}, PAGE_KEY)
        for rows in steps(self._tables, wanted, READ_PAGES):
            urls = self._tables.get("urls", [(row[0], row[1]) for row in rows], ("url", "role"))
            for row in rows:
                url, role = urls.get((row[0], row[1]), (None, None))
                if url and role != PageRole.IMAGE:  # no URL: being saved or deleted
                    yield _ARCHIVED.read(row, url=url)

    def versions(self, host: str, after: tuple[str, str] = ("", "")) -> Iterator[StoredPage]:
        """Yields the version of every record of a host behind a (page id, crawl).

        A record that is saved again meanwhile is yielded once, in its old or its new version.
        """
        wanted = Scan("records", _VERSION.columns, {"host": host}, PAGE_KEY, after=after)
        for rows in steps(self._tables, wanted, READ_PAGES):
            raw = self._tables.get("raw", [(row[0], row[1]) for row in rows], ("fetched_at",))
            for row in rows:
                archived_at = raw.get((row[0], row[1]), (None,))[0]
                yield _VERSION.read(row, is_archived=archived_at == row[2])

    def bodies(self, host: str) -> list[StoredPage]:
        """What is stored of every page of a host with at most 10,000 records; 3 ms a thousand."""
        rows = self._tables.scan(Scan("records", _BODY.columns, {"host": host}))
        # MongoDB keeps the lengths with the outcomes; a record that a failure followed has none.
        keys = [(row[0], row[1]) for row in rows if row[-1] is None]
        chars = self._tables.get("urls", keys, ("body_chars",)) if keys else {}
        known = ([*row[:-1], *chars.get((row[0], row[1]), row[-1:])] for row in rows)
        return [_BODY.read(row) for row in known if row[-1] is not None]

    def least_sure(self, host: str, limit: int) -> list[UnsurePage]:
        """The pages of a host with the least confidence, least first; ends of an index."""
        where: Where = {"host": host, "confidence": PRESENT}
        columns = (*PAGE_KEY, "confidence")
        rows = self._tables.scan(Scan("records", columns, where, ("confidence",), limit=limit))
        urls = self._tables.get("urls", [(row[0], row[1]) for row in rows], ("url",))
        return [
            UnsurePage(url=urls[row[0], row[1]][0], crawl=row[1], confidence=row[2])
            for row in rows
            if (row[0], row[1]) in urls  # else it is being saved or deleted
        ]

    def by_model(self, host: str) -> Mapping[int, int]:
        """Number of a host's records by model version, ``{0: 12, 3: 480}``; 0: no model."""
        return count_by(self._tables, "records", "model_version", {"host": host})


class Statistics(Member):
    """The member ``statistics``: one JSON text a host and crawl.

    A save marks the hosts of its outcomes as dirty; ``refresh`` recomputes those. Reading does not:
    with 10,000 hosts it would take as long as the crawl lets it (2 ms a dirty host).
    """

    def all(self, crawl_id: str | None = None) -> list[HostStats]:
        """Statistics of all hosts, most pages first, as ``refresh`` left them."""
        return self._read(crawl_id, None)

    def get(self, host: str, crawl_id: str | None = None) -> HostStats | None:
        """Statistics of one host as ``refresh`` left them; None for an unknown host.

        Those of a host that never had any are computed. ``exact`` is True: a store does not know
        whether the queue is at rest.
        """
        found = self._read(crawl_id, host)
        if not found and self._ports.refresh(crawl_id, host):
            found = self._read(crawl_id, host)
        return next(iter(found), None)

    def crawls_of(self, hosts: Sequence[str]) -> dict[str, list[str]]:
        """Crawls by host, of those hosts that the store knows: ``{"a.example": ["news"]}``."""
        found: dict[str, list[str]] = {}
        columns = ("host", "crawl_id")
        for host, crawl_id in self._tables.scan(Scan("hosts", columns, {"host": list(hosts)})):
            found.setdefault(host, []).append(crawl_id)
        return found

    def hosts_of(self, crawl_id: str, limit: int) -> list[str]:
        """Hosts of a crawl, at most ``limit``, in any order."""
        wanted = Scan("hosts", ("host",), {"crawl_id": crawl_id}, limit=limit)
        return [row[0] for row in self._tables.scan(wanted)]

    def names(self, prefix: str = "", limit: int = 1000) -> list[str]:
        """Hosts that begin with a prefix, in order; ``limit`` rows of host and crawl are read."""
        columns = ("host", "crawl_id")
        wanted = Scan("hosts", columns, order=columns, after=(prefix, ""), limit=limit)
        names = dict.fromkeys(row[0] for row in self._tables.scan(wanted))
        return [name for name in names if name.startswith(prefix)]

    def refresh(self) -> int:
        """Recomputes the statistics of all dirty hosts; returns how many."""
        return self._ports.refresh(None, None)

    def _read(self, crawl_id: str | None, host: str | None) -> list[HostStats]:
        by_host: dict[str, list[HostStats]] = {}
        where = of(crawl_id, host) | {"stats": PRESENT}
        wanted = Scan("hosts", ("crawl_id", "host", "stats"), where, ("crawl_id",))
        for _, name, stats in self._tables.scan(wanted):
            by_host.setdefault(name, []).append(stats_from_json(stats))
        merged = [merge_stats(parts) for parts in by_host.values()]
        return sorted(merged, key=lambda s: (-sum(s.pages_by_state.values()), s.host))
