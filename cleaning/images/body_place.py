"""Where in a page the pictures of its body stand.

They stand in the part that holds all its lines, from two lines before the first to one behind the
last (larger ones anywhere in that part), in no part of sharing, players or comments, behind no line
that asks to scan a code. Behind the text they are no small squares, as portraits and codes are.
Beside the body's own lines they lead to no other page.
"""

from __future__ import annotations

import re

from cleaning.body.page_body import Body
from cleaning.document.tree import Picture, Tree
from cleaning.features.parts import PartKind, kind_of_part
from cleaning.images.picture_names import is_about_code, is_player
from cleaning.links.evidence import is_home
from cleaning.records import Link, LinkKind, LinkReason

Size = tuple[int | None, int | None]

_LEAD_LINES = 2  # between a body's first picture and its text: a caption, a time
_TAIL_LINES = 1
_PICTURE_FILE = re.compile(r"\.(?:jpe?g|png|webp|gif|avif|bmp)(?:$|\?)", re.I)
_MASTHEAD = re.compile(r"(?:^|[\s_-])(?:header|masthead|topbar|logo)(?:$|[\s_-])|Header\b", re.I)
_HIDING = re.compile(r"display\s*+:\s*+none", re.I)
_LARGE_PX = 300  # narrowest picture of a gallery without text
_CODE_PX = 430  # widest code to scan and portrait behind a text; 430 is what WeChat makes
_LINES = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "pre"))
LISTED = frozenset((LinkKind.RELATED, LinkKind.HOT))
_OF_LIST = frozenset((LinkReason.MARKER, LinkReason.SAME_ADDRESS))


class BodyPlace:
    """Where in a page the pictures of its body can stand."""

    def __init__(self, tree: Tree, body: Body) -> None:
        self.tree = tree
        self._noise: dict[int, bool] = {}
        is_kept = body.is_kept
        self.first, self.last = -1, -1
        self.part = 0
        if True in is_kept:
            self.first = tree.line_of[is_kept.index(True)]
            self.last = tree.line_of[len(is_kept) - 1 - is_kept[::-1].index(True)]
            self.part = tree.line_blocks[self.first]
        while self.part > 0 and (
            tree.line_end(self.part) <= self.last or tree.block_tags[self.part] in _LINES
        ):
            self.part = tree.block_parents[self.part]

    def holds(self, picture: Picture, size: Size, around: Link | None) -> bool:
        """Whether a picture, perhaps in a link to another page, belongs to the body."""
        if self.first < 0:
            return False
        tree = self.tree
        if around is not None and _is_teaser(around):
            return False
        if picture.anchor >= 0 and tree.anchors[picture.anchor].href.startswith("#", 0, -1):
            return False  # a button to a place on the page; # alone enlarges
        lines = tree.line_of
        line = lines[picture.run] if picture.run < len(lines) else len(tree.line_starts)
        part = self.part
        if not self.first <= line <= self.last + 1:
            is_near = self.first - _LEAD_LINES <= line <= self.last + 1 + _TAIL_LINES
            if around is not None or not (is_near or _is_large(size)):
                return False
            if is_near:
                part = max(tree.block_parents[part], 0)
            if _is_masthead(tree.block_names[picture.block]):
                return False
        if line > self.last and _is_code(size):
            return False
        if not part <= picture.block < tree.block_ends[part]:
            return False
        # What leads to its own larger form is a picture, whatever the box is called.
        to_larger = picture.anchor >= 0 and around is None and self._is_enlarged(picture)
        return not (
            (self._is_noise(picture.block) and not to_larger)
            or self._follows_call(picture.run)
            or _HIDING.search(picture.attributes.get("style", ""))
        )

    def _is_enlarged(self, picture: Picture) -> bool:
        return _PICTURE_FILE.search(self.tree.anchors[picture.anchor].href) is not None

    def _follows_call(self, run: int) -> bool:
        """Whether the line before a picture, or beside it, asks to scan a code."""
        tree = self.tree
        if not 0 < run <= len(tree.texts):
            return False
        return is_about_code(tree.texts[run - 1].strip())

    def _is_noise(self, block: int) -> bool:
        """Whether a part is noise by its names, or one around it that does not hold the body."""
        tree, known = self.tree, self._noise
        path = []
        is_noise = False
        while not block <= self.part < tree.block_ends[block]:
            path.append(block)
            if block in known:
                is_noise = known[block]
                break
            names = tree.block_names[block]
            if kind_of_part(tree.block_tags[block], names) > PartKind.PLAIN or is_player(names):
                is_noise = True
                break
            block = tree.block_parents[block]
        known.update(dict.fromkeys(path, is_noise))
        return is_noise


def _is_large(size: Size) -> bool:
    """Whether a picture is declared as large as those of a gallery."""
    return (size[0] or 0) >= _LARGE_PX and (size[1] or _LARGE_PX) >= _LARGE_PX / 2


def _is_masthead(names: str) -> bool:
    return bool(names) and _MASTHEAD.search(names) is not None


def _is_code(size: Size) -> bool:
    """Whether a picture has the shape of a portrait or of a code to scan."""
    width, height = size
    return width is not None and width == height and width <= _CODE_PX


def _is_teaser(around: Link) -> bool:
    """Whether a link among a text stands for its page, and not for a picture of the text."""
    return (
        around.kind is LinkKind.AD
        or (around.kind in LISTED and around.reason in _OF_LIST)
        or is_home(around.url)
    )
