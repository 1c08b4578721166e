"""Two URLs that redirect to each other: asked once more with the cookies, then a failure.

A site that wants a cookie sends a page to a second URL, which sets it and sends back. The page was
asked already, so it is offered again, once; its request has the cookie now.
"""

from __future__ import annotations

from cleaning.urls.normal_form import host_of
from cleaning.urls.normal_form import page_id as page_id_of
from storage.crawl_types import Failure, FailureReason, PageRole, UrlState
from storage.store.protocol import Store
from workers.jobs.outcomes import REDIRECTS, Ending, failed

AGAIN = "offered again"  # the step that ``reopen.lua`` writes


def judge_loop(ending: Ending, store: Store) -> tuple[Ending, str]:
    """Returns (the ending, id of the page to offer again or ``""``) of a page, by what is stored.

    Only loops within a host are judged: no cookie leads out of another one.
    """
    page = ending.outcome.queued
    if ending.outcome.state is not UrlState.REDIRECT or page.role is not PageRole.PAGE:
        return ending, ""
    target = ending.outcome.log[-1].detail
    if host_of(target) != page.host or page.was is not None:
        return ending, ""
    other = page_id_of(target)
    for row in store.urls.rows(other, [page.crawl_id]):
        leads_to = {step.detail for step in row.log if step.step == REDIRECTS}
        if row.state is UrlState.REDIRECT and page.url in leads_to:
            steps = [step.step for step in (*page.log, *row.log)]
            if AGAIN not in steps:
                return ending, other
            detail = f"it redirects to {target}, which redirects back, also with its cookies"
            return failed(page, Failure(reason=FailureReason.BAD_REDIRECT, detail=detail)), ""
    return ending, ""
