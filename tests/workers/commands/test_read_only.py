"""Reading commands work on a data folder that cannot be written: a backup, a mount."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.config import StorageConfig
from crawlclean.workers.config import Settings
from tests.kit.commands import call
from tests.kit.disks import tiny_disk
from tests.kit.web import html

URL = "http://a.example/1.html"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"url": URL, "html": html("题", TEXT)}))
    with tiny_disk(tmp_path / "disk", "size=16m") as disk:
        settings = Settings(storage=StorageConfig(data=disk / "data"))
        assert call(settings, "import", str(rows)) == 0
        yield settings


def test_records_hosts_and_steps_are_read(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = settings.storage.data.parent
    remount(disk, "ro")
    capsys.readouterr()
    for command in (
        ["show", URL, "--json"],
        ["export"],
        ["hosts"],
        ["crawls"],
        ["failures"],
        ["why", URL],
    ):
        assert call(settings, *command) == 0, command
        said = capsys.readouterr().out
        assert "a.example" in said or command[0] in ("crawls", "failures"), command
    assert call(settings, "why", "http://a.example/1.htm") == 1
    assert f"did you mean {URL}" in capsys.readouterr().out
    remount(disk, "rw")


def test_a_log_that_was_not_written_back_is_named(settings: Settings) -> None:
    data = settings.storage.data
    (data / "records.sqlite-wal").write_bytes(b"x" * 4096)
    remount(data.parent, "ro")
    with pytest.raises(StoreUnavailable, match=r"read-only, and records\.sqlite-wal was not"):
        call(settings, "hosts")
    remount(data.parent, "rw")
