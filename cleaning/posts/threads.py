"""Threads: whether a page is of a forum, and the places of its posts.

A thread's page repeats one part for every post, with author, time and buttons around the text; the
posts are the body. After paper 5's KSF, which lets the posts vote for the class of their contents
(``posts.groups``). The body is the text of all contents, without subjects, signatures and quotes of
other posts. An article found on the page without posts joins them where it holds more text; a first
post of another shape comes before the others.

With a rule of the host (``learn/post_rules``) the names of the contents are known: then a page with
one post, or with posts of a few words, is a thread too.

Only pages whose address or title has a word for forums (``data/forum_words.txt``) are read as
threads: an article with comments has the same structure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import plain_title
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.names import Name
from crawlclean.cleaning.posts.parts import PostReader

_SEPARATOR = re.compile(r"[-_|–—·»«]")
_MAX_PARAMETERS = 12
_FEW_UNITS = 2  # of the name of a column
_COPY_UNITS = 15.0  # shortest text of which a second is a copy
_LETTER_OF_NEWS = re.compile(r"/[a-z]/(?:19|20)\d\d(?:[-_/]|\d\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostPlace:
    """The place of one post; lines in order.

    Attributes:
        part: Its block.
        texts: Lines of its text.
        quotes: Lines in it that quote another post.
        others: The other lines around it: author, time, buttons.
    """

    part: int
    texts: tuple[int, ...]
    quotes: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The posts of a page.

    Attributes:
        lines: Lines of the body.
        posts: Places of the posts in order; a first post of another shape is among them.
        contents: Names of the parts that hold the texts: ``(("div", "message"),)``.
        first: Name of the part that holds a first post of another shape, or None.
        is_known: Whether they were found by the rule of the host.
    """

    lines: list[int]
    posts: tuple[PostPlace, ...]
    contents: tuple[Name, ...]
    first: Name | None = None
    is_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The shape of a host's posts.

    Attributes:
        contents: Names of the parts that hold the texts: ``(("div", "message"),)``.
        first: Name of the part that holds a first post of another shape, or None.
        levels: Blocks from such a part up to the whole post.
        signatures: Names of the parts in the texts that come again in other posts.
    """

    contents: tuple[Name, ...]
    first: Name | None = None
    levels: int = 0
    signatures: tuple[Name, ...] = ()

    def names(self) -> tuple[Name, ...]:
        """Returns the names of all its parts."""
        return (*self.contents, *([self.first] if self.first else []), *self.signatures)


@lru_cache(maxsize=64)  # called by several steps for one page
def is_forum(url: str, title: str) -> bool:
    """Whether address or title have a word for forums: ``/thread/5``, ``bbs.a.example``."""
    in_host, in_path, in_title = _words()
    parts = urlsplit(url)
    if any(word in parts.netloc.lower() for word in in_host):
        return True
    path = parts.path.lower()
    # A parameter is named like a part of a path: /index.php?topic=5.0, /index.php?/topic/5/
    pieces = [piece.partition("=")[0] for piece in re.split("[/&;]", parts.query.lower())]
    for segment in (*path.split("/"), *pieces[:_MAX_PARAMETERS]):
        name = segment.rpartition(".")[0] or segment
        words = re.findall("[a-z]+", name)
        if not words or len(words) > 2 or words[0] not in in_path:
            continue
        # One letter means a forum only where it stands alone and before no date, as in /t/123.
        if len(words[0]) > 1 or (name == words[0] and not _LETTER_OF_NEWS.search(path)):
            return True
    # The site's name stands behind the page's own title, whose words prove nothing.
    first, *names = _SEPARATOR.split(title.lower())
    return first.rstrip().endswith(in_title) or any(
        word in name for name in names for word in in_title
    )


def find_shaped(reader: PostReader, title: str, shape: Shape) -> Thread | None:
    """Finds the posts of a page by the shape of its host's posts; None without posts.

    Args:
        reader: The page.
        title: Text of the title's line.
        shape: The shape of the host's posts.
    """
    names = [*shape.contents, *([shape.first] if shape.first else [])]
    reader.name_as(shape.names())
    parts = reader.find_outermost(names)
    if not parts:
        return None
    kept, quotes = reader.read_lines(names, plain_title(title), shape.signatures)
    places = _signed(reader, _places(reader, parts, kept, quotes, shape.levels))
    places = _without_copy(reader, places)
    in_posts = {i for place in places for i in (*place.texts, *place.quotes)}
    kept = [i for i in kept if i in in_posts]
    return Thread(lines=kept, posts=places, contents=tuple(names), first=shape.first, is_known=True)


def _signed(reader: PostReader, places: tuple[PostPlace, ...]) -> tuple[PostPlace, ...]:
    """The places without those of a few words, or the title, that alone have no date or user.

    The head of a list of posts, and a row below each, may be named like the posts' texts.
    """
    is_user, own = reader.user_lines(), reader.lines.own
    signed = [any(reader.is_date[i] or is_user[i] for i in place.others) for place in places]
    if all(signed) or 2 * sum(signed) < len(places) - 2:
        return places
    return tuple(
        place
        for place, has_sign in zip(places, signed, strict=True)
        if has_sign
        or (sum(own[i] for i in place.texts) > _FEW_UNITS and not _is_head(reader.tree, place))
    )


def _without_copy(reader: PostReader, places: tuple[PostPlace, ...]) -> tuple[PostPlace, ...]:
    """The places without the first where the second has its text: a page shows its start twice."""
    if len(places) < 2:
        return places
    first, second = (
        [reader.tree.line_text(i) for i in place.texts if reader.lines.own[i] >= 1]
        for place in places[:2]
    )
    is_copy = first == second and sum(reader.lines.own[i] for i in places[0].texts) >= _COPY_UNITS
    return places[1:] if is_copy else places


def _is_head(tree: Tree, place: PostPlace) -> bool:
    """Whether a text is one line with the page's title: the head of a table of posts."""
    title = plain_title(_SEPARATOR.split(tree.title)[0])
    if len(place.texts) != 1 or not title:
        return False
    return title in plain_title(tree.line_text(place.texts[0]))


