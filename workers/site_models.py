"""A cache of site models: each stored text is parsed once; an unreadable one counts as none.

A host whose models were deleted begins with version 1 again, so its number does not name a model.
"""

from __future__ import annotations

import logging
from functools import lru_cache

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
        self._read = lru_cache(most)(read_model)

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
        try:
            stored = self._store.models.get(host, version) if version else None
            return self._read(stored) if stored else None  # it may be deleted meanwhile
        except (ConfigError, StoreDamaged) as error:
            extra = {"host": host, "version": version, "reason": str(error)}
            log.warning("model unreadable, host must be learned again", extra=extra)
            return None


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
