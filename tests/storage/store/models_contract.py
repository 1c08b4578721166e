"""What every store must do with models and a host's pages; see ``store_contract.py``."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

from crawlclean.storage.store.models import KEPT_VERSIONS, LearnReason, ModelLine, StoredModel
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, T0, later, make_failure, make_outcome
from tests.kit.recount import counted
from tests.kit.some import some

OTHER = "other.example"


def make_model(version: int = 1, host: str = HOST, text: str = "{}") -> StoredModel:
    return StoredModel(
        about=ModelLine(
            host=host,
            version=version,
            learned_at=T0,
            saved_at=later(version),
            page_count=20,
            size_bytes=len(text),
            reason=LearnReason.PAGES,
            detail="20 pages",
        ),
        text=text,
    )


class ModelsContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_no_model(self, store: Store) -> None:
        assert store.models.get(HOST) is None
        assert store.models.versions(HOST) == []
        assert store.models.newest(HOST) == 0
        assert store.models.delete(HOST) == 0

    def test_a_model_comes_back_equal(self, store: Store) -> None:
        model = make_model(text='{"host":"论坛"}' * 9000)
        assert store.models.save(model)
        assert store.models.get(HOST) == model
        assert store.models.get(HOST, 1) == model
        assert store.models.get(HOST, 2) is None
        assert store.models.get(OTHER) is None
        assert store.models.versions(HOST) == [model.about]

    def test_a_version_is_never_replaced(self, store: Store) -> None:
        first, third = make_model(1), make_model(3)
        assert store.models.save(first)
        assert not store.models.save(make_model(1, text="[]"))
        assert store.models.save(third)
        assert not store.models.save(make_model(2))
        assert store.models.get(HOST, 1) == first
        assert store.models.get(HOST) == third
        assert store.models.newest(HOST) == 3
        assert store.models.save(make_model(1, OTHER))
        assert store.models.versions(HOST) == [third.about, first.about]

    def test_old_versions_go(self, store: Store) -> None:
        store.models.save(make_model(1, OTHER))
        for version in range(1, KEPT_VERSIONS + 4):
            assert store.models.save(make_model(version))
        kept = [about.version for about in store.models.versions(HOST)]
        assert kept == list(range(KEPT_VERSIONS + 3, 3, -1))
        assert not store.models.save(make_model(3))
        assert store.models.delete(HOST) == KEPT_VERSIONS
        assert store.models.get(HOST) is None
        assert store.models.newest(OTHER) == 1

    def test_of_two_who_learn_a_version_one_is_stored(self, store: Store) -> None:
        for version in range(1, 6):
            told: dict[str, bool] = {}

            def learn(text: str, version: int = version, told: dict[str, bool] = told) -> None:
                told[text] = store.models.save(make_model(version, text=text))

            learners = [Thread(target=learn, args=(text,)) for text in "abcd"]
            for each in learners:
                each.start()
            for each in learners:
                each.join()
            assert sum(told.values()) == 1
            assert told[some(store.models.get(HOST)).text]

    def test_archived_pages(self, store: Store) -> None:
        kept = [make_outcome(f"/t/{n}", keep_raw=True) for n in range(7)]
        again = make_outcome("/t/1", crawl_id="c2", at=later(5), keep_raw=True)
        store.save([*kept, again, make_outcome("/t/9"), make_failure("/t/10")])
        found = list(store.hosts.archived(HOST))
        assert [(page.page_id, page.crawl_id) for page in found] == sorted(
            (each.queued.page_id, each.queued.crawl_id) for each in (*kept, again)
        )
        assert {page.url for page in found} == {each.queued.url for each in kept}
        newest = {page.page_id: page.fetched_at for page in found if page.crawl_id == "c2"}
        assert newest == {again.queued.page_id: later(5)}
        assert list(store.hosts.archived(OTHER)) == []
        assert some(store.answers.page(again.queued.page_id)).fetched_at == later(5)

    def test_record_versions(self, store: Store) -> None:
        outcomes = [
            make_outcome("/t/1", keep_raw=True),
            make_outcome("/t/2", model_version=3),
            make_outcome("/t/3", crawl_id="c2", model_version=3, keep_raw=True),
        ]
        store.save([*outcomes, make_failure("/t/4")])
        # fetched again, and the new answer is not kept
        store.save([make_outcome("/t/3", crawl_id="c2", at=later(9), model_version=3)])
        found = {each.page_id: each for each in store.hosts.versions(HOST)}
        one, two, three = (found[each.queued.page_id] for each in outcomes)
        assert (one.model_version, one.fetched_at, one.is_archived) == (0, T0, True)
        assert (two.model_version, two.fetched_at, two.is_archived) == (3, T0, False)
        assert (three.crawl_id, three.fetched_at, three.is_archived) == ("c2", later(9), False)
        every = list(store.hosts.versions(HOST))
        for n, each in enumerate(every):
            place = (each.page_id, each.crawl_id)
            assert list(store.hosts.versions(HOST, place)) == every[n + 1 :]
        assert store.hosts.by_model(HOST) == {0: 1, 3: 2}
        lengths = [each.body_chars for each in store.hosts.bodies(HOST)]
        assert len(lengths) == 3
        assert all(chars > 0 for chars in lengths)
        assert store.hosts.by_model(OTHER) == {}

    def test_the_least_sure_pages_of_a_host(self, store: Store) -> None:
        shares = {"/t/1": 0.9, "/t/2": 0.2, "/t/3": None, "/t/4": 0.5}
        outcomes = [(make_outcome(path), share) for path, share in shares.items()]
        store.save(
            [
                replace(each, record=replace(some(each.record), confidence=share))
                for each, share in outcomes
            ]
        )
        found = store.hosts.least_sure(HOST, 2)
        assert [each.confidence for each in found] == [0.2, 0.5]
        assert [each.url.endswith(path) for each, path in zip(found, ("/t/2", "/t/4"), strict=True)]
        assert {each.crawl for each in found} == {"c1"}
        assert store.hosts.least_sure(OTHER, 2) == []

    def test_a_record_made_by_a_newer_model_is_counted_once(self, store: Store) -> None:
        outcome = make_outcome("/t/1", keep_raw=True)
        store.save([outcome])
        learned = make_outcome("/t/1", model_version=2, body=b"", text="再")
        store.save([replace(learned, html_chars=outcome.html_chars)])
        assert store.hosts.by_model(HOST) == {2: 1}
        [version] = store.hosts.versions(HOST)
        assert (version.model_version, version.is_archived) == (2, True)
        stats = some(counted(store).get(HOST))
        assert (stats.model_version, stats.pages_by_state["record"]) == (2, 1)
