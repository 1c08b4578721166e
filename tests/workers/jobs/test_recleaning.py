"""Stored pages re-cleaned with the model of their host: what changes, what must not."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from crawlclean.cleaning.records import BodySource
from crawlclean.storage.crawl_types import KeepRaw, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.models import LearnReason
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.learning import learn_host, roll_back
from crawlclean.workers.jobs.outcomes import end_page
from crawlclean.workers.jobs.recleaning import older_records, reclean_records
from crawlclean.workers.site_models import SiteModels
from tests.kit.archived_site import HOST, T0, current, fetched, store_pages, store_site
from tests.kit.crawls import ROOT, command, environment
from tests.kit.mongo_server import MongoServer, own_store, running
from tests.kit.recount import counted, recount
from tests.kit.stored_topics import TOPIC, judged_page, store_topic
from tests.kit.timing import wait_until
from tests.storage.store.receivers_contract import put_receiver

# Loaded by the command's interpreter: a kill is to come in the middle.
SLOW = """
import sys, time

if "reclean" in sys.orig_argv:
    import crawlclean.workers.jobs.recleaning as recleaning

    real = recleaning.clean

    def clean(*given):
        time.sleep(0.02)
        return real(*given)

    recleaning.clean = clean
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoServer]:
    with running(tmp_path_factory.mktemp("mongo")) as started:
        yield started


@pytest.fixture(params=["sqlite", "mongo"])
def store(request: pytest.FixtureRequest, tmp_path: Path, server: MongoServer) -> Iterator[Store]:
    if request.param == "sqlite":
        with closing(SqliteStore(tmp_path / "records.sqlite")) as opened:
            yield opened
    else:
        with own_store(server.url("")) as made:
            yield made


def learned(store: Store) -> int:
    return learn_host(store, HOST, LearnReason.ASKED).about.version


def reclean(store: Store, *, save: bool = True, again: bool = False) -> tuple[int, int, int]:
    """(cleaned, changed, not in the archive) of all records that the model in use is newer than."""
    model = current(SiteModels(store), store, HOST)
    assert model is not None
    done = reclean_records(
        store, list(older_records(store, HOST, model.version, again=again)), model, save=save
    )
    assert done.failed == []
    return done.cleaned, done.changed, done.unarchived


def test_records_say_what_the_model_knows_and_statistics_stay_exact(store: Store) -> None:
    store_site(store, 6)
    store_pages(store, [fetched(7)], keep_raw=KeepRaw.NONE)
    store_pages(store, [fetched(2, crawl_id="c2", after_s=60)])
    before = counted(store).get(HOST)
    urls = {row.page_id: row for row in store.urls.rows(fetched(2).page_id)}
    version = learned(store)
    assert reclean(store, save=False) == (7, 7, 1)
    assert counted(store).get(HOST) == before
    assert reclean(store) == (7, 7, 1)
    record = store.records.get(fetched(3).page_id)
    assert record is not None
    assert (record.model_version, record.body_source) == (version, BodySource.SITE)
    assert record.title == "渔港见闻之21"
    kept = store.records.get(fetched(7).page_id)
    assert kept is not None
    assert kept.model_version == 0
    after = counted(store).get(HOST)
    assert before is not None
    assert after is not None
    assert after.model_version == version
    same = ("pages_by_state", "fetched_bytes", "html_chars", "wait_ms", "first_seen", "last_seen")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    assert sum(after.pages_by_kind.values()) == after.pages_by_state["record"] == 8
    assert counted(store).get(HOST, "c2") == recount(store, "c2", HOST)
    row = store.urls.rows(fetched(2).page_id)[0]
    known = urls[row.page_id]
    assert replace(row, log=()) == replace(known, log=()) or row.crawl_id != known.crawl_id
    assert [step.step for step in row.log] == ["cleaned", "stored", "re-cleaned"]
    assert reclean(store) == (0, 0, 1), "done, it changes nothing"
    assert reclean(store, again=True) == (7, 0, 1)


