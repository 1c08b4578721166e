"""The interface of a store: all results of crawls. ``SqliteStore`` and ``MongoStore`` implement it.

A store has a few members, one class each in this folder, and the methods below. A member is written
once, over the ports of the database (``ports.py``): ``Tables`` (rows) and ``Blobs`` (large values).
The database's own code is in ``sqlite/`` and ``mongo/``, whose files have the same names:

| file | SQLite | MongoDB |
|---|---|---|
| ``store.py`` | saves, deletes, sums and drops responses | the same |
| ``ports.py`` | rows by SQL; blobs in a table and in WARC segments | documents and chunks |
| ``writing.py`` | fenced writes in one transaction a save | fenced writes by compare and set |
| ``host_statistics.py`` | groups by SQL, dirty marks | groups by aggregation, stale marks, rounds |
| ``stories.py`` | near-duplicates, in the save's transaction | the same, searched after writing |
| ``schema.py`` | makes the tables of ``tables.py`` | makes their indexes |
| ``connection.py`` | one file; translates SQLite's errors | one client; translates its errors |

Both pass one contract suite (``tests/storage/store/store_contract.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, get_type_hints

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.store.answers import Answers
from crawlclean.storage.store.crawls import Crawls, Queues, Spills
from crawlclean.storage.store.encoded_outcomes import encode_outcome
from crawlclean.storage.store.hosts import HostPages, Pauses, Rules, Slowdowns, Statistics
from crawlclean.storage.store.journal import Audit, Events, Operations, Samples
from crawlclean.storage.store.models import Drifts, Models
from crawlclean.storage.store.overview import Overview, Space
from crawlclean.storage.store.pictures import Images, Pictures
from crawlclean.storage.store.ports import Member, Ports, Where, of
from crawlclean.storage.store.receivers import Alerts, Messages, Receivers
from crawlclean.storage.store.records import Records
from crawlclean.storage.store.revisits import Revisits
from crawlclean.storage.store.stories import Stories, StoryRebuild
from crawlclean.storage.store.topics import Topics
from crawlclean.storage.store.urls import Urls
from crawlclean.storage.store.visits import Versions, Visits, Work

OF_HOSTS = ("spills", "topic_pages", "hosts", "rules", "visit_classes", "visit_trust")
"""Tables with rows of a host in a crawl, deleted with it."""


DROP_ROWS = 200
"""Responses dropped at once: a transaction's part of SQLite's log stays below 2 MB, and a full disk
has little more."""


class Store(ABC):
    """All results of all crawls, and the pending URLs that outgrew the queue's memory.

    Attributes:
        crawls: Orders and states of crawls.
        queues: The queues that run them.
        urls: The newest outcome of every URL of a crawl.
        records: Clean records.
        answers: Archived HTTP responses.
        images: Images of records, and those to be offered to the frontier.
        statistics: ``HostStats`` of hosts.
        overview: Figures of hosts, failures and crawls that are kept ready for lists.
        hosts: A host's archived pages and record versions, over all crawls.
        models: Versions of site models.
        drifts: Changes that were detected at hosts.
        rules: What decides which URLs of a host are fetched.
        pauses: Hosts that an operator paused.
        slowdowns: Hosts that an operator slowed down.
        events: What happened to crawls, hosts and processes.
        audit: Who did what by console or API.
        operations: Long actions with their progress.
        samples: Figures of the whole program over time.
        spills: Pending URLs that outgrew the queue's memory.
        revisits: When the URLs of crawls that keep fresh are due.
        versions: Older versions of records.
        stories: Near-duplicates, as pages that tell one story.
        story_rebuild: Builds the index of near-duplicates anew.
        topics: Topics, their judgements of pages, their link models.
        receivers: Who is told of stories, signs and ends of crawls, and what waits to be sent.
        alerts: Signs that receivers were told of.
        messages: What was sent.
        pictures: Images of topics' crawls by their looks, and which are copies.

    Raises:
        StoreUnavailable: The database is away or locked; the call may be repeated.
        StoreFull: No space left.
        StoreDamaged: Stored data cannot be read, or a value cannot be stored.
        SchemaMismatch: Another version of this program wrote the data.
            Every method of a store and of its members raises these four, and no exception of its
            database's client.
    """

    crawls: Crawls
    queues: Queues
    urls: Urls
    records: Records
    answers: Answers
    images: Images
    statistics: Statistics
    overview: Overview
    hosts: HostPages
    models: Models
    drifts: Drifts
    rules: Rules
    pauses: Pauses
    slowdowns: Slowdowns
    events: Events
    audit: Audit
    operations: Operations
    samples: Samples
    spills: Spills
    revisits: Revisits
    versions: Versions
    stories: Stories
    story_rebuild: StoryRebuild
    topics: Topics
    receivers: Receivers
    alerts: Alerts
    messages: Messages
    pictures: Pictures

    def __init__(self, ports: Ports) -> None:
        """Makes no member yet: most callers ask one or two."""
        self._ports = ports

    def __getattr__(self, name: str) -> Any:
        """Makes a member when it is first asked for."""
        kind = _MEMBERS.get(name)
        if kind is None:
            raise AttributeError(name)
        member = kind(self._ports)
        setattr(self, name, member)
        return member

    def save(self, outcomes: Sequence[Outcome]) -> int:
        """Stores outcomes; returns how many changed something.

        Saving an outcome again changes nothing, and an older (fetched_at, model_version) never
        replaces a newer one. Stored of an outcome: its row of ``urls`` with its failure, its
        record, what topics hold of it, its response if ``keep_raw``, and the mark that its host's
        statistics are old.

        An outcome with ``visit`` also gets its next visit. When its record shows what the stored
        record shows (``cleaning/versions.py``), or when it is ``unchanged`` (304), only the
        schedule of the row changes; else the stored record becomes an older version.
        """
        if not outcomes:
            return 0
        encoded = [encode_outcome(outcome) for outcome in outcomes]
        visits = Visits(self._ports)
        return self._save(visits.compare(*encoded), visits)

    @abstractmethod
    def _save(self, work: Sequence[Work], visits: Visits) -> int:
        """Stores outcomes, each compared with the stored record; returns how many changed."""

    def delete_crawl(self, crawl_id: str) -> int:
        """Deletes a crawl and everything stored for it; returns the number of records deleted.

        Deletes in small steps, the crawl's row last: an interrupted call can be repeated.
        """
        deleted = self._delete(crawl_id, None)
        self._ports.tables.delete("crawls", {"crawl_id": crawl_id})
        return deleted

    def delete_host(self, crawl_id: str, host: str) -> int:
        """Deletes everything stored for one host of a crawl; returns records deleted."""
        return self._delete(crawl_id, host)

    def _delete(self, crawl_id: str, host: str | None) -> int:
        where = of(crawl_id, host)
        deleted = self._delete_pages(where)
        with self._ports.tables.together():
            for table in OF_HOSTS:
                self._ports.tables.delete(table, where)
            self.overview.forget(crawl_id, host)
        return deleted

    @abstractmethod
    def _delete_pages(self, where: Where) -> int:
        """Deletes the pages of a crawl (of a host) with all that hangs on them, in steps."""

    @abstractmethod
    def space(self) -> list[Space]:
        """What each crawl takes, by kind; may take seconds."""

    @abstractmethod
    def sample_host(self, host: str) -> tuple[int, float, float]:
        """(responses, their mean size, that of records) of a host over all crawls; milliseconds.

        Of responses at most ``COUNTED`` are counted. A size is the mean packed size of ``SAMPLED``
        items, 0 without any.
        """

    @abstractmethod
    def raw_space(self, crawl_id: str | None, host: str | None = None) -> tuple[int, int, int]:
        """What dropping the responses of a crawl, a host or both would free; may take a second.

        Returns:
            Their number, their packed size, and the bytes of files that come free: less than the
            size where others share their files.
        """

    def drop_raw(
        self, crawl_id: str | None, host: str | None = None, limit: int | None = None
    ) -> int:
        """Deletes archived responses; returns how many, at most ``limit``.

        Records stay, and cannot be cleaned again. An interrupted call can be repeated. The call
        that leaves none deletes files that nothing is left of.

        Args:
            crawl_id: Only of this crawl; None: of all.
            host: Only of this host; None: of all.
            limit: At most this many; None: all.
        """
        where, dropped = of(crawl_id, host), 0
        while limit is None or dropped < limit:
            some = DROP_ROWS if limit is None else min(DROP_ROWS, limit - dropped)
            found = self._drop_raw(where, some)
            dropped += found
            if found < some:
                self._free_raw()
                break
        return dropped

    @abstractmethod
    def _drop_raw(self, where: Where, limit: int) -> int:
        """Deletes at most ``limit`` archived responses; returns how many."""

    @abstractmethod
    def _free_raw(self) -> None:
        """Frees the files of dropped responses."""

    @abstractmethod
    def close(self) -> None:
        """Closes files and connections; the store must not be used afterwards."""


_MEMBERS: Final[Mapping[str, type[Member]]] = MappingProxyType(get_type_hints(Store))
