"""Topics at rest: what the user asked, judgements of pages, link models.

A judgement is saved in the transaction of its page's outcome (``Store.save``) and behind a fence:
(version of the topic, time of the response) never falls. The user's mark wins over a judgement.

A link model is a chain of versions; each holds the pages of its batch, so that a learner that died
before it marked them is completed by the next one: a batch is learned once. All sums (by host, by
day) are counts of the pages' rows, so no second truth can go wrong.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, replace_surrogates
from crawlclean.cleaning.records import CleanRecord
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.store.encoded_outcomes import naming
from crawlclean.storage.store.ports import (
    PRESENT,
    Key,
    Member,
    Ports,
    Row,
    Scan,
    Where,
    count_by,
    steps,
)
from crawlclean.storage.store.rows import RowType, to_microseconds
from crawlclean.storage.topic_types import (
    JudgedPage,
    StoredLinkModel,
    StoredReading,
    TopicJudgement,
    TopicRow,
    TopicState,
)

# Rows of the topics' tables: values of ``storage/topic_types.py`` to columns, and back.

TIME_BITS = 42
"""Bits of a fence below the topic's version: milliseconds since 1970 need 41 until 2039."""

TOPIC = RowType(TopicRow, "topic", packed=("examples", "packed"))
MODEL = RowType(StoredLinkModel, "link model", packed=("packed",))
_PAGE = RowType(JudgedPage, "judgement", but=("judgement",))
_JUDGEMENT = RowType(
    TopicJudgement, "judgement", but=("features", "is_example", "notify"), is_relevant="relevant"
)
PAGE = ("features", "to_learn", *_JUDGEMENT.columns, *_PAGE.columns)
CHANGING = ("relevant", "label", "to_learn")
"""Columns of a page's row that a mark, or learning, keeps from a later judgement."""


def rows_of(outcome: Outcome) -> list[Row]:
    """The rows of ``topic_pages`` of an outcome."""
    return list(map(page_row, judged_pages(outcome)))


def judged_pages(outcome: Outcome) -> list[JudgedPage]:
    """The judgements of an outcome with a record, with its page; none for other outcomes."""
    record, queued = outcome.record, outcome.queued
    if record is None:
        return []
    return [
        JudgedPage(
            page_id=queued.page_id,
            crawl_id=queued.crawl_id,
            url=record.url,
            host=queued.host,
            title=record.title,
            fetched_at=record.fetched_at,
            at=dated(record),
            judgement=judgement,
        )
        for judgement in outcome.judgements
    ]


def dated(record: CleanRecord) -> datetime:
    """When a page was published; fetched where that is not known, or is after the fetch."""
    return min(record.published_at or record.fetched_at, record.fetched_at)


def outbox_rows(outcome: Outcome) -> list[Row]:
    """The rows of ``outbox`` of an outcome."""
    now, page_id = time.time_ns() // 1000, outcome.queued.page_id
    return [
        {
            "receiver": name,
            "id": f"{each.topic}:{page_id}",
            "at": now,
            "level": "story",
            "topic": each.topic,
            "page_id": page_id,
            "notice": "",
        }
        for each in outcome.judgements
        if each.is_relevant and outcome.record is not None
        for name in each.notify
    ]


def save_judgements(ports: Ports, outcomes: Iterable[Outcome]) -> None:
    """Writes the judgements of outcomes, and their rows of the outbox.

    Raises:
        StoreDamaged: No row can hold them.
    """
    pages, reports = [], []
    for outcome in outcomes:
        if outcome.judgements:
            with naming(outcome):
                pages += rows_of(outcome)
                reports += outbox_rows(outcome)
    ports.put_pages(pages)
    ports.tables.add("outbox", reports)


