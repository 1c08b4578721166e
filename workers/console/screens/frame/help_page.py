"""Help: what is wrong and what mends it, which page answers what, keys, what programs may ask."""

from __future__ import annotations

from crawlclean.storage.live_state import SILENT_S
from crawlclean.workers.console.routes import Console, Page, Routes, render
from crawlclean.workers.operations.watching.views.space import (
    LOW_LEAST_BYTES,
    LOW_MOST_BYTES,
    LOW_QUOTA_SHARE,
    LOW_SHARE,
)

TERMS = (
    "crawl", "record", "cleaning", "raw", "model", "changed", "url_class", "trap", "poison",
    "spider", "worker", "sweeper", "keeper", "sender", "job", "topic",
)  # fmt: skip
"""Words that the page explains: ``glossary.crawl`` by ``meaning.crawl``."""

TROUBLES = (
    "paused",
    "wall",
    "changed",
    "room",
    "full",
    "barren",
    "silent",
    "poison",
    "failing",
    "behind",
)
"""Troubles that the page explains, each with three words: ``help.see_paused``."""


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/help", show_help)


def show_help(_console: Console) -> Page:
    """The page."""
    figures = {
        "silent_s": round(SILENT_S),
        "low_share": round(100 * LOW_SHARE),
        "low_gib": LOW_MOST_BYTES >> 30,
        "low_mib": LOW_LEAST_BYTES >> 20,
        "quota_share": round(100 * LOW_QUOTA_SHARE),
    }
    return render("help.html", troubles=TROUBLES, terms=TERMS, figures=figures)
