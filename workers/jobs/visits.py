"""The class by which a page of a crawl that keeps fresh is visited again, for its save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

from crawlclean.cleaning.document.feeds import HEAD_CHARS, named_feeds
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord, Outlink, UrlKind, Via
from crawlclean.cleaning.revisits import VisitClass, absence_words, has_vanished, visit_kind
from crawlclean.cleaning.url_classes.rules import url_kind
from crawlclean.cleaning.urls.patterns import patterns_of
from crawlclean.storage.crawl_types import FailureReason, Outcome, PageRole, UrlState
from crawlclean.workers.jobs.outcomes import Ending, failed
from crawlclean.workers.jobs.url_classes import HostUrlRules

Stored = Callable[[str, str], CleanRecord | None]
"""``Records.get``: the record of (page, crawl), or None."""

VISITED = frozenset({PageRole.PAGE, PageRole.SITEMAP})


def with_visit(ending: Ending, rules: HostUrlRules, model: SiteModel | None) -> Ending:
    """Returns the ending of a page with what its schedule depends on; that of an image as it is.

    A seed leads to the feeds that it names, too: they show new pages sooner than lists do.

    Args:
        ending: Of any page of the host.
        rules: The URL rules of the host: pages of one class change alike.
        model: The model of the host, whose template lines are no change of a page; None without.
    """
    outcome = ending.outcome
    if outcome.queued.role not in VISITED:
        return ending
    changed = replace(
        outcome,
        visit=_visit_class(outcome, rules),
        template=model.index.often if model is not None else frozenset(),
        content=_listed(ending) if outcome.state is UrlState.SITEMAP else 0,
    )
    return replace(ending, outcome=changed, outlinks=(*ending.outlinks, *_feeds(outcome)))


def without_vanished_page(ending: Ending, stored: Stored) -> Ending:
    """Returns the ending of a visit; a page that reads as not found has gone, as with 404.

    Its stored record stays, which such a page would replace.
    """
    page, record = ending.outcome.queued, ending.outcome.record
    if page.was is None or record is None or not absence_words(record):
        return ending
    before = stored(page.page_id, page.crawl_id)
    if before is None or not has_vanished(before, record):
        return ending
    detail = Message("reads_gone", page.result.status, absence_words(record))
    return failed(page, FailureReason.GONE, detail)


def _feeds(outcome: Outcome) -> tuple[Outlink, ...]:
    page, record = outcome.queued, outcome.record
    if page.depth or record is None:
        return ()
    head = page.result.body[:HEAD_CHARS].decode("utf-8", "replace")  # tags are ASCII everywhere
    return tuple(Outlink(url=url, via=Via.LINK) for url in named_feeds(head, page.url))


def _visit_class(outcome: Outcome, rules: HostUrlRules) -> VisitClass:
    page, record = outcome.queued, outcome.record
    is_sitemap = page.role is PageRole.SITEMAP
    is_list = UrlState.SITEMAP in (outcome.state, page.was) and not is_sitemap
    kind = UrlKind.FEED if is_list else url_kind(page.url, rules.rules)
    rule = rules.find(page.url)
    classes = patterns_of(page.url)
    return VisitClass(
        visit_kind(
            record.kind if record is not None else None,
            kind,
            is_seed=page.depth == 0,
            is_sitemap=is_sitemap,
        ),
        rule.template if rule is not None else next(iter(classes), ""),
    )


def _listed(ending: Ending) -> int:
    """The CRC-32 of what a sitemap or a feed lists, > 0; its order does not count."""
    found = [f"{link.url} {ending.lastmods.get(link.url, '')}" for link in ending.outlinks]
    found += [each.url for each in ending.discoveries]
    return crc32("\n".join(sorted(found)).encode("utf-8", "replace")) or 1
