"""Actions: what one would do, the form that does it, what it led to; who did what (the audit).

Long actions are operations, with a page each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec
from flask import Response, abort, g, request, url_for
from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.records import UrlKind
from crawlclean.storage.crawl_types import Scope
from crawlclean.storage.store.journal import Action as AuditRow, Operation, OperationState
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.console.actions import Form, Refusal
from crawlclean.workers.console.routes import (
    Console,
    Page,
    asked_limit,
    asked_row,
    own_path,
    render,
    see,
)
from crawlclean.workers.operations.acting.action import (
    ERROR,
    REFUSED,
    Action,
    Asked,
    Fact,
    Note,
    Safety,
    Subject,
    keep_refusal,
    read_asked,
    read_written,
    told,
    untold,
)
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.parts import Place
from crawlclean.workers.operations.watching.journal import (
    audit,
    find_action,
    find_operation,
    operations,
)
from crawlclean.workers.operations.watching.signs.following import follow

MOST_VALUE_CHARS = 20_000  # the seeds of a crawl; more are a file of `run`
MOST_TARGET_CHARS = 2_000  # of a URL or a name in a query: longer ones do not fit into an address
STATUS = {Refusal.FORGED: 403, Refusal.BUSY: 503, Refusal.LOST: 409}
"""Of the page of a refusal; the others show the confirm page again."""
SPANS = {"30m": 1_800, "2h": 7_200, "6h": 21_600, "2d": 172_800, "7d": 604_800, "": 0}
"""Times ago that a person may choose from, with their seconds; ``""``: ever."""

OFFERED_S = 5.0
"""How old the number may be that a re-cleaning is offered with."""

SCOPES = [each for each in Scope if each is not Scope.TOPIC]
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
    if any(len(text) > MOST_VALUE_CHARS for text in given.values()):
        abort(413)
    values = {
        key: text.replace("\r\n", "\n")  # as browsers send lines
        for key, text in given.items()
        if key not in ("target", "token", "expected", "at", "typed", "to")
    }
    who = console.access.name_of(g.session)
    target = given.get("target", "")[:MOST_TARGET_CHARS]
    return Asked(target=target, values=values, who=who, place=request.remote_addr or "")


def _confirm(console: Console, action: Action, asked: Asked, refusal: str = "") -> Page:
    if console.actions is None:
        return render("read_only.html"), 403
    given = asked.values
    asked = replace(asked, values={name: given.get(name, "") for name in action.values})
    plan, form = console.actions.plan(g.session, action, asked)
    page = render(
        "action_confirm.html",
        action=action,
        first=FIRST.get(action.name, ""),
        form=form,
        given=given,
        is_typed=action.safety is Safety.TYPED,
        kinds=list(UrlKind),
        scopes=SCOPES,
        plan=plan,
        refusal=refusal,
        spans=SPANS,
        since=_asked_value("since", form.asked.values.get("since", "")),
        back=_screen_of(action, asked.target, form.asked.values),
    )
    return (page, 422) if refusal else page


def do_action(console: Console, name: str) -> Page:
    """Does an action, and leads to its row of the audit."""
    asked = _asked(console, request.form.to_dict())
    if console.actions is None:
        keep_refusal(console.backends, name, asked)
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
    done = console.actions.do(action, form)
    console.backends.forget_all()
    if done is Refusal.OLD:
        return _confirm(console, action, asked, done)
    if isinstance(done, Refusal):
        return render("action_refused.html", refusal=done.value), STATUS[done]
    to = own_path(request.form.get("to", "/"))
    return see(to if to != "/" else url_for("show_action", seq=done))


def marking(console: Console, topic: str, url: str) -> dict[str, Form]:
    """The forms that mark a page of a topic without a confirm page; none where nothing acts."""
    names = ("mark_relevant", "mark_not_relevant", "unmark") if console.actions else ()
    who, place = console.access.name_of(g.session), request.remote_addr or ""
    asked = Asked(target=url, values={"topic": topic}, who=who, place=place)
    return {
        name: console.actions.form(g.session, ACTIONS[name], asked, told({Fact.PAGES: 1}))
        for name in names
        if console.actions
    }


def _values_of_row(console: Console, row: AuditRow) -> dict[str, object]:
    """What the template ``audit_row.html`` shows of a row of the audit."""
    is_at_work = console.actions is not None and console.actions.is_at_work(row.seq)
    facts, notes, text = untold(row.did or "")
    if row.did is None:
        outcome = "at_work" if is_at_work else "unknown"
    elif row.did.startswith(ERROR):
        outcome = "error"
    elif row.did == REFUSED:
        outcome = "refused"
    elif Fact.OPERATION in facts:
        outcome = "given"
    else:
        is_queued = Note.TO_BE_FETCHED in notes or row.action == "try_page"
        outcome = "queued" if is_queued else "done"
    values, expected = read_asked(row.asked)
    expected_facts, expected_notes, _ = untold(expected)
    return {
        "known": ACTIONS,
        "levels": LEVELS,
        "row": row,
        "asked": (
            [
                (name, _asked_value(name, text))
                for name, text in values.items()
                if (name, text) != ("status", "0")
            ],
            expected_facts,
            expected_notes,
        ),
        "facts": facts,
        "notes": notes,
        "outcome": outcome,
        "text": text.removeprefix(ERROR) if outcome in ("error", "done") else "",
    }


def _offered_recleaning(console: Console, operation: Operation | None) -> int:
    """How many records a re-cleaning would look at after a dry run; 0: none, or no dry run."""
    if (
        console.actions is None
        or operation is None
        or (operation.kind, operation.state) != ("try_reclean", OperationState.DONE)
    ):
        return 0
    asked = Asked(target=operation.target)

    def count() -> int:
        plan = ACTIONS["reclean_host"].plan(console.backends, asked)
        return plan.facts.get(Fact.OLDER_RECORDS, 0)

    with suppress(ServiceError):  # away: shown without it
        return console.backends.remembered(("offered", operation.target), OFFERED_S, count)
    return 0


class AskedValue(Struct, frozen=True, kw_only=True):
    """A value that an action was asked for with.

    Attributes:
        text: As it is.
        at: The time that it means; None: none.
        term: The kind of its words: ``reason``; ``""``: it is no value of ours.
    """

    text: str
    at: datetime | None = None
    term: str = ""


TERMS = {"reason": "reason", "word": "url_kind", "which": "which", "kind": "receiver"}


def _asked_value(name: str, text: str) -> AskedValue:
    if name == "since":
        with suppress(ValueError):  # a span, as 2d, or none
            at = datetime.fromisoformat(text)
            return AskedValue(text=text, at=at if at.tzinfo else at.replace(tzinfo=UTC))
    if name == "until" and text.isdecimal() and len(text) < 18:  # microseconds since 1970 UTC
        with suppress(OverflowError, ValueError):
            return AskedValue(text=text, at=from_microseconds(int(text)))
    return AskedValue(text=text, term=TERMS.get(name, ""))


def _screen_of(action: Action, target: str, values: Mapping[str, str]) -> str:
    """The address of the screen about a target; ``""``: there is none."""
    if action.subject is Subject.PROCESS:
        return url_for("show_queues")
    if action.subject is Subject.OPERATION:
        return url_for("show_operation", seq=target) if target.isdecimal() else ""
    if action.subject is Subject.RECEIVER:
        return url_for("show_receivers")
    if group := _group_of(target, values):
        return group
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


# Who did what, and long actions with their progress.

STATES = {"waiting": "", "running": "info", "done": "ok", "stopped": "warn", "failed": "bad"}
READ_ROWS = 200  # rows of one query while a file is written: they are in memory at once


def show_audit(console: Console) -> Page:
    """The actions, newest first."""
    page = audit(console.backends, asked_row(), asked_limit())
    return render(
        "audit.html",
        page=page,
        known=ACTIONS,
        levels=LEVELS,
        rows=[_values_of_row(console, row) for row in page.items],
    )


def export_audit(console: Console) -> Page:
    """Every action as a line of JSON, newest first."""

    def lines() -> Iterator[str]:
        after: Place | None = None
        while True:
            page = audit(console.backends, after, READ_ROWS)
            for row in page.items:
                yield json.dumps(msgspec.to_builtins(row), ensure_ascii=False) + "\n"
            if not page.after:
                return
            after = (int(page.after), "")

    return Response(lines(), 200, content_type="application/x-ndjson; charset=utf-8")


def show_action(console: Console, seq: int) -> Page:
    """One action: what was asked, what happened, what takes it back."""
    return render("audit_row.html", **_action(console, seq))


def live_action(console: Console, seq: int) -> Page:
    """What an action has led to so far."""
    return render("audit_row_live.html", **_action(console, seq))


def _action(console: Console, seq: int) -> dict[str, object]:
    row = find_action(console.backends, seq)
    followed = follow(console.backends, row)
    undo = read_written(row.undo)
    action = ACTIONS.get(row.action)
    return {
        "undo": undo if undo[0] in ACTIONS else None,
        "back": _screen_of(action, row.target, read_asked(row.asked)[0]) if action else "",
        "followed": followed,
        "offer": _offered_recleaning(console, followed.operation),
        "states": STATES,
        **_values_of_row(console, row),
    }


def show_operations(console: Console) -> Page:
    """The long actions, newest first."""
    page = operations(console.backends, asked_row(), asked_limit())
    return render("operations.html", page=page, states=STATES)


def show_operation(console: Console, seq: int) -> Page:
    """One long action."""
    operation = find_operation(console.backends, seq)
    return render("operation.html", **_operation(console, operation))


def live_operation(console: Console, seq: int) -> Page:
    """The part of its page that moves."""
    operation = find_operation(console.backends, seq)
    return render("operation_live.html", **_operation(console, operation))


def _operation(console: Console, operation: Operation) -> dict[str, object]:
    offer = _offered_recleaning(console, operation)
    return {"operation": operation, "states": STATES, "offer": offer}
