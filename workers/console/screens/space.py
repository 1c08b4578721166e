"""Space: what takes the room, and how much is left."""

from __future__ import annotations

from flask import g

from crawlclean.cleaning.errors import ServiceError
from crawlclean.workers.console.routes import Console, Page, asked_limit, asked_place, render
from crawlclean.workers.console.words import say
from crawlclean.workers.operations import parts
from crawlclean.workers.operations.watching.space import HostSpace, Room, hosts_room, room_of
from crawlclean.workers.output.charts import Part

MIB = 1 << 20  # unit of the chart


def show_space(console: Console) -> Page:
    """The page."""
    room = room_of(console.backends)
    folders = [
        Part(name=say(g.language, f"space.{part.name}"), value=part.used_bytes / MIB, kind=kind)
        for kind, part in enumerate(room.parts, 1)
    ]
    used = room.used_bytes
    hosts = _hosts(console, asked_place())
    return render(
        "space.html", room=room, parts=folders, used=used, most=asked_limit(), hosts=hosts,
        disk=_disk(room, used),
    )  # fmt: skip


def _disk(room: Room, used: int) -> list[Part]:
    """What takes the disk: the data folder, others, nothing."""
    sizes = {"used": used, "others": room.others_bytes, "free": room.free_bytes or 0}
    return [
        Part(name=say(g.language, f"space.{name}"), value=size / MIB, kind=kind)
        for (name, size), kind in zip(sizes.items(), (1, 5, 3), strict=True)
    ]


def _hosts(console: Console, after: tuple[int, str] | None) -> parts.Part[HostSpace] | None:
    """A part of the hosts; None where the store cannot be read, which the page says of crawls."""
    try:
        return hosts_room(console.backends, after)
    except ServiceError:
        return None
