"""What crawls and imports have stored, for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import TracebackType

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord, HostStats, PageKind, in_plain_text
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.export import Selection, select
from crawlclean.storage.store.protocol import Store


class DataFolder:
    """The records, raw pages, statistics and models of a data folder.

    It can be read while a crawl writes. Close it, or use it with ``with``:

    >>> with open_data("crawlclean-data") as data:
    ...     for record in data.records(kind="article", host="example.com"):
    ...         print(record.title)
    """

    def __init__(self, store: Store) -> None:
        """Reads from a store, which it closes."""
        self._store = store

    def records(
        self,
        *,
        kind: str | Iterable[str] = (),
        host: str | None = None,
        crawl: str | None = None,
        min_chars: int = 0,
        min_confidence: float = 0.0,
        unique: bool = False,
        since: datetime | None = None,
    ) -> Iterator[CleanRecord]:
        """Yields records in the order in which they were saved.

        Args:
            kind: One kind or several: ``article``, ``thread``, ``index``, ``other``; none: all.
            host: Only of this host, ``example.com:8080``.
            crawl: Only of this crawl.
            min_chars: Only with at least so many characters of body.
            min_confidence: Only with bodies that are right with at least this probability, 0..1.
            unique: Of pages that tell one story only the longest.
            since: Only those saved at or after this time; a naive time is UTC.

        Raises:
            ValueError: There is no such kind.
            StorageError: The data cannot be read.
        """
        kinds = [kind] if isinstance(kind, str) else kind
        wanted = Selection(
            crawl=crawl,
            host=host,
            kinds=frozenset(PageKind(each) for each in kinds),
            min_chars=min_chars,
            min_confidence=min_confidence,
            is_unique=unique,
            since=since,
        )
        return map(in_plain_text, select(self._store, wanted))

    def __iter__(self) -> Iterator[CleanRecord]:
        """All records, in the order in which they were saved."""
        return self.records()

    def __len__(self) -> int:
        """How many records are stored."""
        return self._store.records.count()

    def record(self, url: str) -> CleanRecord | None:
        """The newest record of a URL, or None.

        Raises:
            InvalidUrl: It is no absolute http(s) URL.
        """
        found = self._store.records.get(page_id(url))
        return in_plain_text(found) if found else None

    def page(self, url: str) -> RawPage | None:
        """The newest archived answer of a URL, decoded, or None; ``clean`` takes it.

        Raises:
            InvalidUrl: It is no absolute http(s) URL.
        """
        return self._store.answers.page(page_id(url))

    def model(self, host: str) -> SiteModel | None:
        """What a host's pages have in common, for ``clean(page, model)``; None: not learned.

        Raises:
            ConfigError: Another version of the program wrote it.
        """
        stored = self._store.models.get(host)
        return SiteModel.from_json(stored.text) if stored else None

    def hosts(self) -> list[HostStats]:
        """The statistics of every host."""
        self._store.statistics.refresh()
        return self._store.statistics.all()

    def close(self) -> None:
        """Releases files and connections."""
        self._store.close()

    def __enter__(self) -> DataFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def open_data(place: str | PathLike[str]) -> DataFolder:
    """Opens a data folder, or a database that crawls store in.

    Args:
        place: A folder, ``crawlclean-data``, or a server, ``mongodb://localhost/crawlclean``.

    Raises:
        NotFound: The folder holds no crawl.
        StoreUnavailable: The server does not answer.
        SchemaMismatch: Another version of the program wrote it.
    """
    if isinstance(place, str) and place.startswith(("mongodb://", "mongodb+srv://")):
        return DataFolder(_open_server(place))
    return DataFolder(open_store(StorageConfig(data=Path(place))))


def _open_server(url: str) -> Store:
    from crawlclean.storage.mongo.store import MongoStore  # its client is slow to import

    return MongoStore(url)
