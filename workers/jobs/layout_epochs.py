"""Which model a stored page is cleaned again with, when its host was redesigned since."""

from __future__ import annotations

from contextlib import suppress

from cleaning.errors import ConfigError
from cleaning.model.site_model import SiteModel
from cleaning.url_classes.rules import class_of
from storage.store.drifts import DriftEvent, redesign_after
from storage.store.hosts import RecordVersion
from storage.store.protocol import Store
from workers.site_models import read_model


class Layouts:
    """Which model a stored page is cleaned again with: that of its layout.

    Pages fetched before their host was redesigned are of an older layout, of which a newer model
    knows nothing; the last model that did is still kept, or their records stay as they are.
    """

    def __init__(self, store: Store, model: SiteModel | None) -> None:
        """Reads what is known of the host; ``model`` is that of its present layout."""
        self._store = store
        self._model = model
        drifts = store.drifts.of(model.host) if model is not None else []
        self._redesigns = [event for event in drifts if event.is_redesign]
        self._of_class = any(event.alarm.url_class for event in self._redesigns)
        self._older: dict[int, SiteModel | None] = {}

    def is_present(self, version: RecordVersion) -> bool:
        """Whether a record's page is of the present layout."""
        return self._redesign(version) is None

    def model_for(self, version: RecordVersion) -> SiteModel | None:
        """The model of a record's layout; None when it was made by that or a newer one.

        None, too, when that model is gone, or there is no model at all.
        """
        event = self._redesign(version)
        if event is None:
            return self._model
        number = event.model_version
        return self._read(number) if version.model_version < number else None

    def _redesign(self, version: RecordVersion) -> DriftEvent | None:
        if not self._redesigns:
            return None
        record = (
            self._store.records.get(version.page_id, version.crawl_id) if self._of_class else None
        )
        pattern = class_of(record.url) if record is not None else ""
        return redesign_after(self._redesigns, pattern, version.fetched_at)

    def _read(self, number: int) -> SiteModel | None:
        if number not in self._older and self._model is not None:
            stored = self._store.models.get(self._model.host, number)
            with suppress(ConfigError):
                self._older[number] = None
                self._older[number] = read_model(stored) if stored is not None else None
        return self._older.get(number)
