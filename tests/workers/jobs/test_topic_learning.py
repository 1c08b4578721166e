"""The learner of a topic, killed at every step: no batch is learned twice, at most one is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.topics.learner import LinkModel
from crawlclean.cleaning.topics.relevance import build_topic
from crawlclean.cleaning.topics.topic import Topic, TopicSpec
from crawlclean.storage.queue.topic_ranks import TopicRanks
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.topics import Topics
from crawlclean.workers.jobs.topic_learning import LARGEST_BATCH, is_batch_due, learn_batch
from tests.kit.outcomes import make_outcome
from tests.storage.store.topics_contract import judged


@cache
def quake() -> Topic:
    return build_topic(TopicSpec(name="quake", query="地震 救援"))


class Killed(BaseException):
    """Ends a learner where a kill would."""


class Ranks(TopicRanks):
    """The queue's weights, in memory."""

    def __init__(self) -> None:
        self.published: list[int] = []

    def publish_weights(self, crawl_id: str, packed: bytes, version: int) -> bool:  # noqa: ARG002 - a double
        self.published.append(version)
        return True


class Dying:
    """The member ``topics`` whose n-th call kills its process, before or after its work."""

    def __init__(self, topics: Topics, calls: int, *, before: bool) -> None:
        self._topics = topics
        self._calls = calls
        self._before = before

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._topics, name)

        def call(*arguments: Any, **more: Any) -> Any:
            self._calls -= 1
            if self._calls == 0 and self._before:
                raise Killed
            result = method(*arguments, **more)
            if self._calls == 0:
                raise Killed
            return result

        return call


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "records.sqlite")
    opened.save([judged(f"/{n}", n % 10 / 10, n, features=(0, 1, 30 + n % 7)) for n in range(12)])
    yield opened
    opened.close()


def learned(store: Store) -> tuple[bytes, list[int | None]]:
    """The newest model, and the version that learned from each page."""
    model = store.topics.model("quake")
    pages = sorted(store.topics.newest("quake", 99), key=lambda page: page.page_id)
    return model.packed if model else b"", [page.learned_in for page in pages]


def learn(store: Store, ranks: TopicRanks) -> None:
    while learn_batch(store, ranks, quake(), "c1"):
        pass


def test_a_learner_killed_anywhere_is_completed(store: SqliteStore, tmp_path: Path) -> None:
    learn(store, Ranks())
    undisturbed = learned(store)
    assert undisturbed[1] == [1] * 12
    for step in range(1, 9):
        for before in (True, False):
            again = SqliteStore(tmp_path / f"{step}{before}.sqlite")
            pages = [
                judged(f"/{n}", n % 10 / 10, n, features=(0, 1, 30 + n % 7)) for n in range(12)
            ]
            again.save(pages)
            whole, again.topics = again.topics, Dying(again.topics, step, before=before)  # type: ignore[assignment]
            try:
                learn(again, Ranks())
            except Killed:
                again.topics = whole
                again.save(pages)  # the job of the pages is done again
                learn(again, Ranks())
            again.topics = whole
            # A learner that has nothing left still marks what a killed one stored.
            learn_batch(again, Ranks(), quake(), "c1")
            assert learned(again) == undisturbed
            again.close()


def test_the_model_does_not_depend_on_the_order_of_saves(tmp_path: Path) -> None:
    models = set()
    pages = [judged(f"/{n}", n % 10 / 10, n, features=(0, 1, 30 + n % 7)) for n in range(12)]
    for number, order in enumerate((pages, pages[::-1], [*pages[5:], *pages[:5]])):
        store = SqliteStore(tmp_path / f"{number}.sqlite")
        for page in order:
            store.save([page])
        learn(store, Ranks())
        models.add(learned(store)[0])
        store.close()
    assert len(models) == 1


def test_weights_are_published_and_a_hub_is_an_example_once(store: SqliteStore) -> None:
    hub = judged("/hub", 0.1, parent="")
    children = [
        judged(f"/c{n}", 0.9, 20 + n, parent=hub.queued.page_id, features=(0, 2)) for n in range(3)
    ]
    store.save([hub, *children, make_outcome("/without")])
    ranks = Ranks()
    learn(store, ranks)
    model = store.topics.model("quake")
    assert model is not None
    assert (ranks.published, model.hub_ids) == ([1], (hub.queued.page_id,))
    assert LinkModel.from_bytes(model.packed).examples == 16 + 1
    store.save([judged(f"/d{n}", 0.9, 30 + n, parent=hub.queued.page_id) for n in range(9)])
    learn(store, ranks)
    newest = store.topics.model("quake")
    assert newest is not None
    assert (newest.version, newest.hub_ids) == (2, ())


def test_a_relevant_page_is_no_worse_for_its_relevant_children(store: SqliteStore) -> None:
    """A section's first article links to the others: learned as half relevant, it hid them."""
    first = judged("/section/1", 0.98, parent="")
    parent = first.queued.page_id
    children = [judged(f"/section/c{n}", 0.9, 20 + n, parent=parent) for n in range(5)]
    store.save([first, *children])
    learn(store, Ranks())
    model = store.topics.model("quake")
    assert model is not None
    assert model.hub_ids == ()


def test_batches_grow() -> None:
    assert not is_batch_due(4, 0)
    assert is_batch_due(5, 39)
    assert not is_batch_due(19, 40)
    assert is_batch_due(20, 999)
    assert not is_batch_due(99, 1000)
    assert is_batch_due(LARGEST_BATCH, 10**6)
