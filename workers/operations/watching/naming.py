"""What a text that somebody typed names: a URL, a page, a crawl, or a host."""

from __future__ import annotations

import re
from contextlib import suppress
from enum import StrEnum

from crawlclean.cleaning.errors import ServiceError
from crawlclean.workers.operations.controlling.crawls import crawl_names
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

PAGE_ID = re.compile(r"[0-9a-f]{32}")
SCHEME = re.compile(r"https?://", re.IGNORECASE)


class Named(StrEnum):
    """What a text names."""

    URL = "url"
    PAGE = "page"  # by its id
    CRAWL = "crawl"
    HOST = "host"
    NOTHING = "nothing"  # that is known


def what_is(backends: KeptBackends, text: str) -> Named:
    """Returns what a text names; a name of both a crawl and a host is the crawl's."""
    if PAGE_ID.fullmatch(text):
        return Named.PAGE
    if SCHEME.match(text) or "/" in text:
        return Named.URL
    with suppress(ServiceError):
        if text in crawl_names(backends):
            return Named.CRAWL
        with backends.store() as store:
            if store.overview.host(text.lower()):
                return Named.HOST
    with suppress(ServiceError), backends.queue() as frontier:
        if frontier.crawls_of(text.lower()):
            return Named.HOST
    return Named.NOTHING
