"""Cleans web pages, and reads what crawls have stored: all that other programs need to import.

>>> from crawlclean import clean_html
>>> record = clean_html("<title>t</title><article><p>...</p></article>", "https://a.example/1")
>>> record.title, record.body, record.to_json()

| name | use |
|---|---|
| ``clean_html(html, url)`` | one page, bytes or text, becomes a record |
| ``clean_text(html, url)`` | title and text alone, at two thirds of the cost |
| ``RawPage.from_bytes``, ``clean`` | the same in two steps, with status, headers and time |
| ``learn_site(pages)`` | what the pages of one host have in common, for ``clean(page, model)`` |
| ``open_data(folder)`` | the records, pages and models of a data folder |

The packages below it (``cleaning``, ``storage``, ``crawler``, ``workers``) are the program's own:
their names may change, the names here stay. A name is imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `as`: type checkers take a name for one of ours to give
    from crawlclean.cleaning.document.document import RawPage as RawPage
    from crawlclean.cleaning.errors import (
        ConfigError as ConfigError,
        InvalidUrl as InvalidUrl,
        NotFound as NotFound,
        NotHtml as NotHtml,
        PageError as PageError,
        ServiceError as ServiceError,
        StorageError as StorageError,
    )
    from crawlclean.cleaning.model.site_model import SiteModel as SiteModel
    from crawlclean.cleaning.page import clean as clean
    from crawlclean.cleaning.page_warnings import (
        PageWarning as PageWarning,
        WarningKind as WarningKind,
    )
    from crawlclean.cleaning.records import (
        BodySource as BodySource,
        CleanRecord as CleanRecord,
        HostStats as HostStats,
        Image as Image,
        ImageKind as ImageKind,
        ImageReason as ImageReason,
        Link as Link,
        LinkKind as LinkKind,
        LinkReason as LinkReason,
        Outlink as Outlink,
        PageKind as PageKind,
        Post as Post,
        UrlKind as UrlKind,
        Verdict as Verdict,
        VerdictKind as VerdictKind,
        VerdictReason as VerdictReason,
        Via as Via,
    )
    from crawlclean.cleaning.site import learn_site as learn_site
    from crawlclean.cleaning.why import verdicts as verdicts
    from crawlclean.data import DataFolder as DataFolder, open_data as open_data
    from crawlclean.one_page import (
        Text as Text,
        clean_html as clean_html,
        clean_text as clean_text,
    )

__dist__ = "crawlclean"

_NAMES_OF = {
    "cleaning.document.document": ("RawPage",),
    "cleaning.errors": (
        "ConfigError", "InvalidUrl", "NotFound", "NotHtml", "PageError", "ServiceError",
        "StorageError",
    ),
    "cleaning.model.site_model": ("SiteModel",),
    "cleaning.page": ("clean",),
    "cleaning.page_warnings": ("PageWarning", "WarningKind"),
    "cleaning.records": (
        "BodySource", "CleanRecord", "HostStats", "Image", "ImageKind", "ImageReason", "Link",
        "LinkKind", "LinkReason", "Outlink", "PageKind", "Post", "UrlKind", "Verdict",
        "VerdictKind", "VerdictReason", "Via",
    ),
    "cleaning.site": ("learn_site",),
    "cleaning.why": ("verdicts",),
    "data": ("DataFolder", "open_data"),
    "one_page": ("Text", "clean_html", "clean_text"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Imports a public name from its module, once."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All public names, whether they were imported already or not."""
    return sorted({*globals(), *__all__})
