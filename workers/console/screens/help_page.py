"""Help: what is wrong and what mends it, which page answers what, keys, what programs may ask."""

from __future__ import annotations

from workers.console.routes import Console, Page, Routes, render

TROUBLES = ("paused", "wall", "changed", "full", "barren", "silent", "poison", "failing", "behind")
"""Troubles that the page explains, each with three words: ``help.see_paused``."""


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/help", show_help)


def show_help(_console: Console) -> Page:
    """The page."""
    return render("help.html", troubles=TROUBLES)
