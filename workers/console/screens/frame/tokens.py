"""Tokens of the API: who may use it, since when, until when. They are made by a command."""

from __future__ import annotations

from crawlclean import __dist__
from crawlclean.workers.console.routes import Console, Page, Routes, render
from crawlclean.workers.operations.api_tokens import list_tokens


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/tokens", show_tokens)


def show_tokens(console: Console) -> Page:
    """Every token without its secret, newest first."""
    found = list_tokens(console.settings.storage.data)
    return render("tokens.html", tokens=found, command=f"{__dist__} tokens --new NAME")
