"""The posts of a thread: author, time, floor and text; lines of quotes begin with ``> ``.

The places of the posts are known from the body (``threads``). Author, time and floor are read from
*slots*: texts that stand in one place of every post. A slot is the name of the part a text stands
in, whether the text is a link, and how many of the kind come before it in the post. One slot of all
posts holds the authors, one the times, one the floors; each is known by what its texts have in
common over the posts, which one post alone does not show:

* floors count up by one;
* times do not run backwards, the day of a user's registration does;
* authors are short, no dates or numbers, not equal in all posts; one name has one address.

Names of parts and addresses with words for users are evidence too, and the only evidence on a page
with one post.

Cost: linear in the lines of the posts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby, pairwise

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.code_blocks import text_of
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.posts.names import Name, name_of
from crawlclean.cleaning.posts.parts import is_date, is_name
from crawlclean.cleaning.posts.threads import PostPlace, Thread
from crawlclean.cleaning.records import Post

QUOTE = "> "
_TIMES = 512
_MAX_LINES = 80  # around one post
_MAX_POSTS = 200  # that slots are chosen by
_MAX_SLOT_CHARS = 120
_FLOOR = re.compile(
    r"(?:^|\s)#\s?(\d{1,6})\b|\b(\d{1,6})\s?#|第?\s?(\d{1,6})\s?[楼樓层層](?!上)|^\W*(\d{1,6})(?:\s|$)|\b(\d{1,5})F\b"
)
_NAMED_FLOORS = {"楼主": 1, "樓主": 1, "沙发": 2, "沙發": 2, "板凳": 3, "地板": 4}
_DIGIT = re.compile(r"\d")
_MAX_FLOOR_CHARS = 40
_WORD = re.compile("[A-Za-z][a-z]*")
_LABEL = re.compile(r"^(?:by|posted by|作者|楼主|发帖人|author)\s?[:：]?\s*", re.I)
_CLOCK = re.compile(r"\d{1,2}[:：]\d{2}")
ReadTime = Callable[[str], datetime | None]
"""Reads the time in a short text, ``发表于 2024-5-1 08:30``; None without."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a post.

    Attributes:
        part: Tag and first name of the part the text stands in: ``("a", "username")``.
        around: Tag and first name of the part around it.
        is_link: Whether the text is a link's.
        turn: Number of equal places before it in the post.
    """

    part: tuple[str, str]
    around: tuple[str, str]
    is_link: bool
    turn: int


@dataclass(frozen=True, slots=True)
class SlotText:
    """The text of a slot in one post; ``href`` is raw, ``""`` outside a link."""

    text: str
    href: str = ""


Slots = dict[Slot, SlotText]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostSlots:
    """The slots of a host's posts; None for an unknown one."""

    author: Slot | None = None
    time: Slot | None = None
    floor: Slot | None = None


_NO_SLOTS = PostSlots()


def read_posts(
    tree: Tree,
    thread: Thread,
    read_time: ReadTime,
    slots: PostSlots | None = None,
) -> tuple[Post, ...]:
    """Reads the posts of a page in order.

    Args:
        tree: The page.
        thread: The places of its posts.
        read_time: Reads the time in a short text.
        slots: The slots of the host's posts, if learned.
    """
    read_time = lru_cache(maxsize=_TIMES)(read_time)  # called for the slot, then for each post
    around = [read_slots(tree, place.others) for place in thread.posts]
    chosen = choose_slots(around, read_time, slots or _NO_SLOTS)
    floors = _floors([floor_of(one, chosen.floor) for one in around])
    posts = []
    for place, texts, floor in zip(thread.posts, around, floors, strict=True):
        own = _known(texts, chosen, read_time)
        time = texts.get(own.time) if own.time else None
        post = Post(
            author=author_of(texts, own.author),
            published_at=read_time(time.text) if time else None,
            floor=floor,
            body=_text_of(tree, place),
        )
        posts.append(post)
    return tuple(posts)


def first_post(posts: Sequence[Post]) -> Post:
    """Returns the post a thread begins with; an empty one when the page does not show it."""
    if posts and posts[0].floor == 1:
        return posts[0]
    return Post(author=None, published_at=None, floor=1, body="")


