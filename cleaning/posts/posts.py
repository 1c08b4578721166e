"""The posts of a thread: author, time, floor and text; lines of quotes begin with ``> ``.

The places of the posts are known from the body. Author, time and floor are read from
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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby, pairwise
from urllib.parse import urlsplit

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.code_blocks import text_of
from crawlclean.cleaning.features.lines import plain_title
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.parts import PostReader, is_date, is_name
from crawlclean.cleaning.posts.runs import Name, name_of
from crawlclean.cleaning.records import Post

# Threads: whether a page is of a forum, and the places of its posts.
#
# A thread's page repeats one part for every post, with author, time and buttons around the text;
# the posts are the body. After paper 5's KSF, which lets the posts vote for the class of their
# contents (``posts.groups``). The body is the text of all contents, without subjects, signatures
# and quotes of other posts. An article found on the page without posts joins them where it holds
# more text; a first post of another shape comes before the others.
#
# With a rule of the host (``learn/post_rules``) the names of the contents are known: then a page
# with one post, or with posts of a few words, is a thread too.
#
# Only pages whose address or title has a word for forums (``data/forum_words.txt``) are read as
# threads: an article with comments has the same structure.

_SEPARATOR = re.compile(r"[-_|–—·»«]")
_MAX_PARAMETERS = 12  # of an address; those that name a thread come first
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
    is_one = len(place.texts) == 1 and title != ""
    return is_one and title in plain_title(tree.line_text(place.texts[0]))


def find_thread_of_users(reader: PostFinder, article: list[int], title: str) -> Thread | None:
    """Finds the posts of a page by this page alone; None without, and for members of a manual.

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
    thread = Thread(
        lines=body,
        posts=places,
        contents=tuple(contents),
        first=reader.names[first] if first else None,
    )
    return None if are_members(reader.tree, thread) else thread


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
    found: list[tuple[list[int], list[int], list[int]]] = [([], [], []) for _ in parts]
    is_quote, is_kept = set(quotes), set(kept)
    for i, block in enumerate(tree.line_blocks):
        if owner[block] >= 0:
            texts, quoted, others = found[owner[block]]
            (quoted if i in is_quote else texts if i in is_kept else others).append(i)
    return tuple(
        PostPlace(part=part, texts=tuple(texts), quotes=tuple(quoted), others=tuple(others))
        for part, (texts, quoted, others) in zip(parts, found, strict=True)
    )


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    words = sorted(word_list("forum_words"))
    return (
        tuple(word[1:] for word in words if word.startswith(".")),
        frozenset(word[1:] for word in words if word.startswith("/")),
        tuple(word for word in words if word[0] not in "./"),
    )


QUOTE = "> "
_TIMES = 512  # short texts of a page whose time is remembered
_MAX_LINES = 80  # around one post
_MAX_POSTS = 200  # that slots are chosen by
_MAX_SLOT_CHARS = 120  # of a text around a post: names, times and floors are shorter
_FLOOR = re.compile(
    r"(?:^|\s)#\s?(\d{1,6})\b|\b(\d{1,6})\s?#|第?\s?(\d{1,6})\s?[楼樓层層](?!上)|^\W*(\d{1,6})(?:\s|$)|\b(\d{1,5})F\b"
)
_NAMED_FLOORS = {"楼主": 1, "樓主": 1, "沙发": 2, "沙發": 2, "板凳": 3, "地板": 4}
_DIGIT = re.compile(r"\d")
_MAX_FLOOR_CHARS = 40  # the number of a floor stands at the beginning of its text
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
    shown = [one.get(chosen.floor) if chosen.floor else None for one in around]
    floors = _floors([_floor_in(found.text) if found else None for found in shown])
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

    def best(score: Callable[[Slot, list[tuple[int, SlotText]]], float]) -> Slot | None:
        """The slot with the highest score above 0; None without."""
        points = {slot: score(slot, found) for slot, found in often.items()}
        slot = max(points, key=points.__getitem__, default=None)
        return slot if slot is not None and points[slot] > 0 else None

    return PostSlots(
        author=known.author or best(lambda slot, found: _score_author(slot, found, posts)),
        time=known.time or best(lambda _, found: _score_time(found, count, read_time)),
        floor=known.floor or best(lambda _, found: _score_floor(found, count)),
    )


def author_of(slots: Slots, slot: Slot | None) -> str | None:
    """The author of a post; None without."""
    found = slots.get(slot) if slot else None
    name = _name_in(found.text) if found else ""
    return name or None


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


# Members of a manual, which stand below one another as the posts of a thread do.
#
# A function, an option or a section has its name where a post has its author. Names of members are
# addresses: links lead to them, by name (``#Form.clean`` to ``Form.clean()``, from the page itself
# or from another) or from a table of contents. Names of users are no places of a page, and the
# places of posts have names with numbers.
#
# Cost: linear in the page.

_NO_LETTERS = re.compile(r"[\W\d_]+")
_END = re.compile("[.:]")
_MOST_ENDS = 8  # of an address
_LEAST_NAMED = 2  # posts with the name of a place ...
_BUTTON_SHARE = 0.5  # of the posts; names of members differ from post to post
_MEMBERS_SHARE = 0.5  # ... and their share of all, from which they are members


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
