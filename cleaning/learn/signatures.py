"""The signatures in a host's posts: parts whose text comes again in other posts of one author.

A signature is known by name on most forums (``data/part_names.txt``); where names say nothing, the
posts do: what an author writes is new each time, what stands at its end is the same in thread after
thread. Code that an author repeats within a thread is no such part, nor is a part before text.

Cost: linear in the lines of the posts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from crawlclean.cleaning.posts.names import Name
from crawlclean.cleaning.posts.parts import PostReader
from crawlclean.cleaning.posts.posts import PostSlots, author_of, read_slots
from crawlclean.cleaning.posts.threads import PostPlace

_LEAST_AGAIN = 3  # threads with a text that its author had in another
_AGAIN_SHARE = 0.6  # of the threads whose author has such a part in others; authors change theirs
_LAST_SHARE = 0.9  # of the posts with a part, in which no text follows it


class PostPart(NamedTuple):
    """What one author has in the parts of one name in one thread."""

    author: str
    page: int
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
    held: dict[Name, set[PostPart]] = {}
    seen: Counter[Name] = Counter()
    last: Counter[Name] = Counter()
    for reader, place in posts:
        author = author_of(read_slots(reader.tree, place.others), slots.author)
        if author is not None:
            texts = _texts_of(reader, place)
            for name, text in texts.items():
                held.setdefault(name, set()).add(PostPart(author, id(reader), text))
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


def _comes_again(parts: Collection[PostPart]) -> bool:
    """Whether most threads of an author in several have a text that another has, too."""
    authors = Counter(author for author, _ in {(part.author, part.page) for part in parts})
    again = sum(n - 1 for n in Counter((part.author, part.text) for part in parts).values())
    several = sum(count - 1 for count in authors.values())
    return again >= _LEAST_AGAIN and again >= _AGAIN_SHARE * several
