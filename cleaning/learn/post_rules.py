"""What the posts of a host look like, learned from a few of its threads.

Each page is read alone (``posts/threads``) and votes for the names of the parts that hold its
posts' texts, as pages do in paper 5's KSF; pages with more posts vote with more weight. The rule
then finds the posts of every page, also of those with a single post or a few words.

Cost: that of reading each page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from cleaning.body.container import find_noise
from cleaning.body.page_body import extract_body
from cleaning.document.raw_page import RawPage
from cleaning.document.reader import parse
from cleaning.document.tree import Tree
from cleaning.features.lines import MIN_UNITS, add_up, find_title_line, plain_title, weigh_lines
from cleaning.learn.views import View
from cleaning.metadata.dates import time_reader
from cleaning.model.rules import PostRule
from cleaning.posts.groups import POST_JUNK_COST
from cleaning.posts.parts import Name, PostReader
from cleaning.posts.posts import (
    PostSlots,
    choose_slots,
    read_slots,
)
from cleaning.posts.threads import Shape, Thread, climb
from cleaning.records import NO_THREADS, UrlKind
from cleaning.url_classes.rules import class_of
from cleaning.urls.normal_form import normalize

_MOST_POSTS = 5  # of a page that count as votes
_LEAST_PAGES = 3  # that have no posts by themselves
_LEAST_VOTERS = 2  # one page alone says nothing of its host
_COMPARED_CHARS = 80
_DISTINCT_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class _Read:
    """A page, what is text in it, and the posts it shows by itself."""

    tree: Tree
    reader: PostReader
    thread: Thread | None


def choose_threads(views: Iterable[View], url_kind: Callable[[str], UrlKind]) -> list[View]:
    """The pages of a sample that are threads: by the kind of their URL, or by their URL class.

    A class is one of threads when a third of its pages shows posts and its URLs are of no other
    kind that lists posts.

    Args:
        views: The sample.
        url_kind: The kind of a URL.
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


def learn_post_rule(pages: Iterable[RawPage]) -> PostRule | None:
    """The rule that most pages speak for; None when too few show posts.

    The same for every order of the same pages.

    Args:
        pages: Thread pages of one host; others do no harm while they are few.
    """
    trees = [
        (page.page_id, tree := parse(page.html), extract_body(tree, page.url).thread)
        for page in pages
    ]
    trees.sort(key=lambda row: row[0])
    return post_rule_of([(tree, thread) for _, tree, thread in trees])


def post_rule_of(pages: Iterable[tuple[Tree, Thread | None]]) -> PostRule | None:
    """The same from parsed thread pages, each with the posts it shows by itself."""
    # Only which texts are times matters here, not their zone; none lies in the future then.
    read_time = time_reader(None, datetime(2999, 1, 1, tzinfo=UTC))
    read = [_read(tree, thread) for tree, thread in pages]
    votes: Counter[Name] = Counter()
    for page in read:
        if page.thread is not None:
            votes[page.thread.contents[0]] += min(len(page.thread.posts), _MOST_POSTS)
    if not votes:
        # Threads without replies: their text is what changes from page to page.
        only = _find_first(read, None) if len(read) >= _LEAST_PAGES else None
        if only is None:
            return None
        return PostRule(shape=Shape(contents=(only,)), slots=PostSlots(), pages=len(read))
    content = max(sorted(votes), key=votes.__getitem__)
    voters = [
        (page, page.thread)
        for page in read
        if page.thread is not None and page.thread.contents[0] == content
    ]
    if len(voters) < _LEAST_VOTERS:
        return None
    second = Counter(name for _, thread in voters for name in thread.contents[1:])
    contents = [content, *(name for name, count in second.items() if 2 * count > len(voters))]
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
    return PostRule(shape=shape, slots=choose_slots(around, read_time), pages=len(voters))


def _read(tree: Tree, thread: Thread | None) -> _Read:
    lines = weigh_lines(tree)
    title_line = find_title_line(tree, lines)
    noise = find_noise(tree, add_up(tree, lines), None, title_line)
    reader = PostReader(tree, lines, noise.is_noise)
    title = tree.line_text(title_line) if title_line >= 0 else ""
    reader.cut_template([0], plain_title(title))
    return _Read(tree, reader, thread)


def _find_first(pages: list[_Read], content: Name | None) -> Name | None:
    """The name of first posts of another shape; None when the others' contents hold them.

    Its part stands once on a page, before all others' contents, with another text on every page,
    and holds half as much text as those at least: what else changes there is short.
    """
    units: dict[Name, list[float]] = {}
    scores: dict[Name, float] = {}
    texts: dict[Name, set[str]] = {}
    replies: list[float] = []
    for page in pages:
        reader, tree = page.reader, page.tree
        others = reader.find_outermost([content] if content else [])
        replies += [reader.text[part] for part in others]
        end = others[0] if others else len(reader.names)
        counts = Counter(reader.names[:end])
        for part in range(1, end):
            name = reader.names[part]
            is_candidate = counts[name] == 1 and name[1] and tree.block_ends[part] <= end
            if is_candidate and reader.text[part] > 0 and not reader.is_noise[part]:
                junk = POST_JUNK_COST * reader.junk[part]
                scores[name] = scores.get(name, 0.0) + reader.text[part] - junk
                units.setdefault(name, []).append(reader.text[part])
                lines = range(tree.block_lines[part], tree.line_end(part))
                text = "".join(tree.line_text(i) for i in lines if reader.is_text[i])
                texts.setdefault(name, set()).add(text[:_COMPARED_CHARS])
    least = max(MIN_UNITS, sum(replies) / len(replies) / 2 if replies else 0)
    found = [
        name
        for name, held in units.items()
        if 2 * len(held) > len(pages)
        and len(texts[name]) >= _DISTINCT_SHARE * len(held)
        and sum(held) / len(held) >= least
        and scores[name] > 0
    ]
    # Of parts with the same text the inner one, which was met later.
    order = {name: i for i, name in enumerate(found)}
    return max(found, key=lambda name: (scores[name], order[name]), default=None)
