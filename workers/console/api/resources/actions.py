"""Actions: which there are, what one would do, and doing it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from crawlclean.storage.console_tokens import TokenScope
from crawlclean.workers.console.actions import Refusal
from crawlclean.workers.console.api.problems import AGAIN_S, refuse
from crawlclean.workers.console.api.registry import Api, Call, Name, PageOf
from crawlclean.workers.operations.acting.action import (
    ERROR,
    Action,
    Asked,
    Caller,
    Effect,
    Fact,
    Note,
    Safety,
    Subject,
    chosen_values,
    keep_refusal,
    told,
    untold,
)
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.watching.journal import find_action


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionLine:
    """An action that there is.

    Attributes:
        name: ``pause_host``.
        subject: What its target is.
        safety: How it is confirmed; ``typed``: the token needs the scope ``admin``, and the body
            the target once more.
        values: Names of values that it needs beside the target.
        inputs: Names of values that it may have.
    """

    name: str
    subject: Subject
    safety: Safety
    values: tuple[str, ...]
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRequest:
    """What an action is asked for.

    Attributes:
        target: Its host, crawl, topic, URL, process or operation.
        values: Its other values by name, ``{"why": "too slow"}``.
        confirm: The target once more, for what nothing brings back.
        dry_run: Whether only to count what it would do.
    """

    target: Name
    values: dict[str, str] = field(default_factory=dict)
    confirm: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """What an action did, or would do.

    Attributes:
        action: Its name.
        target: Its target.
        is_dry_run: Whether nothing was done.
        facts: What it is about, in numbers.
        notes: What else there is to know.
        undo: What takes it back: ``resume_host www.example.com``; ``""``: nothing does.
        audit: Number of its row in the audit; null of a dry run.
        operation: Number of the operation that does it in the background (status 202); null when
            it is done.
    """

    action: str
    target: str
    is_dry_run: bool
    facts: dict[Fact, int]
    notes: tuple[Note, ...]
    undo: str
    audit: int | None
    operation: int | None


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/actions", get_actions, page_of=ActionLine)
    api.post("/actions/<name>", post_action, body=ActionRequest, answer=ActionResult)


def get_actions(_call: Call) -> PageOf[ActionLine]:
    """Every action, with what it needs."""
    return PageOf(
        items=[
            ActionLine(
                name=each.name,
                subject=each.subject,
                safety=each.safety,
                values=each.values,
                inputs=tuple(input_.value for input_ in each.inputs),
            )
            for each in ACTIONS.values()
        ]
    )


def post_action(call: Call, body: ActionRequest, name: str) -> ActionResult:
    """Does an action, or counts what it would do.

    The console must run with `--allow-actions`. An action that a worker does in the background is
    answered by 202 and the number of its operation.
    """
    action = ACTIONS.get(name)
    if action is None:
        refuse(404, f"there is no action {name[:40]}; GET /actions lists them")
    who = f"token {call.token.id}"
    asked = Asked(target=body.target, values=_values(action, body.values), who=who)
    caller = Caller(who=who, place=call.place)
    if call.console.actions is None:
        keep_refusal(call.console.settings, name, asked, caller)
        refuse(403, "the console is read-only: it was started without --allow-actions")
    if action.safety is Safety.TYPED and not body.dry_run:
        if not call.token.scope.permits(TokenScope.ADMIN):
            refuse(403, f"the token has scope {call.token.scope}; {name} needs admin")
        if body.confirm != body.target:
            refuse(400, "confirm: must be the target, because nothing brings back what is deleted")
    plan = action.plan(call.console.settings, asked)
    asked = replace(asked, values=chosen_values(asked.values, plan))
    if body.dry_run:
        return _result(action, asked, plan)
    return _done(call, action, asked, plan, caller)


def _values(action: Action, given: Mapping[str, str]) -> dict[str, str]:
    """The values of an action; what is not given is empty, a time is now."""
    known = (*action.values, *(each.value for each in action.inputs))
    for name in given:
        if name not in known:
            refuse(400, f"values: {name[:40]}: unknown; known are {', '.join(known) or 'none'}")
    values = {name: given.get(name, "") for name in known}
    if "until" in values and not values["until"]:
        values["until"] = str(time.time_ns() // 1000)
    return values


def _done(call: Call, action: Action, asked: Asked, plan: Effect, caller: Caller) -> ActionResult:
    actions = call.console.actions
    assert actions is not None  # noqa: S101 - the caller has looked
    form = actions.new_form(asked.who, action, asked, told(plan.facts, plan.notes))
    seq = actions.do(action, form, caller)
    if isinstance(seq, Refusal):
        refuse(503, "another action is at work", {"Retry-After": str(AGAIN_S)})
    row = find_action(call.console.backends, seq)
    facts, notes, text = untold(row.did or "")
    if text.startswith(ERROR):
        refuse(409, text.removeprefix(ERROR))
    return _result(action, asked, Effect(facts=facts, notes=notes), seq, row.undo)


def _result(
    action: Action, asked: Asked, plan: Effect, seq: int | None = None, undo: str = ""
) -> ActionResult:
    return ActionResult(
        action=action.name,
        target=asked.target,
        is_dry_run=seq is None,
        facts=dict(plan.facts),
        notes=tuple(plan.notes),
        undo=undo,
        audit=seq,
        operation=plan.facts.get(Fact.OPERATION) if seq is not None else None,
    )
