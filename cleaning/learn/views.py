"""What learning sees of one page: its lines with their places, its body as the page alone gives it.

Places are numbers of paths in a table that all pages of a sample share.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from cleaning.body.page_body import Body, extract_body, weigh
from cleaning.document.document import Document, read_document
from cleaning.document.raw_page import RawPage
from cleaning.document.tree import Tree
from cleaning.model.paths import line_key, open_step, step_of
from cleaning.model.rules import PageSet


@dataclass(slots=True, kw_only=True)
class View:
    """One page of a sample; the lists of lines run in parallel.

    Attributes:
        document: The page parsed.
        body: What is found on the page alone.
        units: Own and linked units of each line (``features.lines``).
        texts: Key of each line's text (``model.paths.line_key``).
        own: Characters outside links of each line.
        linked: Characters inside links of each line.
        anchors: Links with text of each line.
        inner: Those of them that lead to a place of the page.
        kept: Whether each line is of the body.
        paths: For each block the number of its path.
    """

    document: Document
    body: Body
    units: tuple[list[float], list[float]]
    texts: list[str]
    own: list[int]
    linked: list[int]
    anchors: list[int]
    inner: list[int]
    kept: list[bool]
    paths: list[int] = field(default_factory=list)

    @property
    def page(self) -> RawPage:
        """The page as fetched."""
        return self.document.page

    @property
    def tree(self) -> Tree:
        """The tree of the page."""
        return self.document.tree


class PathTable:
    """Numbers of paths, which grow from the root; 0 is the root."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self.steps: list[str] = ["html"]
        self.parents: list[int] = [-1]

    def number(self, parent: int, step: str) -> int:
        """The number of a path that continues another by a step."""
        key = (parent, step)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.steps)
            self.steps.append(step)
            self.parents.append(parent)
        return number

    def path(self, number: int) -> str:
        """The steps of a path from the root, with ``/`` between."""
        steps = []
        while number >= 0:
            steps.append(self.steps[number])
            number = self.parents[number]
        return "/".join(reversed(steps))

    def holds(self, outer: int, path: int) -> bool:
        """Whether a path is another or leads through it."""
        while path > outer:
            path = self.parents[path]
        return path == outer


def view(page: RawPage) -> View:
    """One page as learning sees it; its paths are still to be numbered."""
    document = read_document(page)
    tree = document.tree
    weighed = weigh(tree)
    body = extract_body(tree, page.url, weighed=weighed)
    count = len(tree.line_starts)
    own, linked, anchors, inner = ([0] * count for _ in range(4))
    kept = [False] * count
    last_anchor = -1
    for text, anchor, line, is_kept in zip(
        tree.texts, tree.anchor_of, tree.line_of, body.is_kept, strict=True
    ):
        chars = count_chars(text)
        if anchor >= 0:
            linked[line] += chars
            if anchor != last_anchor:
                anchors[line] += 1
                inner[line] += tree.anchors[anchor].href.startswith("#")
                last_anchor = anchor
        else:
            own[line] += chars
        if is_kept:
            kept[line] = True
    return View(
        document=document,
        body=body,
        units=(weighed[0].own, weighed[0].linked),
        texts=[line_key(tree.line_text(i)) for i in range(count)],
        own=own,
        linked=linked,
        anchors=anchors,
        inner=inner,
        kept=kept,
    )


def count_chars(text: str) -> int:
    """Characters of a run without the indentation of its source."""
    return len(text) if "  " not in text and "\n" not in text else len("".join(text.split()))


def number_paths(views: list[View]) -> PathTable:
    """The table of all paths; of steps that a single page has, names of its own are left open.

    The paths of each view are filled in.
    """
    counts: Counter[str] = Counter()
    named: Counter[tuple[str, str]] = Counter()
    steps_of: list[list[str]] = []
    for one in views:
        steps = list(map(step_of, one.tree.block_tags, one.tree.block_names))
        steps_of.append(steps)
        counts.update(set(steps))
    for step in counts:
        tag, *names = step.split(".")
        named.update({(tag, name): counts[step] for name in names})
    least = min(2, len(views))
    table = PathTable()
    for one, steps in zip(views, steps_of, strict=True):
        paths, parents = [0] * len(steps), one.tree.block_parents
        for block in range(1, len(steps)):
            step = steps[block]
            if counts[step] < least:
                tag, *names = step.split(".")
                step = open_step(tag, [name for name in names if named[tag, name] >= least])
            paths[block] = table.number(paths[parents[block]], step)
        one.paths = paths
    return table


def on_pages(pages: set[int] | list[int]) -> PageSet:
    """The given pages as one value."""
    number = 0
    for page in pages:
        number |= 1 << page
    return PageSet(number)
