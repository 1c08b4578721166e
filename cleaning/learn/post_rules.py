"""The post rule of a host: the parts that hold the posts, learned from a few of its threads.

Each page is read alone (``posts/posts``) and votes for the name (tag and classes) of the parts
with the texts of its posts, as pages do in paper 5's KSF; a page votes once for each post, at most
five times. The rule then finds the posts of every page, even of one short post.

Cost: one reading of each page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

from crawlclean.cleaning.body.noise import find_noise
from crawlclean.cleaning.body.page_body import make_body
from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import (
    MIN_UNITS,
    add_up,
    find_title_line,
    plain_title,
    weigh_lines,
)
from crawlclean.cleaning.learn.views import View
from crawlclean.cleaning.metadata.dates import time_reader
from crawlclean.cleaning.model.rules import PostRule
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.parts import DIGITS, POST_JUNK_COST, PostReader, is_name
from crawlclean.cleaning.posts.posts import (
    PostPlace,
    PostSlots,
    Shape,
    Thread,
    author_of,
    choose_slots,
    climb,
    find_shaped,
    find_thread_of_users,
    read_slots,
)
from crawlclean.cleaning.posts.runs import Name, is_loose, is_told, numbered_names
from crawlclean.cleaning.records import NO_THREADS, BodySource, UrlKind
from crawlclean.cleaning.url_classes.rules import class_of, kind_by_words
from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.cleaning.urls.shapes import shape_of

# The signatures in a host's posts: parts whose text comes again in other posts of one author.
#
# A signature is known by name on most forums (``data/part_names.txt``); where names say nothing,
# the posts do: what an author writes is new each time, what stands at its end is the same in thread
# after thread. Code that an author repeats within a thread is no such part, nor is a part before
# text.
#
# Cost: linear in the lines of the posts.

_LEAST_AGAIN = 3  # threads with a text that its author had in another
_AGAIN_SHARE = 0.6  # of the threads whose author has such a part in others; authors change theirs
_LAST_SHARE = 0.9  # of the posts with a part, in which no text follows it


_PostPart = tuple[str, int, str]  # author, page, and text of the parts of one name there


def find_signatures(
    posts: Iterable[tuple[PostReader, PostPlace]], slots: PostSlots, contents: Collection[Name]
) -> tuple[Name, ...]:
    """Returns the names of the parts with signatures, sorted.

    Args:
        posts: The posts of a sample of threads, each with the reader of its page.
        slots: The slots of the posts; without one of authors there is no evidence.
        contents: Names of the parts with the texts of posts.
    """
    held: dict[Name, set[_PostPart]] = {}
    seen: Counter[Name] = Counter()
    last: Counter[Name] = Counter()
    for reader, place in posts:
        author = author_of(read_slots(reader.tree, place.others), slots.author)
        if author is not None:
            texts = _texts_of(reader, place)
            for name, text in texts.items():
                held.setdefault(name, set()).add((author, id(reader), text))
            seen.update(texts.keys())
            last.update(_names_of(reader, place, place.texts[-1]) if place.texts else ())
    found = (name for name in held if name != next(iter(contents), name))
    ending = (name for name in found if last[name] >= _LAST_SHARE * seen[name])
    return tuple(sorted(name for name in ending if _comes_again(held[name])))


def _texts_of(reader: PostReader, place: PostPlace) -> dict[Name, str]:
    """The text of each named part inside a post, by the name of the part."""
    found = dict[Name, list[str]]()
    for line in place.texts:
        for name in _names_of(reader, place, line):
            found.setdefault(name, []).append(reader.tree.line_text(line))
    return {name: "\n".join(texts) for name, texts in found.items()}


def _names_of(reader: PostReader, place: PostPlace, line: int) -> set[Name]:
    """The names of the parts of a post around one of its lines."""
    tree, found = reader.tree, set[Name]()
    part, end = tree.line_blocks[line], tree.block_ends[place.part]
    while place.part <= part < end:
        if reader.names[part][1]:
            found.add(reader.names[part])
        part = tree.block_parents[part]
    return found


def _comes_again(parts: Collection[_PostPart]) -> bool:
    """Whether most threads of an author in several have a text that another has, too."""
    authors = Counter(author for author, _ in {(author, page) for author, page, _ in parts})
    again = sum(n - 1 for n in Counter((author, text) for author, _, text in parts).values())
    several = sum(count - 1 for count in authors.values())
    return again >= _LEAST_AGAIN and again >= _AGAIN_SHARE * several


_MOST_POSTS = 5  # votes of a page
_LEAST_PAGES = 3  # pages of a host whose threads have no replies
_LEAST_VOTERS = 2  # one page alone is no evidence of its host
_COMPARED_CHARS = 80  # first characters by which texts of first posts are compared
_DISTINCT_SHARE = 0.8  # share of pages with a text of their own in the part of first posts


@dataclass(frozen=True, slots=True)
class _Read:
    """The text of a page outside noise and template, and the posts found on the page alone."""

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
            levels.update(level for _, level in climb(page.reader.tree, parts))
        around += [read_slots(page.reader.tree, place.others) for place in thread.posts]
    if levels:
        shape = replace(shape, levels=max(sorted(levels), key=levels.__getitem__))
    slots = choose_slots(around, read_time)
    posts = [(page.reader, place) for page, thread in voters for place in thread.posts]
    found = find_signatures(posts, slots, contents)
    signatures = tuple(name for name in found if is_told(name, telling))
    shape = replace(
        shape,
        contents=tuple(name for name in contents if name not in signatures),
        signatures=tuple(name for name in signatures if name not in contents),
    )
    return PostRule(shape=shape, slots=slots, pages=len(voters))


def _differs(name: Name, voters: list[tuple[_Read, Thread]]) -> bool:
    """Whether parts of a name have texts of their own: comments do, signatures come again."""
    texts = [
        "".join(
            map(
                reader.tree.line_text,
                range(reader.tree.block_lines[part], reader.tree.line_end(part)),
            )
        )
        for reader in (page.reader for page, _ in voters)
        for part in reader.find_outermost([name])
    ]
    return len(set(texts)) >= _DISTINCT_SHARE * len(texts)


def _read(tree: Tree, thread: Thread | None) -> _Read:
    """A thread page with its noise and its template found."""
    lines = weigh_lines(tree)
    title_line = find_title_line(lines)
    noise = find_noise(tree, add_up(lines), None, (title_line,))
    reader = PostReader(tree, lines, noise.is_noise)
    title = plain_title(tree.line_text(title_line)) if title_line >= 0 else ""
    reader.cut_template([0], title)
    return _Read(reader, thread, title)


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
        reader, tree = page.reader, page.reader.tree
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


# The thread classes of a sample: URL classes whose pages agree on the parts with their posts.
#
# A page alone is read as a thread where its address or title has a word for forums. Here no word is
# asked: posts are looked for on every page of a URL class. The class is one of threads when its
# pages agree on the name of the parts with the texts, these hold most of the text of a page, and
# their authors differ. Comments below articles fail by the text, profiles by the authors, boards
# and lists with excerpts by the titles that they link to, manuals by the names of their members.
#
# Cost: one reading of each page.

_CLASS_PAGES = 4  # of a URL class
_CLASS_VOTERS = 3  # pages that agree: two may by chance, and small classes have few pages
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
        if len(members) < _CLASS_PAGES:
            for one in members:
                shapes.setdefault(shape_of(normalize(one.page.url)).key, []).append(one)
    every = (*classes.values(), *shapes.values())
    return [members for members in every if len(members) >= _CLASS_PAGES]


def _shape_of(members: Sequence[View]) -> Shape | None:
    """The shape of the posts that the pages of a class agree on; None without."""
    read = sorted(members, key=lambda one: one.page.page_id)[:_MOST_READ]
    find_shared = cache(lambda: _shared_texts(read))
    least = max(_CLASS_VOTERS, _AGREE_SHARE * len(read))
    found: list[_Found] = []
    votes: Counter[Name] = Counter()
    for number, one in enumerate(read):
        if max(votes.values(), default=0) + len(read) - number < least or (
            number == _FIRST_READ and not votes
        ):
            return None
        each = _find_posts(one, find_shared)
        if each is not None:
            found.append(each)
            # It votes for all its names: which of two twins comes first differs from page to page.
            votes.update(each.thread.contents if each.is_all else ())
    named = Counter(name for each in found for name in each.thread.contents)
    firsts = Counter(each.thread.contents[0] for each in found)
    content: Name = max(
        sorted(votes), key=lambda name: (votes[name], firsts[name]), default=("", "")
    )
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
    least = max(_CLASS_VOTERS, _SHARED_SHARE * len(views))
    return frozenset(text for text, count in counts.items() if count >= least)


def _find_posts(one: View, find_shared: Callable[[], frozenset[str]]) -> _Found | None:
    tree, title_line = one.tree, one.body.title_line
    reader = _reader(one)
    texts = reader.is_text.copy()
    title = tree.line_text(title_line) if title_line >= 0 else ""
    has_article = one.body.source not in (BodySource.POSTS, BodySource.LIST)
    thread = find_thread_of_users(reader, one.body.lines if has_article else [], title)
    if thread is None:
        return None
    own, shared = reader.lines.own, find_shared()
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
    return _Found(thread, is_all and _have_authors(reader, thread))


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


def _reader(one: View) -> PostFinder:
    lines = weigh_lines(one.tree)
    noise = find_noise(one.tree, add_up(lines), None, (one.body.title_line,))
    return PostFinder(one.tree, lines, noise.is_noise)


def _read_as_thread(one: View, shape: Shape) -> None:
    """Reads a page as a thread of a known shape; a page without such parts stays as it is."""
    tree, title_line = one.tree, one.body.title_line
    title = tree.line_text(title_line) if title_line >= 0 else ""
    thread = find_shaped(_reader(one), title, shape)
    if thread is None or not thread.lines:
        return
    one.body = make_body(tree, thread.lines, BodySource.POSTS, title_line, thread)
    kept = set(thread.lines)
    one.kept = [i in kept for i in range(len(one.kept))]
