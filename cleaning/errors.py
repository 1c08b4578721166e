"""Every error this project raises on purpose, in one tree.

    ServiceError
    ├── ConfigError                 wrong use: a flag, a setting, a URL (exit status 2)
    │   └── InvalidUrl              a URL that cannot be crawled
    ├── PageError                   one page cannot be cleaned, and trying again will not help
    │   ├── NotHtml                 the response is no HTML page
    │   └── PageTooLarge            the response is over the size limit
    ├── HookFailed                  an exporter of another package has a defect
    ├── FetchError                  one URL could not be fetched (see ``FailureReason``)
    └── StorageError
        ├── QueueUnavailable        the Redis-protocol server is unreachable    (retryable)
        ├── StoreUnavailable        the store is unreachable, locked, read-only (retryable)
        ├── StoreFull               no space left on the device or over quota   (retryable)
        ├── StoreDamaged            the store holds data this program never wrote
        │   └── DatabaseDamaged     its database cannot be read, so that no page can be stored
        ├── SchemaMismatch          the store was written by another version
        ├── DataDirectoryInUse      another process owns the data directory
        ├── ServerNotFound          no Redis-protocol server program could be started
        └── NotFound                no such crawl, page or host

Workers read nothing but ``retryable``: whether the same work may succeed later. The message is
one line for a person: the fault and its remedy.
"""

from typing import ClassVar


class ServiceError(Exception):
    """Root of the tree; ``retryable`` is true where the same work may succeed later."""

    retryable: ClassVar[bool] = False


class ConfigError(ServiceError):
    """Wrong use: a flag, a setting or an argument that cannot be obeyed."""


class InvalidUrl(ConfigError):
    """The text is no http(s) URL."""


class PageError(ServiceError):
    """One page cannot be cleaned, and trying again will not help."""


class NotHtml(PageError):
    """The response holds no HTML page."""


class PageTooLarge(PageError):
    """The response is over the size limit."""


class HookFailed(ServiceError):
    """An exporter of another package has a defect."""


class FetchError(ServiceError):
    """One URL could not be fetched."""


class StorageError(ServiceError):
    """Stored data could not be read or written."""


class QueueUnavailable(StorageError):
    """The Redis-protocol server cannot be reached."""

    retryable = True


class StoreUnavailable(StorageError):
    """The store cannot be reached, is locked or read-only."""

    retryable = True


class StoreFull(StorageError):
    """No space is left for the store."""

    retryable = True


class StoreDamaged(StorageError):
    """The store holds data this program never wrote."""


class DatabaseDamaged(StoreDamaged):
    """The store's database cannot be read: every page would fail, and none is to blame."""


class SchemaMismatch(StorageError):
    """The store was written by another version of this program."""


class DataDirectoryInUse(StorageError):
    """Another process owns the data directory."""


class ServerNotFound(StorageError):
    """No Redis-protocol server program could be found or started."""


class NotFound(StorageError):
    """No such crawl, page or host."""
