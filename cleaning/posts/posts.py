"""The posts of a thread: author, time, floor and text, with quotes of other posts set off.

Where the posts stand is known from the body (``threads``); what stands around their texts tells
author, time and floor (``post_slots``). A quoted line begins with ``> ``.

Cost: linear in the lines of the posts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from cleaning.document.tree import Tree
from cleaning.features.code_blocks import text_of
from cleaning.posts.slots import (
    PostSlots,
    ReadTime,
    Slots,
    author_of,
    choose_slots,
    floor_of,
    read_slots,
)
from cleaning.posts.threads import PostPlace, Thread
from cleaning.records import CleanRecord, Post

QUOTE = "> "
_TIMES = 512


def read_posts(
    tree: Tree,
    thread: Thread,
    read_time: ReadTime,
    slots: PostSlots | None = None,
) -> tuple[Post, ...]:
    """The posts of a page in order.

    Args:
        tree: The page.
        thread: Where its posts stand.
        read_time: Reads the time in a short text.
        slots: Where the host's posts hold author, time and floor, when that is known.
    """
    read_time = lru_cache(maxsize=_TIMES)(read_time)  # asked for a slot, then for each post
    around = [read_slots(tree, place.others) for place in thread.posts]
    chosen = choose_slots(around, read_time)
    if slots is not None:
        chosen = PostSlots(
            author=slots.author or chosen.author,
            time=slots.time or chosen.time,
            floor=slots.floor or chosen.floor,
        )
    floors = _floors([floor_of(one, chosen.floor) for one in around])
    return tuple(
        _post(tree, place, one, _known(one, chosen, read_time), floor, read_time)
        for place, one, floor in zip(thread.posts, around, floors, strict=True)
    )


def first_post(posts: Sequence[Post]) -> Post:
    """The post a thread begins with; one that says nothing where the page does not show it."""
    if posts and posts[0].floor == 1:
        return posts[0]
    return Post(author=None, published_at=None, floor=1, body="")


def join_thread(records: Iterable[CleanRecord]) -> tuple[Post, ...]:
    """The posts of one thread's pages as one, in the order of their floors.

    A page whose floors begin anew is counted on from the one before it; posts that are shown on
    several pages (the first one above each, say) are kept once.

    Args:
        records: The thread's pages in their order.
    """
    joined: list[Post] = []
    seen: set[tuple[object, ...]] = set()
    for record in records:
        last = joined[-1].floor if joined else 0
        fresh = []
        for post in record.posts:
            key = (post.author, post.published_at, post.body)
            if key not in seen:
                seen.add(key)
                fresh.append(post)
        shift = last if fresh and fresh[0].floor <= last else 0
        joined += [replace(post, floor=post.floor + shift) for post in fresh]
    return tuple(joined)


def thread_markdown(title: str, posts: Sequence[Post]) -> str:
    """A thread as Markdown: its title, and a heading and the text of each post."""
    parts = [f"# {title}"] if title else []
    for post in posts:
        about = [f"#{post.floor}", post.author or ""]
        if post.published_at is not None:
            about.append(post.published_at.strftime("%Y-%m-%d %H:%M"))
        parts.append("## " + " · ".join(filter(None, about)))
        if post.body:
            # A paragraph a line; a quote's lines belong together.
            groups = groupby(post.body.split("\n"), key=lambda line: line.startswith(QUOTE))
            parts += [
                text
                for is_quote, lines in groups
                for text in (["\n".join(lines)] if is_quote else lines)
            ]
    return "\n\n".join(parts) + "\n" if parts else ""


def _post(
    tree: Tree,
    place: PostPlace,
    around: Slots,
    slots: PostSlots,
    floor: int,
    read_time: ReadTime,
) -> Post:
    quotes = frozenset(place.quotes)
    time = around.get(slots.time) if slots.time else None
    pieces = []
    lines = sorted({*place.texts, *place.quotes})
    for is_quote, group in groupby(lines, key=quotes.__contains__):
        text = text_of(tree, list(group))
        pieces.append(f"{QUOTE}{text}".replace("\n", f"\n{QUOTE}") if is_quote else text)
    return Post(
        author=author_of(around, slots.author),
        published_at=read_time(time.text) if time else None,
        floor=floor,
        body="\n".join(pieces),
    )


def _known(around: Slots, chosen: PostSlots, read_time: ReadTime) -> PostSlots:
    """The slots of one post: those of all posts, its own where it has another shape."""
    if (chosen.author in around or not chosen.author) and (
        chosen.time in around or not chosen.time
    ):
        return chosen
    own = choose_slots([around], read_time)
    return PostSlots(
        author=chosen.author if chosen.author in around else own.author,
        time=chosen.time if chosen.time in around else own.time,
    )


def _floors(shown: Sequence[int | None]) -> list[int]:
    """The floor of each post, growing: as shown, counted on where nothing is shown."""
    if not shown:
        return []
    first = next(((i, floor) for i, floor in enumerate(shown) if floor is not None), None)
    if first is None:
        return list(range(1, len(shown) + 1))
    # Replies that are counted from 1 below a first post without a number.
    shift = max(0, first[0] + 1 - first[1])
    floors: list[int] = []
    for i, floor in enumerate(shown):
        least = floors[-1] + 1 if floors else 1
        guess = first[1] - first[0] + i if i < first[0] else least
        floors.append(max(least, guess if floor is None else floor + shift))
    return floors
