"""The sample of a host as learning reads it: pages with numbered paths, and the lines that repeat.

A path is a number in a table that all pages of the sample share. A line repeats by its share of the
pages that have text at its path. Two pages are copies if nearly all of one's body is in the
other's, line by line. Cost: linear in the lines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import repeat

from crawlclean.cleaning.body.page_body import Body, extract_body
from crawlclean.cleaning.document.document import Document, RawPage
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.model.paths import line_key, numbered_names, open_step, step_of
from crawlclean.cleaning.model.site_model import CLASS_PAGES, CLASS_SHARE
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.cleaning.urls.normal_form import normalize, page_id

# The choice of the pages a host is learned from: at most 100, of every URL class.
#
# A class gets places by the square root of its size, so that ten thousand pages of one class do not
# push the others out; within a class the hash of the URL decides. The choice depends on the set of
# URLs alone, not on their order. Pages that exceed the limit of characters together are left out.

MAX_SAMPLE = 100  # reading a page costs the time; a mask of pages has a bit for each
MAX_SAMPLE_CHARS = 16 * 2**20  # of HTML; pure text of this length takes 5 s and 350 MB


def choose_sample(urls: Iterable[str], most: int = MAX_SAMPLE) -> list[str]:
    """Returns the URLs to learn from, in normal form, sorted by the hash of each.

    Args:
        urls: Absolute URLs of one host.
        most: Greatest number of URLs to choose.

    Raises:
        InvalidUrl: One of them is no absolute http(s) URL.
    """
    classes: dict[str, list[tuple[str, str]]] = {}
    for url in {normalize(url) for url in urls}:
        classes.setdefault(class_of(url), []).append((page_id(url), url))
    ranked = []
    for members in classes.values():
        root = math.sqrt(len(members))
        for rank, (key, url) in enumerate(sorted(members)):
            ranked.append(((rank + 0.5) / root, key, url))
    chosen = sorted(ranked)[:most]
    return [url for _, _, url in sorted(chosen, key=lambda row: row[1])]


def limit_sample(pages: Iterable[RawPage], most_chars: int = MAX_SAMPLE_CHARS) -> list[RawPage]:
    """Returns the pages that fit into 16 MB of HTML, large ones last; at least one page."""
    chosen: list[RawPage] = []
    chars = 0
    for page in sorted(pages, key=lambda page: len(page.html) > most_chars / 8):
        if not chosen or chars + len(page.html) <= most_chars:
            chosen.append(page)
            chars += len(page.html)
    return chosen


COPY_SHARE = 0.8  # share of a body's text in another page's body, from which it is a copy
MANY_COPIES = 3  # copies of a body ...
ANSWER_CHARS = 300  # ... of at most this length that make it an answer without a page
MAX_HOLDERS = 20  # pages with a line that are compared; a line on more is of the template
STEADY_SHARE = 0.2  # share of the pages that have a name with a number that tells parts apart ...
MOST_NAMES = 0.5  # ... and of the names of a page, without their numbers alike, that are such
LINE_SHARE = 0.5  # share of the pages that have its path, from which a line repeats there


@dataclass(slots=True, kw_only=True)
class View:
    """One page of a sample; the lists from ``texts`` to ``kept`` have one entry a line.

    Attributes:
        document: The parsed page.
        body: The body found on the page alone.
        texts: Key of the line's text (``model.paths.line_key``): ``共有#条评论``.
        own: Characters outside links.
        linked: Characters inside links.
        anchors: Number of links with text.
        inner: Number of links to a place of the page itself.
        kept: Whether the line belongs to the body.
        paths: For each block the number of its path.
    """

    document: Document
    body: Body
    texts: list[str]
    own: list[int]
    linked: list[int]
    anchors: list[int]
    inner: list[int]
    kept: list[bool]
    paths: list[int] = field(default_factory=list)

    @property
    def page(self) -> RawPage:
        """The page before parsing."""
        return self.document.page

    @property
    def tree(self) -> Tree:
        """The tree of the page."""
        return self.document.tree


class PathTable:
    """The paths of a sample by number; 0 is the root, and a path is greater than its parent.

    Attributes:
        steps: The last step of each path: ``div.article``.
        parents: The number of the path around each path, -1 for the root.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self.steps: list[str] = ["html"]
        self.parents: list[int] = [-1]

    def number(self, parent: int, step: str) -> int:
        """Returns the number of the path that continues ``parent`` by a step."""
        key = (parent, step)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.steps)
            self.steps.append(step)
            self.parents.append(parent)
        return number

    def path(self, number: int) -> str:
        """Returns a path as text: ``html/body/div.article``."""
        steps = []
        while number >= 0:
            steps.append(self.steps[number])
            number = self.parents[number]
        return "/".join(reversed(steps))

    def holds(self, outer: int, path: int) -> bool:
        """Whether a path equals ``outer`` or is below it."""
        while path > outer:
            path = self.parents[path]
        return path == outer


def view(document: Document) -> View:
    """Finds the body of a page; the paths are numbered later, for all pages together."""
    tree = document.tree
    body = extract_body(tree, document.page.url)
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
        texts=[line_key(tree.line_text(i)) for i in range(count)],
        own=own,
        linked=linked,
        anchors=anchors,
        inner=inner,
        kept=kept,
    )


def count_chars(text: str) -> int:
    """Returns the characters of a run without the indentation of its source."""
    return len(text) if "  " not in text and "\n" not in text else len("".join(text.split()))


