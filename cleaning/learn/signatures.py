"""The signatures in a host's posts: parts whose text comes again in other posts of one author.

A signature is known by name on most forums (``data/part_names.txt``); where names say nothing, the
posts do: what an author writes is new each time, what stands below it is not.

Cost: linear in the lines of the posts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from cleaning.posts.names import Name
from cleaning.posts.parts import PostReader
from cleaning.posts.posts import PostSlots, author_of, read_slots
from cleaning.posts.threads import PostPlace

_LEAST_AGAIN = 3  # posts with a text that their author had before
_AGAIN_SHARE = 0.6  # of the posts whose author has others with such a part; an author may change it


class PostPart(NamedTuple):
    """A part of one post: its author and its text."""

    author: str
    text: str


def find_signatures(
    posts: Iterable[tuple[PostReader, PostPlace]], slots: PostSlots, contents: Collection[Name]
) -> tuple[Name, ...]:
    """Returns the names of the parts with signatures, sorted.

    Args:
        posts: The posts of a sample of threads, each with the reader of its page.
        slots: The slots of the posts; without one of authors there is no evidence.
        contents: Names of the parts with the texts of posts.
    """
    held: dict[Name, list[PostPart]] = {}
    for reader, place in posts:
        author = author_of(read_slots(reader.tree, place.others), slots.author)
        if author is not None:
            for name, text in _texts_of(reader, place).items():
                held.setdefault(name, []).append(PostPart(author, text))
    found = (name for name, parts in held.items() if name != next(iter(contents), name))
    return tuple(sorted(name for name in found if _comes_again(held[name])))


def _texts_of(reader: PostReader, place: PostPlace) -> dict[Name, str]:
    """The text of each named part inside a post, by the name of the part."""
    tree, found = reader.tree, dict[Name, list[str]]()
    ends = tree.block_ends[place.part]
    for line in place.texts:
        part = tree.line_blocks[line]
        met: set[Name] = set()
        while place.part <= part < ends:
            name = reader.names[part]
            if name[1] and name not in met:
                met.add(name)
                found.setdefault(name, []).append(tree.line_text(line))
            part = tree.block_parents[part]
    return {name: "\n".join(texts) for name, texts in found.items()}


def _comes_again(parts: list[PostPart]) -> bool:
    """Whether most posts of an author who has several have a text that another has, too."""
    authors = Counter(part.author for part in parts)
    again = sum(count - 1 for count in Counter(parts).values())
    several = sum(count - 1 for count in authors.values())
    return again >= _LEAST_AGAIN and again >= _AGAIN_SHARE * several
