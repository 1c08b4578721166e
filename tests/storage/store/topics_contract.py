"""What every store must do with topics; see ``store_contract.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from threading import Thread

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.topics import KEPT_MODELS
from crawlclean.storage.topic_types import (
    JudgedPage,
    StoredLinkModel,
    StoredReading,
    TopicJudgement,
    TopicRow,
    TopicState,
)
from tests.kit.outcomes import HOST, T0, later, make_failure, make_outcome, page_id_of
from tests.kit.some import some

TOPIC = TopicRow(
    name="quake",
    version=1,
    spec='{"query":"地震"}',
    state=TopicState.RUNNING,
    crawl_id="c1",
    examples=b"[]",
    packed=b"\x00packed",
    created_at=T0,
)


def judged(path: str, relevance: float, at: float = 0.0, **changes: object) -> Outcome:
    """An outcome that topic ``quake`` has judged, of a page with the links' features 1 and 4095."""
    judgement = TopicJudgement(
        topic="quake",
        version=1,
        relevance=relevance,
        label=relevance,
        is_relevant=relevance >= 0.5,
        parts='{"q":0.5}',
        features=(1, 4095),
        is_example=True,
        parent=page_id_of("/"),
    )
    outcome = make_outcome(path, at=later(at))
    return replace(outcome, judgements=(replace(judgement, **changes),))  # type: ignore[arg-type]


def ids(*outcomes: Outcome) -> tuple[str, ...]:
    return tuple(sorted(each.queued.page_id for each in outcomes))


def learn(store: Store, version: int, pages: Sequence[str] = ()) -> StoredLinkModel:
    model = StoredLinkModel(
        topic="quake", version=version, learned_at=T0, packed=b"m", page_ids=tuple(pages)
    )
    assert store.topics.add_model(model)
    return model


class TopicsContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_a_topic_is_edited_by_compare_and_set(self, store: Store) -> None:
        topics = store.topics
        assert topics.get("quake") is None
        assert topics.create(TOPIC)
        assert not topics.create(replace(TOPIC, spec="{}"))
        assert topics.get("quake") == TOPIC
        edited = replace(TOPIC, version=2, spec='{"query":"余震"}', packed=b"new")
        assert topics.replace(edited)
        assert not topics.replace(replace(edited, spec="{}"))
        assert topics.set_state("quake", TopicState.PAUSED, "asked")
        assert not topics.set_state("nobody", TopicState.PAUSED)
        paused = replace(edited, state=TopicState.PAUSED, note="asked")
        assert topics.all() == [paused]
        assert topics.crawls(state=TopicState.RUNNING) == {}
        assert topics.crawls() == {"quake": "c1"}

    def test_judgements_are_saved_with_their_pages(self, store: Store) -> None:
        good, bad = judged("/1", 0.9, 1), judged("/2", 0.1, 2)
        failed = replace(make_failure("/3"), judgements=good.judgements)
        assert store.save([good, bad, failed]) == 3
        page = some(store.topics.page("quake", good.queued.page_id))
        assert page.judgement == good.judgements[0]
        assert (page.url, page.host, page.mark) == (good.queued.url, HOST, None)
        assert (page.fetched_at, page.learned_in) == (later(1), None)
        assert store.topics.of_page(bad.queued.page_id)[0].judgement.relevance == 0.1
        assert [p.page_id for p in store.topics.newest("quake", 9)] == [
            bad.queued.page_id,
            good.queued.page_id,
        ]
        assert store.topics.newest("quake", 9, relevant=True) == [page]
        assert [row[3] for row in store.topics.in_order("quake")] == [1, 0]
        assert store.topics.by_host("quake") == {HOST: (2, 1)}
        assert store.topics.known("quake", [*ids(good, bad), "0" * 32]) == {
            good.queued.page_id: True,
            bad.queued.page_id: False,
        }

    def test_the_newest_pages_are_read_in_parts(self, store: Store) -> None:
        relevances = (0.9, 0.1, 0.8, 0.7, 0.2)
        store.save([judged(f"/{n}", r, at=n // 2) for n, r in enumerate(relevances)])
        for relevant in (None, True, False):
            whole = store.topics.newest("quake", 9, relevant=relevant)
            assert len(whole) == {None: 5, True: 3, False: 2}[relevant]
            seen: list[JudgedPage] = []
            after: tuple[int, str] | None = None
            while part := store.topics.newest("quake", 1, relevant=relevant, after=after):
                seen += part
                after = (to_microseconds(part[0].at), part[0].page_id)
            assert seen == whole

    def test_a_mark_is_taken_off_and_a_page_is_read(self, store: Store) -> None:
        good, bad = judged("/1", 0.9, 1), judged("/2", 0.1, 2)
        store.save([good, bad])
        for outcome, word in ((good, False), (bad, True)):
            page_id = outcome.queued.page_id
            before = store.topics.page("quake", page_id)
            assert store.topics.mark("quake", page_id, word)
            assert [page.page_id for page in store.topics.newest("quake", 9, marked=True)] == [
                page_id
            ]
            assert store.topics.mark("quake", page_id, None, 0.5)
            after = some(store.topics.page("quake", page_id))
            assert (after.mark, after.judgement.is_relevant) == (None, not word)
            assert replace(after.judgement, label=0) == replace(some(before).judgement, label=0)
        assert not store.topics.mark("quake", "0" * 32, None)
        store.topics.read("quake", ids(good), later(9))
        assert some(store.topics.page("quake", good.queued.page_id)).read_at == later(9)
        unread = store.topics.newest("quake", 9, unread=True, host=HOST)
        assert [page.page_id for page in unread] == [*ids(bad)]
        store.save([judged("/1", 0.8, 10)])
        page = some(store.topics.page("quake", good.queued.page_id))
        assert (page.read_at, page.judgement.relevance) == (later(9), 0.8)
        assert page.at == later(10) - timedelta(days=3)  # when it was published

    def test_the_pages_nearest_to_a_relevance_are_found(self, store: Store) -> None:
        pages = {value: judged(f"/{value}", value) for value in (0.1, 0.4, 0.5, 0.58, 0.9)}
        store.save(list(pages.values()))
        assert store.topics.mark("quake", pages[0.58].queued.page_id, mark=True)
        nearest = store.topics.nearest("quake", 0.5, 3)
        assert [page.judgement.relevance for page in nearest] == [0.5, 0.4, 0.1]
        assert len(store.topics.nearest("quake", 0.5, 99)) == 4
        assert store.topics.nearest("sport", 0.5, 3) == []

    def test_stored_records_are_read_once(self, store: Store) -> None:
        assert store.records.last_number() == 0
        store.save([make_outcome(f"/{n}", at=later(n)) for n in range(5)])
        end = store.records.last_number()
        first, behind = store.records.after(0, 3)
        rest, over = store.records.after(behind, 3)
        assert {record.url for _, record in first + rest} == {
            make_outcome(f"/{n}").queued.url for n in range(5)
        }
        assert over == 0
        store.topics.create(TOPIC)
        assert store.topics.reading("quake") is None
        begun = StoredReading(words="a", after=0, end=end)
        assert store.topics.read_on("quake", None, begun)
        assert not store.topics.read_on("quake", None, begun), "another worker was first"
        assert store.topics.read_on("quake", begun, replace(begun, after=behind))
        assert store.topics.replace(replace(TOPIC, version=2))
        assert store.topics.reading("quake") == replace(begun, after=behind)

    def test_an_older_judgement_never_wins(self, store: Store) -> None:
        old, new = judged("/1", 0.1, 0), judged("/1", 0.9, 60)
        edited = judged("/1", 0.3, 60, version=2, features=(), is_example=False, parent="")
        for several in ([old], [new], [old], [edited], [new], [old]):
            store.save(several)
        page = some(store.topics.page("quake", old.queued.page_id))
        assert page.judgement == replace(
            new.judgements[0], version=2, relevance=0.3, label=0.3, is_relevant=False
        )
        assert store.topics.outdated("quake", 2, 9) == []
        assert store.topics.outdated("quake", 3, 9) == [page]
        assert store.topics.counts("quake", 3) == (1, 0, 0, 1)

    def test_the_users_word_wins_and_is_learned_again(self, store: Store) -> None:
        outcome = judged("/1", 0.1)
        (page_id,) = ids(outcome)
        assert not store.topics.mark("quake", page_id, mark=True)
        store.save([outcome])
        store.topics.mark_learned(learn(store, 1, [page_id]))
        assert store.topics.to_learn("quake", 9) == []
        assert store.topics.mark("quake", page_id, mark=True)
        store.save([judged("/1", 0.2, 5, version=2)])
        (page,) = store.topics.to_learn("quake", 9)
        assert page.mark is True
        assert page.judgement.is_relevant
        assert (page.judgement.label, page.judgement.relevance) == (1.0, 0.2)
        assert store.topics.marked("quake") == [page]

    def test_a_batch_is_learned_once(self, store: Store) -> None:
        outcomes = [judged(f"/{n}", 0.5, n) for n in range(7)]
        store.save([*outcomes, judged("/no-link", 0.9, features=())])
        assert store.topics.waiting_to_learn("quake") == 7
        batch = [page.page_id for page in store.topics.to_learn("quake", 4)]
        assert tuple(batch) == ids(*outcomes)[:4]
        model = learn(store, 1, batch)
        assert not store.topics.add_model(model)
        assert store.topics.model("quake") == model
        for _ in range(2):
            store.topics.mark_learned(model)
        assert store.topics.model("quake") == replace(model, is_marked=True)
        store.save(outcomes)  # the job of the pages is done again
        rest = store.topics.to_learn("quake", 9)
        assert tuple(page.page_id for page in rest) == ids(*outcomes)[4:]
        assert not store.topics.add_model(replace(model, version=3))
        for version in range(2, KEPT_MODELS + 3):
            learn(store, version)
        assert some(store.topics.model("quake")).version == KEPT_MODELS + 2

    def test_of_two_learners_one_stores_a_version(self, store: Store) -> None:
        stored: list[bool] = []

        def add(packed: bytes) -> None:
            model = StoredLinkModel(topic="quake", version=1, learned_at=T0, packed=packed)
            stored.append(store.topics.add_model(model))

        learners = [Thread(target=add, args=(packed,)) for packed in (b"a", b"b", b"c")]
        for each in learners:
            each.start()
        for each in learners:
            each.join()
        assert sorted(stored) == [False, False, True]

    def test_hubs_have_relevant_children_among_their_first(self, store: Store) -> None:
        hub = judged("/hub", 0.2, parent="")
        (hub_id,) = ids(hub)
        children = [
            judged(f"/c{n}", 0.9 if n in (1, 3) else 0.1, n, parent=hub_id) for n in range(4)
        ]
        store.save([hub, *children])
        assert store.topics.hubs("quake", [hub_id], 3, 2) == []
        assert store.topics.hubs("quake", [hub_id], 12, 2) == [hub_id]
        model = StoredLinkModel(
            topic="quake", version=1, learned_at=T0, packed=b"m", hub_ids=(hub_id,)
        )
        store.topics.add_model(model)
        store.topics.mark_learned(model)
        assert store.topics.hubs("quake", [hub_id], 12, 2) == []

    def test_deleting(self, store: Store) -> None:
        mine, other = judged("/1", 0.9), make_outcome("/2", crawl_id="c2")
        adopted = replace(other, judgements=mine.judgements)
        store.topics.create(TOPIC)
        store.save([mine, adopted])
        learn(store, 1)
        store.delete_host("c2", HOST)
        assert [page.crawl_id for page in store.topics.newest("quake", 9)] == ["c1"]
        store.delete_crawl("c1")
        assert store.topics.newest("quake", 9) == []
        assert store.topics.delete("quake")
        assert not store.topics.delete("quake")
        assert store.topics.model("quake") is None

    def test_relevant_pages_are_read_one_by_one(self, store: Store) -> None:
        pages = [judged(f"/{n}", n / 10) for n in range(10)]
        store.topics.create(TOPIC)
        store.save(pages)
        found = [page.page_id for page in store.topics.relevant("quake")]
        assert found == sorted(ids(*pages[5:]))
        assert list(store.topics.relevant("other")) == []
