"""URLs that lead to no page, by their extension: ``/logo.png``, ``/app.js``."""

from __future__ import annotations

from cleaning.lexicon import word_list

_MAX_EXTENSION_CHARS = 8


def is_asset(url: str) -> bool:
    """Whether the extension of a URL's path is one of files that are no pages."""
    path = url.partition("?")[0] if "?" in url else url
    dot = path.rfind(".", -_MAX_EXTENSION_CHARS - 1)
    return dot >= 0 and path[dot + 1 :].lower() in word_list("asset_extensions")
