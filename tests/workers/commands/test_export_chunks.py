"""`export --chunk-size`: several files, which a killed export completes."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.export import FILE
from tests.kit.commands import DataFolder
from tests.kit.crawls import crawlclean, start
from tests.kit.disks import tiny_disk
from tests.kit.hook_packages import install, install_example
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.timing import wait_until

RECORDS = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    data = tmp_path_factory.mktemp("chunks")
    store = SqliteStore(data / "records.sqlite")
    spec = CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",))
    store.crawls.put(spec, CrawlState.FINISHED)
    store.save([make_outcome(f"/t/{n}") for n in range(RECORDS)])
    store.close()
    return DataFolder(data)


def has_files(folder: Path, least: int) -> bool:
    return len(list(folder.glob("records-*"))) >= least


def urls(folder: Path) -> list[str]:
    """URLs of all records in the files of a folder, in their order."""
    lines: list[bytes] = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        lines += (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    return [json.loads(line)["url"] for line in lines]


ALL = [f"https://{HOST}/t/{n}" for n in range(RECORDS)]


@pytest.mark.parametrize(
    ("options", "files"), [(["--chunk-size", "250"], 3), (["--chunk-size", "600", "--gzip"], 1)]
)
def test_files_of_a_number_of_records(
    folder: DataFolder, tmp_path: Path, options: list[str], files: int
) -> None:
    folder.output("export", "--output", str(tmp_path / "out"), *options)
    suffix = ".jsonl.gz" if "--gzip" in options else ".jsonl"
    names = [f"records-{n:05}{suffix}" for n in range(1, files + 1)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert urls(tmp_path / "out") == ALL
    said = folder.error("export", "--output", str(tmp_path / "out"), *options, status=2)
    assert "is of an export that is finished" in said


def test_files_of_a_size(folder: DataFolder, tmp_path: Path) -> None:
    folder.output("export", "--output", str(tmp_path), "--chunk-size", "1MB")
    sizes = [path.stat().st_size for path in sorted(tmp_path.iterdir())]
    assert all(1_000_000 <= size < 1_100_000 for size in sizes[:-1])
    assert urls(tmp_path) == ALL


def test_a_killed_export_goes_on_where_whole_files_stop(folder: DataFolder, tmp_path: Path) -> None:
    out, data = tmp_path / "out", str(folder.data)
    arguments = ("export", "--chunk-size", "5", "--output", str(out), "--data", data)
    for files in (3, 20, 40):
        process = start(*arguments)
        wait_until(partial(has_files, out, files))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert (out / FILE).exists()
    said = folder.error("export", "--chunk-size", "6", "--output", str(out), status=2)
    assert "an unfinished export with other options" in said
    done = crawlclean(*arguments)
    assert f"{RECORDS} records written to {out}" in done.stderr
    assert "going on after " in done.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        f"records-{n:05}.jsonl" for n in range(1, RECORDS // 5 + 1)
    ]
    assert urls(out) == ALL


def test_a_kill_between_a_file_and_its_commit_doubles_nothing(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    arguments = ("export", "--chunk-size", "200", "--unique", "--output", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr("crawlclean.storage.store.export.ExportState.keep", die)
        folder.output(*arguments, status=130)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [FILE, "records-00001.jsonl"]
    folder.output(*arguments)
    assert urls(tmp_path) == urls_of_unique(folder, tmp_path / "one.jsonl")


def urls_of_unique(folder: DataFolder, target: Path) -> list[str]:
    folder.output("export", "--unique", "--output", str(target))
    found = [json.loads(line)["url"] for line in target.read_bytes().splitlines()]
    target.unlink()
    return found


def test_a_format_of_another_package(folder: DataFolder, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    environment = install_example(package)
    out = tmp_path / "out"
    base = ("export", "--format", "xml", "--data", str(folder.data))
    crawlclean(*base, "--chunk-size", "400", "--output", str(out), env=environment)
    files = sorted(out.iterdir())
    assert [path.name for path in files] == ["records-00001.xml", "records-00002.xml"]
    for path, records in zip(files, (400, 200), strict=True):
        text = path.read_text("utf-8")
        assert text.startswith("<records>")
        assert text.endswith("</records>\n")
        assert text.count("<record ") == records
    done = crawlclean(*base, env=environment)
    assert done.stdout.count("<record ") == RECORDS


def test_a_format_with_a_defect_leaves_no_file(folder: DataFolder, tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(
        "class Half:\n    suffix = '.half'\n    def __init__(self, stream): pass\n"
        "    def write(self, record): raise KeyError('price')\n"
    )
    entries = {"crawlclean.exporters": {"half": "half:Half"}}
    environment = install(tmp_path, "half-hooks", entries)
    target = tmp_path / "a.half"
    arguments = ("--format", "half", "--output", str(target), "--data", str(folder.data))
    done = crawlclean("export", *arguments, env=environment, check=False)
    assert done.returncode == 1
    assert f"the exporter half of half-hooks 1.0 failed at https://{HOST}/t/0: KeyError" in (
        done.stderr
    )
    assert "Traceback" not in done.stderr
    assert not target.exists()
    assert list(tmp_path.glob(".*.part")) == []


@pytest.mark.parametrize("kb", [8, 64])
def test_a_full_disk_is_said_as_such_and_the_same_command_goes_on(
    folder: DataFolder, tmp_path: Path, kb: int
) -> None:
    with tiny_disk(tmp_path / "disk", f"size={kb}k") as disk:
        out = disk / "out"
        command = ("export", "--chunk-size", "100", "--output", str(out))
        status, _, err = folder.call(*command)
        assert status == 1
        assert "no space left" in err
        assert "cannot be used" not in err
        if kb == 8:
            assert not list(out.glob(FILE + "*"))
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        folder.output(*command)
        assert urls(out) == ALL
