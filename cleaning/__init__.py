"""Pure functions from a fetched page to one clean, typed record.

``RawPage.from_bytes`` decodes a page once, ``clean`` reads it, ``learn_site`` finds what the pages
of one host have in common, and ``clean`` with that model reads them better. Nothing here opens a
socket or a file, reads the clock or the environment.

What reads pages is imported when it is first used: the spider, the sweeper and most commands need
records and errors alone, and start 0.4 s of processor time sooner.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cleaning.errors import (
    ConfigError,
    DataDirectoryInUse,
    FetchError,
    InvalidUrl,
    NotFound,
    NotHtml,
    PageError,
    PageTooLarge,
    QueueUnavailable,
    SchemaMismatch,
    ServerNotFound,
    ServiceError,
    StorageError,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.records import (
    BodySource,
    CleanRecord,
    HostStats,
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkBlock,
    LinkKind,
    LinkReason,
    Outlink,
    PageKind,
    Post,
    Provenance,
    UrlKind,
    Via,
)

if TYPE_CHECKING:
    from cleaning.document.raw_page import RawPage
    from cleaning.model.site_model import SiteModel
    from cleaning.page import clean
    from cleaning.site import learn_site

__dist__ = "crawlclean"

__all__ = [
    "BodySource",
    "CleanRecord",
    "ConfigError",
    "DataDirectoryInUse",
    "FetchError",
    "HostStats",
    "Image",
    "ImageKind",
    "ImageReason",
    "InvalidUrl",
    "Link",
    "LinkBlock",
    "LinkKind",
    "LinkReason",
    "NotFound",
    "NotHtml",
    "Outlink",
    "PageError",
    "PageKind",
    "PageTooLarge",
    "PageWarning",
    "Post",
    "Provenance",
    "QueueUnavailable",
    "RawPage",
    "SchemaMismatch",
    "ServerNotFound",
    "ServiceError",
    "SiteModel",
    "StorageError",
    "StoreDamaged",
    "StoreFull",
    "StoreUnavailable",
    "UrlKind",
    "Via",
    "WarningKind",
    "clean",
    "learn_site",
]

_ON_FIRST_USE = {
    "RawPage": "cleaning.document.raw_page",
    "SiteModel": "cleaning.model.site_model",
    "clean": "cleaning.page",
    "learn_site": "cleaning.site",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_ON_FIRST_USE[name]), name)
    return value


def __dir__() -> list[str]:
    """All names, whether they were imported already or not."""
    return sorted({*globals(), *__all__})
