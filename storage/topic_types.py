"""Types of topics that workers and stores exchange: a stored topic, what it holds of its pages.

``cleaning/topics/`` judges pages and learns links. A store keeps texts and bytes of these parts and
reads none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class TopicState(StrEnum):
    """Whether pages of other crawls are judged for a topic."""

    RUNNING = "running"  # they are
    PAUSED = "paused"  # an operator paused the topic
    ENDED = "ended"  # its crawl is finished or stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """A stored topic.

    Attributes:
        name: The name of a topic and of its crawl: ``quake``; the rules of crawl names hold.
        version: From 1; grows with every edit and every mark of a page.
        spec: What the user asked, JSON text of a worker.
        state: Whether pages of other crawls are judged for the topic.
        crawl_id: The crawl that fetches its pages.
        examples: Titles and texts of its example pages, JSON of a worker, compressed by the store.
        packed: What judging a page needs, made of ``spec`` and ``examples``, bytes of a worker.
        created_at: When the topic was created.
        note: Why the topic waits or ended, one line, or ``""``.
    """

    name: str
    version: int
    spec: str
    state: TopicState
    crawl_id: str
    examples: bytes
    packed: bytes
    created_at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicJudgement:
    """What a topic holds of one page, saved in the transaction of the page's outcome.

    Attributes:
        topic: Name of the topic.
        version: Version of the topic that judged.
        relevance: 0..1.
        label: 0..1, what the learner of links is taught.
        is_relevant: Whether the page counts as harvest; the user's mark wins.
        parts: Why, JSON of at most 400 bytes: ``{"q":0.8,"e":0.6}``.
        features: Ids of the features of the link that led to the page, at most 16.
        is_example: Whether the learner of links learns from the page.
        parent: Page id of the page that has the link, or ``""``.
        notify: Names of the receivers that are told of the page when it is relevant.
    """

    topic: str
    version: int
    relevance: float
    label: float
    is_relevant: bool
    parts: str = ""
    features: tuple[int, ...] = ()
    is_example: bool = False
    parent: str = ""
    notify: tuple[str, ...] = ()


class JudgedPage(Struct, frozen=True, kw_only=True):
    """A judgement with the page that it judges.

    Attributes:
        page_id: 32 hex digits.
        crawl_id: The crawl that fetched the page: the topic's, or another one's.
        url: Its URL.
        host: Lower-case authority.
        title: Title of its record.
        fetched_at: End of its response.
        at: When it was published; where that is not known, or after the fetch, when it was fetched.
        judgement: What the topic holds of the page.
        mark: The user's word: relevant or not; None without.
        read_at: When a person has read it; None: not yet.
        learned_in: Version of the link model that learned from the page; None: not yet, or never.
    """

    page_id: str
    crawl_id: str
    url: str
    host: str
    title: str
    fetched_at: datetime
    at: datetime
    judgement: TopicJudgement
    mark: bool | None = None
    read_at: datetime | None = None
    learned_in: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReading:
    """How far the records that other crawls have stored are judged for a topic.

    Attributes:
        words: Names the words they are judged by; other words begin anew: ``"9a0364b9"``.
        after: Number of the save (``saved_seq``) up to which records are judged.
        end: Number of the last save when it began; later records are judged as they are saved.
    """

    words: str
    after: int
    end: int

    @property
    def left(self) -> int:
        """Saves between the two, about as many as records are left."""
        return max(0, self.end - self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLinkModel:
    """One version of a topic's link model.

    Attributes:
        topic: Name of the topic.
        version: From 1, one more for every batch.
        learned_at: When it was stored.
        packed: The model, bytes of a worker.
        page_ids: Pages of the last batch.
        hub_ids: Pages of the last batch that were learned because of their relevant children.
        is_marked: Whether the pages of the batch carry ``learned_in``.
    """

    topic: str
    version: int
    learned_at: datetime
    packed: bytes
    page_ids: tuple[str, ...] = ()
    hub_ids: tuple[str, ...] = ()
    is_marked: bool = False
