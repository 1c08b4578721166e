"""The post rule of a host: the parts that hold the posts, learned from a few of its threads.

Each page is read alone (``posts/threads``) and votes for the name (tag and classes) of the parts
with the texts of its posts, as pages do in paper 5's KSF; a page votes once for each post, at most
five times. The rule then finds the posts of every page, even of one short post.

Cost: one reading of each page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from crawlclean.cleaning.body.noise import find_noise
from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import (
    MIN_UNITS,
    add_up,
    find_title_line,
    plain_title,
    weigh_lines,
)
from crawlclean.cleaning.learn.signatures import find_signatures
from crawlclean.cleaning.learn.views import View
from crawlclean.cleaning.metadata.dates import time_reader
from crawlclean.cleaning.model.rules import PostRule
from crawlclean.cleaning.posts.contents import POST_JUNK_COST
from crawlclean.cleaning.posts.names import Name, is_told, numbered_names
from crawlclean.cleaning.posts.parts import DIGITS, PostReader
from crawlclean.cleaning.posts.posts import (
    PostSlots,
    choose_slots,
    read_slots,
)
from crawlclean.cleaning.posts.runs import is_loose
from crawlclean.cleaning.posts.threads import Shape, Thread, climb
from crawlclean.cleaning.records import NO_THREADS, UrlKind
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.cleaning.urls.normal_form import normalize

_MOST_POSTS = 5  # votes of a page
_LEAST_PAGES = 3  # pages of a host whose threads have no replies
_LEAST_VOTERS = 2  # one page alone is no evidence of its host
_COMPARED_CHARS = 80  # first characters by which texts of first posts are compared
_DISTINCT_SHARE = 0.8  # share of pages with a text of their own in the part of first posts


@dataclass(frozen=True, slots=True)
class _Read:
    """A page, its text outside noise and template, and the posts found on the page alone."""

    tree: Tree
    reader: PostReader
    thread: Thread | None
    title: str


def choose_threads(views: Iterable[View], url_kind: Callable[[str], UrlKind]) -> list[View]:
    """Returns the threads of a sample, by the kind of their URL or by their URL class.

    A class is one of threads if a third of its pages has posts. URLs of kinds that list posts
    (boards, users, searches) are none.

    Args:
        views: The pages of the sample.
        url_kind: Returns the kind of a URL.
    """
    classes: dict[str, list[View]] = {}
    for one in views:
        classes.setdefault(class_of(normalize(one.page.url)), []).append(one)
    chosen = []
    for members in classes.values():
        with_posts = sum(one.body.thread is not None for one in members)
        for one in members:
            kind = url_kind(one.page.url)
            is_class = 3 * with_posts >= len(members) and kind not in NO_THREADS
            if kind is UrlKind.THREAD or is_class:
                chosen.append(one)
    return sorted(chosen, key=lambda one: one.page.page_id)


def post_rule_of(pages: Iterable[tuple[Tree, Thread | None]]) -> PostRule | None:
    """Returns the post rule of parsed thread pages, each with the posts found on it alone."""
    # Only whether a text is a time matters here: neither its zone nor the future.
    read_time = time_reader(None, datetime(2999, 1, 1, tzinfo=UTC))
    read = [_read(tree, thread) for tree, thread in pages]
    votes: Counter[Name] = Counter()
    for page in read:
        if page.thread is not None:
            votes[page.thread.contents[0]] += min(len(page.thread.posts), _MOST_POSTS)
    if not votes:
        # Threads without replies: their text is the part that differs from page to page.
        only = _find_first(read, None) if len(read) >= _LEAST_PAGES else None
        if only is None:
            return None
        return PostRule(shape=Shape(contents=(only,)), slots=PostSlots(), pages=len(read))
    content = max(sorted(votes), key=votes.__getitem__)
    # Where the posts are told by numbers, other parts are, on whatever page they tell.
    is_numbered = bool(numbered_names([content]))
    telling = frozenset(name for page in read for name in page.reader.telling if is_numbered)
    for page in read:
        if is_loose(content):
            page.reader.known = [content]
        page.reader.name_parts(telling)
    voters = [
        (page, page.thread)
        for page in read
        if page.thread is not None and content in page.thread.contents
    ]
    if len(voters) < _LEAST_VOTERS:
        return None
    others = Counter(name for _, thread in voters for name in thread.contents)
    del others[content]
    often = [name for name, count in others.items() if 2 * count > len(voters)]
    contents = [content, *(name for name in often if _differs(name, voters))]
    first = _find_first(read, content)
    shape = Shape(contents=tuple(contents), first=first)
    names = [*contents, *([first] if first else [])]
    levels: Counter[int] = Counter()
    around = []
    for page, thread in voters:
        parts = page.reader.find_outermost(names)
        if len(parts) > 1:
            levels.update(level for _, level in climb(page.tree, parts))
        around += [read_slots(page.tree, place.others) for place in thread.posts]
    if levels:
        shape = replace(shape, levels=max(sorted(levels), key=levels.__getitem__))
    slots = choose_slots(around, read_time)
    posts = [(page.reader, place) for page, thread in voters for place in thread.posts]
    signatures = find_signatures(posts, slots, contents)
    shape = _without(shape, tuple(name for name in signatures if is_told(name, telling)))
    return PostRule(shape=shape, slots=slots, pages=len(voters))


def _without(shape: Shape, signatures: tuple[Name, ...]) -> Shape:
    contents = tuple(name for name in shape.contents if name not in signatures)
    inside = tuple(name for name in signatures if name not in shape.contents)
    return replace(shape, contents=contents, signatures=inside)


def _differs(name: Name, voters: list[tuple[_Read, Thread]]) -> bool:
    """Whether parts of a name have texts of their own: comments do, signatures come again."""
    texts = [
        "".join(
            page.tree.line_text(i)
            for i in range(page.tree.block_lines[part], page.tree.line_end(part))
        )
        for page, _ in voters
        for part in page.reader.find_outermost([name])
    ]
    return len(set(texts)) >= _DISTINCT_SHARE * len(texts)


def _read(tree: Tree, thread: Thread | None) -> _Read:
    """A thread page with its noise and its template found."""
    lines = weigh_lines(tree)
    title_line = find_title_line(tree, lines)
    noise = find_noise(tree, add_up(tree, lines), None, (title_line,))
    reader = PostReader(tree, lines, noise.is_noise)
    title = tree.line_text(title_line) if title_line >= 0 else ""
    reader.cut_template([0], plain_title(title))
    return _Read(tree, reader, thread, plain_title(title))


def _find_first(pages: list[_Read], content: Name | None) -> Name | None:
    """The name of the part of first posts, if it differs from that of replies; else None.

    The part stands once on a page, before all replies, with a different text on every page, and has
    at least half as much text as a reply: other changing parts (counts, dates) are short.
    """
    units: dict[Name, list[float]] = {}
    scores: dict[Name, float] = {}
    texts: dict[Name, set[str]] = {}
    heads: dict[Name, Counter[str]] = {}
    replies: list[float] = []
    for page in pages:
        reader, tree = page.reader, page.tree
        others = reader.find_outermost([content] if content else [])
        replies += [reader.text[part] for part in others]
        end = others[0] if others else len(reader.names)
        counts = Counter(reader.names[:end])
        for part in range(1, end):
            name = reader.names[part]
            is_candidate = (
                counts[name] == 1
                and name[1]
                and name[0] not in HEADINGS
                and tree.block_ends[part] <= end
            )
            if is_candidate and reader.text[part] > 0 and not reader.is_noise[part]:
                junk = POST_JUNK_COST * reader.junk[part]
                scores[name] = scores.get(name, 0.0) + reader.text[part] - junk
                units.setdefault(name, []).append(reader.text[part])
                lines = range(tree.block_lines[part], tree.line_end(part))
                text = "".join(tree.line_text(i) for i in lines if reader.is_text[i])
                texts.setdefault(name, set()).add(text[:_COMPARED_CHARS])
                beside = _beside_title(plain_title(text), page.title)
                heads.setdefault(name, Counter())[beside] += bool(beside)
    least = max(MIN_UNITS, sum(replies) / len(replies) / 2 if replies else 0)
    found = [
        name
        for name, held in units.items()
        if 2 * len(held) > len(pages)
        and len(texts[name]) >= _DISTINCT_SHARE * len(held)
        and sum(held) / len(held) >= least
        and scores[name] > 0
        and 2 * max(heads[name].values()) <= len(held)
        and all(is_told(name, page.reader.telling) for page in pages)
    ]
    # Of parts with equal text the inner one, which comes later.
    order = {name: i for i, name in enumerate(found)}
    return max(found, key=lambda name: (scores[name], order[name]), default=None)


def _beside_title(text: str, title: str) -> str:
    """The words beside the title of a page in its head, without numbers: ``(read times)``.

    ``""`` where the title is all, as where a post begins with it, or is not in the text.
    """
    return DIGITS.sub("", text.replace(title, "", 1)) if title and title in text else ""
