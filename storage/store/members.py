"""The members of a store, each made when it is first asked for: most callers ask one or two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from crawlclean.storage.store.answers import Answers
from crawlclean.storage.store.audit import Audit
from crawlclean.storage.store.crawls import Crawls
from crawlclean.storage.store.drifts import Drifts
from crawlclean.storage.store.events import Events
from crawlclean.storage.store.hosts import HostPages
from crawlclean.storage.store.images import Images
from crawlclean.storage.store.models import Models
from crawlclean.storage.store.operations import Operations
from crawlclean.storage.store.pauses import Pauses
from crawlclean.storage.store.pictures import Pictures
from crawlclean.storage.store.ports import Blobs, Tables
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.queues import Queues
from crawlclean.storage.store.receivers import Receivers
from crawlclean.storage.store.records import Records
from crawlclean.storage.store.revisits import Revisits
from crawlclean.storage.store.rules import Rules
from crawlclean.storage.store.samples import Samples
from crawlclean.storage.store.spills import Spills
from crawlclean.storage.store.urls import Urls
from crawlclean.storage.store.versions import Versions

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
