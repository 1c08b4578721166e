"""Reported verdicts: listing, reporting and withdrawing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

from workers.answers.cases import CaseDetails, CaseLine
from workers.console.api.paging import Name, PageOf, Part, cursor, number
from workers.console.api.registry import Api, Call
from workers.console.api.resources.actions import ActionRequest, ActionResult, post_action
from workers.operations.cases.cases import case_line
from workers.operations.watching.journal import list_cases
from workers.operations.watching.views.cases import show_one


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRequest:
    """A verdict that is wrong.

    Attributes:
        url: URL of the page.
        part: ``text 31``, ``link 4``, ``image 0`` (numbers from 0: of texts as in the anchors of
            the page's screen, of links and images as in the record), ``title``, ``author``,
            ``published_at``, ``kind``.
        wanted: What is right; of a text ``body`` or ``not_body``.
        note: Why, in words for a person.
        crawl: Whose answer of the page; ``""``: the newest.
        dry_run: Whether only to look whether the page has this part.
    """

    url: Name
    part: Annotated[str, msgspec.Meta(max_length=40)]
    wanted: Annotated[str, msgspec.Meta(max_length=1000)]
    note: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    crawl: Name = ""
    dry_run: bool = False


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/cases", get_cases, query=Part, page_of=CaseLine)
    api.get("/cases/<case>", get_case, answer=CaseDetails)
    api.post("/cases", post_case, body=CaseRequest, answer=ActionResult)
    api.post("/cases/<case>/withdraw", post_withdrawal, answer=ActionResult)


def get_cases(call: Call, query: Part) -> PageOf[CaseLine]:
    """Verdicts that were reported as wrong, newest first."""
    found = list_cases(call.console.backends, number(query.after, "cases"), query.limit)
    lines = [case_line(each) for each in found.rows]
    return PageOf(items=lines, next=cursor("cases", found.after) if found.after else None)


def get_case(call: Call, case: str) -> CaseDetails:
    """One reported verdict, with what the cleaner makes of its page now."""
    return show_one(call.console.backends, case)[1]


def post_case(call: Call, body: CaseRequest) -> ActionResult:
    """Reports a verdict as wrong; a report of the same part of the page is replaced.

    This is the action `report_verdict`; its `undo` withdraws the case.
    """
    values = {"crawl": body.crawl, "part": body.part, "wanted": body.wanted, "why": body.note}
    asked = ActionRequest(target=body.url, values=values, dry_run=body.dry_run)
    return post_action(call, asked, "report_verdict")


def post_withdrawal(call: Call, case: str) -> ActionResult:
    """Deletes a reported verdict: the action `withdraw_case`."""
    return post_action(call, ActionRequest(target=case), "withdraw_case")
