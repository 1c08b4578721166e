"""An action: the page that says what it would do, the form that does it, and what it led to."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from flask import abort, g, request, url_for

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.records import UrlKind
from crawlclean.storage.store.journal import Operation, OperationState
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.console.actions import Form, Refusal
from crawlclean.workers.console.routes import Console, Page, Routes, render, see
from crawlclean.workers.operations.acting.action import (
    ERROR,
    REFUSED,
    Action,
    Asked,
    Caller,
    Fact,
    Note,
    Safety,
    Subject,
    chosen_values,
    keep_refusal,
    read_written,
    told,
    untold,
)
from crawlclean.workers.operations.acting.actions import ACTIONS

MOST_TARGET_CHARS = 2_000
STATUS = {Refusal.FORGED: 403, Refusal.BUSY: 503, Refusal.LOST: 409}
"""Of the page of a refusal; the others show the confirm page again."""
SPANS = {"30m": 1_800, "2h": 7_200, "6h": 21_600, "2d": 172_800, "7d": 604_800, "": 0}
"""Times ago that a person may choose from, with their seconds; ``""``: ever."""

OFFERED_S = 5.0
"""How old the number may be that a re-cleaning is offered with."""

FIRST = {"retry_failed": "retry_some", "reclean_host": "try_reclean"}
"""What should be tried before an action."""
LEVELS = {
    "done": "ok",
    "given": "info",
    "queued": "info",
    "error": "bad",
    "refused": "warn",
    "unknown": "bad",
    "at_work": "info",
}
VIEWS = {
    Subject.HOST: ("show_host", "host"),
    Subject.CRAWL: ("show_crawl", "crawl"),
    Subject.TOPIC: ("show_topic", "topic"),
    Subject.URL: ("show_pages", "url"),
}
"""The screens of targets: view, and name of its argument."""


def register(routes: Routes) -> None:
    """Adds the pages."""
    routes.page("/actions/<name>", confirm_action)
    routes.checked_action("/actions/<name>", do_action)


def confirm_action(console: Console, name: str) -> Page:
    """What an action would do, in numbers of this moment."""
    if console.actions is None:
        return render("read_only.html"), 403
    return _confirm(console, _known(name), _asked(console, request.args.to_dict()))


def _known(name: str) -> Action:
    action = ACTIONS.get(name)
    if action is None:
        abort(404)
    return action


def _asked(console: Console, given: dict[str, str]) -> Asked:
    """The target and the values of a query or a form."""
    values = {
        key: text[:MOST_TARGET_CHARS]
        for key, text in given.items()
        if key not in ("target", "token", "expected", "at", "typed")
    }
    who = console.access.name_of(g.session)
    return Asked(target=given.get("target", "")[:MOST_TARGET_CHARS], values=values, who=who)


def _confirm(console: Console, action: Action, asked: Asked, refusal: str = "") -> Page:
    if console.actions is None:
        return render("read_only.html"), 403
    given = asked.values
    values = {name: given.get(name, "") for name in action.values}
    if "until" in values and not values["until"]:
        values["until"] = str(time.time_ns() // 1000)
    asked = Asked(target=asked.target, values=values, who=asked.who)
    plan = action.plan(console.settings, asked)
    asked = replace(asked, values=chosen_values(asked.values, plan))
    form = console.actions.new_form(g.session, action, asked, told(plan.facts, plan.notes))
    page = render(
        "action_confirm.html",
        action=action,
        first=FIRST.get(action.name, ""),
        form=form,
        given=given,
        is_typed=action.safety is Safety.TYPED,
        kinds=list(UrlKind),
        plan=plan,
        refusal=refusal,
        spans=SPANS,
        since=_asked_value("since", asked.values.get("since", "")),
        back=_screen_of(action, asked.target, asked.values),
    )
    return (page, 422) if refusal else page


def do_action(console: Console, name: str) -> Page:
    """Does an action, and leads to its row of the audit."""
    asked = _asked(console, request.form.to_dict())
    caller = Caller(who=asked.who, place=request.remote_addr or "")
    if console.actions is None:
        keep_refusal(console.settings, name, asked, caller)
        return render("read_only.html"), 403
    action = _known(name)
    form = Form(
        session=g.session,
        asked=asked,
        expected=request.form.get("expected", ""),
        at=request.form.get("at", 0, type=int),
        token=request.form.get("token", ""),
        typed=request.form.get("typed", ""),
    )
    if action.safety is Safety.TYPED and form.typed.strip() != asked.target:
        return _confirm(console, action, asked, Refusal.MISTYPED)
    done = console.actions.do(action, form, caller)
    console.backends.forget_all()
    if done is Refusal.OLD:
        return _confirm(console, action, asked, done)
    if isinstance(done, Refusal):
        return render("action_refused.html", refusal=done.value), STATUS[done]
    return see(url_for("show_action", seq=done))


def values_of_row(console: Console, row: object) -> dict[str, object]:
    """What the template ``audit_row.html`` shows of a row of the audit."""
    seq, did = getattr(row, "seq", 0), getattr(row, "did", None)
    row_name = getattr(row, "action", "")
    is_at_work = console.actions is not None and console.actions.is_at_work(seq)
    facts, notes, text = untold(did or "")
    outcome = "at_work" if is_at_work else "unknown"
    if did is not None:
        outcome = "error" if did.startswith(ERROR) else "refused" if did == REFUSED else "done"
        is_queued = Note.TO_BE_FETCHED in notes or row_name == "try_page"
        outcome = "queued" if outcome == "done" and is_queued else outcome
        outcome = "given" if Fact.OPERATION in facts else outcome
    return {
        "known": ACTIONS,
        "levels": LEVELS,
        "row": row,
        "asked": _told_before(getattr(row, "asked", "")),
        "facts": facts,
        "notes": notes,
        "outcome": outcome,
        "text": text.removeprefix(ERROR) if outcome in ("error", "done") else "",
    }


def offered_recleaning(console: Console, operation: Operation | None) -> int:
    """How many records a re-cleaning would look at after a dry run; 0: none, or no dry run."""
    if (
        console.actions is None
        or operation is None
        or (operation.kind, operation.state) != ("try_reclean", OperationState.DONE)
    ):
        return 0
    asked = Asked(target=operation.target)

    def count() -> int:
        plan = ACTIONS["reclean_host"].plan(console.settings, asked)
        return plan.facts.get(Fact.OLDER_RECORDS, 0)

    with suppress(ServiceError):
        return console.backends.remembered(("offered", operation.target), OFFERED_S, count)
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedValue:
    """A value that an action was asked for with.

    Attributes:
        text: As it is.
        at: The time that it means; None: none.
        term: The kind of its words: ``reason``; ``""``: it is no value of ours.
    """

    text: str
    at: datetime | None = None
    term: str = ""


TERMS = {"reason": "reason", "word": "url_kind", "which": "which"}


def _told_before(
    asked: str,
) -> tuple[Sequence[tuple[str, AskedValue]], dict[Fact, int], list[Note]]:
    """The (values by name, facts, notes) of what was asked for."""
    first, _, rest = asked.partition("; ")
    if "=" not in first:
        first, rest = "", asked
    facts, notes, _ = untold(rest)
    values = [
        (name, _asked_value(name, text))
        for name, text in parse_qsl(first)
        if (name, text) != ("status", "0")
    ]
    return values, facts, notes


def _asked_value(name: str, text: str) -> AskedValue:
    if name == "since":
        with suppress(ValueError):  # a span, as 2d, or none
            at = datetime.fromisoformat(text)
            return AskedValue(text=text, at=at if at.tzinfo else at.replace(tzinfo=UTC))
    if name == "until" and text.isdecimal() and len(text) < 18:  # microseconds since 1970 UTC
        with suppress(OverflowError, ValueError):
            return AskedValue(text=text, at=from_microseconds(int(text)))
    return AskedValue(text=text, term=TERMS.get(name, ""))


def undo_of(text: str) -> tuple[str, str, dict[str, str]] | None:
    """The (action, target, values) that takes an action back; None: nothing does."""
    if not text:
        return None
    name, target, values = read_written(text)
    return (name, target, values) if name in ACTIONS else None


def _screen_of(action: Action, target: str, values: Mapping[str, str]) -> str:
    """The address of the screen about a target; ``""``: there is none."""
    if action.subject is Subject.PROCESS:
        return url_for("show_queues")
    if action.subject is Subject.OPERATION:
        return url_for("show_operation", seq=target) if target.isdecimal() else ""
    if group := _group_of(target, values):
        return group
    if action.subject not in VIEWS:
        return ""
    view, argument = VIEWS[action.subject]
    named: dict[str, Any] = {argument: target}
    return url_for(view, **named) if target else ""


def _group_of(target: str, values: Mapping[str, str]) -> str:
    """The address of the group of failures that an action of a crawl is about; ``""``: none."""
    host, cause = values.get("host", ""), values.get("reason", "")
    if not (target and host and cause):
        return ""
    status = values.get("status", "") or "0"
    return url_for("show_failure_group", crawl=target, host=host, cause=cause, status=status)


def screen_of(name: str, target: str, asked: str = "") -> str:
    """The address of the screen about the target of an action by name; ``asked``: its values."""
    if name not in ACTIONS:
        return ""
    return _screen_of(ACTIONS[name], target, dict(parse_qsl(asked.partition("; ")[0])))