def find_thread(reader: PostFinder, article: list[int], title: str) -> Thread | None:
    """Finds the posts of a page by this page alone; None without posts.

    Args:
        reader: The page.
        article: The lines of its body as an article.
        title: Text of the title's line.
    """
    title = plain_title(title)
    posts, contents = reader.find_posts(title)
    kept, quotes = reader.read_lines(contents, title) if contents else ([], [])
    if not kept:
        return None
    body, before = _with_article(reader, posts, kept, article)
    if reader.lines.trail is not None:
        reader.lines.trail.attempts[-1].first_post = frozenset(body).difference(kept)
    first = reader.part_around(before) if before else 0
    # A first post of another shape may have the content of the others.
    ends = reader.tree.block_ends
    alone = [
        part
        for part in reader.find_outermost(contents)
        if part < posts[0] and not any(part < post < ends[part] for post in posts)
    ]
    parts = [*([first] if first else []), *alone, *posts]
    places = _places(reader, parts, body, quotes, 0)
    whole = _without_copy(reader, places)
    if len(whole) < len(places):
        places, cut = whole, set(places[0].texts)
        body = [i for i in body if i not in cut]
    return Thread(
        lines=body,
        posts=places,
        contents=tuple(contents),
        first=reader.names[first] if first else None,
    )


def _with_article(
    reader: PostReader, posts: list[int], kept: list[int], article: list[int]
) -> tuple[list[int], list[int]]:
    """The lines of the body, and those among them of a first post of another shape."""
    tree, worth = reader.tree, reader.lines.worth
    in_posts = set(kept)
    for post in posts:
        for i in range(tree.block_lines[post], tree.line_end(post)):
            if not reader.is_text[i]:
                in_posts.add(i)
    article = reader.without_template([i for i in article if i not in in_posts])
    missing = [
        i
        for i in article
        if worth[i] > 0 and not reader.is_date[i] and tree.line_text(i) not in tree.title
    ]
    # A first post of another shape stands before the others.
    is_before = any(i < kept[0] for i in missing)
    start = min(tree.block_lines[posts[0]], kept[0])
    before = [i for i in article if i < start] if is_before else []
    if sum(worth[i] for i in missing) > sum(reader.lines.own[i] for i in kept):
        return sorted([*kept, *article]), before
    return ([i for i in article if i < kept[0]] if is_before else []) + kept, before


def climb(tree: Tree, parts: Sequence[int], most: int | None = None) -> list[tuple[int, int]]:
    """For each part (largest part around it that holds no other of the parts, levels up to it).

    Args:
        tree: The page.
        parts: Blocks in order.
        most: How many levels at most.
    """
    parents = tree.block_parents
    inside = [0] * len(parents)
    for part in parts:
        inside[part] = 1
    for part in range(len(parents) - 1, 0, -1):
        inside[parents[part]] += inside[part]
    found = []
    for part in parts:
        top, levels = part, 0
        while parents[top] > 0 and inside[parents[top]] == inside[part] and levels != most:
            top, levels = parents[top], levels + 1
        found.append((top, levels))
    return found


def _places(
    reader: PostReader, parts: list[int], kept: list[int], quotes: list[int], levels: int
) -> tuple[PostPlace, ...]:
    """Assigns lines to posts: each has those of the largest part around it and no other post."""
    tree = reader.tree
    parents = tree.block_parents
    parts = sorted(set(parts))
    owner = [-1] * len(parents)
    # One alone would climb to the page's root.
    tops = climb(tree, parts, levels if len(parts) == 1 else None)
    for number, (top, _) in enumerate(tops):
        owner[top] = number
    for part in range(1, len(parents)):
        if owner[part] < 0:
            owner[part] = owner[parents[part]]
    texts: list[list[int]] = [[] for _ in parts]
    quoted: list[list[int]] = [[] for _ in parts]
    others: list[list[int]] = [[] for _ in parts]
    is_quote, is_kept = set(quotes), set(kept)
    for i, block in enumerate(tree.line_blocks):
        number = owner[block]
        if number >= 0:
            where = quoted if i in is_quote else texts if i in is_kept else others
            where[number].append(i)
    return tuple(
        PostPlace(part=part, texts=tuple(a), quotes=tuple(b), others=tuple(c))
        for part, a, b, c in zip(parts, texts, quoted, others, strict=True)
    )


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    words = sorted(word_list("forum_words"))
    return (
        tuple(word[1:] for word in words if word.startswith(".")),
        frozenset(word[1:] for word in words if word.startswith("/")),
        tuple(word for word in words if word[0] not in "./"),
    )
