"""Help: what is wrong and what mends it, which page answers what, keys, what programs may ask."""

from __future__ import annotations

from storage.live_state import SILENT_S
from workers.console.routes import Console, Page, Routes, render

TERMS = (
    "crawl", "record", "cleaning", "raw", "model", "changed", "url_class", "trap", "poison",
    "spider", "worker", "sweeper", "keeper", "sender", "job", "topic",
)  # fmt: skip
"""Words that the page explains: ``glossary.crawl`` by ``meaning.crawl``."""

TROUBLES = ("paused", "wall", "changed", "full", "barren", "silent", "poison", "failing", "behind")
"""Troubles that the page explains, each with three words: ``help.see_paused``."""


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/help", show_help)


def show_help(_console: Console) -> Page:
    """The page."""
    figures = {"silent_s": round(SILENT_S)}
    return render("help.html", troubles=TROUBLES, terms=TERMS, figures=figures)
