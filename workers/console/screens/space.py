"""Space: what takes the room, and how much is left."""

from __future__ import annotations

from flask import g

from workers.console.charts import Part
from workers.console.routes import Console, Page, Routes, asked_limit, render
from workers.console.words.words import say
from workers.operations.watching.space import room_of

MIB = 1 << 20


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/space", show_space)


def show_space(console: Console) -> Page:
    """The page."""
    room = room_of(console.backends)
    parts = [
        Part(name=say(g.language, f"space.{part.name}"), value=part.used_bytes / MIB, kind=kind)
        for kind, part in enumerate(room.parts, 1)
    ]
    used = sum(part.used_bytes for part in room.parts)
    return render("space.html", room=room, parts=parts, used=used, most=asked_limit())
