"""Cleans web pages, and reads what crawls have stored: all that other programs need to import.

>>> from crawlclean import clean_html
>>> record = clean_html("<title>t</title><article><p>...</p></article>", "https://a.example/1")
>>> record.title, record.body, record.to_json()

| name | use |
|---|---|
| ``clean_html(html, url)`` | one page, bytes or text, becomes a record |
| ``RawPage.from_bytes``, ``clean`` | the same in two steps, with status, headers and time |
| ``learn_site(pages)`` | what the pages of one host have in common, for ``clean(page, model)`` |
| ``open_data(folder)`` | the records, pages and models of a data folder |

The packages below it (``cleaning``, ``storage``, ``crawler``, ``workers``) are the program's own:
their names may change, the names here stay. A name is imported when it is first asked for.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cleaning.document.raw_page import RawPage
    from cleaning.errors import (
        ConfigError,
        InvalidUrl,
        NotFound,
        NotHtml,
        PageError,
        ServiceError,
        StorageError,
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
        LinkKind,
        LinkReason,
        Outlink,
        PageKind,
        Post,
        UrlKind,
        Via,
    )
    from cleaning.site import learn_site
    from cleaning.verdict import Verdict, VerdictKind, VerdictReason
    from cleaning.why.verdicts import verdicts
    from crawlclean.data import DataFolder, open_data
    from crawlclean.one_page import clean_html

__dist__ = "crawlclean"

__all__ = [
    "BodySource",
    "CleanRecord",
    "ConfigError",
    "DataFolder",
    "HostStats",
    "Image",
    "ImageKind",
    "ImageReason",
    "InvalidUrl",
    "Link",
    "LinkKind",
    "LinkReason",
    "NotFound",
    "NotHtml",
    "Outlink",
    "PageError",
    "PageKind",
    "PageWarning",
    "Post",
    "RawPage",
    "ServiceError",
    "SiteModel",
    "StorageError",
    "UrlKind",
    "Verdict",
    "VerdictKind",
    "VerdictReason",
    "Via",
    "WarningKind",
    "clean",
    "clean_html",
    "learn_site",
    "open_data",
    "verdicts",
]

_MODULE_OF = {
    "DataFolder": "crawlclean.data",
    "open_data": "crawlclean.data",
    "clean_html": "crawlclean.one_page",
}


def __getattr__(name: str) -> Any:
    """Imports a public name from its module, once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _check(import_module("cleaning"))
    module = _MODULE_OF.get(name, "cleaning")
    if module == "crawlclean.data":  # before anything of it is imported: another's code stays idle
        import_module("cleaning.ownership").check_ownership(["storage"])
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def _check(package: ModuleType) -> None:
    """The everyday name of a package may belong to another distribution, or to the user's files.

    Raises:
        ImportError: It does; the message names the file.
    """
    if getattr(package, "__dist__", "") != __dist__:
        raise ImportError(
            f"the package {package.__name__!r} is not {__dist__}'s but {package.__file__}: "
            f"rename it, or put it behind {__dist__} on sys.path"
        )


def __dir__() -> list[str]:
    """All public names, whether they were imported already or not."""
    return sorted({*globals(), *__all__})
