"""Actions: which there are, what one would do, and doing it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from crawlclean.storage.console_tokens import TokenScope
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.console.actions import Refusal
from crawlclean.workers.console.api.problems import AGAIN_S, refuse
from crawlclean.workers.console.api.registry import Call, Name
from crawlclean.workers.operations.acting.action import (
    ERROR,
    Action,
    Asked,
    Effect,
    Fact,
    Note,
    Safety,
    Subject,
    keep_refusal,
    untold,
)
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.watching.journal import find_action


class ActionLine(Struct, frozen=True, kw_only=True):
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


class ActionRequest(Struct, frozen=True, kw_only=True):
    """What an action is asked for.

    Attributes:
        target: Its host, crawl, topic, URL, process or operation.
        values: Its other values by name, ``{"why": "too slow"}``.
        confirm: The target once more, for what nothing brings back.
        dry_run: Whether only to count what it would do.
    """

    target: Name
    values: dict[str, str] = {}
    confirm: str = ""
    dry_run: bool = False


class ActionResult(Struct, frozen=True, kw_only=True):
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


def list_actions(_backends: Backends) -> Part[ActionLine]:
    """Every action, with what it needs."""
    return Part(items=[answer_of(ActionLine, each) for each in ACTIONS.values()])


def post_action(call: Call, body: ActionRequest, name: str) -> ActionResult:
    """Does an action, or counts what it would do.

    The console must run with `--allow-actions`. An action that a worker does in the background is
    answered by 202 and the number of its operation.
    """
    action = ACTIONS.get(name)
    if action is None:
        refuse(404, f"there is no action {name[:40]}; GET /actions lists them")
    who = f"token {call.token.id}"
    values = _values(action, body.values)
    asked = Asked(target=body.target, values=values, who=who, place=call.place)
    actions = call.console.actions
    if actions is None:
        keep_refusal(call.console.backends, name, asked)
        refuse(403, "the console is read-only: it was started without --allow-actions")
    if action.safety is Safety.TYPED and not body.dry_run:
        if not call.token.scope.permits(TokenScope.ADMIN):
            refuse(403, f"the token has scope {call.token.scope}; {name} needs admin")
        if body.confirm != body.target:
            refuse(400, "confirm: must be the target, because nothing brings back what is deleted")
    plan, form = actions.plan(who, action, asked)
    if plan.wrong:
        refuse(400, f"values: {plan.wrong}")
    if body.dry_run:
        return _result(action, body.target, plan)
    seq = actions.do(action, form)
    if isinstance(seq, Refusal):
        refuse(503, "another action is at work", {"Retry-After": str(AGAIN_S)})
    row = find_action(call.console.backends, seq)
    facts, notes, text = untold(row.did or "")
    if text.startswith(ERROR):
        refuse(409, text.removeprefix(ERROR))
    return _result(action, body.target, Effect(facts, notes, row.undo), seq)


def _values(action: Action, given: Mapping[str, str]) -> dict[str, str]:
    """The values of an action; what is not given is empty."""
    known = (*action.values, *(each.value for each in action.inputs))
    for name in given:
        if name not in known:
            refuse(400, f"values: {name[:40]}: unknown; known are {', '.join(known) or 'none'}")
    return {name: given.get(name, "") for name in known}


def _result(action: Action, target: str, effect: Effect, seq: int | None = None) -> ActionResult:
    return ActionResult(
        action=action.name,
        target=target,
        is_dry_run=seq is None,
        facts=dict(effect.facts),
        notes=tuple(effect.notes),
        undo=effect.undo,
        audit=seq,
        operation=effect.facts.get(Fact.OPERATION) if seq is not None else None,
    )
