"""What every store must do for many processes and threads: subclass beside its two fixtures."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, make_failure, make_outcome, page_id_of
from tests.kit.recount import counted
from tests.kit.some import some
from tests.kit.writers import JOB, in_child, job, output_of, writer

FAILURES = 10
SAVES = 10


def is_saved(store: Store, name: str, number: int) -> bool:
    """True for a job that is stored, False for one of which nothing is stored.

    Raises:
        AssertionError: A part of the job is stored, or something else in its place.
    """
    outcomes = job(name, number)
    pages = [outcome.queued.page_id for outcome in outcomes]
    if not any(store.records.get(page) for page in pages):
        assert not any(store.urls.rows(page) or store.answers.page(page) for page in pages)
        return False
    for outcome, page_id in zip(outcomes, pages, strict=True):
        assert store.records.get(page_id) == outcome.record
        (row,) = store.urls.rows(page_id)
        assert row.state is UrlState.RECORD
        page = some(store.answers.page(page_id))
        assert page.html == outcome.queued.result.body.decode()
    return True


def check_counted(store: Store, records: int, **others: int) -> None:
    """Every page is counted once; ``others`` are pages in other states, by state."""
    assert some(counted(store).get(HOST)).pages_by_state == {"record": records, **others}
    assert store.records.count() == records == len(list(store.records.scan()))
    assert store.statistics.refresh() == 0


class ProcessesContract:
    """Needs fixtures: an empty ``store``, and ``where`` others open it (a path or a URL)."""

    jobs = 20  # that each process saves
    counts_later = False  # statistics wait for `refresh` while pages are saved

    def test_processes_save_equal_and_other_pages_at_once(
        self, store: Store, where: Path | str
    ) -> None:
        refreshed = failures = 0
        with (
            writer(where, "same", 0, self.jobs) as one,
            writer(where, "same", 0, self.jobs) as two,
            writer(where, "other", 0, self.jobs) as three,
        ):
            while failures < FAILURES or None in [each.poll() for each in (one, two, three)]:
                if failures < FAILURES:
                    store.save([make_failure(f"/failed/{failures}")])
                    failures += 1
                refreshed += store.statistics.refresh()
                time.sleep(0.01)
            for process in (one, two, three):
                assert len(output_of(process).readlines()) == self.jobs
        for number in range(self.jobs):
            assert is_saved(store, "same", number)
            assert is_saved(store, "other", number)
        check_counted(store, 2 * self.jobs * JOB, failed=FAILURES)
        assert refreshed > 0 or not self.counts_later

    def test_processes_open_a_new_store_at_once(self, store: Store, where: Path | str) -> None:
        with (
            writer(where, "a", 0, 1) as one,
            writer(where, "b", 0, 1) as two,
            writer(where, "c", 0, 1) as three,
        ):
            assert [output_of(each).read() for each in (one, two, three)] == ["0\n"] * 3
        check_counted(store, 3 * JOB)

    def check_child(self, store: Store) -> None:
        """Asserts in a forked child that it uses no connection of its parent."""

    def test_no_connection_crosses_a_fork(self, store: Store) -> None:
        store.save([make_outcome("/parent")])
        reading = store.records.scan()
        next(reading)

        def save_in_child() -> None:
            self.check_child(store)
            assert store.records.get(page_id_of(f"https://{HOST}/parent")) is not None
            store.save([make_outcome("/child", keep_raw=True)])
            store.close()

        for _ in range(3):
            in_child(save_in_child)
        assert store.records.count() == 2
        assert len(list(reading)) in (0, 1)
        store.save([make_outcome("/after")])
        assert store.records.count() == 3

    def test_threads_and_forks_take_turns(self, store: Store) -> None:
        def work(name: str) -> None:
            for number in range(SAVES):
                store.save([make_outcome(f"/{name}/{number}", keep_raw=True)])
                assert store.records.get(page_id_of(f"https://{HOST}/{name}/{number}")) is not None

        threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for number in range(4):
            in_child(lambda: store.save([make_failure(f"/failed/{number}")]))  # noqa: B023
        for thread in threads:
            thread.join()
        check_counted(store, 3 * SAVES, failed=4)
        for name in "abc":
            for number in range(SAVES):
                url = f"https://{HOST}/{name}/{number}"
                assert store.answers.page(page_id_of(url)) is not None
