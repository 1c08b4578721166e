"""Every error this project raises on purpose, in one tree.

    ServiceError
    ├── ConfigError                 wrong use: a flag, a setting, a URL (exit status 2)
    │   └── InvalidUrl              an address that cannot be crawled
    ├── PageError                   one page cannot be cleaned, and trying again will not help
    │   ├── NotHtml                 the answer is no HTML page
    │   └── PageTooLarge            the answer is over the size limit
    ├── FetchError                  one address could not be fetched (see ``FailureReason``)
    └── StorageError
        ├── QueueUnavailable        the Redis-protocol server is away           (retryable)
        ├── StoreUnavailable        the store is away, locked or read-only      (retryable)
        ├── StoreFull               no space left on the device or over quota   (retryable)
        ├── StoreDamaged            the store is not what we wrote
        ├── SchemaMismatch          the store was written by another version
        ├── DataDirectoryInUse      another process owns the data directory
        ├── ServerNotFound          no Redis-protocol server program could be started
        └── NotFound                no such crawl, page or host

Workers read nothing but ``retryable``: whether the same work may succeed later. The message is
one line for a person: what is wrong and what to do.
"""

from typing import ClassVar


class ServiceError(Exception):
    """Root of the tree; ``retryable`` says whether the same work may succeed later."""

    retryable: ClassVar[bool] = False


class ConfigError(ServiceError):
    """Wrong use: a flag, a setting or an argument that cannot be obeyed."""


class InvalidUrl(ConfigError):
    """The text is no http(s) address."""


class PageError(ServiceError):
    """One page cannot be cleaned, and trying again will not help."""


class NotHtml(PageError):
    """The answer holds no HTML page."""


class PageTooLarge(PageError):
    """The answer is over the size limit."""


class FetchError(ServiceError):
    """One address could not be fetched."""


class StorageError(ServiceError):
    """Something at rest could not be read or written."""


class QueueUnavailable(StorageError):
    """The Redis-protocol server is away."""

    retryable = True


class StoreUnavailable(StorageError):
    """The store is away, locked or read-only."""

    retryable = True


class StoreFull(StorageError):
    """No space is left for the store."""

    retryable = True


class StoreDamaged(StorageError):
    """The store holds something this program never wrote."""


class SchemaMismatch(StorageError):
    """The store was written by another version of this program."""


class DataDirectoryInUse(StorageError):
    """Another process owns the data directory."""


class ServerNotFound(StorageError):
    """No Redis-protocol server program could be found or started."""


class NotFound(StorageError):
    """No such crawl, page or host."""
