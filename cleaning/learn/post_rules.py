"""What the posts of a host look like, learned from a few of its threads.

Each page is read alone (``extract/threads``) and votes for the names of the parts that hold its
posts' texts, as pages do in paper 5's KSF; pages with more posts vote with more weight. The rule
then finds the posts of every page, also of those with a single post or a few words.

Cost: that of reading each page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from cleaning.extract.body import extract_body
from cleaning.extract.container import find_noise
from cleaning.extract.lines import weigh_lines
from cleaning.extract.params import Params
from cleaning.extract.post_parts import Name, PostReader
from cleaning.extract.post_slots import (
    PostSlots,
    ReadTime,
    choose_slots,
    no_time,
    read_slots,
)
from cleaning.extract.sums import add_up
from cleaning.extract.threads import Shape, Thread, climb
from cleaning.extract.title_line import find_title_line, plain_title
from cleaning.records import RawPage
from cleaning.source.tree import Tree, parse

_MOST_POSTS = 5  # of a page that count as votes
_LEAST_PAGES = 3  # that have no posts by themselves
_LEAST_VOTES = 2
_COMPARED_CHARS = 80
_DISTINCT_SHARE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRule:
    """How the posts of a host are found.

    Attributes:
        shape: The parts that hold their texts.
        slots: The places of author, time and floor around them.
        pages: How many pages of the sample taught it.
    """

    shape: Shape
    slots: PostSlots
    pages: int


@dataclass(frozen=True, slots=True)
class _Read:
    """A page, what is text in it, and the posts it shows by itself."""

    tree: Tree
    reader: PostReader
    thread: Thread | None


def learn_post_rule(pages: Iterable[RawPage], read_time: ReadTime = no_time) -> PostRule | None:
    """The rule that most pages speak for; None when too few show posts.

    The same for every order of the same pages.

    Args:
        pages: Thread pages of one host; others do no harm while they are few.
        read_time: Reads the time in a short text.
    """
    read = [_read(page) for page in sorted(pages, key=lambda page: page.page_id)]
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
    if votes[content] < _LEAST_VOTES:
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


def _read(page: RawPage) -> _Read:
    tree = parse(page.html)
    params = Params()
    lines = weigh_lines(tree, params)
    title_line = find_title_line(tree, lines, params)
    noise = find_noise(tree, add_up(tree, lines), None, title_line, params)
    reader = PostReader(tree, lines, noise.is_noise, params)
    title = tree.line_text(title_line) if title_line >= 0 else ""
    reader.cut_template([0], plain_title(title))
    return _Read(tree, reader, extract_body(tree, page.url).thread)


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
                junk = reader.params.post_junk_cost * reader.junk[part]
                scores[name] = scores.get(name, 0.0) + reader.text[part] - junk
                units.setdefault(name, []).append(reader.text[part])
                lines = range(tree.block_lines[part], tree.line_end(part))
                text = "".join(tree.line_text(i) for i in lines if reader.is_text[i])
                texts.setdefault(name, set()).add(text[:_COMPARED_CHARS])
    least = max(Params().min_units, sum(replies) / len(replies) / 2 if replies else 0)
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
