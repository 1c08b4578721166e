"""Reading commands work on a data folder that cannot be written: a backup, a mount."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.commands import DataFolder
from tests.kit.disks import tiny_disk
from tests.kit.web import html

URL = "http://a.example/1.html"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"url": URL, "html": html("题", TEXT)}))
    with tiny_disk(tmp_path / "disk", "size=16m") as disk:
        made = DataFolder(disk / "data")
        made.output("import", str(rows))
        yield made


def test_records_hosts_and_steps_are_read(folder: DataFolder) -> None:
    disk = folder.data.parent
    remount(disk, "ro")
    for command in (
        ["show", URL, "--json"],
        ["export"],
        ["hosts"],
        ["crawls"],
        ["failures"],
        ["why", URL],
    ):
        said = folder.output(*command)
        assert "a.example" in said or command[0] in ("crawls", "failures"), command
    assert f"did you mean {URL}" in folder.output("why", "http://a.example/1.htm", status=1)
    remount(disk, "rw")


def test_a_log_that_was_not_written_back_is_named(folder: DataFolder) -> None:
    data = folder.data
    (data / "records.sqlite-wal").write_bytes(b"x" * 4096)
    remount(data.parent, "ro")
    assert "read-only, and records.sqlite-wal was not" in folder.error("hosts")
    remount(data.parent, "rw")
