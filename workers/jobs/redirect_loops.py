"""URLs that redirect to each other in a circle: asked once more with the cookies, then a failure.

A site that wants a cookie sends a page to a second URL, which sets it and sends back. The page was
asked already, so it is offered again, once; its request has the cookie now.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawlclean.cleaning.urls.normal_form import host_of, page_id as page_id_of
from crawlclean.storage.crawl_types import (
    MAX_HOPS,
    Failure,
    FailureReason,
    PageRole,
    Step,
    UrlState,
)
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.outcomes import Ending, failed
from crawlclean.workers.jobs.url_classes import MOVED

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
            return failed(page, Failure(reason=FailureReason.BAD_REDIRECT, detail=detail)), ""
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
