"""The drawing of the rooms from their imports: boxes, each above all rooms that it imports.

A room is a folder of a package, or the package's top-level files together. The height of a box
grows with its lines. An arrow leads to an imported room, imports inside functions included; an
implied arrow is left out (``page -> body -> features`` implies ``page -> features``). Between two
packages there is one arrow, because an import contract fixes its direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise

from benchmarks.structure.imports import ImportGraph
from benchmarks.structure.sizes import PACKAGES

ROOM_WIDTH = 112
GAP = 14
FLOOR_GAP = 34
COLUMN_GAP = 56
HEAD = 64
LEAST_HEIGHT = 40
LINES_PER_PIXEL = 40
LONG_ARROW = 120.0
BULGE = 34
COLOURS = {
    "cleaning": "#dbe9f6",
    "storage": "#e3f1dc",
    "crawler": "#fbe9d0",
    "workers": "#f3dfe7",
    "crawlclean": "#eeeeee",
}


@dataclass
class Room:
    """A box: name in its package, files, lines, and position in the drawing."""

    package: str
    name: str
    files: int = 0
    lines: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def height(self) -> float:
        """Height of the box, pixels."""
        return LEAST_HEIGHT + self.lines / LINES_PER_PIXEL


def draw_house(graph: ImportGraph) -> str:
    """Returns the drawing as SVG text."""
    rooms, arrows = _rooms_of(graph)
    columns = []
    left = float(GAP)
    for package in PACKAGES:
        own = [key for key in rooms if key[0] == package]
        floors = _floors(own, arrows)
        width = max(map(len, floors)) * (ROOM_WIDTH + GAP) - GAP
        columns.append((package, left, width, floors))
        left += width + COLUMN_GAP
    total_width = left - COLUMN_GAP + GAP
    total_height = max(_height(floors, rooms) for _, _, _, floors in columns) + HEAD + GAP
    shapes: list[str] = []
    for package, x, width, floors in columns:
        _place(floors, rooms, x, width, total_height)
        lines = sum(rooms[key].lines for floor in floors for key in floor)
        shapes.append(
            f'<text x="{x + width / 2:.0f}" y="26" class="package">{package}/</text>'
            f'<text x="{x + width / 2:.0f}" y="44" class="note">{lines:,} lines</text>'
        )
    shapes += [_arrow(rooms[a], rooms[b]) for a, b in _reduced(arrows) if a[0] == b[0]]
    shapes += [_box(room) for room in rooms.values()]
    for (_, x, width, _), (_, right, _, _) in pairwise(columns):
        shapes.append(
            f'<line x1="{right - 6:.0f}" y1="22" x2="{x + width + 8:.0f}" y2="22" class="between"/>'
        )
    return _page(total_width, total_height, shapes)


Key = tuple[str, str]


def _rooms_of(graph: ImportGraph) -> tuple[dict[Key, Room], set[tuple[Key, Key]]]:
    key_of: dict[str, Key] = {}
    rooms: dict[Key, Room] = {}
    for module, path in graph.files.items():
        if path.name == "__init__.py":
            continue
        package, *inner = module.split(".")
        key = (package, inner[0] if len(inner) > 1 else "")
        room = rooms.setdefault(key, Room(*key))
        room.files += 1
        room.lines += path.read_text("utf-8").count("\n")
        key_of[module] = key
    arrows = {
        (key_of[importer], key_of[target])
        for importer, targets in graph.imports.items()
        for target in targets | graph.deferred[importer]
        if importer in key_of and target in key_of and key_of[importer] != key_of[target]
    }
    return rooms, arrows


def _floors(keys: list[Key], arrows: set[tuple[Key, Key]]) -> list[list[Key]]:
    """Returns the rooms of a package by floor, from the ground; each above all that it imports.

    The package's top-level files import folders and are imported by them: they are the top floor.
    """
    inner = {(a, b) for a, b in arrows if a in keys and b in keys and a[1] and b[1]}
    level: dict[Key, int] = {}

    def level_of(key: Key, above: frozenset[Key]) -> int:
        if key not in level:
            below = [b for a, b in inner if a == key and b not in above]
            level[key] = 1 + max((level_of(b, above | {key}) for b in below), default=-1)
        return level[key]

    for key in sorted(keys):
        if key[1]:
            level_of(key, frozenset())
    floors: list[list[Key]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for key in sorted(level):
        floors[level[key]].append(key)
    return [*floors, [key for key in keys if not key[1]]]


def _reduced(arrows: set[tuple[Key, Key]]) -> list[tuple[Key, Key]]:
    """Returns the arrows between folders of a package that no chain of other arrows implies."""
    inner = {(a, b) for a, b in arrows if a[0] == b[0] and a[1] and b[1]}
    targets: dict[Key, set[Key]] = {}
    for a, b in inner:
        targets.setdefault(a, set()).add(b)

    def reaches(start: Key, goal: Key) -> bool:
        seen, waiting = {start}, [x for x in targets.get(start, ()) if x != goal]
        while waiting:
            key = waiting.pop()
            if key == goal:
                return True
            if key not in seen:
                seen.add(key)
                waiting += targets.get(key, ())
        return False

    return sorted((a, b) for a, b in inner if not reaches(a, b))


def _height(floors: list[list[Key]], rooms: dict[Key, Room]) -> float:
    return sum(max(rooms[key].height for key in floor) + FLOOR_GAP for floor in floors)


def _place(
    floors: list[list[Key]], rooms: dict[Key, Room], x: float, width: float, bottom: float
) -> None:
    base = bottom - GAP
    for floor in floors:
        tallest = max(rooms[key].height for key in floor)
        start = x + (width - (len(floor) * (ROOM_WIDTH + GAP) - GAP)) / 2
        for number, key in enumerate(floor):
            rooms[key].x = start + number * (ROOM_WIDTH + GAP)
            rooms[key].y = base - rooms[key].height
        base -= tallest + FLOOR_GAP


def _arrow(upper: Room, lower: Room) -> str:
    x1, y1 = upper.x + ROOM_WIDTH / 2, upper.y + upper.height
    x2, y2 = lower.x + ROOM_WIDTH / 2, lower.y - 3
    if y2 - y1 > LONG_ARROW:  # beside the rooms between
        x1, y1 = upper.x + ROOM_WIDTH, upper.y + upper.height / 2
        x2, y2 = lower.x + ROOM_WIDTH + 3, lower.y + lower.height / 2
        side = max(x1, x2) + BULGE
        return (
            f'<path d="M{x1:.0f} {y1:.0f} C{side:.0f} {y1:.0f} {side:.0f} {y2:.0f} '
            f'{x2:.0f} {y2:.0f}" class="arrow"/>'
        )
    middle = (y1 + y2) / 2
    return (
        f'<path d="M{x1:.0f} {y1:.0f} C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} '
        f'{x2:.0f} {y2:.0f}" class="arrow"/>'
    )


def _box(room: Room) -> str:
    name = room.name + "/" if room.name else "own files"
    x, y = room.x + ROOM_WIDTH / 2, room.y + room.height / 2
    return (
        f'<rect x="{room.x:.0f}" y="{room.y:.0f}" width="{ROOM_WIDTH}" '
        f'height="{room.height:.0f}" rx="4" fill="{COLOURS[room.package]}"/>'
        f'<text x="{x:.0f}" y="{y - 2:.0f}" class="room">{escape(name)}</text>'
        f'<text x="{x:.0f}" y="{y + 13:.0f}" class="note">'
        f"{room.files} files, {room.lines:,}</text>"
    )


def _page(width: float, height: float, shapes: list[str]) -> str:
    body = "\n".join(shapes)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"
 viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" text-anchor="middle">
<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" markerHeight="6"
 orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#777"/></marker></defs>
<style>
.package {{ font-size: 17px; font-weight: bold }}
.room {{ font-size: 13px }}
.note {{ font-size: 11px; fill: #555 }}
rect {{ stroke: #888 }}
.arrow {{ fill: none; stroke: #999; marker-end: url(#head) }}
.between {{ stroke: #555; stroke-width: 2; marker-end: url(#head) }}
</style>
<rect width="100%" height="100%" fill="white" style="stroke: none"/>
{body}
</svg>
"""
