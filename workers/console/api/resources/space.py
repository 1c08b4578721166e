"""What takes the room."""

from __future__ import annotations

from crawlclean.workers.console.api.registry import Api, Call, PageOf, Part, following, place
from crawlclean.workers.operations.watching.views.space import HostSpace, Room, hosts_room, room_of

LIST = "space hosts"


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/space", get_space, answer=Room)
    api.get("/space/hosts", get_host_space, query=Part, page_of=HostSpace)


def get_space(call: Call) -> Room:
    """Parts of the data folder, and what each crawl takes; at most a minute old."""
    return room_of(call.console.backends)


def get_host_space(call: Call, query: Part) -> PageOf[HostSpace]:
    """What hosts take over all crawls, the most fetched first, at most 20 in a part."""
    found = hosts_room(call.console.backends, place(query.after, LIST), query.limit)
    return PageOf(items=found.hosts, next=following(LIST, found.after), as_of=found.as_of)