def number_paths(views: list[View]) -> PathTable:
    """Numbers the paths of all views and returns their table.

    A step that a single page has is opened: names that no other page has become ``*``, so that
    ``div.article.id-7`` is ``div.article.*``.
    """
    steady = steady_names(views)
    counts: Counter[str] = Counter()
    named: Counter[tuple[str, str]] = Counter()
    steps_of: list[list[str]] = []
    for one in views:
        steps = list(map(step_of, one.tree.block_tags, one.tree.block_names, repeat(steady)))
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


def steady_names(views: list[View]) -> frozenset[str]:
    """Returns the names whose numbers tell the parts of a page apart: ``W1`` and ``W2``.

    Of names that differ by their numbers alone, a part of a page holds several, and most of them
    are on many pages; the numbers of posts are on one page each.
    """
    pages: dict[str, dict[str, int]] = {}  # plain name -> name -> number of pages
    several: set[str] = set()  # plain names of which a part holds several
    for one in views:
        of_page: set[tuple[str, str]] = set()
        inside: dict[tuple[int, str], str] = {}
        for parent, names in zip(one.tree.block_parents, one.tree.block_names, strict=True):
            for pair in numbered_names(names) if names else ():
                of_page.add(pair)
                if inside.setdefault((parent, pair[1]), pair[0]) != pair[0]:
                    several.add(pair[1])
        for name, plain in of_page:
            held = pages.setdefault(plain, {})
            held[name] = held.get(name, 0) + 1
    least = max(2, STEADY_SHARE * len(views))
    found: set[str] = set()
    for plain, held in pages.items():
        often = {name: count for name, count in held.items() if count >= least}
        if plain in several and sum(often.values()) >= MOST_NAMES * sum(held.values()):
            found.update(often)
    return frozenset(found)


def find_copies(views: list[View]) -> list[bool]:
    """Returns for each page whether an earlier page has nearly all lines of its body.

    The first page of a short body that many have is none to learn from, either: it is the host's
    answer for pages that it does not have.
    """
    holders: dict[str, list[int]] = {}
    found: list[bool] = []
    copies_of: Counter[int] = Counter()
    for number, one in enumerate(views):
        lines = {
            text: own + linked
            for text, own, linked, is_kept in zip(
                one.texts, one.own, one.linked, one.kept, strict=True
            )
            if is_kept
        }
        common: Counter[int] = Counter()
        for text, size in lines.items():
            for page in holders.get(text, ()):
                common[page] += size
        most = max(common.values(), default=0)
        is_copy = most > 0 and most >= COPY_SHARE * sum(lines.values())
        found.append(is_copy)
        if is_copy:
            copies_of[max(common, key=lambda page: (common[page], -page))] += 1
            continue
        for text in lines:
            pages = holders.setdefault(text, [])
            if len(pages) < MAX_HOLDERS:
                pages.append(number)
    for number, count in copies_of.items():
        if count >= MANY_COPIES and len(views[number].body.text) <= ANSWER_CHARS:
            found[number] = True
    return found


_Line = tuple[int, str]  # the path of a line, and its key


class Repeats:
    """The lines that repeat at each path of a sample.

    Pages with the body of another page (session ids in URLs, interstitials, error pages) have one
    text at many URLs and no template: they do not count.

    Attributes:
        copies: For each page whether an earlier one has its body.
    """

    def __init__(self, views: list[View]) -> None:
        self.copies = find_copies(views)
        taught = [one for one, is_copy in zip(views, self.copies, strict=True) if not is_copy]
        self._counts, self._often = _count_lines(taught, 2, LINE_SHARE)
        classes: dict[str, list[View]] = {}
        for one in taught:
            classes.setdefault(class_of(one.page.url), []).append(one)
        for members in classes.values():
            if CLASS_PAGES <= len(members) < len(views):
                self._often |= _count_lines(members, CLASS_PAGES, CLASS_SHARE)[1]

    def count(self, path: int, text: str) -> int:
        """Returns the number of pages that have a line, given by its key, at a path."""
        return self._counts.get((path, text), 0)

    def holds(self, path: int, text: str) -> bool:
        """Whether a line is on most pages, of all or of a URL class, with text at its path."""
        return (path, text) in self._often


def _count_lines(views: list[View], least: int, share: float) -> tuple[Counter[_Line], set[_Line]]:
    """The pages of each line, and the lines on a share of the pages with text at their path.

    Args:
        views: The pages.
        least: Pages with text at a path, below which no line repeats there.
        share: Share of them from which a line does.
    """
    counts: Counter[_Line] = Counter()
    pages: Counter[int] = Counter()  # that have lines directly at a path
    for one in views:
        blocks, paths = one.tree.line_blocks, one.paths
        keys = {(paths[block], text) for block, text in zip(blocks, one.texts, strict=True)}
        counts.update(keys)
        pages.update({path for path, _ in keys})
    return counts, {
        (path, text)
        for (path, text), count in counts.items()
        if count > 1 and pages[path] >= least and count >= share * pages[path]
    }


@dataclass(frozen=True, slots=True)
class Sample:
    """The pages a host is learned from.

    Attributes:
        views: The pages; their numbers are the bits of every ``on`` of the rules.
        table: All paths of the pages.
        repeats: The lines that repeat at each path.
    """

    views: list[View]
    table: PathTable
    repeats: Repeats


def read_sample(views: list[View]) -> Sample:
    """Numbers the paths of pages and counts their lines."""
    table = number_paths(views)
    return Sample(views, table, Repeats(views))
