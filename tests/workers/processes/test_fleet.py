"""The room of the data folder: a full disk and a quota."""

from __future__ import annotations

import random
import shutil
import signal
from collections import namedtuple
from pathlib import Path

import pytest

from cleaning.errors import ConfigError
from storage.config import StorageConfig
from tests.kit.crawls import start, stored_urls
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Web
from workers.processes.fleet import Disk, size_of

Usage = namedtuple("Usage", "total used free")
PAGES = 40


def test_a_disk_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path, 0)
    assert not disk.look()
    assert (disk.is_full, disk.note) == (False, "")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 1 << 40, 1 << 20))
    assert disk.look()
    assert disk.is_full
    assert disk.note == f"no space left in {tmp_path}"
    assert not disk.look()


def test_a_quota_that_is_reached(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    disk = Disk(tmp_path, 100_000)
    assert not disk.look()
    (tmp_path / "deeper" / "file").write_bytes(random.Random(1).randbytes(150_000))
    assert 150_000 <= size_of(tmp_path) < 200_000
    disk = Disk(tmp_path, 100_000)
    assert disk.look()
    assert not disk.is_full  # what is in flight can still be stored
    assert disk.note == f"{tmp_path} has reached its quota of 100000 bytes"
    (tmp_path / "deeper" / "file").unlink()
    wait_until(disk.look)
    assert disk.note == "", "the crawl goes on by itself"


def test_a_negative_quota_is_refused() -> None:
    with pytest.raises(ConfigError, match="disk_quota_bytes is -1"):
        StorageConfig(disk_quota_bytes=-1)


@pytest.mark.slow
def test_a_crawl_waits_at_its_quota_and_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    noise = random.Random(1)
    pages = {
        f"/{n}": f"<p>{noise.randbytes(50_000).hex()}</p><a href='/{n + 1}'>on</a>"
        for n in range(PAGES)
    }
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        arguments = ("run", web.url("/0"), "--allow-private", "--data", str(data))
        run = start(*arguments, CRAWLCLEAN_DISK_QUOTA_BYTES="1500000")
        assert run.stderr is not None
        assert any("has reached its quota" in line for line in run.stderr)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=LIMIT_S)
        assert 0 < len(stored_urls(data)) < PAGES
        run = start(*arguments)
        _, said = run.communicate(timeout=LIMIT_S)
        assert run.returncode == 0, said
        assert len(stored_urls(data)) == PAGES
