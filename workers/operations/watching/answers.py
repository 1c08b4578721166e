"""Answers of the console's API: as the commands print them, without refreshing a figure."""

from __future__ import annotations

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.operations.watching.kept_backends import KeptBackends


def record_answer(backends: KeptBackends, target: str) -> CleanRecord:
    """The newest record of a page.

    Args:
        backends: Queue and store.
        target: Its URL, or the beginning of its id.

    Raises:
        NotFound: None is stored.
        InvalidUrl: It is no http(s) URL.
    """
    with backends.store() as store:
        url = target if is_page_id(target) else with_scheme(store, target)
        record = store.records.get(find_page(store, url))
    if record is None:
        raise NotFound(f"no record of {target}")
    return record
