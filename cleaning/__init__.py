"""Pure functions from a fetched page to one clean, typed record.

``RawPage.from_bytes`` decodes a page once, ``clean`` reads it, ``learn_site`` learns a model of the
pages of one host, and ``clean`` with that model reads them better. Nothing here opens a socket or a
file (the packaged word lists excepted), or reads the clock or the environment.

A public name is imported from its module at its first use: importing an error does not import the
cleaner, whose parser takes 0.3 s to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cleaning.document.raw_page import RawPage
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
    from cleaning.model.site_model import SiteModel
    from cleaning.page import clean
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
    from cleaning.site import learn_site
    from cleaning.verdict import Verdict, VerdictKind, VerdictReason
    from cleaning.why.verdicts import verdicts

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
    "Verdict",
    "VerdictKind",
    "VerdictReason",
    "Via",
    "WarningKind",
    "clean",
    "learn_site",
    "verdicts",
]

_NAMES_OF = {
    "cleaning.document.raw_page": ("RawPage",),
    "cleaning.errors": (
        "ConfigError",
        "DataDirectoryInUse",
        "FetchError",
        "InvalidUrl",
        "NotFound",
        "NotHtml",
        "PageError",
        "PageTooLarge",
        "QueueUnavailable",
        "SchemaMismatch",
        "ServerNotFound",
        "ServiceError",
        "StorageError",
        "StoreDamaged",
        "StoreFull",
        "StoreUnavailable",
    ),
    "cleaning.model.site_model": ("SiteModel",),
    "cleaning.page": ("clean",),
    "cleaning.page_warnings": (
        "PageWarning",
        "WarningKind",
    ),
    "cleaning.records": (
        "BodySource",
        "CleanRecord",
        "HostStats",
        "Image",
        "ImageKind",
        "ImageReason",
        "Link",
        "LinkBlock",
        "LinkKind",
        "LinkReason",
        "Outlink",
        "PageKind",
        "Post",
        "Provenance",
        "UrlKind",
        "Via",
    ),
    "cleaning.site": ("learn_site",),
    "cleaning.verdict": (
        "Verdict",
        "VerdictKind",
        "VerdictReason",
    ),
    "cleaning.why.verdicts": ("verdicts",),
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imports a public name from its module, once."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Returns all public names, imported or not."""
    return sorted({*globals(), *__all__})
