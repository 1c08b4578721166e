"""Search by words for console and API, in the index as it is."""

from __future__ import annotations

from crawlclean.workers.operations.searching import SearchPage, Wanted, search_in
from crawlclean.workers.operations.watching.kept_backends import KeptBackends


def search_words(
    backends: KeptBackends, wanted: Wanted, before: int | None, limit: int
) -> SearchPage:
    """Returns records that have the words; arguments as in ``search_in``.

    Raises:
        ConfigError: There is no word to search for.
        NotFound: Search is off, or there is no crawl.
    """
    index = backends.index()
    with backends.store() as store:
        return search_in(store, index, wanted, before, limit)
