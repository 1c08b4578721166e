"""The members of a store, each made when it is first asked for: most callers ask one or two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from storage.store.answers import Answers
from storage.store.audit import Audit
from storage.store.crawls import Crawls
from storage.store.drifts import Drifts
from storage.store.events import Events
from storage.store.hosts import HostPages
from storage.store.images import Images
from storage.store.models import Models
from storage.store.operations import Operations
from storage.store.pauses import Pauses
from storage.store.pictures import Pictures
from storage.store.ports import Blobs, Tables
from storage.store.protocol import Store
from storage.store.queues import Queues
from storage.store.receivers import Receivers
from storage.store.records import Records
from storage.store.revisits import Revisits
from storage.store.rules import Rules
from storage.store.samples import Samples
from storage.store.spills import Spills
from storage.store.urls import Urls
from storage.store.versions import Versions

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
