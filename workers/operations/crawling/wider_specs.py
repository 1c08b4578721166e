"""A crawl whose next run follows more URLs: what earlier runs left out is offered again.

The links that a crawl leaves out are in no queue. When ``--include``, ``--exclude``, ``--scope`` or
``--depth`` let more URLs pass than before, the links of the stored pages are read again. Sitemaps
and redirects are fetched again, because the URLs that they lead to are in no record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    FailureReason,
    Scope,
    UrlState,
)
from crawlclean.storage.queue.maintenance import UrlReopener
from crawlclean.workers.operations.crawling.recovery import Recovery

if TYPE_CHECKING:
    from crawlclean.storage.store.urls import EndedUrl
    from crawlclean.workers.operations.crawling.lifecycle import CrawlBackends

BATCH = 1000
LEADING = frozenset({UrlState.REDIRECT, UrlState.SITEMAP})
WIDTH = {Scope.HOST: 0, Scope.DOMAIN: 1, Scope.TOPIC: 1, Scope.ANY: 2}


def leads_further(old: CrawlSpec, new: CrawlSpec) -> bool:
    """Whether a specification may let a URL pass that the older one of the crawl left out."""
    fewer_excluded = not set(old.exclude) <= set(new.exclude)
    more_included = bool(old.include) and not (new.include and set(new.include) <= set(old.include))
    deeper = old.max_depth is not None and (new.max_depth is None or new.max_depth > old.max_depth)
    return fewer_excluded or more_included or deeper or WIDTH[new.scope] > WIDTH[old.scope]


def offer_again(
    backends: CrawlBackends, row: CrawlRow, spec: CrawlSpec, report: Callable[[str], None]
) -> int:
    """Offers what a crawl left out and now follows; returns how many URLs wait for that reason.

    Must be called when the queue has the new specification and the store has the older one: a
    process that is killed in between does it again.

    Args:
        backends: Queue and store.
        row: The crawl in the store.
        spec: Its new specification.
        report: Called with a line of progress every few seconds.
    """
    if not leads_further(row.spec, spec):
        return 0
    crawl = spec.crawl_id
    offered = 0
    with closing(UrlReopener(backends.frontier.url)) as reopener:
        left_out = _left_out(backends, spec)
        while ends := list(islice(left_out, BATCH)):
            offered += reopener.reopen(crawl, ends)
    opened = Recovery(backends.settings, backends.store, backends.frontier, report)
    with closing(opened) as recovery:
        return offered + recovery.recover(replace(row, spec=spec, state=CrawlState.STOPPED)).offered


def _left_out(backends: CrawlBackends, spec: CrawlSpec) -> Iterator[EndedUrl]:
    """Yields the URLs that waited when a pattern excluded them, redirects and sitemaps."""
    choice = UrlChoice(spec.include, spec.exclude)
    for end in backends.store.urls.ended(spec.crawl_id):
        is_left_out = end.reason is FailureReason.PATTERN or end.state in LEADING
        if is_left_out and (end.state is UrlState.SITEMAP or not choice.reason(end.url)):
            yield end
