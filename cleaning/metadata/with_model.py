"""The title of a page without the site's name, which its host taught."""

from __future__ import annotations

from cleaning.model.index import SiteIndex

_LEAST_CHARS = 2  # of what is left


def cut_site_name(title: str, index: SiteIndex) -> str:
    """A title without the longest end and beginning that other titles of the host have.

    It stays whole where nothing of its own would be left.
    """
    for suffix in index.suffixes:
        if title.endswith(suffix) and len(title) - len(suffix) >= _LEAST_CHARS:
            title = title[: -len(suffix)].rstrip()
            break
    for prefix in index.prefixes:
        if title.startswith(prefix) and len(title) - len(prefix) >= _LEAST_CHARS:
            title = title[len(prefix) :].lstrip()
            break
    return title
