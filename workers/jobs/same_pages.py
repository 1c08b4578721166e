"""URLs of one page: names of index files, and circles of redirects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.urls.normal_form import host_of, page_id as page_id_of
from crawlclean.storage.crawl_types import (
    MAX_HOPS,
    FailureReason,
    PageRole,
    Step,
    UrlState,
)
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.outcomes import Ending, failed
from crawlclean.workers.jobs.url_classes import MOVED, SAME_PAGE

# Pages of one text whose URLs differ by the name of an index file: ``/a/`` and ``/a/index.html``.
#
# The shorter URL has the record; where the longer one is stored already, the shorter has none: a
# record that was told to others is not taken back.

INDEX_NAMES = tuple(
    f"{name}.{extension}"
    for name in ("index", "Index", "default", "Default")
    for extension in ("html", "htm", "shtml", "php", "jsp", "asp", "aspx")
)
"""What web servers answer for a folder, in their usual settings."""
_INDEX = re.compile(f"(.+/)(?:{'|'.join(map(re.escape, INDEX_NAMES))})")
THIN_CHARS = 100  # a shorter body, a few sentences, is that of many pages: their links count, too


def judge_index(ending: Ending, others: Sequence[Ending], store: Store) -> Ending:
    """Returns the ending of a page: excluded when the same page has a record at its other URL.

    Args:
        ending: Of the page.
        others: Pages of its host that are not stored yet.
        store: Has those before.
    """
    outcome = ending.outcome
    page, record = outcome.queued, outcome.record
    if record is None or page.was is not None:
        return ending
    longer = _INDEX.fullmatch(page.url)
    if not longer and not page.url.endswith("/"):
        return ending
    urls = [longer[1]] if longer else [page.url + name for name in INDEX_NAMES]
    ids = {page_id_of(url): url for url in urls}
    found = [each.outcome.record for each in others if longer and each.outcome.queued.url in urls]
    known = store.urls.known(ids, [page.crawl_id])
    found += [store.records.get(each, page.crawl_id) for each in known]
    same = next((each.url for each in found if each and _is_same(record, each)), "")
    # A page that is done again keeps the record that it has.
    if not same or store.records.get(page.page_id, page.crawl_id) is not None:
        return ending
    excluded = failed(page, FailureReason.DUPLICATE, f"{SAME_PAGE}{same}")
    return replace(excluded, outlinks=ending.outlinks)


def _is_same(one: CleanRecord, other: CleanRecord) -> bool:
    """Whether two pages have one text; without much of it, their links to others are one, too."""
    if (one.title, one.body) != (other.title, other.body):
        return False
    both = (one.url, other.url)
    links = [
        {(link.url, link.text) for link in each.links if link.url not in both}
        for each in (one, other)
    ]
    is_thin = len(one.body) < THIN_CHARS
    return not is_thin or (links[0] == links[1] and bool(one.body or links[0]))


# URLs that redirect to each other in a circle: asked once more with the cookies, then a failure.
#
# A site that wants a cookie sends a page to a second URL, which sets it and sends back. The page
# was asked already, so it is offered again, once; its request has the cookie now.

AGAIN = "offered again"  # the step that ``reopen.lua`` writes


def judge_loop(ending: Ending, earlier: Sequence[Ending], store: Store) -> tuple[Ending, str]:
    """Returns (the ending, id of the page to offer again or ``""``) of a page, by what is known.

    Only loops within a host are judged: no cookie leads out of another one.

    Args:
        ending: Of the page.
        earlier: Pages of its host that ended before it, and are not stored yet.
        store: Has the others.
    """
    page = ending.outcome.queued
    if ending.outcome.state is not UrlState.REDIRECT or page.role is not PageRole.PAGE:
        return ending, ""
    target = url = ending.outcome.log[-1].detail
    steps = list(page.log)
    for hops in range(1, MAX_HOPS + 1):
        if host_of(url) != page.host or page.was is not None:
            break
        log = _log_of_redirect(url, page.crawl_id, earlier, store)
        url = next((each.detail for each in reversed(log) if each.step == MOVED), "")
        if not url:
            break
        steps += log
        if url == page.url:
            is_again = AGAIN in [each.step for each in steps]
            # What ended a moment ago cannot be offered before it is acknowledged.
            if not is_again and target not in [each.outcome.queued.url for each in earlier]:
                return ending, page_id_of(target)
            back = "redirects back" if hops == 1 else f"leads back by {hops} redirects"
            detail = f"it redirects to {target}, which {back}"
            detail += ", also with its cookies" * is_again
            return failed(page, FailureReason.BAD_REDIRECT, detail), ""
    return ending, ""


def _log_of_redirect(
    url: str, crawl_id: str, earlier: Sequence[Ending], store: Store
) -> Sequence[Step]:
    """The log of a URL that ended as a redirect; empty for any other."""
    for each in earlier:
        if each.outcome.queued.url == url and each.outcome.state is UrlState.REDIRECT:
            return each.outcome.log
    rows = store.urls.rows(page_id_of(url), [crawl_id])
    return next((row.log for row in rows if row.state is UrlState.REDIRECT), ())