def _text_of(tree: Tree, place: PostPlace) -> str:
    """Returns the text of a post; each line of a quote begins with ``> ``."""
    quotes = frozenset(place.quotes)
    pieces = []
    lines = sorted({*place.texts, *place.quotes})
    for is_quote, group in groupby(lines, key=quotes.__contains__):
        text = text_of(tree, list(group))
        pieces.append(f"{QUOTE}{text}".replace("\n", f"\n{QUOTE}") if is_quote else text)
    return "\n".join(pieces)


def _known(around: Slots, chosen: PostSlots, read_time: ReadTime) -> PostSlots:
    """The slots of one post: those of all posts, or its own where it has another shape."""
    if (chosen.author in around or not chosen.author) and (
        chosen.time in around or not chosen.time
    ):
        return chosen
    shown = PostSlots(
        author=chosen.author if chosen.author in around else None,
        time=chosen.time if chosen.time in around else None,
        floor=chosen.floor,
    )
    return choose_slots([around], read_time, shown)


def _floors(shown: Sequence[int | None]) -> list[int]:
    """The floor of each post, growing: as shown, else counted from the floor before."""
    if not shown:
        return []
    first = next(((i, floor) for i, floor in enumerate(shown) if floor is not None), None)
    if first is None:
        return list(range(1, len(shown) + 1))
    # Replies may be counted from 1 below a first post without a number.
    shift = max(0, first[0] + 1 - first[1])
    floors: list[int] = []
    for i, floor in enumerate(shown):
        least = floors[-1] + 1 if floors else 1
        guess = first[1] - first[0] + i if i < first[0] else least
        floors.append(max(least, guess if floor is None else floor + shift))
    return floors


def read_slots(tree: Tree, lines: Sequence[int], names: Sequence[Name] | None = None) -> Slots:
    """Collects the texts around one post by slot.

    Args:
        tree: The page.
        lines: The lines around the post's text, in order; of many the first and the last ones.
        names: The name of each part, where its own is not meant.
    """
    found: Slots = {}
    turns: dict[tuple[tuple[str, str], tuple[str, str], bool], int] = {}
    for block, text, href in texts_around(tree, lines):
        above = max(tree.block_parents[block], 0)
        # Its first name alone: others separate odd from even, first from last.
        if names is not None:
            part, around = names[block], (names[above][0], names[above][1].partition(" ")[0])
        else:
            part = name_of(tree.block_tags[block], tree.block_names[block])
            around = name_of(tree.block_tags[above], tree.block_names[above].partition(" ")[0])
        is_link = href is not None
        turn = turns.get((part, around, is_link), 0)
        turns[part, around, is_link] = turn + 1
        found[Slot(part, around, is_link, turn)] = SlotText(text, href or "")
    return found


def texts_around(tree: Tree, lines: Sequence[int]) -> Iterator[tuple[int, str, str | None]]:
    """Yields (block, text, address) of lines around one post and of their links, in order.

    Args:
        tree: The page.
        lines: The lines; of many the first and the last ones.
    """
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES // 2], *lines[-_MAX_LINES // 2 :]]
    for line in lines:
        start, end = tree.line_runs(line)
        block = tree.line_blocks[line]
        if end - start > 1 or tree.anchor_of[start] < 0:
            yield block, tree.line_text(line)[:_MAX_SLOT_CHARS], None
        last = -1
        for run in range(start, end):
            anchor = tree.anchor_of[run]
            if anchor >= 0 and anchor != last:
                link = tree.anchors[anchor]
                text = " ".join("".join(tree.texts[run : min(link.end, end)]).split())
                yield block, text[:_MAX_SLOT_CHARS], link.href
            last = anchor


def choose_slots(
    posts: Sequence[Slots], read_time: ReadTime, known: PostSlots = _NO_SLOTS
) -> PostSlots:
    """Chooses the slots that hold authors, times and floors of posts.

    Args:
        posts: The slots of each post in order, of one page or of several pages in a row.
        read_time: Reads times.
        known: Slots that are known and not chosen.
    """
    posts = posts[:_MAX_POSTS]
    texts: dict[Slot, list[tuple[int, SlotText]]] = {}
    for number, slots in enumerate(posts):
        for slot, text in slots.items():
            texts.setdefault(slot, []).append((number, text))
    count = len(posts)
    often = {slot: found for slot, found in texts.items() if 2 * len(found) > count}
    return PostSlots(
        author=known.author or _best(often, lambda slot, found: _score_author(slot, found, posts)),
        time=known.time or _best(often, lambda _, found: _score_time(found, count, read_time)),
        floor=known.floor or _best(often, lambda _, found: _score_floor(found, count)),
    )


