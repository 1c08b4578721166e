"""The member ``stories``: near-duplicates of all crawls and hosts as stories, and how a page joins.

A page with a signature (``cleaning/topics/stories.py``) is a member. Members of one story have its
number as ``story``; a member without a number is alone. The number of a story is the least number
of its members' pages (``number_of``), so every order of arrival ends at one number.

``stories`` holds pointers: two stories that turn out to be one are joined by a row from the larger
number to the smaller. A row is inserted once and only its target may fall, so two workers that
join at the same moment need no lock: each follows the pointers to their ends and links these, and
begins again when another has linked one of them first.

A page joins a story when it matches the earliest or the longest member. Any member would let a
story drift: each copy is like the one before, and the last is like none of the first ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.topics.stories import BINS, is_same_story, record_signature, story_keys
from crawlclean.storage.store.ports import Member, PackedRecord, Row, Scan, Tables, Where, steps
from crawlclean.storage.store.rows import to_microseconds, unpack_text

KEY_ROWS = 32
"""Members read for a key, the oldest ones: a key of a template has thousands. A search for a story
of a thousand pages reads all these rows of its 21 keys, which is most of what it costs."""

CANDIDATES = 32
"""Members compared with a page, those with the most keys in common."""

OF_STORY = 4
"""Candidates of one story that are read whole: one that matches leads to the story."""

MOST_PAGES = 1_000
"""Members of a story that are read to be shown; its earliest and its longest are among them."""

RECENT_US = 30 * 86_400 * 1_000_000
"""A date of publication is believed when it lies in this time before the fetch."""

CLEARED_POINTERS = 200
"""Pointers that a rebuild looks at in one step."""

AT_ONCE_POINTERS = 10_000
"""Pointers that are looked up in one read, the most that ``Tables.get`` takes."""

FENCE = ("fetched_at", "model_version", "digest")
"""Columns that name a version of a record."""

ATTEMPTS = 50  # many are needed only when others join the same stories
NUMBER_DIGITS = 15  # hex digits of a page id, 60 bits: both stores have signed numbers of 64


@dataclass(frozen=True, slots=True)
class StoryMember:
    """A page in the index of stories.

    Attributes:
        ref: Its key in the database.
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        host: Its host.
        sketch: The first 64 bytes of its signature.
        chars: Characters of its body.
        at: When it was published, if that is known and less than 30 days before the fetch; else
            when it was fetched first; microseconds since 1970 UTC.
        story: Number of its story, not followed; None: it is alone.
        url: As fetched; only of the pages of a ``Story``.
    """

    ref: Any = field(compare=False)  # a record that is saved again has another
    page_id: str
    crawl_id: str
    host: str
    sketch: bytes
    chars: int
    at: int
    story: int | None = None
    url: str = ""

    @property
    def number(self) -> int:
        """The number of its story, or of the story it would found."""
        return number_of(self.page_id) if self.story is None else self.story

    def matches(self, other: StoryMember) -> bool:
        """Whether both tell the same story."""
        return is_same_story(
            self.sketch, self.chars, other.sketch, other.chars, same_host=self.host == other.host
        )


class StoryRows(ABC):
    """The index of stories; the rows of ``signatures``, its members, are each database's own.

    Attributes:
        candidate: Columns of ``signatures`` for what ``similar`` returns; the first is the key.
        version: Those that name a version of a member.
    """

    candidate: tuple[str, str, str, str]
    version: tuple[str, ...]

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @abstractmethod
    def read(self, where: Where) -> list[StoryMember]:
        """The members of a condition, the earliest first."""

    @abstractmethod
    def first(
        self, numbers: Sequence[int], by: Literal["at", "chars"], limit: int, *, backwards: bool
    ) -> list[StoryMember]:
        """The first members with one of these numbers, by a column."""

    @abstractmethod
    def labelled(self) -> list[tuple[str, str, int, int]]:
        """(page, host, time, number) of every member that is not alone."""

    @abstractmethod
    def mark(self, members: Sequence[StoryMember]) -> None:
        """Marks the statistics of the members' hosts as old."""

    @abstractmethod
    def row_of(self, page: StoryMember, signature: bytes, fence: Sequence[Any]) -> Row:
        """The row of a member without its keys; ``fence`` has the values of ``FENCE``."""

    @abstractmethod
    def ref_of(self, packed: PackedRecord) -> Any:
        """``StoryMember.ref`` of a record."""

    @abstractmethod
    def clear_members(self, until: int) -> Iterator[None]:
        """Takes records with ``saved_seq`` <= ``until`` out of the index, some in each step."""

    def clear(self, until: int) -> Iterator[None]:
        """Takes these records out of the index, then pointers that lead to none, in steps."""
        yield from self.clear_members(until)
        wanted = Scan("stories", ("story",), order=("story",), after=(-1,))
        for rows in steps(self._tables, wanted, CLEARED_POINTERS):
            after_deletion(self, [row[0] for row in rows])
            yield

    def insert(
        self, page: StoryMember, signature: bytes, fence: Sequence[Any]
    ) -> StoryMember | None:
        """Adds a record to the index; returns its member, or the one that a killed call added.

        None: the record was replaced or deleted meanwhile.
        """
        row = self.row_of(page, signature, fence)
        if self._tables.add_keyed("signatures", row, story_keys(signature)):
            return page
        known = self.read({name: row[name] for name in self.version})
        return next(iter(known), None)

    def similar(self, keys: Sequence[int], own: Any) -> list[tuple[Any, bytes, int, int | None]]:
        """At most ``CANDIDATES`` members other than ``own``, those with most common keys first.

        Each is (``StoryMember.ref``, sketch, characters, number of its story): no host is read.
        """
        most = CANDIDATES + 1
        found = self._tables.nearest("signatures", keys, self.candidate, KEY_ROWS, most)
        others = [
            (ref, bytes(signature)[:BINS], chars, story)
            for ref, signature, chars, story in found
            if ref != own
        ]
        return others[:CANDIDATES]

    def ends(self, numbers: Sequence[int]) -> list[StoryMember]:
        """The earliest and the longest member with one of these numbers; none or two."""
        earliest = self.first(numbers, "at", 1, backwards=False)
        return earliest + self.first(numbers, "chars", 1, backwards=True)

    def targets(self, numbers: Iterable[int]) -> dict[int, int]:
        """Where the pointers of these numbers lead; a number without pointer is not in it."""
        asked = [(number,) for number in numbers]
        found: dict[int, int] = {}
        for start in range(0, len(asked), AT_ONCE_POINTERS):
            keys = asked[start : start + AT_ONCE_POINTERS]
            rows = self._tables.get("stories", keys, ("target",))
            found.update({key[0]: row[0] for key, row in rows.items()})
        return found

    def sources(self, numbers: Sequence[int]) -> list[int]:
        """The numbers whose pointers lead to one of these."""
        rows = self._tables.scan(Scan("stories", ("story",), {"target": list(numbers)}))
        return [row[0] for row in rows]

    def link(self, number: int, target: int) -> bool:
        """Adds a pointer; False when the number has one."""
        return bool(self._tables.add("stories", [{"story": number, "target": target}]))

    def shorten(self, number: int, target: int) -> None:
        """Lets a pointer lead to a smaller number."""
        self._tables.lower("stories", {"story": number}, "target", target)

    def label(self, refs: Sequence[Any], number: int) -> None:
        """Sets the number of members, unless theirs is smaller."""
        self._tables.lower("signatures", {self.candidate[0]: list(refs)}, "story", number)

    def drop(self, numbers: Sequence[int]) -> None:
        """Deletes the pointers of these numbers."""
        self._tables.delete("stories", {"story": list(numbers)})

    def pointers(self) -> dict[int, int]:
        """Every pointer."""
        found: Any = self._tables.scan(Scan("stories", ("story", "target")))
        return dict(found)

    def urls(self, members: Sequence[StoryMember]) -> dict[tuple[str, str], str]:
        """The URL of each member by page and crawl."""
        keys = [(each.page_id, each.crawl_id) for each in members]
        rows = self._tables.get("urls", keys, ("url",))
        return {(key[0], key[1]): row[0] for key, row in rows.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Pages that tell one story.

    Attributes:
        story_id: 15 hex digits: ``4f1193a0c27be51``.
        pages: Its pages, the earliest first, each URL once; at most ``MOST_PAGES``.
        earliest: The page that was first seen or published.
        longest: The page with the longest body.
    """

    story_id: str
    pages: tuple[StoryMember, ...]
    earliest: StoryMember
    longest: StoryMember


def number_of(page_id: str) -> int:
    """The number of the story that a page founds: its first 60 bits, ``0x4f1193a0c27be51``."""
    return int(page_id[:NUMBER_DIGITS], 16)


def next_member(
    ref: Any, record: CleanRecord, place: tuple[str, str], sketch: bytes, known: StoryMember | None
) -> StoryMember:
    """The row of a page, before it joins a story.

    A page that still tells its story keeps the time at which it was first seen. A page that tells
    another leaves its story under a number that nothing leads from.

    Args:
        ref: Its key in the database.
        record: Its record.
        place: Its crawl and its host.
        sketch: The first 64 bytes of its signature.
        known: Its row so far, or None.
    """
    page = StoryMember(
        ref=ref,
        page_id=record.page_id,
        crawl_id=place[0],
        host=place[1],
        sketch=sketch,
        chars=len(record.body),
        at=seen_at(record),
    )
    if known is None:
        return page
    if known.matches(page):
        return replace(page, at=min(known.at, page.at), story=known.story)
    if known.story is None:
        return page
    return replace(page, story=fresh_number(page))


def fresh_number(page: StoryMember) -> int:
    """A number that nothing leads from, for a page whose own number is of another story."""
    return number_of(blake2b(page.page_id.encode() + page.sketch, digest_size=16).hexdigest())


def seen_at(record: CleanRecord) -> int:
    """When a page was first seen: published in the 30 days before the fetch, else fetched."""
    fetched = to_microseconds(record.fetched_at)
    if record.published_at is None:
        return fetched
    published = to_microseconds(record.published_at)
    return published if fetched - RECENT_US <= published <= fetched else fetched


def follow(rows: StoryRows, numbers: Iterable[int]) -> dict[int, int]:
    """The end of the pointers of each number, and of each end."""
    ends = {number: number for number in numbers}
    open_numbers = set(ends)
    while open_numbers:
        targets = rows.targets({ends[number] for number in open_numbers})
        open_numbers = {number for number in open_numbers if ends[number] in targets}
        for number in open_numbers:
            ends[number] = targets[ends[number]]
    return ends | {end: end for end in ends.values()}


def numbers_of(rows: StoryRows, root: int) -> list[int]:
    """The numbers that its members may have: the story's own, and those that lead to it."""
    found, newest = [root], [root]
    while newest:
        newest = [each for each in rows.sources(newest) if each not in found]
        found += newest
    return found


def join(
    rows: StoryRows, page: StoryMember, keys: Sequence[int], *, is_unseen: bool = False
) -> None:
    """Joins a page, whose row is written, with the stories that it matches.

    Repeating it changes nothing, and completes what a killed process began.

    Args:
        rows: The database.
        page: The page.
        keys: Of its signature.
        is_unseen: Whether nobody can have seen the page alone, because it is new and others wait
            for the end of its transaction. It needs no pointer then: each one of a story is read
            whenever a page joins.
    """
    matching = matches(rows, page, keys)
    if not matching:
        return
    for _ in range(ATTEMPTS):
        ends = follow(rows, [each.number for each in (page, *matching)])
        joined, first = _stories_to_join(rows, page, matching, ends)
        if not joined:
            return
        known = joined if is_unseen else [page, *joined]
        numbers = {ends[each.number] for each in known}
        root = min(numbers | {page.number} if ends[page.number] == page.number else numbers)
        numbers |= {each.number for each in known}
        if _point(rows, numbers, ends, root):
            alone = [each.ref for each in joined if each.story is None]
            rows.label([page.ref, *alone], root)
            rows.mark([page, *first])
            return
    raise StoreUnavailable("others join the same stories all the time: try again")


def matches(rows: StoryRows, page: StoryMember, keys: Sequence[int]) -> list[StoryMember]:
    """The members that tell what a page tells, at most ``OF_STORY`` with one story's number."""
    near = []
    read: Counter[int] = Counter()
    for ref, sketch, chars, story in rows.similar(keys, page.ref):
        # By the rule for two hosts, which the rule for one host implies.
        if is_same_story(page.sketch, page.chars, sketch, chars):
            if story is not None:
                read[story] += 1
            if story is None or read[story] <= OF_STORY:
                near.append(ref)
    known = rows.read({rows.candidate[0]: near}) if near else []
    return [each for each in known if page.matches(each)]


def _stories_to_join(
    rows: StoryRows, page: StoryMember, matching: Sequence[StoryMember], ends: dict[int, int]
) -> tuple[list[StoryMember], list[StoryMember]]:
    """The matching members whose story the page joins, and the earliest member of each story."""
    joined, first = [], []
    judged: dict[int, bool] = {}
    for each in matching:
        root = ends[each.number]
        if root not in judged:
            own = root == ends[page.number] and page.story is not None
            heads = rows.ends(numbers_of(rows, root)) or [each]
            judged[root] = own or any(page.matches(head) for head in heads)
            if judged[root]:
                first.append(heads[0])
        if judged[root]:
            joined.append(each)
    return joined, first


def _point(rows: StoryRows, numbers: Iterable[int], ends: dict[int, int], root: int) -> bool:
    """Lets every number lead to the root; False when another process was faster."""
    for number in sorted(numbers, reverse=True):
        if number != root and number == ends[number]:
            if not rows.link(number, root) and rows.targets([number]) != {number: root}:
                return False
        elif ends[number] != root:
            rows.shorten(number, root)
    return True


def after_deletion(rows: StoryRows, numbers: Iterable[int]) -> None:
    """Marks the hosts of stories that lost members; a story without members is forgotten.

    Args:
        rows: The database; the members are deleted.
        numbers: The numbers that these had.
    """
    for root in sorted(set(follow(rows, numbers).values())):
        known = numbers_of(rows, root)
        heads = rows.ends(known)
        rows.mark(heads[:1])
        if not heads:
            rows.drop(known)


def count_copies(rows: StoryRows, pages: Sequence[tuple[str, int]]) -> int:
    """Number of pages whose story has an earlier page, from (page, number of its story)."""
    ends = follow(rows, {number for _, number in pages})
    heads = {root: rows.ends(numbers_of(rows, root)) for root in set(ends.values())}
    first = {root: found[0].page_id for root, found in heads.items() if found}
    return sum(page_id != first.get(ends[number], page_id) for page_id, number in pages)


class Stories(Member):
    """The member ``stories``: which pages tell one story."""

    def of_page(self, page_id: str) -> Story | None:
        """The story of a page; None when no other page tells it."""
        number = self._number(page_id)
        return None if number is None else self._read(number)

    def story(self, story_id: str) -> Story | None:
        """A story by its number, also by a number it had before it was joined with another."""
        try:
            return self._read(int(story_id, 16))
        except ValueError:
            return None

    def id_of(self, page_id: str) -> str | None:
        """The id of a page's story; None when the page is alone. Cheaper than ``of_page``."""
        return self.ids_of([page_id]).get(page_id)

    def ids_of(self, page_ids: Collection[str]) -> dict[str, str]:
        """The ids of the stories of those pages that are not alone, by page; at most 10,000."""
        found = self._ports.stories.read({"page_id": list(page_ids)}) if page_ids else []
        numbers: dict[str, int] = {}
        for each in found:
            if each.story is not None:
                numbers[each.page_id] = min(each.story, numbers.get(each.page_id, each.story))
        ends = follow(self._ports.stories, numbers.values())
        return {page_id: _hex(ends[number]) for page_id, number in numbers.items()}

    def numbers(self, page_id: str) -> list[int]:
        """The numbers under which a page's story may be known, the page's own and the root first.

        In MongoDB a story of a thousand reprints has a thousand numbers: each page had its own
        until it joined. In SQLite it has those of pages that others have seen alone.
        """
        own, number = number_of(page_id), self._number(page_id)
        if number is None:
            return [own]
        root = follow(self._ports.stories, [number])[number]
        return list(dict.fromkeys((own, root, *numbers_of(self._ports.stories, root))))

    def is_copy(self, page_id: str, told: str) -> bool:
        """Whether a page tells the story of one that may be deleted since; not when one left it."""
        ours = self.id_of(page_id)
        return ours is not None and (
            ours == self.id_of(told) or not self._ports.stories.read({"page_id": told})
        )

    def by_page(self) -> dict[str, tuple[str, str]]:
        """(story, host) of every page that is not alone, of all crawls, read at once.

        ``{"4f1193a0c27be51d...": ("1f09a2b3c4d5e6f", "news.example")}``; some 300 bytes a page.
        """
        targets = self._ports.stories.pointers()
        found: dict[str, tuple[int, str]] = {}
        for page_id, host, _, number in self._ports.stories.labelled():
            end = number
            while end in targets:
                end = targets[end]
            if end != number:
                targets[number] = end  # the next member of this number has a short way
            found[page_id] = min(found.get(page_id, (end, host)), (end, host))
        return {page_id: (_hex(end), host) for page_id, (end, host) in found.items()}

    def _number(self, page_id: str) -> int | None:
        found = self._ports.stories.read({"page_id": page_id})
        return min((each.story for each in found if each.story is not None), default=None)

    def newest(self, limit: int) -> list[Story]:
        """The stories whose first page was seen last, newest first."""
        return self._listed(limit, lambda pages, at: (at, pages))

    def largest(self, limit: int) -> list[Story]:
        """The stories with the most pages, largest first."""
        return self._listed(limit, lambda pages, at: (pages, at))

    def _listed(self, limit: int, order: Any) -> list[Story]:
        labelled = self._ports.stories.labelled()
        ends = follow(self._ports.stories, {number for *_, number in labelled})
        pages: dict[int, set[str]] = {}
        first: dict[int, int] = {}
        for page_id, _, at, number in labelled:
            root = ends[number]
            pages.setdefault(root, set()).add(page_id)
            first[root] = min(first.get(root, at), at)
        sums = {root: (len(found), first[root]) for root, found in pages.items()}
        wanted = [root for root, (many, _) in sums.items() if many > 1]
        wanted.sort(key=lambda root: (*order(*sums[root]), -root), reverse=True)
        found: list[Story] = []
        for story in map(self._read, wanted):
            if story is not None:
                found.append(story)
            if len(found) >= limit:
                break
        return found

    def _read(self, number: int) -> Story | None:
        root = follow(self._ports.stories, [number])[number]
        numbers = numbers_of(self._ports.stories, root)
        members = self._ports.stories.first(numbers, "at", MOST_PAGES, backwards=False)
        heads = self._ports.stories.ends(numbers)
        known = {(each.page_id, each.crawl_id) for each in members}
        members += [each for each in heads if (each.page_id, each.crawl_id) not in known]
        urls = self._ports.stories.urls(members)
        pages: dict[str, StoryMember] = {}
        for each in members:
            url = urls.get((each.page_id, each.crawl_id))
            if url is not None:
                pages.setdefault(each.page_id, replace(each, url=url))
        if len(pages) < 2:
            return None
        in_order = tuple(pages.values())
        longest = max(in_order, key=lambda page: (page.chars, -number_of(page.page_id)))
        return Story(story_id=_hex(root), pages=in_order, earliest=in_order[0], longest=longest)


def _hex(number: int) -> str:
    return f"{number:0{NUMBER_DIGITS}x}"


# The index of stories built anew from the stored records, for `stories --rebuild`.
#
# A rebuild is for another kind of signature, for records that were saved without one, and to split
# stories whose joining page was deleted. The records that were saved before it began are
#
# 1. taken out of the index (``CLEAR``), with the stories that have no other page;
# 2. added again in the order of their saves (``ADD``), as if they came now.
#
# Records that are saved meanwhile are in the index by their own save. The table ``rebuilds`` has
# the place that was reached; each step may be repeated, so the next call completes what was killed.

AT_ONCE = 100
"""Records added in one step: SQLite's lock is held for some 50 ms."""

WHAT = "stories"
CLEAR, ADD = "clear", "add"


class StoryRebuild(Member):
    """The rebuild of a store; one process at a time."""

    def is_unfinished(self) -> bool:
        """Whether a rebuild has begun and has not ended."""
        return self._state() is not None

    def steps(self, at_once: int = AT_ONCE) -> Iterator[tuple[int, int]]:
        """Rebuilds the index, or completes the rebuild that has begun.

        Yields (records that were read, those of them with a signature) since it was called.

        Args:
            at_once: Records added in one step.

        Raises:
            StoreUnavailable: Another process rebuilds the same index.
        """
        phase, until, after = self._state() or self._begin()
        if phase == CLEAR:
            clearing = self._ports.stories.clear(until)
            is_done = False
            while not is_done:
                with self._tables.together():
                    self._check(CLEAR, 0)
                    is_done = next(clearing, True) is True
                yield 0, 0
            self._move(CLEAR, 0, {"phase": ADD})
            after = 0
        read = with_text = 0
        while after < until:
            found, more = self._blobs.records({}, after, at_once)
            texts = [_with_signature(each) for each in found if each.saved_seq <= until]
            with self._tables.together():
                self._add([each for each in texts if each[2]])
                self._move(ADD, after, {"after_seq": min(more or until, until)})
            after = more or until
            read += len(texts)
            with_text += sum(bool(signature) for _, _, signature in texts)
            yield read, with_text
        self._tables.delete("rebuilds", {"what": WHAT})

    def _state(self) -> tuple[str, int, int] | None:
        rows = self._tables.get("rebuilds", [(WHAT,)], ("phase", "until_seq", "after_seq"))
        return next(((row[0], row[1], row[2]) for row in rows.values()), None)

    def _begin(self) -> tuple[str, int, int]:
        newest = Scan("records", ("saved_seq",), {}, ("saved_seq",), backwards=True, limit=1)
        found = self._tables.scan(newest)
        until = found[0][0] if found else 0
        row = {"what": WHAT, "phase": CLEAR, "until_seq": until, "after_seq": 0}
        self._tables.add("rebuilds", [row])
        return CLEAR, until, 0

    def _check(self, phase: str, after: int) -> None:
        state = self._state()
        if state is None or (state[0], state[2]) != (phase, after):
            raise StoreUnavailable("another process rebuilds the stories: wait for its end")

    def _move(self, phase: str, after: int, values: dict[str, Any]) -> None:
        still = {"what": WHAT, "phase": phase, "after_seq": after}
        if not self._tables.change("rebuilds", still, values):
            self._check(phase, after)

    def _add(self, texts: Sequence[tuple[PackedRecord, CleanRecord, bytes]]) -> None:
        keys = [(each.page_id, each.crawl_id) for each, _, _ in texts]
        rows = self._tables.get("records", keys, ("saved_seq", "host", *FENCE))
        for (packed, record, signature), key in zip(texts, keys, strict=True):
            saved_seq, host, *fence = rows.get(key, (0, ""))
            if saved_seq != packed.saved_seq:
                continue
            place = (packed.crawl_id, host)
            ref = self._ports.stories.ref_of(packed)
            page = next_member(ref, record, place, signature[:BINS], None)
            if self._ports.stories.targets(
                [page.number]
            ):  # of a story of pages that were saved meanwhile
                page = replace(page, story=fresh_number(page))
            added = self._ports.stories.insert(page, signature, fence)
            if added is not None:
                join(self._ports.stories, added, story_keys(signature))


def _with_signature(packed: PackedRecord) -> tuple[PackedRecord, CleanRecord, bytes]:
    record = unpack_text(packed.head, packed.links)
    return packed, record, record_signature(record)
