"""`doctor`: what it finds on a machine that is fine, and on one that is not."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.queue.embedded import default_memory_bytes
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from tests.kit.commands import DataFolder
from tests.storage.store.receivers_contract import put_receiver
from tests.storage.store.topics_contract import judged

CHECKS = [
    "python",
    "sqlite",
    "queue server",
    "queue memory",
    "cleaning",
    "data folder",
    "disk",
    "crawls",
    "pauses",
    "back-pressure",
    "receivers",
    "store",
    "hooks",
]
Usage = namedtuple("Usage", "total used free")


def checked(data: Path) -> tuple[int, dict[str, str]]:
    """(status, check -> what it said)."""
    status, out, _ = DataFolder(data).call("doctor")
    lines = out.splitlines()
    return status, {line[6:19].strip(): line[:6] + line[20:] for line in lines}


def test_a_machine_that_is_fine(tmp_path: Path) -> None:
    status, said = checked(tmp_path / "new")
    assert status == 0, said
    assert list(said) == CHECKS
    assert all(text.startswith("ok    ") for text in said.values())
    assert said["data folder"].endswith("new will be created")
    assert said["crawls"] == "ok    none yet"
    assert "gb" in said["cleaning"].lower()
    limit = default_memory_bytes() >> 20
    assert said["queue memory"].startswith(f"ok    at most {limit} MiB; above ")
    assert not (tmp_path / "new").exists()
    assert checked(tmp_path / "new/deep/er")[0] == 0


def test_the_queues_memory_as_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLCLEAN_QUEUE_MEMORY_BYTES", str(100 << 20))
    said = DataFolder(tmp_path).output("doctor")
    assert "queue memory  at most 100 MiB; above 70 MiB nothing is fetched" in said


def test_what_a_folder_holds(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "records.sqlite")
    store.crawls.put(CrawlSpec(crawl_id="c", seeds=("http://a.example/",)), CrawlState.STOPPED)
    store.close()
    status, said = checked(tmp_path)
    assert status == 0
    assert said["crawls"] == "ok    1 crawl, 0 records, none is running"


def test_a_receiver_that_fails_for_hours_is_named(tmp_path: Path) -> None:
    began = datetime.now(UTC) - timedelta(hours=3)
    store = SqliteStore(tmp_path / "records.sqlite")
    kept = put_receiver(store)
    assert checked(tmp_path)[1]["receivers"] == "ok    1 receiver, none fails"
    store.receivers.failed(kept, "status 500", began, began)
    store.close()
    status, said = checked(tmp_path)
    assert status == 0
    assert said["receivers"].startswith("WARN  the webhook of topic quake fails since ")
    assert said["receivers"].endswith("(status 500), 0 wait")


def test_a_command_that_an_older_version_stored_is_named_until_it_is_removed(
    tmp_path: Path,
) -> None:
    words = '["/usr/bin/tee", "-a", "new.jsonl"]'
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        order = TopicOrder(spec=TopicSpec(name="quake", query="地震"))
        store.topics.create(first_version(order, []))
        stored = put_receiver(store, ReceiverKind.COMMAND, target=words)
        store.save([judged("/1", 0.9, notify=(stored.name,))])
    said = checked(tmp_path)[1]["receivers"]
    assert said.startswith("WARN  the command of topic quake is not run any more: ")
    folder = DataFolder(tmp_path)
    shown = folder.output("topic", "quake", "--send")
    assert '["/usr/bin/tee", "-a", "new.jsonl"]' in shown
    assert "0 sent, 1 wait; fails since " in shown
    assert "not run any more: set a webhook" in shown
    url = "http://127.0.0.1:9/"
    (topic,) = folder.rows("topic", "quake", "--edit", "--webhook", url, "--no-command", "--json")
    assert [(each["kind"], each["target"]) for each in topic["receivers"]] == [("webhook", url)]
    assert checked(tmp_path)[1]["receivers"] == "ok    1 receiver, none fails"


def test_what_is_wrong_has_its_line_and_the_rest_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/records.sqlite").write_bytes(b"no database" * 99)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 5 << 20))
    status, said = checked(tmp_path / "damaged")
    assert status == 1
    assert list(said) == CHECKS
    assert said["crawls"].startswith("FAIL  ")
    assert said["disk"].startswith("FAIL  only 5 MiB are free")
    assert said["python"].startswith("ok")
    status, said = checked(tmp_path / "file")
    assert status == 1
    assert said["data folder"].startswith("FAIL  "), said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        for data in (tmp_path, tmp_path / "new"):
            status, said = checked(data)
            assert status == 1
            assert "cannot be written" in said["data folder"]
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(("mode", "is_open"), [(0o755, True), (0o750, False), (0o700, False)])
def test_a_folder_that_every_user_may_read_is_said(
    tmp_path: Path, mode: int, is_open: bool
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(mode)
    status, said = checked(data)
    assert status == 0
    assert said["data folder"].startswith("WARN  every user may read" if is_open else "ok    ")