def fence(version: int, fetched_at: int) -> int:
    """The fence of a judgement: a newer version of the topic wins, then a newer response.

    Args:
        version: Of the topic, from 1.
        fetched_at: Microseconds since 1970 UTC.
    """
    return (version << TIME_BITS) | (fetched_at // 1000)


def page_row(page: JudgedPage) -> Row:
    """The row of ``topic_pages`` of a judged page, without its mark."""
    fetched_at, judged = to_microseconds(page.fetched_at), page.judgement
    row = {
        **_PAGE.row(page),
        **_JUDGEMENT.row(judged),
        "fence": fence(judged.version, fetched_at),
        "features": b"".join(each.to_bytes(2, "big") for each in judged.features),
        "to_learn": judged.topic if judged.is_example and judged.features else None,
    }
    return {
        name: value for name, value in row.items() if name not in ("mark", "learned_in", "read_at")
    }


def page_of(row: Sequence[Any]) -> JudgedPage:
    """The page of the values of ``PAGE``.

    Raises:
        StoreDamaged: This program never wrote these values.
    """
    packed, to_learn, *others = row
    judged, page = others[: len(_JUDGEMENT.columns)], others[len(_JUDGEMENT.columns) :]
    learned_in = page[_PAGE.columns.index("learned_in")]
    is_example = to_learn is not None or learned_in is not None  # to learn from, or learned from
    try:
        ids = array("H", bytes(packed))
    except DAMAGE as error:
        raise StoreDamaged(f"a stored judgement cannot be read: {error}") from error
    if sys.byteorder == "little":
        ids.byteswap()
    judgement = _JUDGEMENT.read(judged, features=tuple(ids), is_example=is_example)
    return _PAGE.read(page, judgement=judgement)


READING = ("read_words", "read_after", "read_end")
KEPT_MODELS = 20
"""Versions kept of a topic's link model, the newest."""

READ_PAGES = 10_000
"""Rows that one step of ``in_order`` reads: 1 MB; with 1,000 a million takes half as long again."""

_LITTLE = 1e-6  # below every difference of two relevances, which have four digits
OLDER_VERSIONS = 500
"""Versions of a topic whose pages are judged anew: a look-up each, so no count of all pages."""


class Topics(Member):
    """The member ``topics``."""

    # --- topics ---

    def create(self, topic: TopicRow) -> bool:
        """Stores a new topic; False when the name is taken."""
        return bool(self._tables.add("topics", [TOPIC.row(topic)]))

    def replace(self, topic: TopicRow) -> bool:
        """Stores the next version of a topic; False when ``version - 1`` is not the stored one.

        Of two processes that edit the same version one gets False.
        """
        where = {"name": topic.name, "version": topic.version - 1}
        return bool(self._tables.change("topics", where, TOPIC.row(topic)))

    def set_order(self, topic: TopicRow, spec: str) -> bool:
        """Stores another order of the same version; False when another process changed it."""
        where = {"name": topic.name, "version": topic.version, "spec": topic.spec}
        return bool(self._tables.change("topics", where, {"spec": replace_surrogates(spec)}))

    def set_state(self, name: str, state: TopicState, note: str = "") -> bool:
        """Changes the state of a topic and why it has it; False: there is no such topic."""
        values = {"state": state.value, "note": replace_surrogates(note)}
        return bool(self._tables.change("topics", {"name": name}, values))

    def get(self, name: str) -> TopicRow | None:
        """A topic; None when there is none of this name."""
        rows = self._tables.scan(Scan("topics", TOPIC.columns, {"name": name}, limit=1))
        return TOPIC.read(rows[0]) if rows else None

    def all(self) -> list[TopicRow]:
        """Every topic, by name."""
        return list(
            map(TOPIC.read, self._tables.scan(Scan("topics", TOPIC.columns, order=("name",))))
        )

    def crawls(self, *, state: TopicState | None = None) -> dict[str, str]:
        """The crawl of each topic in a state by name, in their order: ``{"quake": "quake"}``."""
        where = {} if state is None else {"state": state.value}
        wanted = Scan("topics", ("name", "crawl_id"), where, ("name",))
        return {row[0]: row[1] for row in self._tables.scan(wanted)}

    def reading(self, name: str) -> StoredReading | None:
        """How far stored records are judged for a topic; None: that has not begun."""
        wanted = Scan("topics", READING, {"name": name}, limit=1)
        rows = [row for row in self._tables.scan(wanted) if row[0] is not None]
        return StoredReading(words=rows[0][0], after=rows[0][1], end=rows[0][2]) if rows else None

    def read_on(self, name: str, old: StoredReading | None, new: StoredReading) -> bool:
        """Stores how far records are judged; False when ``old`` is not what is stored."""
        where = {
            "name": name,
            "read_words": old.words if old else None,
            "read_after": old.after if old else None,
        }
        values = (new.words, new.after, new.end)
        return bool(self._tables.change("topics", where, dict(zip(READING, values, strict=True))))

    def delete(self, name: str) -> bool:
        """Deletes a topic with its judgements and models; returns whether there was one.

        The topic's row goes last: an interrupted call can be repeated.
        """
        own = [f"{kind}:{name}" for kind in ReceiverKind]
        self._tables.delete("receivers", {"name": own})
        for table in ("outbox", "told", "topic_models", "topic_pages"):
            self._tables.delete(table, {"topic": name})
        return bool(self._tables.delete("topics", {"name": name}))

    # --- pages ---

    def judge(self, pages: Sequence[JudgedPage]) -> None:
        """Stores judgements of stored pages, behind the fence; marks are not stored."""
        self._ports.put_pages([page_row(page) for page in pages])

    def page(self, topic: str, page_id: str) -> JudgedPage | None:
        """What a topic holds of a page, or None."""
        return next(iter(self._pages({"topic": topic, "page_id": page_id})), None)

    def of_page(self, page_id: str) -> list[JudgedPage]:
        """What every topic holds of a page, by topic."""
        return sorted(self._pages({"page_id": page_id}), key=lambda page: page.judgement.topic)

    def known(self, topic: str, page_ids: Collection[str]) -> dict[str, bool]:
        """Relevance by page id, of those pages that a topic has judged."""
        keys = [(topic, page_id) for page_id in page_ids]
        rows = self._tables.get("topic_pages", keys, ("relevant",))
        return {key[1]: bool(values[0]) for key, values in rows.items()}

    def newest(
        self,
        topic: str,
        limit: int,
        *,
        relevant: bool | None = None,
        host: str = "",
        unread: bool = False,
        marked: bool = False,
        by: Literal["at", "fetched_at"] = "at",
        after: tuple[int, str] | None = None,
    ) -> list[JudgedPage]:
        """The pages that were published last, newest first.

        Args:
            topic: Name of the topic.
            limit: At most this many.
            relevant: Only relevant ones, or only others.
            host: Only of this host; ``""``: of all.
            unread: Only pages that nobody has read.
            marked: Only pages with a mark of the user.
            by: ``fetched_at``: the pages that were fetched last.
            after: The time in microseconds and id of the page that the list goes on behind; None:
                it begins.
        """
        where: dict[str, Any] = {"topic": topic}
        if relevant is not None:
            where["relevant"] = int(relevant)
        if host:
            where["host"] = host
        if unread:
            where["read_at"] = None
        if marked:
            where["mark"] = PRESENT
        order = (by, "page_id")
        return self._pages(where, order=order, backwards=True, after=after or (), limit=limit)

    def nearest(self, topic: str, relevance: float, limit: int) -> list[JudgedPage]:
        """Pages without a mark, those nearest to a relevance first, at most ``limit``."""
        where: dict[str, Any] = {"topic": topic, "mark": None}
        order = ("relevance", "page_id")
        found: list[JudgedPage] = []
        for backwards, edge in ((False, relevance - _LITTLE), (True, relevance)):
            found += self._pages(
                where, order=order, backwards=backwards, after=(edge,), limit=limit
            )
        known = {page.page_id: page for page in found}.values()
        return sorted(
            known, key=lambda page: (abs(page.judgement.relevance - relevance), page.page_id)
        )[:limit]

    def relevant(self, topic: str) -> Iterator[JudgedPage]:
        """Yields the relevant pages of a topic, by page id; read in steps."""
        columns = ("page_id", *PAGE)
        wanted = Scan("topic_pages", columns, {"topic": topic, "relevant": 1}, ("page_id",))
        for rows in steps(self._tables, wanted, READ_PAGES):
            yield from (page_of(row[1:]) for row in rows)

    def adopted_from(self, crawl_id: str, topics: Sequence[str], limit: int) -> list[JudgedPage]:
        """Pages that a crawl fetched and some topics have judged, at most ``limit``."""
        where = {"crawl_id": crawl_id, "topic": list(topics)}
        return self._pages(where, limit=limit) if topics else []

    def marked(self, topic: str) -> list[JudgedPage]:
        """The pages with a mark of the user, by page id."""
        found = self._pages({"topic": topic, "mark": PRESENT})
        return sorted(found, key=lambda page: page.page_id)

    def in_order(self, topic: str) -> Iterator[tuple[int, str, str, int, int]]:
        """Yields (end of the response, page, crawl, 1: relevant, publication) in this order.

        Read in steps, from one index alone: ``(1772366400123456, "4f11...", "quake", 1,
        1772366400000000)``, times in microseconds.
        """
        columns = ("fetched_at", "page_id", "crawl_id", "relevant", "at")
        wanted = Scan("topic_pages", columns, {"topic": topic}, columns[:2], after=(-1, ""))
        for rows in steps(self._tables, wanted, READ_PAGES):
            yield from map(tuple, rows)

    def counts(self, topic: str, version: int) -> tuple[int, int, int, int]:
        """Pages of a topic: judged, relevant, with a mark of the user, judged by older versions.

        ``version`` is the newest of the topic.
        """
        count = self._tables.count
        by_version = count_by(self._tables, "topic_pages", "version", {"topic": topic})
        return (
            sum(by_version.values()),
            count("topic_pages", {"topic": topic, "relevant": 1}),
            count("topic_pages", {"topic": topic, "mark": PRESENT}),
            sum(n for each, n in by_version.items() if each < version),
        )

    def by_host(self, topic: str) -> dict[str, tuple[int, int]]:
        """(judged, relevant) pages by host: ``{"news.example": (40, 12)}``."""
        relevant = count_by(self._tables, "topic_pages", "host", {"topic": topic, "relevant": 1})
        other = count_by(self._tables, "topic_pages", "host", {"topic": topic, "relevant": 0})
        return {
            each: (relevant.get(each, 0) + other.get(each, 0), relevant.get(each, 0))
            for each in sorted({*relevant, *other})
        }

    def outdated(self, topic: str, version: int, limit: int) -> list[JudgedPage]:
        """Pages that an older version of the topic judged, newest first, at most ``limit``."""
        older = list(range(max(0, version - OLDER_VERSIONS), version))
        where = {"topic": topic, "version": older}
        return self._pages(where, order=("fetched_at", "page_id"), backwards=True, limit=limit)

    def read(self, topic: str, page_ids: Collection[str], at: datetime) -> None:
        """Notes that a person has read judged pages, at most 10,000."""
        where: dict[str, Any] = {"topic": topic, "page_id": list(page_ids), "read_at": None}
        self._tables.change("topic_pages", where, {"read_at": to_microseconds(at)})

    def mark(self, topic: str, page_id: str, mark: bool | None, threshold: float = 0.0) -> bool:
        """Stores the user's word on a judged page; False: the topic has not judged the page.

        The word wins over later judgements, and the learner learns from the page again. None takes
        the word off: until it is judged anew, the page is relevant from ``threshold`` on.
        """
        page = self.page(topic, page_id)
        if page is None:
            return False
        is_relevant = page.judgement.relevance >= threshold
        row: dict[str, Any] = {"mark": None, "relevant": int(is_relevant)}
        if mark is not None:
            row = {"mark": int(mark), "relevant": int(mark), "label": float(mark)}
        self._tables.change("topic_pages", {"topic": topic, "page_id": page_id}, row)
        if page.judgement.features:
            self.learn_again(topic, [page_id])
        return True

    # --- learning ---

    def to_learn(self, topic: str, limit: int) -> list[JudgedPage]:
        """Pages that the learner has not learned from, in order of page id, at most ``limit``."""
        return self._pages({"to_learn": topic}, order=("page_id",), limit=limit)

    def learn_again(self, topic: str, page_ids: Collection[str]) -> None:
        """Lets the learner learn from pages that a link led to once more, at most 10,000."""
        if page_ids:
            again = {"to_learn": topic, "learned_in": None}
            where: dict[str, Any] = {"topic": topic, "page_id": list(page_ids)}
            self._tables.change("topic_pages", where, again)

    def waiting_to_learn(self, topic: str) -> int:
        """Number of pages that the learner has not learned from."""
        return self._tables.count("topic_pages", {"to_learn": topic})

    def hubs(self, topic: str, page_ids: Collection[str], first: int, least: int) -> list[str]:
        """Those of the pages with enough relevant children that were not learned as hubs yet.

        Args:
            topic: Name of the topic.
            page_ids: Pages, at most 10,000.
            first: Children that count: those fetched first.
            least: Relevant ones that make a hub.
        """
        keys = [(topic, page_id) for page_id in page_ids]
        rows = self._tables.get("topic_pages", keys, ("features", "hub_in"))
        found = []
        for (_, page_id), (features, hub_in) in sorted(rows.items()):
            if hub_in is not None or not features:
                continue
            where = {"topic": topic, "parent": page_id}
            wanted = Scan("topic_pages", ("relevant",), where, ("fetched_at",), limit=first)
            if sum(row[0] for row in self._tables.scan(wanted)) >= least:
                found.append(page_id)
        return found

    def pages(self, topic: str, page_ids: Collection[str]) -> list[JudgedPage]:
        """What a topic holds of some pages, by page id, at most 10,000."""
        keys = [(topic, page_id) for page_id in page_ids]
        rows = self._tables.get("topic_pages", keys, PAGE)
        return [page_of(row) for _, row in sorted(rows.items())]

    def add_model(self, model: StoredLinkModel) -> bool:
        """Stores the next version of a link model; False when ``version - 1`` is not the newest.

        Of two processes that learn the same version one gets False. All but the newest
        ``KEPT_MODELS`` are deleted.
        """
        topic = model.topic
        with self._tables.together():
            known = self._model_versions(topic)
            if model.version != (known[0] if known else 0) + 1:
                return False
            if not self._tables.add("topic_models", [MODEL.row(model)]):
                return False  # another was first
            old = [each for each in known if each <= model.version - KEPT_MODELS]
            if old:
                self._tables.delete("topic_models", {"topic": topic, "version": old})
        return True

    def model(self, topic: str, version: int | None = None) -> StoredLinkModel | None:
        """A version of a topic's link model (None: the newest); None when it is not stored."""
        where: dict[str, Any] = {"topic": topic}
        if version is not None:
            where["version"] = version
        wanted = Scan("topic_models", MODEL.columns, where, ("version",), backwards=True, limit=1)
        rows = self._tables.scan(wanted)
        return MODEL.read(rows[0]) if rows else None

    def mark_learned(self, model: StoredLinkModel) -> None:
        """Marks the pages of a model's batch as learned; repeating it changes nothing."""
        of_topic: dict[str, Any] = {"topic": model.topic}
        with self._tables.together():
            if model.page_ids:
                ours = {**of_topic, "page_id": list(model.page_ids)}
                learned = {"to_learn": None, "learned_in": model.version}
                self._tables.change("topic_pages", ours, learned)
            if model.hub_ids:
                hubs = {**of_topic, "page_id": list(model.hub_ids)}
                self._tables.change("topic_pages", hubs, {"hub_in": model.version})
            where = {**of_topic, "version": model.version}
            self._tables.change("topic_models", where, {"is_marked": 1})

    def _model_versions(self, topic: str) -> list[int]:
        wanted = Scan("topic_models", ("version",), {"topic": topic}, ("version",), backwards=True)
        return [row[0] for row in self._tables.scan(wanted)]

    def _pages(
        self,
        where: Where,
        *,
        order: tuple[str, ...] = (),
        backwards: bool = False,
        after: Key = (),
        limit: int | None = None,
    ) -> list[JudgedPage]:
        wanted = Scan("topic_pages", PAGE, where, order, backwards, after, limit)
        return [page_of(row) for row in self._tables.scan(wanted)]
