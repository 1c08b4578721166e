"""Now: whether it crawls, and what holds it back."""

from __future__ import annotations

from workers.console.routes import Console, Page, Routes, render


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/", show_now)


def show_now(_console: Console) -> Page:
    """The page."""
    return render("now.html")
