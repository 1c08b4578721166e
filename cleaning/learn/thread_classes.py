"""The thread classes of a sample: URL classes whose pages agree on the parts with their posts.

A page alone is read as a thread where its address or title has a word for forums. Here no word is
asked: posts are looked for on every page of a URL class. The class is one of threads when its pages
agree on the name of the parts with the texts, these hold most of the text of a page, and their
authors differ. Comments below articles fail by the text, profiles by the authors, boards and
lists with excerpts by the titles that they link to, manuals by the names of their members.

Cost: one reading of each page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from crawlclean.cleaning.body.noise import find_noise
from crawlclean.cleaning.body.page_body import make_body
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import add_up, weigh_lines
from crawlclean.cleaning.learn.views import View
from crawlclean.cleaning.metadata.dates import time_reader
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.members import find_thread_of_users
from crawlclean.cleaning.posts.names import Name
from crawlclean.cleaning.posts.parts import DIGITS, is_date, is_name
from crawlclean.cleaning.posts.posts import choose_slots, read_slots
from crawlclean.cleaning.posts.threads import PostPlace, Shape, Thread, find_shaped
from crawlclean.cleaning.records import NO_THREADS, BodySource
from crawlclean.cleaning.url_classes.evidence import TITLE_UNITS
from crawlclean.cleaning.url_classes.rules import class_of, kind_by_words
from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.cleaning.urls.shapes import shape_of

_LEAST_PAGES = 4  # of a URL class
_LEAST_VOTERS = 3
_AGREE_SHARE = 0.4  # pages of a class that vote for one name; threads of one post do not vote
_CLEAR_SHARE = 0.7  # pages with posts of that name whose posts hold most of the text
_TEXT_SHARE = 0.6  # text of a page in its posts
_SHARED_SHARE = 0.5  # pages of a class with a line that is its frame
_MOST_READ = 30  # pages of a class that vote
_LAST_PART = re.compile(r"[^/=]+/?$")
_FIRST_READ = 12  # of these, without a vote among them the class is none: chance .6^12, .2 %


@dataclass(frozen=True, slots=True)
class _Found:
    """The posts found on a page without a word for forums, and whether they are the page."""

    thread: Thread
    is_all: bool


def agree_on_posts(views: Sequence[View]) -> None:
    """Replaces the bodies of thread classes by their posts, where the page alone found none.

    Args:
        views: The pages of a sample; changed in place.
    """
    for members in _classes_of(views):
        if all(one.body.thread is not None for one in members):
            continue
        shape = _shape_of(members)
        if shape is None:
            continue
        for one in members:
            if one.body.thread is None:
                _read_as_thread(one, shape)


def _classes_of(views: Sequence[View]) -> list[list[View]]:
    """The pages by URL class; those of rare classes, such as one title each, by URL shape."""
    classes: dict[str, list[View]] = {}
    shapes: dict[str, list[View]] = {}
    for one in views:
        url = normalize(one.page.url)
        if kind_by_words(url) not in NO_THREADS:
            classes.setdefault(class_of(url), []).append(one)
    for members in classes.values():
        if len(members) < _LEAST_PAGES:
            for one in members:
                shapes.setdefault(shape_of(normalize(one.page.url)).key, []).append(one)
    every = (*classes.values(), *shapes.values())
    return [members for members in every if len(members) >= _LEAST_PAGES]


def _shape_of(members: Sequence[View]) -> Shape | None:
    """The shape of the posts that the pages of a class agree on; None without."""
    read = sorted(members, key=lambda one: one.page.page_id)[:_MOST_READ]
    shared = _shared_texts(read)
    found = _find_all(read[:_FIRST_READ], shared)
    if any(each.is_all for each in found):
        found += _find_all(read[_FIRST_READ:], shared)
    # Each page votes for all its names: which of two twins comes first differs from page to page.
    named = Counter(name for each in found for name in each.thread.contents)
    votes = Counter(name for each in found if each.is_all for name in each.thread.contents)
    firsts = Counter(each.thread.contents[0] for each in found)
    content: Name = max(
        sorted(votes), key=lambda name: (votes[name], firsts[name]), default=("", "")
    )
    least = max(_LEAST_VOTERS, _AGREE_SHARE * len(read))
    if votes[content] < least or votes[content] < _CLEAR_SHARE * named[content]:
        return None
    voters = [each.thread.contents for each in found if content in each.thread.contents]
    counts = Counter(name for names in voters for name in names)
    others = [name for name, count in counts.items() if 2 * count > len(voters)]
    return Shape(contents=(content, *(name for name in others if name != content)))


def _shared_texts(views: Sequence[View]) -> frozenset[str]:
    """The lines on so many pages of a class that they are its frame: a welcome, a form, rules."""
    counts: Counter[str] = Counter()
    for one in views:
        lines = range(len(one.tree.line_blocks))
        counts.update({one.tree.line_text(i) for i in lines})
    least = max(_LEAST_VOTERS, _SHARED_SHARE * len(views))
    return frozenset(text for text, count in counts.items() if count >= least)


def _find_all(views: Sequence[View], shared: frozenset[str]) -> list[_Found]:
    found = (_find_posts(one, shared) for one in views)
    return [each for each in found if each is not None]


def _find_posts(one: View, shared: frozenset[str]) -> _Found | None:
    tree, title_line = one.tree, one.body.title_line
    reader = _reader(tree, title_line)
    texts = reader.is_text.copy()
    title = tree.line_text(title_line) if title_line >= 0 else ""
    has_article = one.body.source not in (BodySource.POSTS, BodySource.LIST)
    thread = find_thread_of_users(reader, one.body.lines if has_article else [], title)
    if thread is None:
        return None
    own = reader.lines.own
    inside = {i for post in thread.posts for i in (*post.texts, *post.quotes, *post.others)}
    if thread.first is not None and not _is_by_user(tree, thread):
        inside -= set(thread.posts[0].texts)
    units = [
        (i in inside, own[i])
        for i, is_text in enumerate(texts)
        if is_text and tree.line_text(i) not in shared
    ]
    held = sum(mine for is_inside, mine in units if is_inside)
    is_all = held >= _TEXT_SHARE * sum(mine for _, mine in units)
    is_thread = is_all and _have_authors(reader, thread) and not _are_teasers(reader, thread)
    return _Found(thread, is_thread)


def _are_teasers(reader: PostFinder, thread: Thread) -> bool:
    """Whether most posts have a link with a text like a title of its own: lists with excerpts."""
    linked, own = reader.lines.linked, reader.lines.own
    found: list[dict[str, float]] = []
    for post in thread.posts:
        lines = (i for i in (*post.others, *post.texts) if linked[i] > own[i])
        texts = {reader.tree.line_text(i): linked[i] for i in lines}
        found.append(
            {DIGITS.sub("", text): units for text, units in texts.items() if not is_date(text)}
        )
    shared = Counter(text for texts in found for text in texts)
    titled = sum(
        any(units > TITLE_UNITS and shared[text] == 1 for text, units in texts.items())
        for texts in found
    )
    return titled >= _TEXT_SHARE * len(found)


def _have_authors(reader: PostFinder, thread: Thread) -> bool:
    """Whether one place of the posts has their authors, who differ."""
    # Only whether a text is a time matters here: neither its zone nor the future.
    read_time = time_reader(None, datetime(2999, 1, 1, tzinfo=UTC))
    around = [read_slots(reader.tree, post.others, reader.names) for post in thread.posts]
    return choose_slots(around, read_time).author is not None


def _is_by_user(tree: Tree, thread: Thread) -> bool:
    """Whether the first post has a link to a user as most others have: articles have editors."""
    links = [_user_links(tree, post) for post in thread.posts]
    counts = Counter(link for each in links[1:] for link in each)
    return any(2 * counts[link] > len(links) - 1 for link in links[0])


def _user_links(tree: Tree, post: PostPlace) -> set[str]:
    """What links around a post with the name of a user begin with: ``/member/``."""
    lines = set(post.others)
    found = set()
    for anchor in tree.anchors:
        if anchor.start < anchor.end and tree.line_of[anchor.start] in lines:
            text = " ".join("".join(tree.texts[anchor.start : anchor.end]).split())
            start = _LAST_PART.sub("", anchor.href)
            if start.strip("/") and is_name(text):
                found.add(start)
    return found


def _reader(tree: Tree, title_line: int) -> PostFinder:
    lines = weigh_lines(tree)
    noise = find_noise(tree, add_up(tree, lines), None, (title_line,))
    return PostFinder(tree, lines, noise.is_noise)


def _read_as_thread(one: View, shape: Shape) -> None:
    """Reads a page as a thread of a known shape; a page without such parts stays as it is."""
    tree, title_line = one.tree, one.body.title_line
    title = tree.line_text(title_line) if title_line >= 0 else ""
    thread = find_shaped(_reader(tree, title_line), title, shape)
    if thread is None or not thread.lines:
        return
    one.body = make_body(tree, thread.lines, BodySource.POSTS, title_line, thread)
    kept = set(thread.lines)
    one.kept = [i in kept for i in range(len(one.kept))]