def author_of(slots: Slots, slot: Slot | None) -> str | None:
    """The author of a post; None without."""
    found = slots.get(slot) if slot else None
    name = _name_in(found.text) if found else ""
    return name or None


def floor_of(slots: Slots, slot: Slot | None) -> int | None:
    """The floor that a post shows; None without."""
    found = slots.get(slot) if slot else None
    return _floor_in(found.text) if found else None


def _best(
    texts: dict[Slot, list[tuple[int, SlotText]]],
    score: Callable[[Slot, list[tuple[int, SlotText]]], float],
) -> Slot | None:
    """The slot with the highest score above 0; None without."""
    best, most = None, 0.0
    for slot, found in texts.items():
        points = score(slot, found)
        if points > most:
            best, most = slot, points
    return best


def _score_author(slot: Slot, found: list[tuple[int, SlotText]], posts: Sequence[Slots]) -> float:
    """Score of a slot as the author's: names that differ, links to users, words for authors."""
    names = [_name_in(text.text) for _, text in found]
    valid = [name for name in names if name]
    if 2 * len(valid) <= len(posts) or (len(valid) > 2 and len(set(valid)) == 1):
        return 0.0
    points = len(valid) / len(posts) + 0.3 * len(set(valid)) / len(valid)
    if _has_author_word(" ".join((*slot.part[1:], slot.around[1]))):
        points += 0.6
    if slot.is_link:
        points += 0.2
        hrefs = [text.href for _, text in found if text.href]
        points += 0.6 * sum(map(_has_author_word, hrefs)) / len(found)
        pairs = {(text.text, text.href) for _, text in found}
        if len(pairs) == len(set(hrefs)) == len({text.text for _, text in found}):
            points += 0.3
    # A name is often shown twice: beside the picture and in a line about the post.
    twice = sum(
        sum(other.text == text.text for other in posts[number].values()) > 1 + slot.is_link
        for number, text in found
    )
    return points + 0.2 * twice / len(found)


def _score_time(found: list[tuple[int, SlotText]], count: int, read_time: ReadTime) -> float:
    """Score of a slot as the time's: dates that do not run backwards."""
    if not is_date(found[0][1].text) and not is_date(found[-1][1].text):
        return 0.0
    times = [
        (read_time(text.text), _CLOCK.search(text.text) is not None)
        for _, text in found
        if is_date(text.text)
    ]
    read = [when for when, _ in times if when is not None]
    if 2 * len(read) <= count:
        return 0.0
    steps = [a <= b for a, b in pairwise(read)]
    order = sum(steps) / len(steps) if steps else 0.5
    return len(read) / count + order + 0.5 * sum(clock for _, clock in times) / len(times)


def _score_floor(found: list[tuple[int, SlotText]], count: int) -> float:
    """Score of a slot as the floor's: numbers that count up by one."""
    if _floor_in(found[0][1].text) is None and _floor_in(found[-1][1].text) is None:
        return 0.0
    floors = [(number, _floor_in(text.text)) for number, text in found]
    known = [(number, floor) for number, floor in floors if floor is not None]
    if 2 * len(known) <= count:
        return 0.0
    if len(known) == 1:
        return 0.5 if any(mark in found[0][1].text for mark in "#楼樓层層") else 0.0
    steps = [b - a == there - here for (here, a), (there, b) in pairwise(known)]
    right = sum(steps) / len(steps)
    return len(known) / count + right if right > 0.7 else 0.0


def _floor_in(text: str) -> int | None:
    """The floor in a text, such as 3 in ``#3`` and 2 in ``沙发``; None without."""
    match = _FLOOR.search(text[:_MAX_FLOOR_CHARS]) if _DIGIT.search(text) else None
    if match is None:
        return _NAMED_FLOORS.get(text.strip())
    return int(next(filter(None, match.groups())))


def _name_in(text: str) -> str:
    """The author's name in a text; ``""`` when the text is no name."""
    name = _LABEL.sub("", text).strip()
    return name if is_name(name) else ""


@lru_cache(maxsize=4096)
def _has_author_word(text: str) -> bool:
    """Whether class names or an address have a word for authors: ``post-author``, ``/member/``."""
    words = word_list("author_words")
    return any(word.lower() in words for word in _WORD.findall(text))
