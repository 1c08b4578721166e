"""Members of a manual, which stand below one another as the posts of a thread do.

A function, an option or a section has its name where a post has its author. Names of members are
addresses: links lead to them, by name (``#Form.clean`` to ``Form.clean()``, from the page itself or
from another) or from a table of contents. Names of users are no places of a page, and the places of
posts have names with numbers.

Cost: linear in the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.posts import texts_around
from crawlclean.cleaning.posts.threads import Thread, find_thread

_NO_LETTERS = re.compile(r"[\W\d_]+")
_END = re.compile("[.:]")
_MOST_ENDS = 8  # of an address
_LEAST_NAMED = 2  # posts with the name of a place ...
_BUTTON_SHARE = 0.5
_MEMBERS_SHARE = 0.5  # ... and their share of all, from which they are members


def find_thread_of_users(reader: PostFinder, article: list[int], title: str) -> Thread | None:
    """Finds the posts of a page by this page alone; None without, and for members of a manual.

    Args:
        reader: The page.
        article: The lines of its body as an article.
        title: Text of the title's line.
    """
    thread = find_thread(reader, article, title)
    return None if thread is None or are_members(reader.tree, thread) else thread


def are_members(tree: Tree, thread: Thread) -> bool:
    """Returns whether the posts found on a page are members of a manual.

    Args:
        tree: The page.
        thread: The places of the posts.
    """
    addresses = frozenset(_addresses(tree, thread))
    if not addresses:
        return False
    posts = [
        {_letters(text) for _, text, _ in texts_around(tree, place.others)}
        for place in thread.posts
    ]
    counts = Counter(name for names in posts for name in names)
    # What stands in most posts is a button.
    often = {name for name, count in counts.items() if 1 < count > _BUTTON_SHARE * len(posts)}
    named = sum(not addresses.isdisjoint(names - often) for names in posts)
    return named >= max(_LEAST_NAMED, _MEMBERS_SHARE * len(posts))


def _addresses(tree: Tree, thread: Thread) -> Iterator[str]:
    """The letters of the places that links name, and of links outside the posts to places."""
    held = {i for place in thread.posts for i in (*place.texts, *place.quotes, *place.others)}
    for anchor in tree.anchors:
        page, _, name = anchor.href.partition("#")
        if not name:
            continue
        yield from filter(None, map(_letters, _ends(name)))
        if not page and anchor.start < anchor.end and tree.line_of[anchor.start] not in held:
            letters = _letters("".join(tree.texts[anchor.start : anchor.end]))
            if letters:
                yield letters


def _ends(name: str) -> Iterator[str]:
    """A name without its parameters, and its ends behind dots and colons."""
    name = name.partition("(")[0]
    for _ in range(_MOST_ENDS):
        yield name
        match = _END.search(name)
        if match is None:
            return
        name = name[match.end() :]


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    """The letters of a text: ``formclean`` of ``Form.clean()``."""
    return _NO_LETTERS.sub("", text).casefold()
