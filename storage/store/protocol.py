"""The interface of a store: all results of crawls. ``SqliteStore`` and ``MongoStore`` implement it.

A store has a few members, one class each in this folder, and the methods below. A member is written
once, over two ports of the database (``ports.py``): ``Tables`` (rows) and ``Blobs`` (large values).
The database's own code is in ``sqlite/`` and ``mongo/``, whose files have the same names:

| file | SQLite | MongoDB |
|---|---|---|
| ``store.py`` | assembles the members, saves, deletes | the same |
| ``ports.py`` | rows by SQL; blobs in a table and in WARC segments | documents and chunks |
| ``chunks.py`` | | blobs over 12 MB, in parts |
| ``writing.py`` | fenced writes in one transaction a save | fenced writes by compare and set |
| ``host_statistics.py`` | SQL aggregates, dirty marks | aggregations, stale marks, rounds |
| ``stories.py`` | near-duplicates, in the save's transaction | the same, searched after writing |
| ``pictures.py`` | copies of images, in the save's transaction | the same, searched after writing |
| ``space.py`` | sums of the index of responses, dropping | samples of documents, dropping |
| ``topic_pages.py`` | judgements of topics, in the save's transaction | the same, before ``urls`` |
| ``schema.py`` | tables and indexes | collections and indexes |
| ``connection.py`` | one file; translates SQLite's errors | one client; translates its errors |

Both pass one contract suite (``tests/storage/store/store_contract.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.store.answers import Answers
from crawlclean.storage.store.crawls import Crawls, Queues, Spills
from crawlclean.storage.store.hosts import HostPages, Pauses, Rules, Statistics
from crawlclean.storage.store.journal import Audit, Events, Operations, Samples
from crawlclean.storage.store.models import Drifts, Models
from crawlclean.storage.store.overview import HostSample, Overview, RawSpace, Space
from crawlclean.storage.store.pictures import Images, Pictures
from crawlclean.storage.store.ports import Blobs, Tables
from crawlclean.storage.store.records import Records
from crawlclean.storage.store.revisits import Revisits
from crawlclean.storage.store.stories import Stories, StoryRebuild
from crawlclean.storage.store.topics import Receivers, Topics
from crawlclean.storage.store.urls import Urls
from crawlclean.storage.store.visits import Versions


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
        receivers: Who is told of topics' new stories, and what waits to be sent.
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
    pictures: Pictures

    @abstractmethod
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

    @abstractmethod
    def delete_crawl(self, crawl_id: str) -> int:
        """Deletes a crawl and everything stored for it; returns the number of records deleted."""

    @abstractmethod
    def delete_host(self, crawl_id: str, host: str) -> int:
        """Deletes everything stored for one host of a crawl; returns records deleted."""

    @abstractmethod
    def space(self) -> list[Space]:
        """What each crawl takes, by kind; may take seconds."""

    @abstractmethod
    def sample_host(self, host: str) -> HostSample:
        """Sizes of what is stored of a host over all crawls, by a bounded sample; milliseconds."""

    @abstractmethod
    def raw_space(self, crawl_id: str | None, host: str | None = None) -> RawSpace:
        """What dropping the responses of a crawl, a host or both would free; may take a second."""

    @abstractmethod
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

    @abstractmethod
    def close(self) -> None:
        """Closes files and connections; the store must not be used afterwards."""


# The members of a store, each made when it is first asked for: most callers ask one or two.

OF_ROWS: Final[Mapping[str, type]] = MappingProxyType(
    {
        "events": Events, "queues": Queues, "urls": Urls, "hosts": HostPages, "rules": Rules,
        "audit": Audit, "operations": Operations, "samples": Samples, "spills": Spills,
        "receivers": Receivers, "pictures": Pictures,
    }
)  # fmt: skip
OF_ROWS_AND_EVENTS: Final[Mapping[str, type]] = MappingProxyType(
    {"crawls": Crawls, "models": Models, "drifts": Drifts, "pauses": Pauses}
)
OF_ROWS_AND_BLOBS: Final[Mapping[str, type]] = MappingProxyType(
    {
        "records": Records, "answers": Answers, "images": Images, "revisits": Revisits,
        "versions": Versions,
    }
)  # fmt: skip


class Members(Store):
    """A store without its methods; ``own`` makes the members that the database makes."""

    def __init__(
        self, tables: Tables, blobs: Blobs, own: Mapping[str, Callable[[], object]]
    ) -> None:
        """Makes none yet."""
        self._tables, self._blobs, self._own = tables, blobs, own

    def __getattr__(self, name: str) -> Any:
        """Makes a member."""
        made: object
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._own:
            made = self._own[name]()
        elif name in OF_ROWS:
            made = OF_ROWS[name](self._tables)
        elif name in OF_ROWS_AND_EVENTS:
            made = OF_ROWS_AND_EVENTS[name](self._tables, self.events)
        elif name in OF_ROWS_AND_BLOBS:
            made = OF_ROWS_AND_BLOBS[name](self._tables, self._blobs)
        else:
            raise AttributeError(name)
        setattr(self, name, made)
        return made
