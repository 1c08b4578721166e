"""What was done by whom; long actions with their progress."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec
from flask import Response

from crawlclean.storage.store.journal import Operation
from crawlclean.workers.console.routes import (
    Console,
    Page,
    Routes,
    asked_limit,
    asked_number,
    render,
)
from crawlclean.workers.console.screens.acting.actions import (
    LEVELS,
    offered_recleaning,
    screen_of,
    undo_of,
    values_of_row,
)
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.watching.journal import (
    find_action,
    find_operation,
    list_actions,
    list_operations,
)
from crawlclean.workers.operations.watching.signs.following import follow

STATES = {"waiting": "", "running": "info", "done": "ok", "stopped": "warn", "failed": "bad"}
READ_ROWS = 200


def register(routes: Routes) -> None:
    """Adds the pages."""
    routes.page("/audit", show_audit)
    routes.page("/audit.jsonl", export_audit)
    routes.page("/audit/<int:seq>", show_action)
    routes.live("/audit/<int:seq>/live", live_action)
    routes.page("/operations", show_operations)
    routes.page("/operations/<int:seq>", show_operation)
    routes.live("/operations/<int:seq>/live", live_operation)


def show_audit(console: Console) -> Page:
    """The actions, newest first."""
    page = list_actions(console.backends, asked_number(), asked_limit())
    return render(
        "audit.html",
        page=page,
        known=ACTIONS,
        levels=LEVELS,
        rows=[values_of_row(console, row) for row in page.rows],
    )


def export_audit(console: Console) -> Page:
    """Every action as a line of JSON, newest first."""

    def lines() -> Iterator[str]:
        before: int | None = None
        while True:
            page = list_actions(console.backends, before, READ_ROWS)
            for row in page.rows:
                yield json.dumps(msgspec.to_builtins(row), ensure_ascii=False) + "\n"
            if not page.after:
                return
            before = page.after

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
    return {
        "undo": undo_of(row.undo),
        "back": screen_of(row.action, row.target, row.asked),
        "followed": followed,
        "offer": offered_recleaning(console, followed.operation),
        "states": STATES,
        **values_of_row(console, row),
    }


def show_operations(console: Console) -> Page:
    """The long actions, newest first."""
    page = list_operations(console.backends, asked_number(), asked_limit())
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
    offer = offered_recleaning(console, operation)
    return {"operation": operation, "states": STATES, "offer": offer}
