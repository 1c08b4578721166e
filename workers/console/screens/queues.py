"""Queues: what waits for workers, who works, who is silent, how far long actions are."""

from __future__ import annotations

from crawlclean.workers.console.routes import Console, Page, render
from crawlclean.workers.operations.watching.queues import LONG_CLAIM_S, queues_now


def show_queues(console: Console) -> Page:
    """The page."""
    return render("queues.html", **_live(console))


def live_queues(console: Console) -> Page:
    """The part that is asked for again and again."""
    return render("queues_live.html", **_live(console))


def _live(console: Console) -> dict[str, object]:
    return {"moment": queues_now(console.backends), "long_claim_s": LONG_CLAIM_S}
