"""A store: all results of crawls. ``SqliteStore`` and ``MongoStore`` are the two.

A store is a few members, one file each in this folder, and four verbs of its own. A member is
written once over two ports of the database, ``Tables`` (rows) and ``Blobs`` (large things); what
the databases do in different ways is in their folders, whose files have the same names:

| file | SQLite | MongoDB |
|---|---|---|
| ``store.py`` | the members put together, saving, deleting | the same |
| ``tables.py`` | ``Tables`` as SQL | ``Tables`` as commands |
| ``blobs.py`` | ``Blobs``: a table of blobs, WARC segments | ``Blobs``: documents and chunks |
| ``writing.py`` | the fence: one transaction a save | the fence: compare and set, owed rows |
| ``host_statistics.py`` | SQL over rows, dirty marks | aggregates, stale marks, rounds |
| ``schema.py`` | tables and indexes | collections and indexes |
| ``connection.py`` | one file, its errors as ours | one client, its errors as ours |

Both pass one contract suite (``tests/storage/store/store_contract.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from storage.crawl_types import Outcome
from storage.store.answers import Answers
from storage.store.crawls import Crawls
from storage.store.drifts import Drifts
from storage.store.host_pages import HostPages
from storage.store.host_statistics import Statistics
from storage.store.images import Images
from storage.store.models import Models
from storage.store.parcels import Parcels
from storage.store.records import Records
from storage.store.urls import Urls


class Store(Protocol):
    """All results, and what the queue may need of them.

    Every method of a store and of its members raises ``StoreUnavailable``, ``StoreFull``,
    ``StoreDamaged`` or ``SchemaMismatch`` instead of its client's exceptions.
    """

    crawls: Crawls
    urls: Urls
    records: Records
    answers: Answers
    images: Images
    statistics: Statistics
    hosts: HostPages
    models: Models
    drifts: Drifts
    parcels: Parcels

    def save(self, outcomes: Sequence[Outcome]) -> int:
        """Stores outcomes; returns how many changed something.

        Saving the same outcome again changes nothing, and an older (fetched_at, model_version)
        never replaces a newer one. What is kept of an outcome: its row of ``urls`` with its
        failure, its record, its answer with ``keep_raw``, and the dirty mark of its host.
        """

    def delete_crawl(self, crawl_id: str) -> int:
        """Forgets a crawl's row and all that is stored of it; returns records deleted."""

    def delete_host(self, crawl_id: str, host: str) -> int:
        """Forgets all that is stored of one host of a crawl; returns records deleted."""

    def close(self) -> None:
        """Releases files and connections; the store is not used afterwards."""
