"""A cache of site models: each version is parsed once; an unreadable one counts as none.

A stored version never changes, so a cached model is never out of date.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

from crawlclean.cleaning.errors import ConfigError, StoreDamaged
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.storage.store.models import StoredModel
from crawlclean.storage.store.protocol import Store

MAX_MODELS = 16  # of at most 256 KB of text each

log = logging.getLogger(__name__)


class SiteModels:
    """The models of one store, with a least-recently-used cache."""

    def __init__(self, store: Store, most: int = MAX_MODELS) -> None:
        """Reads nothing yet; ``most`` models are cached."""
        self._store = store
        self._most = most
        self._kept: OrderedDict[tuple[str, int], SiteModel | None] = OrderedDict()

    def is_unreadable(self, host: str) -> bool:
        """Whether a host has a model of a format that this program cannot read.

        Raises:
            StorageError: The store cannot be read.
        """
        version = self._store.models.newest(host)
        return bool(version) and self.version(host, version) is None

    def version(self, host: str, version: int) -> SiteModel | None:
        """Returns a version of a host's model; None when it is absent or unreadable.

        Args:
            host: Lower-case authority.
            version: 0 has no model.

        Raises:
            StorageError: The store cannot be read.
        """
        if not version:
            return None
        key = (host, version)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        try:
            stored = self._store.models.get(host, version)
            if stored is None:  # deleted meanwhile
                return None
            model = read_model(stored)
        except (ConfigError, StoreDamaged) as error:
            extra = {"host": host, "version": version, "reason": str(error)}
            log.warning("model unreadable, host must be learned again", extra=extra)
            model = None
        self._kept[key] = model
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return model


def read_model(stored: StoredModel) -> SiteModel:
    """Parses a stored model.

    Raises:
        ConfigError: The format is of another version of this program; the host must be learned
            again.
    """
    about = stored.about
    try:
        model = SiteModel.from_json(stored.text)
    except ConfigError as error:
        raise ConfigError(f"{error} (`model learn {about.host}`)") from None
    if (model.host, model.version) != (about.host, about.version):
        raise ConfigError(f"version {about.version} of {about.host} holds another model")
    return model
