"""Topics at rest: what the user asked, judgements of pages, link models.

A judgement is saved in the transaction of its page's outcome (``Store.save``) and behind a fence:
(version of the topic, time of the response) never falls. The user's mark wins over a judgement.

A link model is a chain of versions; each holds the pages of its batch, so that a learner that died
before it marked them is completed by the next one: a batch is learned once. All sums (by host, by
day) are counts of the pages' rows, so no second truth can go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.storage.store.ports import PRESENT, Row, Scan, Tables, Where, count_by, of, steps
from crawlclean.storage.store.topic_rows import (
    MODEL,
    PAGE,
    TOPIC,
    page_of,
    page_row,
)
from crawlclean.storage.topic_types import (
    JudgedPage,
    StoredLinkModel,
    StoredReading,
    TopicRow,
    TopicState,
)

READING = ("read_words", "read_after", "read_end")
KEPT_MODELS = 20
"""Versions kept of a topic's link model, the newest."""

READ_PAGES = 10_000
"""Rows that one step of ``in_order`` reads: 1 MB; with 1,000 a million takes half as long again."""

_LITTLE = 1e-6  # below every difference of two relevances, which have four digits
OLDER_VERSIONS = 500
"""Versions of a topic whose pages are judged anew: a look-up each, so no count of all pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCounts:
    """Pages of a topic: judged, relevant, with a mark of the user, judged by older versions."""

    pages: int
    relevant: int
    marked: int
    outdated: int


class Topics:
    """The member ``topics``."""

    def __init__(self, tables: Tables, put_pages: Callable[[Sequence[Row]], None]) -> None:
        """Wraps the ports; ``put_pages`` is the database's fenced write of judgements."""
        self._tables = tables
        self._put_pages = put_pages

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

    def versions(self, *, state: TopicState | None = None) -> dict[str, tuple[int, str]]:
        """(version, crawl) by name of the topics in a state: ``{"quake": (3, "quake")}``."""
        where = {} if state is None else {"state": state.value}
        rows = self._tables.scan(Scan("topics", ("name", "version", "crawl_id"), where))
        found = {name: (version, crawl_id) for name, version, crawl_id in rows}
        return dict(sorted(found.items()))

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
        for table in ("receivers", "outbox", "told", "topic_models", "topic_pages"):
            self._tables.delete(table, {"topic": name})
        return bool(self._tables.delete("topics", {"name": name}))

    def forget(self, crawl_id: str, host: str | None = None) -> None:
        """Deletes the judgements of pages that a crawl fetched (of one host)."""
        self._tables.delete("topic_pages", of(crawl_id, host))

    # --- pages ---

    def judge(self, pages: Sequence[JudgedPage]) -> None:
        """Stores judgements of stored pages, behind the fence; marks are not stored."""
        self._put_pages([page_row(page) for page in pages])

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
        after: tuple[int, str] | None = None,
    ) -> list[JudgedPage]:
        """The pages that were fetched last, newest first.

        Args:
            topic: Name of the topic.
            limit: At most this many.
            relevant: Only relevant ones, or only others.
            after: End of the response in microseconds and id of the page that the list goes on
                behind; None: it begins.
        """
        where: dict[str, Any] = {"topic": topic}
        if relevant is not None:
            where["relevant"] = int(relevant)
        order = ("fetched_at", "page_id")
        if after is None:
            return self._pages(where, order=order, backwards=True, limit=limit)
        wanted = Scan("topic_pages", PAGE, where, order, backwards=True, after=after, limit=limit)
        return [page_of(row) for row in self._tables.scan(wanted)]

    def nearest(self, topic: str, relevance: float, limit: int) -> list[JudgedPage]:
        """Pages without a mark, those nearest to a relevance first, at most ``limit``."""
        where: dict[str, Any] = {"topic": topic, "mark": None}
        order = ("relevance", "page_id")
        found: list[JudgedPage] = []
        for backwards, edge in ((False, relevance - _LITTLE), (True, relevance)):
            wanted = Scan(
                "topic_pages", PAGE, where, order, backwards=backwards, after=(edge,), limit=limit
            )
            found += map(page_of, self._tables.scan(wanted))
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

    def in_order(self, topic: str) -> Iterator[tuple[int, str, str, int]]:
        """Yields (end of the response in microseconds, page, crawl, 1: relevant) in this order.

        Read in steps, from one index alone: ``(1772366400123456, "4f11...", "quake", 1)``.
        """
        columns = ("fetched_at", "page_id", "crawl_id", "relevant")
        wanted = Scan("topic_pages", columns, {"topic": topic}, columns[:2], after=(-1, ""))
        for rows in steps(self._tables, wanted, READ_PAGES):
            yield from map(tuple, rows)

    def counts(self, topic: str, version: int) -> TopicCounts:
        """Numbers of a topic's pages; ``version`` is its newest."""
        count = self._tables.count
        by_version = count_by(self._tables, "topic_pages", "version", {"topic": topic})
        return TopicCounts(
            pages=sum(by_version.values()),
            relevant=count("topic_pages", {"topic": topic, "relevant": 1}),
            marked=count("topic_pages", {"topic": topic, "mark": PRESENT}),
            outdated=sum(n for each, n in by_version.items() if each < version),
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

    def mark(self, topic: str, page_id: str, mark: bool) -> bool:
        """Stores the user's word on a judged page; False: the topic has not judged the page.

        The word wins over later judgements, and the learner learns from the page again.
        """
        row = {"mark": int(mark), "relevant": int(mark), "label": float(mark)}
        where = {"topic": topic, "page_id": page_id}
        if not self._tables.change("topic_pages", where, row):
            return False
        page = self.page(topic, page_id)
        if page is not None and page.judgement.features:
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
        limit: int | None = None,
    ) -> list[JudgedPage]:
        wanted = Scan("topic_pages", PAGE, where, order, backwards=backwards, limit=limit)
        return [page_of(row) for row in self._tables.scan(wanted)]