def test_a_newer_answer_is_never_replaced_by_an_older_one(store: Store) -> None:
    store_site(store, 4)
    learned(store)
    versions = list(older_records(store, HOST, 1))
    model = current(SiteModels(store), store, HOST)
    store_pages(store, [fetched(1, after_s=600)])
    newer = store.records.get(fetched(1).page_id)
    assert reclean_records(store, versions, model).cleaned == 3
    assert store.records.get(fetched(1).page_id) == newer
    assert reclean(store) == (1, 1, 0)


def test_a_rollback_is_applied_like_a_new_version(store: Store) -> None:
    store_site(store, 4)
    assert counted(store).get(HOST) == recount(store, "c1", HOST)
    learned(store)
    reclean(store)
    assert counted(store).get(HOST) == recount(store, "c1", HOST)
    first = store.records.get(fetched(2).page_id)
    store_pages(store, [fetched(n) for n in range(5, 12)])
    assert learned(store) == 2
    reclean(store)
    assert roll_back(store, HOST, 1).version == 3
    assert reclean(store)[0] == 11
    record = store.records.get(fetched(2).page_id)
    assert record is not None
    assert first is not None
    assert record == replace(first, model_version=3)
    assert counted(store).get(HOST) == recount(store, "c1", HOST)
    assert store.hosts.by_model(HOST) == {3: 11}


@pytest.mark.parametrize(
    ("relevance", "body", "since_s", "told"),
    [
        (0.1, None, 0, 1),  # relevant by what the model reads alone
        (0.9, "海边小站版权所有，未经允许不得转载本站的任何内容。" * 5, 0, 1),
        (0.9, None, 0, 0),  # the same story: it was told, or is a copy
        (0.1, None, 60, 0),  # the receiver asked for stories of later pages
    ],
)
def test_a_receiver_hears_of_what_a_page_tells_by_the_model_alone(
    store: Store, relevance: float, body: str | None, since_s: float, told: int
) -> None:
    store_site(store, 6)
    store_topic(store, 0, others=0, title="渔船")
    since = T0 + timedelta(seconds=since_s)
    receiver = put_receiver(store, topic=TOPIC, at=since)
    cold = end_page(fetched(7), KeepRaw.ALL, None).outcome
    assert cold.record is not None
    record = cold.record if body is None else replace(cold.record, body=body)
    judgements = judged_page("/", "", relevance, "", HOST, 0).judgements
    store.save([replace(cold, record=record, judgements=judgements)])
    learned(store)
    assert reclean(store)[0] == 7
    assert [row.page_id for row in store.receivers.waiting(receiver, 9)] == (
        [fetched(7).page_id] * told
    )


def test_killed_in_the_middle_the_same_command_finishes(tmp_path: Path) -> None:
    count = 100
    store = SqliteStore(tmp_path / "records.sqlite")
    store_site(store, count)
    learned(store)
    before = counted(store).get(HOST)
    arguments = command("model", "reclean", HOST, "--data", str(tmp_path))

    def done() -> int:
        return store.hosts.by_model(HOST).get(1, 0)

    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(SLOW, "utf-8")
    process = subprocess.Popen(
        arguments, env=environment(PYTHONPATH=f"{slow}:{ROOT}"), cwd=ROOT, start_new_session=True
    )
    wait_until(lambda: 0 < done() < count)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    between = done()
    assert 0 < between < count
    stats = counted(store).get(HOST)
    assert stats is not None
    assert stats.pages_by_state == {str(UrlState.RECORD): count}
    said = subprocess.run(
        arguments, env=environment(), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f" records of {HOST} re-cleaned with version 1 of its model" in said.stdout
    assert store.hosts.by_model(HOST) == {1: count}
    after = counted(store).get(HOST)
    assert before is not None
    assert after is not None
    assert (after.fetched_bytes, after.html_chars) == (before.fetched_bytes, before.html_chars)
    assert list(older_records(store, HOST, 1)) == []
    store.close()
