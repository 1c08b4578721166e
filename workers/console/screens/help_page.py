"""Help: which page answers which question, the keys, what programs may ask."""

from __future__ import annotations

from workers.console.routes import Console, Page, Routes, render


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/help", show_help)


def show_help(_console: Console) -> Page:
    """The page."""
    return render("help.html")
